//! The example gates in Python and JavaScript beside their twin in Rust: each does what a gate does, and all decide alike.
//!
//! `cargo xtask examples` builds them; what it built, it names in `PORTCULLIS_EXAMPLES`, and that must be there.
#![allow(missing_docs)]

use std::fs;
use std::path::PathBuf;

use portcullis_e2e::{Answer, Author, Project, Registry, each, example};
use serde_json::Value;

const FOREIGN: [&str; 2] = ["python", "javascript"];
const RULE: &str = "protected-branch-force-push";
const BRANCHES: &str = "config.branches = ['main', 'release/*']";

/// The examples that were built, the one in Rust first.
fn built() -> Vec<(&'static str, PathBuf)> {
    let named = std::env::var("PORTCULLIS_EXAMPLES").unwrap_or_default();
    let mut found = Vec::new();
    for name in ["rust"].into_iter().chain(FOREIGN) {
        match example(name) {
            Some(component) => found.push((name, component)),
            None if named.split(',').any(|built| built == name) => panic!("the example in {name} was built, and is not there"),
            None => eprintln!("skipped: the example in {name} was not built (`cargo xtask examples`)"),
        }
    }
    found
}

/// A project and its registry of this one gate, compiled.
fn guarded(component: &std::path::Path, rest: &str) -> (Project, Registry) {
    let project = Project::default();
    let registry = Registry::default().gate("example", component, "block", &format!("tool = 'Bash'\n{rest}"));
    project.write("plugin/registry.toml", registry.text());
    let compiled = project.dispatcher().args(["compile", "--registry", &project.name("plugin/registry.toml")]).output();
    let compiled = compiled.expect("the dispatcher runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    (project, registry)
}

fn judged(component: &std::path::Path, rest: &str, command: &str) -> Answer {
    let (project, registry) = guarded(component, rest);
    let answer = project.hook(&registry, &project.bash(command));
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    answer
}

/// What is said of an event and recorded of it, without times.
fn summary(answer: &Answer) -> (Option<String>, String, String, Vec<String>) {
    let told = |event: &Value| format!("{} {} {} {}", event["type"], event["branch"], event["decision"], event["rules"]);
    let events = answer.events.iter().map(told).collect();
    (answer.decision().map(str::to_owned), answer.reason().to_owned(), answer.system_message().to_owned(), events)
}

#[test]
fn a_push_by_force_to_a_protected_branch_is_stopped_and_recorded() {
    for (name, component) in built() {
        let answer = judged(&component, BRANCHES, "cd . && git push --force origin release/1.0");
        assert_eq!(answer.decision(), Some("deny"), "{name}: {answer:#?}");
        assert!(answer.reason().contains("`release/1.0`, which is protected here"), "{name}: {}", answer.reason());
        let recorded = answer.events_of("branch.force_push_stopped");
        assert!(recorded.len() == 1 && recorded[0]["branch"] == "release/1.0" && recorded[0]["decision"] == "deny", "{name}");
        assert_eq!(answer.events_of("dispatcher.decision")[0]["rules"], serde_json::json!([RULE]), "{name}");
    }
}

#[test]
fn another_push_passes_and_one_by_force_is_recorded() {
    for (name, component) in built() {
        let answer = judged(&component, BRANCHES, "git push --force origin topic");
        assert_eq!((answer.decision(), answer.stdout.as_str()), (None, ""), "{name}: {answer:#?}");
        let recorded = answer.events_of("branch.force_pushed");
        assert!(recorded.len() == 1 && recorded[0]["branch"] == "topic", "{name}: {answer:#?}");
    }
}

#[test]
fn a_file_is_read_only_where_the_stanza_grants_it() {
    for (name, component) in built() {
        let list = format!("{BRANCHES}\nconfig.list = '.branches'");
        let answer = judged(&component, &list, "git push -f origin staging");
        assert_eq!(answer.decision(), Some("deny"), "{name}: {answer:#?}");
        assert!(answer.reason().contains(".branches could not be read"), "{name}: {}", answer.reason());
        let denied = answer.events_of("internal.capability_denied");
        assert!(denied.len() == 1 && denied[0]["path"] == ".branches", "{name}: {answer:#?}");

        let granted = format!("{list}\ncapabilities.read_file.path_allow = ['.branches']");
        let (project, registry) = guarded(&component, &granted);
        let answer = |command| project.hook(&registry, &project.bash(command));
        assert_eq!(answer("git push -f origin staging").decision(), None, "{name}: without the file");
        project.write("project/.branches", "über/*\n\n  staging  \n");
        assert_eq!(answer("git push -f origin staging").decision(), Some("deny"), "{name}");
        assert_eq!(answer("git push -f origin über/€").decision(), Some("deny"), "{name}");
    }
}

#[test]
fn a_setting_that_is_missing_is_named() {
    for (name, component) in built() {
        let answer = judged(&component, "", "git push -f");
        assert_eq!(answer.decision(), Some("deny"), "{name}: {answer:#?}");
        assert!(answer.reason().contains("`branches` in [hooks.config]"), "{name}: {}", answer.reason());
    }
}

#[test]
fn what_the_host_could_not_do_is_passed_on() {
    for (name, component) in built() {
        let (project, registry) = guarded(&component, BRANCHES);
        let registry = registry.setting("analyzer", "'no-such-analyser.wasm'");
        let answer = project.hook(&registry, &project.bash("git push -f"));
        assert_eq!(answer.decision(), Some("deny"), "{name}: {answer:#?}");
        assert!(answer.reason().contains("no-such-analyser.wasm"), "{name}: {}", answer.reason());
        assert!(!answer.reason().contains("crashed"), "{name}: {}", answer.reason());
    }
}

/// The whole of a component's powers is what its world names, whatever the tool chain adds.
#[test]
fn what_they_import_is_their_world() {
    for (name, component) in built() {
        let (project, _) = guarded(&component, BRANCHES);
        let inspected = project.dispatcher().arg("inspect").arg(&component).arg("--json").output().expect("the dispatcher runs");
        let facts: Value = serde_json::from_slice(&inspected.stdout).expect("JSON");
        assert_eq!((&facts["kind"], &facts["problem"]), (&Value::from("gate"), &Value::Null), "{name}");
        let own =
            facts["imports"].as_array().unwrap().iter().filter_map(|import| import.as_str()?.strip_prefix("portcullis:gate/"));
        let own = own.filter(|interface| !interface.ends_with("types"));
        // What the SDK for Rust says when a gate panics goes to `log`.
        let own: Vec<_> = own.filter(|interface| name != "rust" || *interface != "log").collect();
        assert_eq!(own, ["config", "events", "files", "repository", "shell"], "{name}");
        let validated = project.dispatcher().arg("validate").arg(project.name("plugin/registry.toml")).output().unwrap();
        assert!(validated.status.success(), "{name}: {}", String::from_utf8_lossy(&validated.stdout));
    }
}

/// The same command, the same decision, message and events, in every language.
#[test]
fn all_languages_decide_alike() {
    let built = built();
    let Some(((_, twin), others)) = built.split_first().filter(|(_, others)| !others.is_empty()) else { return };
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/commands.txt");
    let commands = fs::read_to_string(list).expect("the list of commands");
    let commands: Vec<&str> = commands.lines().filter(|line| !line.is_empty()).collect();
    let (project, rust) = guarded(twin, BRANCHES);
    let decided: Vec<_> = commands.iter().map(|command| summary(&project.hook(&rust, &project.bash(command)))).collect();
    for decision in [Some("deny"), Some("ask"), None] {
        assert!(decided.iter().filter(|row| row.0.as_deref() == decision).count() >= 5, "the list holds too few of {decision:?}");
    }
    for (name, component) in others {
        let (project, registry) = guarded(component, BRANCHES);
        let rows: Vec<_> = commands.iter().zip(&decided).collect();
        each(
            &rows,
            |(command, _)| command,
            |(command, expected)| {
                assert_eq!(summary(&project.hook(&registry, &project.bash(command))), **expected, "{name}: {command}");
            },
        );
    }
}

/// What `dispatcher new` begins in a language, with the tool chain that its example was built with.
fn begun(language: &str, installed: &str, build: &str, gates: &[(&str, &str)]) {
    let name = if language == "js" { "javascript" } else { language };
    let Some((_, component)) = built().into_iter().find(|(built, _)| *built == name) else { return };
    let tools = component.with_file_name(installed);
    let mut author = Author::new(&component.with_file_name("unused"));
    author.project.variable("XDG_CACHE_HOME", &author.project.name("cache"));
    for (name, words) in gates {
        author.does(&format!(
            "dispatcher new {name} --lang {language} {words}\ncd {name}\nln -s '{}' {installed}",
            tools.display()
        ));
        author.does(&format!("{build}\ndispatcher compile --registry registry.toml"));
        let judged =
            author.does("dispatcher test cases.toml --registry registry.toml\ndispatcher validate --strict registry.toml");
        assert!(judged.contains("passed in 1 file"), "{judged}");
        author.does("cd ..");
    }
}

#[test]
fn a_gate_begun_in_javascript_builds_tests_and_runs() {
    let gates =
        [("a-command", ""), ("a-file", "--tool 'Write|Edit'"), ("a-text", "--event Stop"), ("an-advice", "--event SessionStart")];
    begun("js", "node_modules", "npm run --silent build", &gates);
}

/// The one: native code of CPython takes half a minute to make.
#[test]
fn a_gate_begun_in_python_builds_tests_and_runs() {
    begun("python", ".venv", "sh build.sh", &[("a-command", "")]);
}

/// A scaffold is pinned to what the examples are tested with.
#[test]
fn scaffolds_have_the_tool_chains_of_the_examples() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for file in ["python/requirements.txt", "javascript/package.json", "javascript/package-lock.json"] {
        let text = |place: &str| fs::read_to_string(format!("{root}/{place}/{file}")).expect("a file of the repository");
        assert!(text("examples") == text("dispatcher/templates/gate"), "{file}");
    }
}
