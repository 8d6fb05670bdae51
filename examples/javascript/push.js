// What a `git push` does to which branches. Plain values in and out, so that it is tested without a host.

// Words whose value is the next word.
const GIT_VALUES = ["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"];
const PUSH_VALUES = ["--push-option", "--receive-pack", "--exec", "--repo"];
const FORCING = ["--force", "--force-with-lease", "--mirror"];
const EVERYTHING = ["--all", "--branches", "--mirror"];

/// The branches that `git ...args` rewrites: none unless it is a push that forces something.
///
/// An argument is null where only a running shell knows it. `currentBranch(directory)` gives the branch that is checked out.
/// A branch that is null is one that only a running shell knows, or every branch.
export function forcedPush(args, directory, currentBranch) {
  const words = [...args];
  while (words[0]?.startsWith("-")) {
    const option = words.shift();
    if (GIT_VALUES.includes(option)) {
      const value = words.shift();
      if (option === "-C") directory = directory && value ? join(directory, value) : null;
      if (option === "--git-dir" || option === "--work-tree") directory = null;
    }
  }
  if (words.shift() !== "push") return [];

  const current = () => (directory ? currentBranch(directory) : null);
  const { forced, everything, operands } = read(words);
  const refspecs = operands.slice(1);
  const branches = refspecs.flatMap((refspec) => {
    if (refspec === null) return forced ? [null] : [];
    return forced || refspec.startsWith("+") ? target(refspec.replace(/^\+/, ""), current) : [];
  });
  if (forced && everything) branches.push(null);
  else if (forced && refspecs.length === 0) branches.push(current());
  return branches;
}

/// Whether the options of `push` force, whether they name every branch, and what is no option.
function read(words) {
  let forced = false;
  let everything = false;
  const operands = [];
  while (words.length > 0) {
    const word = words.shift();
    if (word === "--") return { forced, everything, operands: [...operands, ...words] };
    if (!word?.startsWith("-") || word === "-") {
      operands.push(word);
    } else if (word.startsWith("--")) {
      const name = word.split("=")[0];
      forced ||= FORCING.includes(name);
      everything ||= EVERYTHING.includes(name);
      if (PUSH_VALUES.includes(word)) words.shift();
    } else {
      const [, letters, option, value] = word.match(/^-([^o]*)(o?)(.*)$/s);
      forced ||= letters.includes("f");
      if (option && !value) words.shift();
    }
  }
  return { forced, everything, operands };
}

/// The branch that a refspec changes, as a list: empty for a tag, null for one that is not known.
function target(refspec, current) {
  const colon = refspec.indexOf(":");
  const name = colon < 0 ? refspec : refspec.slice(colon + 1);
  if (name === "HEAD" || name === "@") return [current()];
  if (name === "") return [null];
  const branch = name.replace(/^refs\/heads\//, "").replace(/^heads\//, "");
  return branch.startsWith("refs/") ? [] : [branch];
}

const join = (directory, path) => (path.startsWith("/") ? path : `${directory}/${path}`);

/// Whether one of the patterns, in which `*` stands for anything, is the branch.
export function isProtected(branch, patterns) {
  const literal = (text) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return patterns.some((pattern) => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`, "s").test(branch));
}
