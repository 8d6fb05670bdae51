// A gate that keeps protected branches from being pushed to by force.
//
// The host calls `judge.evaluate` for each event. What is imported from `portcullis:gate` is the host: wit/world.wit names the
// interfaces, wit/deps/gate.wit says what each function does.

import { config } from "portcullis:gate/config@1.0.0";
import { emitEvent } from "portcullis:gate/events@1.0.0";
import { readFile } from "portcullis:gate/files@1.0.0";
import { checkoutAt } from "portcullis:gate/repository@1.0.0";
import { commands } from "portcullis:gate/shell@1.0.0";

import { forcedPush, isProtected } from "./push.js";
import { decoded } from "./utf8.js";

const RULE = "protected-branch-force-push";

export const judge = {
  // A `result` is returned as its value, or thrown as its error.
  evaluate(_event) {
    const branches = analysed().flatMap(branchesOf);
    // Most commands are no pushes: nothing more is asked of the host for those.
    const patterns = branches.length > 0 ? protectedBranches() : [];
    return branches.flatMap((branch) => {
      if (branch === null) return [{ tag: "ask", val: finding("a branch that is not known before it runs") }];
      if (isProtected(branch, patterns)) {
        return [{ tag: "block", val: finding(`\`${branch}\`, which is protected here`, branch) }];
      }
      emitEvent("branch.force_pushed", [text("branch", branch)]);
      return [];
    });
  },
};

/// The commands that would run, analysed by the host. If it could not, neither can we: `on_error` decides.
function analysed() {
  try {
    return commands();
  } catch (error) {
    throw { tag: "host", val: error.payload ?? String(error) };
  }
}

/// The branches that a command pushes to by force.
function branchesOf({ program, words, directory }) {
  if (program !== "git") return [];
  // What is absent is null, here and in what is returned.
  return forcedPush(words.slice(1).map((word) => word.value), directory, (place) => checkoutAt(place)?.branch ?? null);
}

/// Patterns of the protected branches: `branches` of the stanza, and the lines of the project's file that `list` names.
function protectedBranches() {
  const branches = JSON.parse(config("branches") ?? "null");
  if (!Array.isArray(branches) || !branches.every((branch) => typeof branch === "string")) {
    throw { tag: "config", val: "`branches` in [hooks.config] is no list of branches" };
  }
  const path = JSON.parse(config("list") ?? "null");
  const lines = path === null ? [] : textOf(path).split("\n");
  return [...branches, ...lines.map((line) => line.trim()).filter((line) => line !== "")];
}

/// The text of a file; empty if there is none.
function textOf(path) {
  let bytes;
  try {
    bytes = readFile(path);
  } catch (error) {
    const { tag, val } = error.payload ?? error;
    if (tag === "not-found") return "";
    throw { tag: "host", val: `${path} could not be read: ${tag} (${val ?? ""})` };
  }
  return decoded(bytes);
}

function finding(target, branch = "?") {
  return {
    rule: RULE,
    reason:
      `This pushes by force to ${target}: commits that others build on would be gone. ` +
      "Push to a branch of your own and open a pull request.",
    overridable: true,
    event: { kind: "branch.force_push_stopped", fields: [text("branch", branch), text("decision", "")] },
  };
}

const text = (name, value) => ({ name, value: { tag: "text", val: value } });
