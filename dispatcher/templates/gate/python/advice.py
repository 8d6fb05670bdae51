"""{{name}}: what has the phrase gets a reminder.

An example to change: `evaluate` says what is judged, `has` is the rule, `cases.toml` has what should come of it. On {{event}}
nothing can be stopped; what a gate says goes to the model where the event allows it, else to the human.
"""

import json

from componentize_py_types import Err
from wit_world.imports import config, payload, types


class Judge:
    def evaluate(self, event: types.Event) -> list[types.Verdict]:
        """Every verdict on one event; none means that there is nothing to say."""
        phrase = json.loads(config.config("phrase") or "null")
        if not isinstance(phrase, str):
            # A setting that is not there is a mistake, and the stanza's `on_error` says what it means.
            raise Err(types.GateError_Config("`phrase` is missing"))
        # The whole event as the agent sent it. One field of it is cheaper: `payload.text("/source")`.
        return [remind(phrase)] if has(payload.json(), phrase) else []


def has(text, phrase):
    """The rule."""
    return phrase in text


def remind(phrase):
    """What is said."""
    return types.Verdict_Advise(f"It is {phrase}: look at the checklist first.")
