"""A gate that keeps protected branches from being pushed to by force.

`componentize-py` calls `Judge.evaluate` for each event. What is imported from `wit_world` is the host: wit/world.wit names
the interfaces, wit/deps/gate.wit says what each function does.
"""

import json

from componentize_py_types import Err
from push import forced_push, is_protected
from wit_world.imports import config, events, files, repository, shell, types

RULE = "protected-branch-force-push"


class Judge:
    def evaluate(self, event: types.Event) -> list[types.Verdict]:
        pushes = [push for command in commands() if (push := push_of(command))]
        # Most commands are no pushes: nothing more is asked of the host for those.
        patterns = protected() if pushes else []
        verdicts = []
        for branch in [branch for push in pushes for branch in push.branches]:
            if branch is None:
                verdicts.append(types.Verdict_Ask(finding("a branch that is not known before it runs")))
            elif is_protected(branch, patterns):
                verdicts.append(types.Verdict_Block(finding(f"`{branch}`, which is protected here", branch)))
            else:
                events.emit_event("branch.force_pushed", [text("branch", branch)])
        return verdicts


def commands():
    """The commands that would run, analysed by the host. If it could not, neither can we: `on_error` decides."""
    try:
        return shell.commands()
    except Err as error:
        raise Err(types.GateError_Host(error.value))


def push_of(command):
    """The push by force that a command is, if it is one."""
    if command.program != "git":
        return None
    return forced_push([word.value for word in command.words[1:]], command.directory, current_branch)


def current_branch(directory):
    checkout = repository.checkout_at(directory)
    return checkout.branch if checkout else None


def protected():
    """Patterns of the protected branches: `branches` of the stanza, and the lines of the project's file that `list` names."""
    branches = json.loads(config.config("branches") or "null")
    if not isinstance(branches, list) or not all(isinstance(branch, str) for branch in branches):
        raise Err(types.GateError_Config("`branches` in [hooks.config] is no list of branches"))
    path = json.loads(config.config("list") or "null")
    if path is None:
        return branches
    try:
        lines = files.read_file(path).decode("utf-8", "replace").split("\n")
    except Err as error:
        if isinstance(error.value, types.HostError_NotFound):
            return branches
        raise Err(types.GateError_Host(f"{path} could not be read: {described(error.value)}"))
    return branches + [line.strip() for line in lines if line.strip()]


def described(error):
    """A host error in words: its name, and its own where it has some."""
    name = type(error).__name__.removeprefix("HostError_")
    return f"{name} ({error.value})" if getattr(error, "value", None) else name


def finding(target, branch=None):
    reason = (
        f"This pushes by force to {target}: commits that others build on would be gone. "
        "Push to a branch of your own and open a pull request."
    )
    draft = types.EventDraft("branch.force_push_stopped", [text("branch", branch or "?"), text("decision", "")])
    return types.Finding(RULE, reason, overridable=True, event=draft)


def text(name, value):
    return types.Field(name, types.FieldValue_Text(value))
