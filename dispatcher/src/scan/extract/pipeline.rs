//! Steps of pipelines in YAML: `run` of GitHub's workflows and actions, `script` of GitLab's jobs.

use portcullis_artifact::yaml;
use portcullis_artifact::{Node, Value};

use super::{Extracted, is_shell};
use crate::scan::Why;
use crate::scan::script::Script;

/// Keys of a GitLab job that hold commands.
const GITLAB: [&str; 3] = ["before_script", "script", "after_script"];

/// Every `run` of a workflow or of a composite action.
pub fn of_workflow(text: &str) -> Extracted {
    let Some(root) = yaml::parse(text, 1) else { return Extracted::malformed() };
    let mut extracted = Extracted::default();
    let shell = default_shell(&root);
    for job in values(root.get("jobs")) {
        let on_windows = job.get("runs-on").is_some_and(|on| on.items().iter().any(|on| on.text().is_some_and(is_windows)));
        let usual = default_shell(job).or(shell).unwrap_or(if on_windows { "pwsh" } else { "bash" });
        steps(job, usual, text, &mut extracted);
    }
    if let Some(runs) = root.get("runs") {
        steps(runs, shell.unwrap_or("bash"), text, &mut extracted);
    }
    extracted
}

fn steps(job: &Node, usual: &str, text: &str, extracted: &mut Extracted) {
    for step in job.get("steps").map(Node::items).unwrap_or_default() {
        let Some(run) = step.get("run") else { continue };
        let shell = step.get("shell").and_then(Node::text).unwrap_or(usual);
        // With its options: `bash -euo pipefail {0}`.
        match is_shell(shell.split_whitespace().next().unwrap_or_default()) {
            true => extracted.scripts.extend(script(run, text).map(Script::without_expressions)),
            false => extracted.skip(Why::OtherShell),
        }
    }
}

fn default_shell(node: &Node) -> Option<&str> {
    node.get("defaults")?.get("run")?.get("shell")?.text()
}

fn is_windows(runner: &str) -> bool {
    runner.to_ascii_lowercase().starts_with("windows")
}

/// The commands of every GitLab job, those of one list together, since they share a shell.
pub fn of_gitlab(text: &str) -> Extracted {
    let Some(root) = yaml::parse(text, 1) else { return Extracted::malformed() };
    let mut extracted = Extracted::default();
    for job in std::iter::once(&root).chain(values(Some(&root))) {
        for key in GITLAB {
            let Some(commands) = job.get(key) else { continue };
            let mut whole = Script::default();
            lines(commands, text, 0, &mut whole);
            extracted.scripts.push(whole);
        }
    }
    extracted
}

/// Commands of lists in lists, one after the other.
fn lines(node: &Node, text: &str, depth: usize, whole: &mut Script) {
    match &node.value {
        Value::List(items) if depth < 10 => items.iter().for_each(|item| lines(item, text, depth + 1, whole)),
        _ => {
            if let Some(script) = script(node, text) {
                whole.append(&script);
            }
        }
    }
}

fn values(node: Option<&Node>) -> impl Iterator<Item = &Node> {
    let entries = match node.map(|node| &node.value) {
        Some(Value::Map(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|(_, node)| node)
}

/// A scalar with the places of its characters.
fn script(node: &Node, text: &str) -> Option<Script> {
    let command = node.text()?;
    let at = byte(text, node.at);
    let rest = &text[at..];
    let begins = match rest.as_bytes().first() {
        // The text of a block begins below its header.
        Some(b'|' | b'>') => rest.find('\n').map_or(rest.len(), |end| end + 1),
        Some(b'"' | b'\'') => 1,
        // An alias: what it stands for is elsewhere.
        Some(b'*') => {
            let mut script = Script::default();
            script.insert(command, at);
            return Some(script);
        }
        _ => 0,
    };
    Some(Script::aligned(command, text, at + begins))
}

/// The byte of a character.
pub fn byte(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(extracted: &Extracted) -> Vec<&str> {
        extracted.scripts.iter().map(|script| script.text.trim_end()).collect()
    }

    #[test]
    fn steps_of_workflows_by_their_shells() {
        let text = "\
defaults: {run: {shell: sh}}
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - uses: x
      - run: one é
      - run: |  # why
          two
            three ${{ a.b }}
      - {run: four, shell: pwsh}
      - run: \"five \\\"x\\\"\"
        shell: bash -euo pipefail {0}
  b:
    runs-on: [self-hosted, x]
    defaults: {run: {shell: python}}
    steps: [{run: six}]
";
        let found = of_workflow(text);
        assert_eq!(texts(&found), ["one é", "two\n  three ${EXPRESSION}", "five \"x\""]);
        assert_eq!(found.skipped, [Why::OtherShell]);
        let place = |script: usize, word: &str| {
            let script = &found.scripts[script];
            let at = script.text.find(word).unwrap();
            &text[script.span(at..at + word.len())]
        };
        assert_eq!((place(0, "é"), place(1, "three"), place(2, "five")), ("é", "three", "five"));
    }

    #[test]
    fn windows_has_another_shell_and_actions_have_steps_too() {
        let windows = of_workflow(
            "jobs:\n  a:\n    runs-on: windows-2025\n    steps:\n      - run: x\n      - run: y\n        shell: bash\n",
        );
        assert_eq!((texts(&windows), windows.skipped.len()), (vec!["y"], 1));
        assert_eq!(texts(&of_workflow("runs:\n  using: composite\n  steps:\n    - run: x\n      shell: bash\n")), ["x"]);
        assert_eq!(of_workflow("a: [").skipped, [Why::Malformed]);
    }

    #[test]
    fn jobs_of_gitlab() {
        let text = ".x: &x echo x\nbefore_script: [a]\nbuild:\n  script:\n    - b\n    - - c\n      - *x\n    - |\n      d\n      e\n  variables: {script: no}\n";
        assert_eq!(texts(&of_gitlab(text)), ["a", "b\nc\necho x\nd\ne"]);
    }
}
