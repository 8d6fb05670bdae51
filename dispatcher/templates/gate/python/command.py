"""{{name}}: nothing is published by accident.

An example to change: `evaluate` says what is judged, `publishes` is the rule, `cases.toml` has what should come of it.
"""

from componentize_py_types import Err
from wit_world.imports import shell, types

# What overrides and reports call the rule.
RULE = "cargo-publish"


class Judge:
    def evaluate(self, event: types.Event) -> list[types.Verdict]:
        """Every verdict on one event; none means that there is no objection."""
        # What would run, as the host found it: quotes removed, `sudo`, `bash -c` and the like opened.
        # The text itself (`payload.text("/tool_input/command")`) would tell less.
        try:
            commands = shell.commands()
        except Err as error:
            # The stanza's `on_error` says what it means if a gate cannot judge.
            raise Err(types.GateError_Host(error.value))
        return [stop(command) for command in commands if publishes(command)]


def publishes(command):
    """The rule. A word whose value only a running shell knows has none here."""
    words = [word.value for word in command.words[1:] if word.value is not None]
    verb = next((word for word in words if not word.startswith(("-", "+"))), None)
    return command.program == "cargo" and verb == "publish" and not {"--dry-run", "-n"} & set(words)


def stop(command):
    """What the agent reads: what was matched, why it matters, what to do instead."""
    written = " ".join(word.raw for word in command.words)
    reason = (
        f"`{written}` would publish this crate, which cannot be undone. "
        "Try `cargo publish --dry-run`. Ask the maintainer to publish."
    )
    # Overridable: people may switch the rule off for a while, with a reason and a last day.
    return types.Verdict_Block(types.Finding(RULE, reason, overridable=True, event=None))
