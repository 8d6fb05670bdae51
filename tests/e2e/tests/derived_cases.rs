//! For each case of a file that is written with the tool `Write`: the same file, written by a command, comes to the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use portcullis_e2e::{Answer, Project};
use serde_json::{Value, json};

/// Cases where the two differ, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Gates of the set that looks for `.foundry`.
const FOUNDRY: &str = "guard-write";

fn cases() -> Vec<Value> {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../cases/{name}.jsonl"));
        std::fs::read_to_string(path).expect("the cases")
    };
    let cases = ["foundry", "vsdd-pre", "field-reports"].map(read);
    let lines = cases.iter().flat_map(|text| text.lines());
    let cases = lines.map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
    let writes = |case: &Value| {
        let (event, input) = (&case["event"], &case["event"]["tool_input"]);
        event["hook_event_name"] == "PreToolUse"
            && event["tool_name"] == "Write"
            && input["file_path"].as_str().is_some_and(|path| !path.is_empty())
            && input["content"].is_string()
    };
    cases.filter(writes).collect()
}

/// The project that a case describes, and the case with its paths.
fn laid_out(case: &Value) -> (Project, Value) {
    let project = Project::default();
    let root = project.name("project");
    let text = case.to_string().replace("${ROOT}", &root).replace("/home/dev/project", &root);
    let case: Value = serde_json::from_str(&text).expect("paths are plain");
    let marks: &[&str] = match case["hook"].as_str() {
        Some(FOUNDRY) if case["init"] != false => &[".foundry"],
        Some(_) => &[],
        None => &[".foundry", ".factory"],
    };
    for mark in marks {
        std::fs::create_dir_all(project.path("project").join(mark)).expect("a directory of the scratch");
    }
    if case["git"].is_object() {
        worktrees(&project, &case["git"]);
    }
    for (name, content) in case["files"].as_object().into_iter().flatten() {
        project.write(&format!("project/{name}"), content.as_str().unwrap_or_default());
    }
    if !case["config"].is_null() {
        project.write("project/.foundry/config.json", case["config"].to_string());
    }
    (project, case)
}

fn worktrees(project: &Project, spec: &Value) {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        git.current_dir(project.path("project")).stdin(Stdio::null()).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("HOME", project.path("home")).env_remove("GIT_DIR");
        let output = git.output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    };
    std::fs::remove_dir_all(project.path("project/.git")).expect("what stands for a repository");
    if spec["init"] != false {
        git(&["init", "-q", "-b", spec["branch"].as_str().unwrap_or("main")]);
        git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    }
    for tree in spec["worktrees"].as_array().into_iter().flatten() {
        let (path, branch) = (tree["path"].as_str().expect("a path"), tree["branch"].as_str().unwrap_or("main"));
        if tree["detached"] == true {
            git(&["branch", branch]);
            git(&["worktree", "add", "-q", "--detach", path, branch]);
        } else if tree["unborn"] == true {
            git(&["worktree", "add", "-q", "--orphan", "-b", branch, path]);
        } else {
            git(&["worktree", "add", "-q", "-b", branch, path]);
        }
    }
}

fn judged(project: &Project, case: &Value, event: &Value) -> Answer {
    let mut call = project.call_shipped().event(event);
    if let Some(hook) = case["hook"].as_str() {
        call = call.with(&["--only", hook]);
    }
    if let Some(today) = case["today"].as_str() {
        call = call.with(&["--today", today]);
    }
    call.answer()
}

/// The same write as a command.
fn in_a_command(event: &Value) -> Value {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let path = text("/tool_input/file_path").replace('\'', r"'\''");
    let content = text("/tool_input/content");
    let command = format!("cat > '{path}' <<'END_OF_CASE'\n{}\nEND_OF_CASE\n", content.strip_suffix('\n').unwrap_or(content));
    let mut event = event.clone();
    event["tool_name"] = "Bash".into();
    event["tool_input"] = json!({"command": command});
    event
}

#[test]
fn a_file_is_judged_alike_however_it_is_written() {
    let cases = cases();
    assert_eq!(cases.len(), 92, "PreToolUse cases of Write in the case files");
    let exceptions: BTreeMap<&str, &str> = EXCEPTIONS.iter().copied().collect();
    let (mut stopped, mut differ) = (0, Vec::new());
    for case in &cases {
        let id = case["id"].as_str().expect("a case has an id");
        let (project, case) = laid_out(case);
        let written = judged(&project, &case, &case["event"]);
        let commanded = judged(&project, &case, &in_a_command(&case["event"]));
        stopped += usize::from(written.decision().is_some());
        if (commanded.decision() == written.decision()) == exceptions.contains_key(id) {
            differ.push(format!(
                "{id}: {:?}, by a command {:?} {:.300}",
                written.decision(),
                commanded.decision(),
                commanded.stdout
            ));
        }
    }
    assert!(stopped > 40, "{stopped} cases are stopped or asked about");
    assert!(differ.is_empty(), "{} of {}: {differ:#?}", differ.len(), cases.len());
}
