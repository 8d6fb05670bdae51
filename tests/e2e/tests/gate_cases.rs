//! `dispatcher test`: the cases of the project's own gates, those in its documentation, and what a gate's author sees of it, word
//! for word.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_e2e::{Project, Terminal, finish, hostile};
use serde_json::Value;

/// All of the project's own cases, on a machine that is busy.
const LONGEST: Duration = Duration::from_secs(120);

/// What `dispatcher test` with these words came to: exit code, standard output and standard error.
fn test(project: &Project, words: &[&str]) -> (i32, String, String) {
    let file = |name: &str| File::create(project.path(name)).expect("a file of the scratch");
    let mut dispatcher = project.dispatcher();
    dispatcher.arg("test").args(words).stdout(file("stdout")).stderr(file("stderr"));
    let status = finish(&mut dispatcher, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
    let text = |name: &str| fs::read_to_string(project.path(name)).expect("what was printed");
    (status.code().expect("no signal"), text("stdout"), text("stderr"))
}

/// The directories of the gates.
fn plugins() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins")).expect("the gates' sources")
}

#[test]
fn the_projects_own_gates_do_what_their_cases_say() {
    let (code, stdout, stderr) = test(&Project::default(), &[&plugins().display().to_string()]);
    assert!(code == 0, "exit code {code}\n{stdout}{stderr}");
    for set in ["foundry", "guard-self"] {
        let gates = match set {
            "guard-self" => vec![plugins().join(set)],
            set => fs::read_dir(plugins().join(set)).expect("a set").map(|entry| entry.expect("an entry").path()).collect(),
        };
        for gate in gates {
            assert!(gate.join("cases.toml").is_file(), "{} has no cases", gate.display());
        }
    }
}

/// A component that says nothing stands in for every gate: cases that hold of it as well hold of anything.
#[test]
fn every_file_of_cases_can_fail() {
    let (all, silent) = (plugins().display().to_string(), hostile("speaker").display().to_string());
    let (code, stdout, stderr) = test(&Project::default(), &[&all, "--gate", &silent, "--json"]);
    assert!(code == 1, "exit code {code}\n{stdout:.2000}{stderr}");
    let results: Value = serde_json::from_str(&stdout).expect("JSON");
    let cases = results["cases"].as_array().expect("cases");
    let files: std::collections::BTreeSet<&str> = cases.iter().map(|case| case["file"].as_str().expect("a file")).collect();
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        let failed = cases.iter().any(|case| case["file"] == file && case["outcome"] == "failed");
        assert!(failed, "no case of {file} needs its gate");
    }
}

/// The examples of the documentation, as files of cases.
fn examples() -> Vec<String> {
    let text = include_str!("../../../docs/testing-a-gate.md");
    let blocks = text.split("```toml\n").skip(1);
    blocks.map(|block| block.split("```").next().expect("an end").to_owned()).collect()
}

#[test]
fn the_examples_of_the_documentation_hold() {
    let project = Project::default();
    let mut run = 0;
    for (number, example) in examples().iter().enumerate() {
        let name = format!("project/{number}.cases.toml");
        project.write(&name, example);
        // Of the gate that its reader has yet to write, there is none to run.
        let list: &[&str] = if example.contains("[stanza]") { &["--list"] } else { &[] };
        let (code, stdout, stderr) = test(&project, &[&[project.name(&name).as_str()], list].concat());
        assert!(code == 0, "exit code {code}\n{stdout}{stderr}\n{example}");
        run += usize::from(list.is_empty());
    }
    assert!(run >= 3, "the documentation has {run} examples that run");
}

/// Every key, and every word for a verdict or capability, is explained.
#[test]
fn the_documentation_names_every_key() {
    let (code, schema, stderr) = test(&Project::default(), &["--schema"]);
    assert!(code == 0, "{stderr}");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let text = include_str!("../../../docs/testing-a-gate.md");
    let definitions = &schema["definitions"];
    let keys = ["Entry", "Written", "Edited", "Other", "Holds"].into_iter().flat_map(|name| {
        definitions[name]["properties"].as_object().unwrap_or_else(|| panic!("{name}")).keys().cloned().collect::<Vec<_>>()
    });
    let words = ["Verdict", "Power"].into_iter().flat_map(|name| {
        let words = definitions[name]["oneOf"].as_array().unwrap_or_else(|| panic!("{name}"));
        words.iter().map(|word| word["const"].as_str().expect("a word").to_owned()).collect::<Vec<_>>()
    });
    for key in keys.chain(words) {
        let written = [format!("`{key}`"), format!("{{ {key}"), format!(", {key},"), format!(", {key} ")];
        assert!(written.iter().any(|written| text.contains(written)), "`{key}` is nowhere in docs/testing-a-gate.md");
    }
}

const CASES: &str = r#"# The guard for commands.
[defaults]
gate = "guard-bash"
files.".foundry/config.json" = "{}"

[[case]]
name = "a forced push is stopped"
bash = "git push -f"
expect = "deny" # always
rule = "git-push-force"

# It is in the way of nobody who writes about it.
[[case]]
name = "a message that names one is not"
bash = "git commit -m 'never push -f'"
expect = "pass"
"#;

#[test]
fn what_holds_is_told_in_one_line_and_what_does_not_with_both_sides() {
    let mut terminal = Terminal::default();
    terminal.write("cases.toml", CASES);
    terminal.dispatcher(&["test", "cases.toml"]);
    terminal.dispatcher(&["test", ".", "--verbose"]);
    terminal.dispatcher(&["test", "cases.toml", "--list"]);
    let wrong =
        CASES.replace("expect = \"pass\"", "expect = \"ask\"\ncontains = [\"never\"]").replace("git-push-force", "force-push");
    terminal.write("wrong.cases.toml", &format!("{wrong}{FURTHER}"));
    terminal.dispatcher(&["test", "wrong.cases.toml"]);
    terminal.dispatcher(&["test", "wrong.cases.toml", "--filter", "message"]);
    terminal.dispatcher(&["test", "wrong.cases.toml", "--filter", "massage"]);
    terminal.is("test.txt");
}

/// One case for each kind of expectation that does not hold.
const FURTHER: &str = r#"
[[case]]
name = "not even asked"
bash = "git push -f"
files.".foundry/config.json" = false
expect = "pass"

[[case]]
name = "texts, events and capabilities"
bash = "git push -f"
expect = "deny"
rules = ["git-push-force", "db-drop"]
contains = "Fondry gate `git-push-force` blocked"
lacks = "${project}"
events = []
used = ["process"]
denied = ["files"]
overridden = ["db-drop"]

[[case]]
name = "files"
bash = "git status"
expect = "pass"
files."a.txt" = "one\ntwo\nthree\n"
files_after."a.txt" = "one\n2\nthree\n"
files_after."b.txt" = true
files_after.".foundry/config.json" = { contains = ["enforcement"] }

[[case]]
name = "a gate that fails is no gate that passes"
gate = "regression-gate"
event = "PostToolUse"
bash = "cargo test"
capabilities = {}
files.".factory/x" = ""
expect = "pass"

[[case]]
name = "a setting of two gates"
gate = ["guard-bash", "guard-write"]
config = { level = "strict" }
bash = "git status"
expect = "pass"
"#;

#[test]
fn bad_input_is_told_with_its_place_and_nothing_runs() {
    let mut terminal = Terminal::default();
    for (name, text) in [
        ("syntax", "[[case]\nname = 'x'\n"),
        ("empty", "[defaults]\ntoday = '2026-12-01'\n"),
        ("key", "[[case]]\nname = 'x'\nbash = 'ls'\nexpects = 'pass'\n"),
        ("defaults", "[default]\ngate = 'guard-bash'\n[[case]]\nname = 'x'\nbash = 'ls'\nexpect = 'pass'\n"),
        ("verdict", "[[case]]\nname = 'x'\nbash = 'ls'\nexpect = 'denied'\n"),
        ("nothing", "[[case]]\nname = 'x'\nbash = 'ls'\n"),
        ("event", "[[case]]\nname = 'x'\nevent = 'PreToolUs'\nbash = 'ls'\nexpect = 'pass'\n"),
        ("two", "[[case]]\nname = 'x'\nbash = 'ls'\nread = 'a'\nexpect = 'pass'\nrule = 'r'\nrules = []\n"),
        ("quiet", "[[case]]\nexpect = 'pass'\ntoday = 'tomorrow'\n"),
        ("json", "[[case]]\nname = 'x'\njson = '[]'\nexpect = 'pass'\n"),
        ("type", "[[case]]\nname = 'x'\nbash = ['ls']\nexpect = 'pass'\nwrite = { path = 'a', contents = 'b' }\n"),
        ("same", "[[case]]\nname = 'x'\nbash = 'ls'\nexpect = 'pass'\n[[case]]\nname = 'x'\nbash = 'ls'\nexpect = 'pass'\n"),
    ] {
        let name = format!("{name}.cases.toml");
        terminal.write(&name, text);
        terminal.dispatcher(&["test", &name]);
    }
    let unknown = CASES.replace("\"guard-bash\"", "\"guard-bsh\"");
    terminal.write("unknown.cases.toml", &unknown);
    terminal.dispatcher(&["test", "unknown.cases.toml"]);
    terminal.write("outside.cases.toml", &CASES.replace(".foundry/config.json", "../config.json"));
    terminal.dispatcher(&["test", "outside.cases.toml", "--filter", "forced"]);
    terminal.write("cases.toml", CASES);
    terminal.dispatcher(&["test", "nowhere.toml"]);
    terminal.dispatcher(&["test", "cases.toml", "--only", "guard"]);
    terminal.dispatcher(&["test", "cases.toml", "--gate", "cases.toml"]);
    terminal.dispatcher(&["test", "cases.toml", "--registry", "nowhere.toml"]);
    fs::create_dir(terminal.project.path("project/none")).expect("a directory");
    terminal.dispatcher(&["test", "none"]);
    terminal.is("test-input.txt");
}

/// A component with a stanza made for it: what the file of cases says, and what it may not.
#[test]
fn one_component_is_tested_as_the_file_says() {
    let mut terminal = Terminal::default();
    let speaker = hostile("speaker");
    fs::copy(&speaker, terminal.project.path("project/speaker.wasm")).expect("a copy");
    let cases = r#"
[stanza]
tool = "Bash"
mode = "ask"
config.say = [{ block = "not here", rule = "house" }]

[[case]]
name = "a stop that is only to ask"
bash = "ls"
expect = "ask"
rules = ["house"]

[[case]]
name = "another tool is none of its business"
read = "a"
expect = "unasked"

[[case]]
name = "with another setting it says something else"
bash = "ls"
config = { say = [{ advise = "look at ${project}" }, { emit = "looked", text = "twice" }] }
expect = "advise"
contains = "look at ${project}"
events = [{ type = "looked", hook = "speaker", text = "twice" }]

[[case]]
name = "another input"
bash = "ls"
config = { say = [{ rewrite = '{"command": "ls -l", "description": "d"}' }] }
expect = "rewrite"
rewritten = { command = "ls -l" }

[[case]]
name = "a word for the human"
bash = "ls"
config = { say = [{ notify = "hello" }] }
expect = "notify"

[[case]]
name = "no word at all"
bash = "ls"
config = { say = [] }
expect = "pass"

[[case]]
name = "a failure"
bash = "ls"
config = { say = [{ fail = "out of order" }] }
expect = "failed"
contains = "out of order"
"#;
    terminal.write("cases.toml", cases);
    terminal.dispatcher(&["test", "cases.toml", "--gate", "speaker.wasm"]);
    terminal.dispatcher(&["test", "cases.toml"]);
    terminal.write("wrong.cases.toml", &cases.replace("tool = \"Bash\"", "tool = \"(\""));
    terminal.dispatcher(&["test", "wrong.cases.toml", "--gate", "speaker.wasm"]);
    terminal.write("wrong.cases.toml", &cases.replace("tool = \"Bash\"", "tol = \"Bash\""));
    terminal.dispatcher(&["test", "wrong.cases.toml", "--gate", "speaker.wasm"]);
    terminal.is("test-gate.txt");
}

/// Every way to say what a project holds, and what of it a gate gets to see.
#[test]
fn a_project_is_laid_out_as_the_case_says() {
    let project = Project::default();
    fs::copy(hostile("speaker"), project.path("project/speaker.wasm")).expect("a copy");
    project.write("project/cases/fixtures/long.txt", "from a fixture");
    let cases = r#"
[stanza]
capabilities.read_file.path_allow = ["docs", "~/notes", "${transcript}"]

[defaults]
bash = "ls"
expect = "advise"
used = ["files"]
files."docs/kept.txt" = "kept"
files."docs/gone.txt" = "gone"

[[case]]
name = "a file of the defaults"
config.say = [{ advise = "{file}", file = "docs/kept.txt" }]
contains = "kept"

[[case]]
name = "one of them that is not there"
files."docs/gone.txt" = false
config.say = [{ advise = "[{file}]", file = "docs/gone.txt" }]
contains = "[not found]"

[[case]]
name = "a fixture beside the file of cases"
files."docs/long.txt" = { from = "fixtures/long.txt" }
config.say = [{ advise = "{file}", file = "docs/long.txt" }]
contains = "from a fixture"

[[case]]
name = "a link, which leads nowhere that is not granted"
files."docs/link.txt" = { link = "${home}/secret.txt" }
files."~/secret.txt" = "secret"
config.say = [{ advise = "[{file}]", file = "docs/link.txt" }]
contains = "[not granted: docs/link.txt"
used = []
denied = ["files"]

[[case]]
name = "the home directory"
files."~/notes/a.txt" = "in ${home}"
config.say = [{ advise = "{file}", file = "${home}/notes/a.txt" }]
contains = "in ${home}"

[[case]]
name = "a directory"
files."docs/empty" = { directory = true }
files_after."docs/empty" = false
config.say = [{ advise = "x" }]
used = []

[[case]]
name = "the transcript"
transcript = [{ type = "user" }]
event = "Stop"
config.say = [{ advise = "x" }]
used = []
files_after."~/.claude/projects/project/session.jsonl" = "{\"type\":\"user\"}\n"

[[case]]
name = "a recorded event"
json = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "in ${project}"}, "x": 1}'
config.say = [{ advise = "{command}", if = '"x": 1' }]
contains = "in ${project}"
used = []

[[case]]
name = "fields of a payload"
payload = { permission_mode = "plan" }
config.say = [{ advise = "planned", if = '"permission_mode":"plan"' }]
contains = "planned"
used = []

[[case]]
name = "what a tool came to"
event = "PostToolUseFailure"
response = "Exit code 3"
config.say = [{ advise = "failed", if = '"error":"Exit code 3"' }]
contains = "failed"
used = []
"#;
    project.write("project/cases/cases.toml", cases);
    let (code, stdout, stderr) = test(&project, &["cases", "--gate", "speaker.wasm"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "10 passed in 1 file\n", ""));
}

#[test]
fn an_update_writes_what_came_and_leaves_all_else() {
    let mut terminal = Terminal::default();
    let stale = CASES.replace("\"deny\" # always\nrule = \"git-push-force\"", "\"pass\" # always");
    let stale =
        stale.replace("expect = \"pass\"\n", "expect = \"deny\"\nrule = \"git-push-force\" # of old\ncontains = \"force\"\n");
    let open = "\n[[case]]\nname = \"new\"\nbash = \"rm -rf build && git clean -fdx\"\n\n[case.env]\nA = \"b\"\n";
    terminal.write("cases.toml", &format!("{stale}{open}"));
    terminal.dispatcher(&["test", "cases.toml", "--update"]);
    terminal.dispatcher(&["test", "cases.toml", "--update"]);
    terminal.cat("cases.toml");
    // What all cases have by default is nobody's to change for one of them.
    let inherited = CASES.replace("[[case]]\nname = \"a f", "expect = \"deny\"\nrule = \"db-drop\"\n\n[[case]]\nname = \"a f");
    terminal.write("defaults.cases.toml", &inherited);
    terminal.dispatcher(&["test", "defaults.cases.toml", "--update"]);
    terminal.is("test-update.txt");
}

#[test]
fn programs_read_the_results_too() {
    let project = Project::default();
    project.write("project/cases.toml", format!("{}{FURTHER}", CASES.replace("\"git-push-force\"", "\"<&\\\"\"")));
    let junit = project.name("junit.xml");
    let (code, stdout, stderr) = test(&project, &["cases.toml", "--json", "--junit", &junit]);
    assert_eq!((code, stderr.as_str()), (2, ""), "one case could not run");
    let results: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&results["passed"], &results["failed"], &results["broken"]), (&1.into(), &5.into(), &1.into()), "{results:#}");
    let first = &results["cases"][0];
    assert_eq!((&first["line"], &first["outcome"], &first["got"]["verdict"]), (&6.into(), &"failed".into(), &"deny".into()));
    assert_eq!(first["differences"][0]["key"], "rule");
    assert_eq!(first["got"]["used"], serde_json::json!(["files"]));
    let xml = fs::read_to_string(junit).expect("the results");
    assert_eq!(well_formed(&xml), Ok(7), "{xml}");
    assert!(xml.contains("tests=\"7\" failures=\"5\" errors=\"1\"") && xml.contains("&lt;&amp;&quot;"), "{xml}");
}

/// How many elements `testcase` there are in an XML text whose elements are closed in the order in which they are opened.
fn well_formed(xml: &str) -> Result<usize, String> {
    let (mut open, mut cases) = (Vec::new(), 0);
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").ok_or("no declaration")?;
    while let Some((text, after)) = rest.split_once('<') {
        let entity = |part: &str| ["amp;", "lt;", "gt;", "quot;"].iter().any(|entity| part.starts_with(entity));
        if text.contains('>') || !text.split('&').skip(1).all(entity) {
            return Err(format!("text {text:?}"));
        }
        let (tag, after) = after.split_once('>').ok_or("an open tag")?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("{name} is closed"));
            }
            continue;
        }
        if tag.matches('"').count() % 2 != 0 {
            return Err(format!("quotes of {tag}"));
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        cases += usize::from(name == "testcase");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    match open.is_empty() && rest.trim().is_empty() {
        true => Ok(cases),
        false => Err(format!("{open:?} left open")),
    }
}

/// Whatever is in the way of the user's own home, a case sees nothing of it, and one case nothing of another.
#[test]
fn nothing_of_the_user_is_read_or_written() {
    let mut project = Project::default();
    project.write("home/.config/portcullis/registry.toml", "schema_version = 2\n[gates.guard-bash]\nmode = 'off'\n");
    project.write("project/.foundry/overrides.json", OVERRIDES);
    project.variable("VSDD_TELEMETRY", "off");
    let cases = format!(
        "{CASES}\n[[case]]\nname = 'overridden'\nbash = 'git push -f'\nfiles.'.foundry/overrides.json' = '''{OVERRIDES}'''\n\
         expect = 'pass'\n\n[[case]]\nname = 'and again'\nbash = 'git push -f'\nexpect = 'deny'\n"
    );
    project.write("project/cases.toml", cases);
    let (code, stdout, stderr) = test(&project, &["cases.toml"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "4 passed in 1 file\n", ""));
    assert_eq!(fs::read_dir(project.path("state")).expect("a directory").count(), 0, "no journal is written");
    assert!(!project.path("project/.foundry/metrics").exists(), "nor here");
}

const OVERRIDES: &str = r#"{"overrides": [{"gate": "git-push-force", "reason": "a fork", "expires": "2099-01-31"}]}"#;
