//! Foundry's gates around a session: what begins and ends it, what a turn and a subagent's return claim, what a compaction keeps.

use std::path::Path;

use portcullis_e2e::Project;
use serde_json::{Value, json};

use crate::client;
use crate::model::{Role, Script, Turn};
use crate::session::Session;

/// What stop-verify says, and counts, when nothing was run.
const UNVERIFIED: &str = "verify-before-claiming";
const PROMPT: [&str; 2] = ["-p", "Move the widget ledger to Postgres, please."];

fn project() -> Project {
    let project = Project::default().foundry();
    let fact = "---\nid: fact-0001\ntype: decision\ntitle: The widget ledger is append-only\ntags: [ledger]\nconfidence: high\n---\n\n\
                Rows are never updated. **Why:** auditors replay it.\n";
    project.write("project/.foundry/memory/facts/fact-0001.md", fact);
    let runbook = "---\ntitle: Moving a ledger\ntrigger: to postgres; restore a ledger\n---\n\n## Rollback\nSwitch back.\n";
    project.write("project/.foundry/runbooks/move-ledger.md", runbook);
    project
}

/// One `check` on one release, where that can be had.
fn on(version: &str, check: impl Fn(&Path, &Project)) {
    if let Some(client) = client(version) {
        check(&client, &project());
    }
}

on_both_releases! {
    contexts_arrive_and_the_end_is_recorded
    a_claim_without_a_run_is_stopped_once
    a_claim_after_a_run_passes
    a_long_return_is_sent_back
    a_compaction_goes_through
}

fn contexts_arrive_and_the_end_is_recorded(client: &Path, project: &Project) {
    let session = Session::run(client, project, Script::of([Turn::say("Understood.")]), &PROMPT);
    let read = session.read(Role::Main);
    let [read] = read.as_slice() else { panic!("one request is all it takes: {read:#?}") };
    for (gate, words) in [
        ("session-start", "# Foundry project state"),
        ("session-start", "- **fact-0001** · decision · The widget ledger is append-only"),
        ("session-start", "- `move-ledger` — to postgres, restore a ledger"),
        ("prompt-context", "## Relevant project memory"),
        ("prompt-context", "- **fact-0001** (decision, high): The widget ledger is append-only"),
        ("prompt-context", "- `move-ledger` — Moving a ledger. Follow it"),
    ] {
        assert!(read.contains(words), "{gate}: {words:?} is not in {read}");
    }
    assert_eq!(kinds(&session), ["session_end"], "{:?}", session.metrics);
    let line = &session.metrics[0];
    assert_eq!((&line["reason"], &line["session"]), (&json!("other"), &session.result["session_id"]));
}

/// The client writes its transcript behind the event, and without one there is no opinion: a first call gives it the time.
fn a_claim_without_a_run_is_stopped_once(client: &Path, project: &Project) {
    let turns = [Turn::bash("ls"), Turn::say("Done, all tests pass."), Turn::say("As I said, all tests pass.")];
    let session = Session::run(client, project, Script::of(turns), &PROMPT);
    let read = session.read(Role::Main);
    assert_eq!(read.len(), 3, "the model is sent back once: {read:#?}");
    assert!(read[..2].iter().all(|before| !before.contains(UNVERIFIED)), "{read:#?}");
    let reason = "no\ntest, build or lint command was run in it.";
    let told = read[2].contains(UNVERIFIED) && read[2].contains(reason);
    assert!(told, "the model reads why: {}", read[2]);
    assert_eq!(session.result["result"], "As I said, all tests pass.");
    let blocked = session.metrics_of("gate_blocked");
    assert!(matches!(blocked.as_slice(), [line] if line["gate"] == UNVERIFIED), "{blocked:?}");
}

/// The transcript is the client's own here: what it has written of the run by the time of the stop is all the gate knows.
fn a_claim_after_a_run_passes(client: &Path, project: &Project) {
    project.program("bin/cargo", "echo 'test result: ok. 3 passed'", 0o755);
    let script = Script::of([Turn::bash("cargo test"), Turn::say("Done, all tests pass.")]);
    let session = Session::run(client, project, script, &PROMPT);
    let told = session.told().unwrap_or_default();
    assert!(told.contains("3 passed"), "the run is the stub's: {told}");
    assert_eq!(session.read(Role::Main).len(), 2, "nobody is sent back");
    assert_eq!(session.result["result"], "Done, all tests pass.");
    assert_eq!(kinds(&session), ["session_end"], "{:?}", session.metrics);
}

/// In the newer release the main thread goes on, and even stops, before its subagent has returned.
fn a_long_return_is_sent_back(client: &Path, project: &Project) {
    let task = json!({"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"});
    let main = [Turn::Call("Agent", task), Turn::say("I have seen it.")];
    let (long, short) = ("a line of what was found ".repeat(400), "The report is in report.json: nothing is amiss.");
    let subagent = vec![Turn::Say(long), Turn::say("Still too long. ".repeat(300).as_str()), Turn::say(short)];
    let session = Session::run(client, project, Script { subagent, ..Script::of(main) }, &PROMPT);

    let read = session.read(Role::Subagent);
    assert_eq!(read.len(), 3, "a second long return is no better than the first: {read:#?}");
    for told in &read[1..] {
        assert!(told.contains("over the 900-token hard limit") && told.contains("- the artifact path"), "{told}");
    }
    let returns = session.metrics_of("subagent_return");
    let over: Vec<bool> = returns.iter().map(|line| line["tokens"].as_u64().expect("a count") > 900).collect();
    assert_eq!(over, [true, true, false], "{returns:?}");
    assert!(returns.iter().all(|line| line["agent"] == "general-purpose"), "{returns:?}");
    let main = session.read(Role::Main);
    let heard = session.told().unwrap_or_default() + &main.concat();
    assert!(heard.contains(short), "the main thread gets the short one: {heard}");
    assert!(!heard.contains("a line of what was found"), "and only that: {heard}");
    // The end of a background agent arrives as a prompt that is nobody's words: it is not searched for.
    assert_eq!(main[main.len() - 1].matches("## Relevant project memory").count(), 1, "{main:#?}");
}

fn a_compaction_goes_through(client: &Path, project: &Project) {
    // Some exchanges first: the older release has nothing to compact in one.
    let talk = [Turn::bash("true"), Turn::bash("true"), Turn::say("We chose Postgres.")];
    Session::run(client, project, Script::of(talk), &PROMPT);
    // Far over what a subagent may return, and the client's own.
    let detail = "Everything in detail. ".repeat(500);
    let summary = format!("<analysis>None.</analysis>\n<summary>{detail}</summary>");
    let compaction = Script { summary, ..Script::of([Turn::say("Nothing more.")]) };
    let session = Session::run(client, project, compaction, &["-p", "/compact", "--continue"]);
    let read = session.read(Role::Summarizer);
    let [read] = read.as_slice() else { panic!("the summary is accepted at once: {read:#?}\n{}", session.result) };
    let instruction = "Foundry compaction instruction (manual trigger; project memory holds 1 facts).";
    assert!(read.contains(instruction) && read.contains("with why it failed."), "{read}");
    assert_eq!(session.metrics_of("gate_blocked"), Vec::<&Value>::new());

    let after = Session::run(client, project, Script::of([Turn::say("On we go.")]), &["-p", "Go on with it.", "--continue"]);
    let read = after.read(Role::Main);
    assert!(read[0].contains(detail.trim_end()), "the session goes on from the summary: {read:#?}");
    assert_eq!(after.metrics_of("session_end").len(), 3);
}

fn kinds(session: &Session) -> Vec<&str> {
    session.metrics.iter().filter_map(|line| line["kind"].as_str()).collect()
}
