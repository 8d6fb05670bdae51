// {{name}}: what has the phrase gets a reminder.
//
// An example to change: `evaluate` says what is judged, `has` is the rule, `cases.toml` has what should come of it. On {{event}}
// nothing can be stopped; what a gate says goes to the model where the event allows it, else to the human.

import { config } from "portcullis:gate/config@1.0.0";
import { json } from "portcullis:gate/payload@1.0.0";

export const judge = {
  /// Every verdict on one event; none means that there is nothing to say.
  evaluate(_event) {
    const phrase = JSON.parse(config("phrase") ?? "null");
    // A setting that is not there is a mistake, and the stanza's `on_error` says what it means.
    if (typeof phrase !== "string") throw { tag: "config", val: "`phrase` is missing" };
    // The whole event as the agent sent it. One field of it is cheaper: `text("/source")`.
    return has(json(), phrase) ? [remind(phrase)] : [];
  },
};

/// The rule.
function has(text, phrase) {
  return text.includes(phrase);
}

/// What is said.
function remind(phrase) {
  return { tag: "advise", val: `It is ${phrase}: look at the checklist first.` };
}
