//! Tells the model, at the start of a session, what the project remembers and where it stands.
//!
//! Branch and head come from the host; two questions need git itself: how many files are not committed, and the last
//! commit's subject, which only git's object store holds. Both run without git's optional locks, so that they never fight the
//! agent for the index, and the host ends them before this gate's time is up: what is not answered by then is left out.

mod git;

use portcullis_foundry::runbooks::{self, Runbook};
use portcullis_foundry::{Settings, index, memory, tokens};
use portcullis_sdk::{Event, GateError, Host, Verdict};

/// The starts that begin without the project in mind.
const SOURCES: [&str; 3] = ["startup", "resume", "clear"];
/// The index that the project keeps.
const INDEX: &str = ".foundry/memory/INDEX.md";
/// Tokens that the whole may have.
const MAX_TOKENS: usize = 1500;
/// Characters that are left of what has more.
const CUT: usize = 6000;

portcullis_sdk::gate!(judge);

/// Judges one `SessionStart`: a statement for the model.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !host.text("/source").is_some_and(|source| SOURCES.contains(&source.as_str())) {
        return Ok(vec![]);
    }
    let Some(settings) = Settings::of_project(host)? else { return Ok(vec![]) };
    let mut lines = vec!["# Foundry project state".to_owned(), String::new(), index_of_memory(&settings, host)];
    lines.extend(of_runbooks(&runbooks::all(host)));
    lines.extend(git::standing(event, host).map(|standing| format!("\n## Repository\n{standing}")));
    lines.push(
        "\nFull facts: use the `memory_search` tool of the `foundry` MCP server; do not read `.foundry/memory/facts/` yourself."
            .to_owned(),
    );
    Ok(vec![Verdict::Advise(within_budget(lines.join("\n")))])
}

/// The index as the project keeps it; made here, in memory, where it keeps none.
fn index_of_memory(settings: &Settings, host: &impl Host) -> String {
    let kept = host.read_text(INDEX).unwrap_or_else(|_| index::of(&memory::active_facts(host), settings.index_budget()));
    kept.trim().to_owned()
}

fn of_runbooks(books: &[Runbook]) -> Option<String> {
    let line = |book: &Runbook| match book.triggers.is_empty() {
        true => format!("- `{}`\n", book.slug),
        false => format!("- `{}` — {}\n", book.slug, book.triggers.join(", ")),
    };
    let lines: String = books.iter().map(line).collect();
    (!books.is_empty()).then(|| {
        format!(
            "\n## Runbooks\n{lines}If one of these covers the task at hand, fetch it with `runbook_get` and follow it; do not improvise another way."
        )
    })
}

fn within_budget(text: String) -> String {
    if tokens(&text) <= MAX_TOKENS {
        return text;
    }
    let start: String = text.chars().take(CUT).collect();
    format!("{start}\n\n(truncated to protect the session token budget)")
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn advice(host: FakeHost) -> String {
        match host.judge(judge).unwrap().as_slice() {
            [Verdict::Advise(text)] => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn started() -> FakeHost {
        FakeHost::new(json!({"source": "startup", "cwd": "/project"})).file(".foundry/config.json", "{}")
    }

    #[test]
    fn the_parts_in_order() {
        let host = started()
            .file(
                ".foundry/memory/facts/fact-0001.md",
                "---\nid: fact-0001\ntype: decision\ntitle: Use Flyway\ntags: [db]\n---\n",
            )
            .file(".foundry/runbooks/deploy.md", "---\ntrigger: deploy; ship\n---\n")
            .file(".foundry/runbooks/bare.md", "# Bare\n");
        let expected = "# Foundry project state\n\n# Foundry memory index\n\n- **fact-0001** · decision · Use Flyway `db`\n\
            \n## Runbooks\n- `bare`\n- `deploy` — deploy, ship\n\
            If one of these covers the task at hand, fetch it with `runbook_get` and follow it; do not improvise another way.\n\
            \nFull facts: use the `memory_search` tool of the `foundry` MCP server; do not read `.foundry/memory/facts/` yourself.";
        assert_eq!(advice(host), expected);
    }

    #[test]
    fn other_starts_say_nothing() {
        for payload in [json!({"source": "compact"}), json!({"source": "fork"}), json!({"source": "Startup"}), json!({})] {
            let host = FakeHost::new(payload).file(".foundry/config.json", "{}");
            assert_eq!(host.judge(judge), Ok(vec![]));
        }
    }

    #[test]
    fn only_what_is_over_the_budget_is_cut() {
        assert_eq!(within_budget("è".repeat(6000)), "è".repeat(6000));
        let cut = within_budget("è".repeat(6001));
        assert_eq!(cut, format!("{}\n\n(truncated to protect the session token budget)", "è".repeat(6000)));
    }
}
