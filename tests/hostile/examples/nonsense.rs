//! Verdicts that make no sense, or that try to be more than a text: `what` names which.

use hostile::{Judged, setting};
use portcullis_sdk::{Event, Fields, Finding, Host, Verdict};

/// What a line in the journal must never become.
const FORGED: &str = "\n{\"type\":\"forged\"}\n";

/// One odd verdict.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    Ok(vec![match setting(host, "what").as_str() {
        "rewrite-text" => Verdict::Rewrite("not JSON".into()),
        "rewrite-list" => Verdict::Rewrite("[1]".into()),
        "rewrite-two" => Verdict::Rewrite(r#"{"command":"true"}{"command":"false"}"#.into()),
        "rewrite-deep" => Verdict::Rewrite(format!("{{\"command\":{}", "[".repeat(100_000))),
        "rewrite-empty" => Verdict::Rewrite(String::new()),
        "empty-reason" => Finding::new("empty", "").block(),
        "empty-rule" => Finding::new("", "no").block(),
        "empty-question" => Finding::new("empty", " \n").ask(),
        "empty-advice" => Verdict::Advise(String::new()),
        "empty-notice" => Verdict::Notify("\n".into()),
        "forged-rule" => Finding::new(format!("rule{FORGED}"), "no").block(),
        "forged-reason" => Finding::new("forged", format!("no{FORGED}\u{1b}[2Jno\0no\u{202e}")).block(),
        "forged-event" => Finding::new("forged", "no")
            .event("dispatcher.decision", Fields::new().text("type", "forged").text("forged", "yes"))
            .block(),
        other => panic!("no such nonsense: {other}"),
    }])
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
