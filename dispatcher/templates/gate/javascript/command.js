// {{name}}: nothing is published by accident.
//
// An example to change: `evaluate` says what is judged, `publishes` is the rule, `cases.toml` has what should come of it.

import { commands } from "portcullis:gate/shell@1.0.0";

/// What overrides and reports call the rule.
const RULE = "cargo-publish";

export const judge = {
  /// Every verdict on one event; none means that there is no objection.
  evaluate(_event) {
    return analysed().filter(publishes).map(stop);
  },
};

/// What would run, as the host found it: quotes removed, `sudo`, `bash -c` and the like opened.
/// The text itself (`text("/tool_input/command")` of `payload`) would tell less.
function analysed() {
  try {
    return commands();
  } catch (error) {
    // The stanza's `on_error` says what it means if a gate cannot judge.
    throw { tag: "host", val: error.payload ?? String(error) };
  }
}

/// The rule. A word whose value only a running shell knows has none here.
function publishes({ program, words }) {
  const values = words.slice(1).map((word) => word.value).filter((value) => value != null);
  const verb = values.find((value) => !value.startsWith("-") && !value.startsWith("+"));
  return program === "cargo" && verb === "publish" && !values.includes("--dry-run") && !values.includes("-n");
}

/// What the agent reads: what was matched, why it matters, what to do instead.
function stop({ words }) {
  const written = words.map((word) => word.raw).join(" ");
  const reason =
    `\`${written}\` would publish this crate, which cannot be undone. ` +
    "Try `cargo publish --dry-run`. Ask the maintainer to publish.";
  // Overridable: people may switch the rule off for a while, with a reason and a last day.
  return { tag: "block", val: { rule: RULE, reason, overridable: true, event: null } };
}
