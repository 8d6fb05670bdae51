"""{{name}}: nothing goes on that has the phrase.

An example to change: `evaluate` says what is judged, `has` is the rule, `cases.toml` has what should come of it.
"""

import json

from componentize_py_types import Err
from wit_world.imports import config, payload, types

# What overrides and reports call the rule.
RULE = "phrase"


class Judge:
    def evaluate(self, event: types.Event) -> list[types.Verdict]:
        """Every verdict on one event; none means that there is no objection."""
        # The agent goes on because of an earlier stop: a gate that never lets go would keep it forever.
        if event.stop_hook_active:
            return []
        phrase = json.loads(config.config("phrase") or "null")
        if not isinstance(phrase, str):
            # A setting that is not there is a mistake, and the stanza's `on_error` says what it means.
            raise Err(types.GateError_Config("`phrase` is missing"))
        # The whole event as the agent sent it. One field of it is cheaper: `payload.text("/prompt")`.
        return [stop(event, phrase)] if has(payload.json(), phrase) else []


def has(text, phrase):
    """The rule."""
    return phrase in text


def stop(event, phrase):
    """What the agent reads: what was matched, why it matters, what to do instead."""
    reason = f'This {event.name} says "{phrase}", which nobody should do now. Say what you want to do instead.'
    # Overridable: people may switch the rule off for a while, with a reason and a last day.
    return types.Verdict_Block(types.Finding(RULE, reason, overridable=True, event=None))
