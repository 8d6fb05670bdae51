// {{name}}: lock files are changed by their tools only.
//
// An example to change: `evaluate` says what is judged, `isLockFile` is the rule, `cases.toml` has what should come of it.

import { text } from "portcullis:gate/payload@1.0.0";

/// What overrides and reports call the rule.
const RULE = "lock-file";

export const judge = {
  /// Every verdict on one event; none means that there is no objection.
  ///
  /// What a shell command or another tool writes is judged too: the host makes an event of it (`event.derived`), in which a text
  /// that is not known is absent.
  evaluate(_event) {
    const path = text("/tool_input/file_path") ?? "";
    return isLockFile(path) ? [stop(path)] : [];
  },
};

/// The rule.
function isLockFile(path) {
  return path.endsWith(".lock") || path.endsWith("package-lock.json");
}

/// What the agent reads: what was matched, why it matters, what to do instead.
function stop(path) {
  const reason =
    `\`${path}\` is written by a package manager; a change by hand is lost or breaks the build. ` +
    "Change the manifest and let the package manager lock it.";
  // Overridable: people may switch the rule off for a while, with a reason and a last day.
  return { tag: "block", val: { rule: RULE, reason, overridable: true, event: null } };
}
