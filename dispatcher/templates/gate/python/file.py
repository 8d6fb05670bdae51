"""{{name}}: lock files are changed by their tools only.

An example to change: `evaluate` says what is judged, `is_lock_file` is the rule, `cases.toml` has what should come of it.
"""

from wit_world.imports import payload, types

# What overrides and reports call the rule.
RULE = "lock-file"


class Judge:
    def evaluate(self, event: types.Event) -> list[types.Verdict]:
        """Every verdict on one event; none means that there is no objection.

        What a shell command or another tool writes is judged too: the host makes an event of it (`event.derived`), in which a
        text that is not known is absent.
        """
        path = payload.text("/tool_input/file_path") or ""
        return [stop(path)] if is_lock_file(path) else []


def is_lock_file(path):
    """The rule."""
    return path.endswith((".lock", "package-lock.json"))


def stop(path):
    """What the agent reads: what was matched, why it matters, what to do instead."""
    reason = (
        f"`{path}` is written by a package manager; a change by hand is lost or breaks the build. "
        "Change the manifest and let the package manager lock it."
    )
    # Overridable: people may switch the rule off for a while, with a reason and a last day.
    return types.Verdict_Block(types.Finding(RULE, reason, overridable=True, event=None))
