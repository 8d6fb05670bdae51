//! Judges the end of a turn: who says that the work is complete or passing has run something that shows it.
//!
//! The agent's last message is searched for such a claim; if there is one, the commands of this turn, its subagents' included,
//! are searched for a test, build or lint command. Whether it succeeded is not asked, unless the project wants it: a failed run
//! is one that the message can be held against. What cannot be read is held against nobody.

mod claim;
mod evidence;
mod turn;

use evidence::Evidence;
use portcullis_foundry::transcript::Tail;
use portcullis_foundry::{Enforcement, Settings};
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};
use turn::Turn;

/// The rule's id.
const VERIFY_BEFORE_CLAIMING: &str = "verify-before-claiming";
/// Bytes of the session's transcript that are read, from its end.
const TAIL: u32 = 4 << 20;
/// Bytes of a subagent's transcript that are read, from its end.
const SUBAGENT_TAIL: u32 = 1 << 20;
/// Subagents whose transcripts are read, those that wrote last.
const SUBAGENTS: usize = 8;

portcullis_sdk::gate!(judge);

/// Judges one `Stop`.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    // The agent goes on because a stop hook sent it back: once is enough.
    if event.stop_hook_active {
        return Ok(vec![]);
    }
    let Some(settings) = Settings::of_project(host)? else { return Ok(vec![]) };
    if settings.enforcement() == Enforcement::Off || !settings.verify_on_stop() {
        return Ok(vec![]);
    }
    let message = host.text("/last_assistant_message");
    if message.as_deref().is_some_and(|message| !claim::is_made(message)) {
        return Ok(vec![]);
    }
    let Some(path) = host.text("/transcript_path") else { return Ok(vec![]) };
    let Ok(transcript) = Tail::read(host, &path, TAIL) else { return Ok(vec![]) };
    if message.is_none() && !transcript.last_assistant_text().is_some_and(|message| claim::is_made(&message)) {
        return Ok(vec![]);
    }
    let only_successful = settings.verify_require_success();
    let Some(turn) = Turn::last(&transcript, only_successful) else { return Ok(vec![]) };
    let mut evidence = Evidence::new(host);
    let is_shown = turn.commands.iter().any(|command| evidence.is_in(command))
        // What was not seen may hold the run.
        || !turn.is_complete
        || commands_of_subagents(&path, &turn, only_successful, host).any(|command| evidence.is_in(&command));
    Ok(match is_shown {
        true => vec![],
        false => vec![finding().block()],
    })
}

/// What subagents ran in this turn.
fn commands_of_subagents(path: &str, turn: &Turn, only_successful: bool, host: &impl Host) -> impl Iterator<Item = String> {
    let since = turn.since.as_deref();
    let latest = subagent_transcripts(path, host).into_iter().take(SUBAGENTS);
    let tails = latest.filter_map(|path| Tail::read(host, &path, SUBAGENT_TAIL).ok());
    // After one that fell silent before this turn, all did.
    let of_this_turn = tails.take_while(move |tail| turn::reaches(tail, since));
    of_this_turn.flat_map(move |tail| turn::commands_since(&tail, since, only_successful))
}

/// The transcripts of a session's subagents, those written last first. They lie beside the session's own:
/// `SESSION/subagents/agent-ID.jsonl`.
fn subagent_transcripts(path: &str, host: &impl Host) -> Vec<String> {
    let Some(session) = path.strip_suffix(".jsonl") else { return Vec::new() };
    let directory = format!("{session}/subagents");
    let names = host.list_dir(&directory).unwrap_or_default().into_iter();
    let names = names.filter(|name| name.starts_with("agent-") && name.ends_with(".jsonl"));
    let paths = names.map(|name| format!("{directory}/{name}"));
    let mut dated: Vec<(u64, String)> = paths.filter_map(|path| Some((host.stat(&path).ok()?.modified, path))).collect();
    dated.sort_by(|(a, _), (b, _)| b.cmp(a));
    dated.into_iter().map(|(_, path)| path).collect()
}

fn finding() -> Finding {
    let reason = "Foundry gate `verify-before-claiming`: this turn states the work is complete or passing, but no\n\
                  test, build or lint command was run in it.\n\
                  Run the project verification command and report its real output — including failures — or restate\n\
                  the claim as unverified.";
    let fields = Fields::new().text("gate", VERIFY_BEFORE_CLAIMING);
    Finding::new(VERIFY_BEFORE_CLAIMING, reason).event("gate_blocked", fields)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use portcullis_shell::{Context, analyze};
    use serde_json::{Value, json};

    use super::*;

    const TRANSCRIPT: &str = "/home/dev/s-1.jsonl";
    const SUBAGENT: &str = "/home/dev/s-1/subagents/agent-a1.jsonl";
    const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"fix it"},"timestamp":"2026-01-01T10:00:00.000Z"}"#;

    fn run(command: &str, time: &str) -> String {
        let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "message": {"role": "assistant", "content": [call]}, "timestamp": time}).to_string()
    }

    fn host(payload: Value, transcript: &str) -> FakeHost {
        let host = FakeHost::new(payload).file(".foundry/config.json", "{}").file(TRANSCRIPT, transcript);
        host.analyzer(|text, event| {
            analyze(text, &Context { cwd: event.cwd.clone(), project_root: event.project_root.clone(), home: None })
        })
    }

    fn claiming(transcript: &str) -> FakeHost {
        host(json!({"transcript_path": TRANSCRIPT, "last_assistant_message": "Verified."}), transcript)
    }

    fn is_stopped(host: &FakeHost) -> bool {
        match host.judge(judge).unwrap().as_slice() {
            [] => false,
            [Verdict::Block(finding)] => {
                assert!(!finding.overridable);
                assert_eq!(finding.event.as_ref().unwrap().fields, Fields::new().text("gate", VERIFY_BEFORE_CLAIMING).0);
                true
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_subagent_of_this_turn_may_have_run_it() {
        let by_subagent = |command: &str, time: &str| claiming(PROMPT).file(SUBAGENT, run(command, time));
        assert!(is_stopped(&claiming(PROMPT)));
        assert!(!is_stopped(&by_subagent("cargo test", "2026-01-01T10:00:00.000Z")));
        assert!(is_stopped(&by_subagent("cargo test", "2026-01-01T09:59:59.999Z")), "an earlier turn");
        assert!(is_stopped(&by_subagent("cargo fmt", "2026-01-01T10:00:01.000Z")));
        assert!(is_stopped(
            &claiming(PROMPT).file("/home/dev/s-1/subagents/notes.jsonl", run("cargo test", "2026-01-01T10:00:01.000Z"))
        ));
    }

    #[test]
    fn without_the_message_the_transcript_tells_the_last_one() {
        let says =
            |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}).to_string();
        let payload = || json!({"transcript_path": TRANSCRIPT});
        assert!(is_stopped(&host(payload(), &format!("{PROMPT}\n{}\n", says("verified")))));
        assert!(!is_stopped(&host(payload(), &format!("{PROMPT}\n{}\n{}\n", says("verified"), says("and more to do")))));
        assert!(!is_stopped(&host(payload(), PROMPT)));
    }

    #[test]
    fn what_was_not_seen_may_hold_the_run() {
        let long = "x".repeat(TAIL as usize);
        assert!(!is_stopped(&claiming(&format!("{PROMPT}\n{long}\n"))), "nothing but a part of a line");
        assert!(!is_stopped(&claiming(&format!("{PROMPT}\n{long}\n{{}}\n"))), "the turn's beginning is out of sight");
        assert!(is_stopped(&claiming(&format!("{long}\n{PROMPT}\n{{}}\n"))));
        assert!(
            is_stopped(&claiming(&format!("{PROMPT}\n{}\n{{}}\n", &long[..TAIL as usize / 2]))),
            "a long line is passed over"
        );
    }

    #[test]
    fn a_failed_run_is_a_run_unless_the_project_wants_success() {
        let failed =
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "is_error": true}]}});
        let transcript = format!("{PROMPT}\n{}\n{failed}\n", run("cargo test", "2026-01-01T10:00:01.000Z"));
        assert!(!is_stopped(&claiming(&transcript)));
        assert!(is_stopped(&claiming(&transcript).file(".foundry/config.json", r#"{"verifyRequireSuccess": true}"#)));
    }
}
