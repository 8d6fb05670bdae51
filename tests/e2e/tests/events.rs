//! Every event of the protocol, as samples of its reference and as recorded from the real client (`tests/events`), through the
//! shipped registry: each gets an answer that the agent understands, and the guards stop nothing that they should not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use portcullis_e2e::{Project, each, legal};
use serde_json::Value;

/// The samples that Foundry's guards do not let pass, with the decision; everything else is none of their business.
const STOPPED: [(&str, &str); 3] =
    [("PreToolUse.Bash.json", "deny"), ("PreToolUse.PowerShell.json", "deny"), ("PreToolUse.Write.json", "ask")];

/// A sample's name and its text, which names the places that it was recorded in.
type Sample = (String, String);

fn samples() -> Vec<Sample> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../events");
    let mut samples = Vec::new();
    for entry in fs::read_dir(directory).expect("tests/events").flatten() {
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let text = fs::read_to_string(entry.path()).expect("a sample");
        match name.ends_with(".jsonl") {
            true => {
                samples.extend(text.lines().enumerate().map(|(line, text)| (format!("{name}:{}", line + 1), text.to_owned())))
            }
            false => samples.push((name, text)),
        }
    }
    samples.sort();
    samples
}

/// The sample as sent from `project`.
fn placed(text: &str, project: &Project) -> String {
    let places =
        [("${ROOT}", "project"), ("${TRANSCRIPTS}", "home"), ("${TASKS}", "home"), ("/home/dev/projects/ledger", "project")];
    places.iter().fold(text.to_owned(), |text, (place, directory)| text.replace(place, &project.name(directory)))
}

fn name_of(text: &str) -> String {
    let event: Value = serde_json::from_str(text).expect("a sample is JSON");
    event["hook_event_name"].as_str().expect("a sample has a name").to_owned()
}

#[test]
fn every_event_gets_an_answer_that_the_agent_understands() {
    let samples = samples();
    let project = Project::default().foundry();
    each(
        &samples,
        |sample| &sample.0,
        |(name, text)| {
            let event = name_of(text);
            for arguments in [&[][..], &[event.as_str()]] {
                let answer = project.call_shipped().with(arguments).input(placed(text, &project)).run();
                let shown = format!("{name} with {arguments:?}: {answer:#?}");
                legal(&event, &answer).unwrap_or_else(|fault| panic!("{fault}, {shown}"));
                assert!(!answer.system_message().contains("could not judge"), "{shown}");
            }
        },
    );
}

#[test]
fn the_guards_have_no_opinion_on_what_is_none_of_their_business() {
    let samples = samples();
    let project = Project::default().foundry();
    each(
        &samples,
        |sample| &sample.0,
        |(name, text)| {
            let answer = project.call_guards().input(placed(text, &project)).answer();
            let shown = format!("{name}: {answer:#?}");
            let expected = STOPPED.iter().find(|(stopped, _)| stopped == name).map(|(_, decision)| *decision);
            assert_eq!((answer.code, answer.decision(), answer.stderr.as_str()), (Some(0), expected, ""), "{shown}");
            assert!(expected.is_some() || answer.stdout.is_empty(), "{shown}");
        },
    );
}

/// Outside of a Foundry project they do not even run.
#[test]
fn elsewhere_the_guards_have_no_say() {
    let project = Project::default();
    for (name, text) in samples().iter().filter(|(name, _)| STOPPED.iter().any(|(stopped, _)| stopped == name)) {
        let answer = project.call_shipped().input(placed(text, &project)).answer();
        let said = answer.everything();
        assert!(!said.contains("guard-bash") && !said.contains("guard-write"), "{name}: {answer:#?}");
    }
}

/// The samples are all of the protocol, so that nothing above is held by too few.
#[test]
fn no_event_lacks_a_sample() {
    let events: BTreeSet<String> = samples().iter().map(|(_, text)| name_of(text)).collect();
    assert_eq!(events.len(), 34, "{events:#?}");
}
