//! The shell analyser in its sandbox: whatever is thrown at it, there is an answer, and never consent to what it hides.

use portcullis_e2e::{Project, Registry, dist};

#[path = "../../../plugins/lib/shell/tests/inputs/mod.rs"]
mod inputs;

/// The collected command lines of the analyser's own tests.
const COLLECTED: &str = include_str!("../../../plugins/lib/shell/tests/data/commands.jsonl");

/// What guard-bash needs.
const GRANT: &str = "[hooks.capabilities.read_file]\npath_allow = ['.foundry']";

fn project() -> (Project, Registry) {
    let project = Project::default();
    project.write("project/.foundry/config.json", "{}");
    let registry = Registry::default().gate("guard-bash", &dist().join("plugins/guard-bash.wasm"), "block", GRANT);
    (project, registry)
}

/// Neither the analyser nor a gate that reads its answer fails on `command`.
fn is_judged(project: &Project, registry: &Registry, command: &str, why: &str) {
    let answer = project.hook(registry, &project.bash(command));
    let failed = ["plugin.crashed", "plugin.timeout", "plugin.error", "plugin.load_failed"];
    assert!(failed.iter().all(|kind| answer.events_of(kind).is_empty()), "{why}: {:.1500}", answer.everything());
}

#[test]
fn every_collected_line_is_analysed_without_a_trap() {
    let (project, registry) = project();
    for line in COLLECTED.lines() {
        let command: String = serde_json::from_str(line).expect("one JSON string a line");
        is_judged(&project, &registry, &command, &command);
    }
}

#[test]
fn what_multiplies_ends_within_its_fuel() {
    let (project, registry) = project();
    for (name, command) in inputs::of(&[60 * 1024]) {
        is_judged(&project, &registry, &command, name);
    }
}

/// Nested and repeated far beyond what anybody writes, each with something at its end that must not get through.
#[test]
fn what_is_too_much_is_stopped_and_never_a_crash() {
    let (project, registry) = project();
    let end = "rm -rf src";
    let nested = |open: &str, close: &str, depth: usize| format!("{}{end}{}", open.repeat(depth), close.repeat(depth));
    let rows = [
        ("subshells", nested("(", ")", 50_000)),
        ("groups", nested("{ ", "; }", 50_000)),
        ("substitutions", format!("echo {}", nested("$(", ")", 50_000))),
        ("quoted substitutions", format!("echo {}", nested("\"$(", ")\"", 20_000))),
        ("parameter defaults", format!("echo {}$({end}){}", "${a:-".repeat(50_000), "}".repeat(50_000))),
        ("conditions", format!("{}{end}{}", "if true; then ".repeat(20_000), "; fi".repeat(20_000))),
        ("open brackets alone", format!("{end}; {}", "(".repeat(500_000))),
        ("open quotes", format!("{end}; echo {}", "\"'".repeat(300_000))),
        ("braces that multiply", format!("{end} {}", "{a,b}".repeat(64))),
        ("a megabyte of commands", format!("{}{end}", "true;".repeat(200_000))),
        ("a megabyte in one word", format!("echo {}; {end}", "x".repeat(1_000_000))),
        ("a megabyte of data", format!("cat <<'EOF' > notes.md\n{}EOF\n{end}", "a line\n".repeat(150_000))),
        ("many here-documents", format!("{}{end}", "cat <<A\nx\nA\n".repeat(20_000))),
        (
            "alternatives that multiply",
            format!("{}$a$b$c$d$e$f$g$h {end}; {end}", "for x in 1 2 3 4 5 6 7 8; do a=$x; b=$x; done; ".repeat(50)),
        ),
    ];
    for (why, command) in rows {
        let answer = project.hook(&registry, &project.bash(&command));
        assert_eq!(answer.code, Some(0), "{why}");
        assert_eq!(answer.decision(), Some("deny"), "{why}: {:.1500}", answer.everything());
    }
}

#[test]
fn without_an_analyser_a_stop_says_what_to_do() {
    let (project, _) = project();
    let gate = dist().join("plugins/guard-bash.wasm");
    let registry = Registry::default().setting("analyzer", "'nowhere.wasm'").gate("guard-bash", &gate, "block", GRANT);
    let answer = project.hook(&registry, &project.bash("rm -rf src"));
    assert_eq!(answer.decision(), Some("deny"), "{answer:#?}");
    let message = answer.system_message();
    assert!(message.contains("nowhere.wasm") && message.contains("mend what it names"), "{message}");
}
