//! Adds to a prompt what the project has recorded about it: facts that share its words, and the runbooks it calls for.
//!
//! Keywords and nothing else, by design: every prompt waits for this gate.

use portcullis_foundry::memory::{self, Fact};
use portcullis_foundry::runbooks::{self, Runbook};
use portcullis_foundry::{Settings, search};
use portcullis_sdk::{Event, GateError, Host, Verdict};

/// Characters of the shortest prompt that is looked at.
const MIN_PROMPT: usize = 12;
/// Facts at most, however many the project's settings allow.
const MAX_FACTS: u64 = 5;
/// The score that a fact needs: a hit in its title, or in tags and text together.
const MIN_SCORE: u64 = 3;
/// Characters of a fact's text that are shown.
const MAX_BODY: usize = 300;
/// How the client words the end of a background task; it arrives as a prompt, and nobody has said it.
const NOTIFICATION: &str = "<task-notification>";

portcullis_sdk::gate!(judge);

/// Judges one `UserPromptSubmit`: a statement for the model, or nothing.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(prompt) = host.text("/prompt") else { return Ok(vec![]) };
    if prompt.chars().take(MIN_PROMPT).count() < MIN_PROMPT || prompt.trim_start().starts_with(NOTIFICATION) {
        return Ok(vec![]);
    }
    let Some(settings) = Settings::of_project(host)? else { return Ok(vec![]) };

    let facts = memory::active_facts(host);
    let limit = settings.max_facts().min(MAX_FACTS) as usize;
    let found = search::search(&facts, &prompt, limit, MIN_SCORE);
    let books: Vec<Runbook> = runbooks::all(host).into_iter().filter(|book| book.applies(&prompt)).collect();

    let blocks: Vec<String> = [of_facts(&found), of_runbooks(&books)].into_iter().flatten().collect();
    Ok(match blocks.is_empty() {
        true => vec![],
        false => vec![Verdict::Advise(blocks.join("\n"))],
    })
}

fn of_facts(facts: &[&Fact]) -> Option<String> {
    let mut block = String::from("## Relevant project memory\n");
    for Fact { id, kind, confidence, title, body, .. } in facts {
        block.push_str(&format!("- **{id}** ({kind}, {confidence}): {title}\n"));
        let body = in_one_line(body);
        if !body.is_empty() {
            block.push_str(&format!("  {body}\n"));
        }
    }
    block.push_str("These are recorded project facts. If the request contradicts one, say so before acting.\n");
    (!facts.is_empty()).then_some(block)
}

fn of_runbooks(books: &[Runbook]) -> Option<String> {
    let line = |book: &Runbook| format!("- `{}` — {}. Follow it; do not improvise an alternative path.\n", book.slug, book.title);
    let lines: String = books.iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("## Runbook applies\n{lines}"))
}

/// A text whose runs of newlines are one blank each, cut.
fn in_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect();
    lines.join(" ").chars().take(MAX_BODY).collect()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(prompt: &str) -> FakeHost {
        FakeHost::new(json!({"prompt": prompt}))
            .file(".foundry/memory/facts/fact-0001.md", "---\nid: fact-0001\ntitle: Gateway\n---\n")
            .file(".foundry/runbooks/deploy.md", "---\ntrigger: deploy\n---\n")
    }

    fn advice(host: &FakeHost) -> Option<String> {
        match host.judge(judge).unwrap().pop() {
            Some(Verdict::Advise(text)) => Some(text),
            other => other.map(|verdict| panic!("{verdict:?}")),
        }
    }

    #[test]
    fn both_blocks_exactly() {
        let expected = "## Relevant project memory\n- **fact-0001** (domain, medium): Gateway\n\
                        These are recorded project facts. If the request contradicts one, say so before acting.\n\
                        \n## Runbook applies\n- `deploy` — deploy. Follow it; do not improvise an alternative path.\n";
        assert_eq!(advice(&host("deploy the gateway")).as_deref(), Some(expected));
    }

    #[test]
    fn a_prompt_is_as_long_as_its_characters() {
        assert_eq!(advice(&host("gateway ???")), None, "11");
        assert!(advice(&host("gateway ????")).is_some(), "12");
        assert!(advice(&host("  gateway   ")).is_some(), "blanks count");
        assert_eq!(advice(&host("gateway èèè")), None, "11 characters in 14 bytes");
        assert_eq!(advice(&FakeHost::new(json!({}))), None);
    }

    #[test]
    fn nobody_says_a_notification() {
        assert_eq!(advice(&host("<task-notification>\ngateway deploy")), None);
        assert!(advice(&host("why the <task-notification> of the gateway?")).is_some());
    }

    #[test]
    fn a_long_text_is_cut_after_its_lines_are_joined() {
        assert_eq!(in_one_line("one\r\n\r\ntwo\n three"), "one two  three");
        assert_eq!(in_one_line(&"è\n".repeat(400)).chars().count(), MAX_BODY);
    }
}
