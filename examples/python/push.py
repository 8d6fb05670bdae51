"""What a `git push` does to which branches. Plain values in and out, so that it is tested without a host."""

import posixpath
import re
from dataclasses import dataclass

# Words whose value is the next word.
GIT_VALUES = {"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"}
PUSH_VALUES = {"--push-option", "--receive-pack", "--exec", "--repo"}
FORCING = {"--force", "--force-with-lease", "--mirror"}
EVERYTHING = {"--all", "--branches", "--mirror"}
SPACES = ("refs/heads/", "heads/")


@dataclass
class Push:
    """A push by force."""

    # The branches that it rewrites; None is one that only a running shell knows, or every branch.
    branches: list[str | None]


def forced_push(arguments, directory, current_branch):
    """The push that `git ARGUMENTS` is, if it forces anything.

    An argument is None where only a running shell knows it. `current_branch(directory)` gives the branch that is checked out.
    """
    words = list(arguments)
    while words and words[0] is not None and words[0].startswith("-"):
        option = words.pop(0)
        if option in GIT_VALUES:
            value = words.pop(0) if words else None
            if option == "-C":
                directory = posixpath.join(directory, value) if directory and value else None
            elif option in ("--git-dir", "--work-tree"):
                directory = None
    if not words or words.pop(0) != "push":
        return None

    forced, everything, operands = read(words)
    branches = []
    for refspec in operands[1:]:
        if refspec is None:
            branches += [None] if forced else []
        elif forced or refspec.startswith("+"):
            branches += target(refspec.removeprefix("+"), directory, current_branch)
    if forced and everything:
        branches.append(None)
    elif forced and len(operands) < 2:
        branches.append(current_branch(directory) if directory else None)
    return Push(branches) if branches else None


def read(words):
    """Whether the options of `push` force, whether they name every branch, and what is no option."""
    forced, everything, operands = False, False, []
    while words:
        word = words.pop(0)
        if word == "--":
            return forced, everything, operands + words
        if word is None or not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            name = word.partition("=")[0]
            forced |= name in FORCING
            everything |= name in EVERYTHING
            if word in PUSH_VALUES and words:
                words.pop(0)
        else:
            letters, option, value = word[1:].partition("o")
            forced |= "f" in letters
            if option and not value and words:
                words.pop(0)
    return forced, everything, operands


def target(refspec, directory, current_branch):
    """The branch that a refspec changes: none for a tag, None for one that is not known."""
    source, colon, destination = refspec.partition(":")
    name = destination if colon else source
    if name in ("HEAD", "@"):
        return [current_branch(directory) if directory else None]
    if not name:
        return [None]
    for space in SPACES:
        name = name.removeprefix(space)
    return [] if name.startswith("refs/") else [name]


def is_protected(branch, patterns):
    """Whether one of the patterns, in which `*` stands for anything, is the branch."""
    return any(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), branch) for pattern in patterns)
