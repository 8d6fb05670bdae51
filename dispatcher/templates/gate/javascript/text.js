// {{name}}: nothing goes on that has the phrase.
//
// An example to change: `evaluate` says what is judged, `has` is the rule, `cases.toml` has what should come of it.

import { config } from "portcullis:gate/config@1.0.0";
import { json } from "portcullis:gate/payload@1.0.0";

/// What overrides and reports call the rule.
const RULE = "phrase";

export const judge = {
  /// Every verdict on one event; none means that there is no objection.
  evaluate(event) {
    // The agent goes on because of an earlier stop: a gate that never lets go would keep it forever.
    if (event.stopHookActive) return [];
    const phrase = JSON.parse(config("phrase") ?? "null");
    // A setting that is not there is a mistake, and the stanza's `on_error` says what it means.
    if (typeof phrase !== "string") throw { tag: "config", val: "`phrase` is missing" };
    // The whole event as the agent sent it. One field of it is cheaper: `text("/prompt")`.
    return has(json(), phrase) ? [stop(event, phrase)] : [];
  },
};

/// The rule.
function has(text, phrase) {
  return text.includes(phrase);
}

/// What the agent reads: what was matched, why it matters, what to do instead.
function stop(event, phrase) {
  const reason = `This ${event.name} says "${phrase}", which nobody should do now. Say what you want to do instead.`;
  // Overridable: people may switch the rule off for a while, with a reason and a last day.
  return { tag: "block", val: { rule: RULE, reason, overridable: true, event: null } };
}
