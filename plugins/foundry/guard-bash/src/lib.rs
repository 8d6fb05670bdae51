//! Judges what a shell command would run: eight rules against what cannot be undone.
//!
//! The rules look at analysed commands, never at the text: a mention in a message, a search pattern or a file that is being
//! written is no command, and another spelling of a command is the same command. It is a seatbelt, not a sandbox: script
//! files, `make` targets and encoded programs are not looked into.
//!
//! Every rule that matches is reported, in the order of [`RULES`]; people may override each in `.foundry/overrides.json`.

mod rules;

use portcullis_foundry::{Enforcement, Settings};
use portcullis_sdk::shell::{Certainty, Command};
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};
use rules::{download, files, git, sql};

/// The tools that run a shell command.
const TOOLS: [&str; 3] = ["Bash", "Monitor", "PowerShell"];

portcullis_sdk::gate!(judge);

/// One thing that a command line must not do.
pub struct Rule {
    /// What overrides and events name.
    pub id: &'static str,
    /// Why not, and what to do instead.
    pub why: &'static str,
    matches: fn(&CommandLine) -> bool,
}

/// The rules, in the order they are reported.
pub static RULES: [Rule; 8] = [
    Rule {
        id: "rm-recursive-force",
        why: "Forced recursive deletion. Delete specific paths, or move them to a scratch directory first.",
        matches: |line| line.any(files::removes_trees_by_force),
    },
    Rule {
        id: "git-push-force",
        why: "Force push rewrites shared history. Use --force-with-lease, and never on the default branch.",
        matches: |line| line.any(git::pushes_by_force),
    },
    Rule {
        id: "git-reset-hard-remote",
        why: "Discards every local commit and every change in progress. Stash or create a branch first.",
        matches: |line| line.any(git::resets_to_remote),
    },
    Rule {
        id: "git-clean-force",
        why: "Removes untracked and ignored files, .env files included. List them first with git clean -n.",
        matches: |line| line.any(git::cleans_by_force),
    },
    Rule { id: "db-drop", why: "Destructive schema change. Go through a reviewed migration.", matches: sql::drops_schema },
    Rule {
        id: "chmod-777",
        why: "Permissions anyone can write to. Grant the narrowest mode that works.",
        matches: |line| line.any(files::opens_to_everyone),
    },
    Rule {
        id: "curl-pipe-shell",
        why: "Executes unreviewed remote code. Download it, read it, then run it.",
        matches: download::runs_download,
    },
    Rule {
        id: "history-rewrite",
        why: "Rewrites the repository's entire history. Coordinate with every collaborator first.",
        matches: |line| line.any(git::rewrites_history),
    },
];

/// What the rules look at.
struct CommandLine {
    /// Everything that would run, in source order.
    commands: Vec<Command>,
    /// The whole text, where not all of it could be parsed.
    unparsed: Option<String>,
}

impl CommandLine {
    fn any(&self, matches: fn(&Command) -> bool) -> bool {
        self.commands.iter().any(matches)
    }
}

/// Judges one `PreToolUse` event of a tool that runs a shell command.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let tool = event.tool.as_deref().unwrap_or(TOOLS[0]);
    if !TOOLS.contains(&tool) {
        return Ok(vec![]);
    }
    let Some(settings) = Settings::of_project(host)? else { return Ok(vec![]) };
    let (decision, verdict): (_, fn(Finding) -> Verdict) = match settings.enforcement() {
        Enforcement::Gate => ("deny", Finding::block),
        Enforcement::Warn => ("ask", Finding::ask),
        Enforcement::Off => return Ok(vec![]),
    };
    let commands = host.commands()?;
    let coarse = commands.iter().any(|command| command.certainty == Certainty::Coarse);
    let line = CommandLine { commands, unparsed: host.text("/tool_input/command").filter(|_| coarse) };

    let matching = RULES.iter().filter(|rule| (rule.matches)(&line));
    Ok(matching.map(|rule| verdict(finding(rule, tool, decision))).collect())
}

fn finding(rule: &Rule, tool: &str, decision: &str) -> Finding {
    let Rule { id, why, .. } = rule;
    let reason = format!(
        "Foundry gate `{id}` blocked this command.\n\
         {why}\n\
         \n\
         If it is genuinely required, add an override to `.foundry/overrides.json`:\n\
         {{\"overrides\":[{{\"gate\":\"{id}\",\"reason\":\"<why>\",\"expires\":\"<YYYY-MM-DD>\"}}]}}"
    );
    let fields = Fields::new().text("gate", *id).text("tool", tool).text("decision", decision);
    Finding::new(*id, reason).overridable().event("gate_blocked", fields)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(tool: &str, command: &str) -> FakeHost {
        let payload =
            json!({"hook_event_name": "PreToolUse", "tool_name": tool, "cwd": "/project", "tool_input": {"command": command}});
        FakeHost::new(payload).file(".foundry/config.json", "{}").analyzer(|text, _| rules::analyze(text))
    }

    /// Rule ids of the findings, each with the decision that its event names.
    fn judged(host: &FakeHost) -> Vec<(String, String)> {
        let finding = |verdict| match verdict {
            Verdict::Block(finding) => (finding, "deny"),
            Verdict::Ask(finding) => (finding, "ask"),
            other => panic!("neither stop nor question: {other:?}"),
        };
        let verdicts = host.judge(judge).unwrap().into_iter().map(finding);
        verdicts
            .map(|(finding, decision)| {
                assert!(finding.overridable);
                let event = finding.event.unwrap();
                let tool = host.text("/tool_name").unwrap();
                let fields = Fields::new().text("gate", finding.rule.as_str()).text("tool", tool).text("decision", decision);
                assert_eq!((event.kind.as_str(), event.fields), ("gate_blocked", fields.0));
                (finding.rule, decision.to_owned())
            })
            .collect()
    }

    #[test]
    fn every_matching_rule_is_reported_in_order() {
        let all = "curl x | sh; chmod 777 x; psql -c 'drop table x'; git filter-repo; git clean -f; git push -f; rm -rf x; git reset --hard origin/x";
        let ids: Vec<String> = judged(&host("Bash", all)).into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(ids, RULES.each_ref().map(|rule| rule.id));
    }

    #[test]
    fn enforcement_decides_between_stop_question_and_silence() {
        let with =
            |level: &str| host("Bash", "rm -rf x").file(".foundry/config.json", format!("{{\"enforcement\": \"{level}\"}}"));
        assert_eq!(judged(&with("gate"))[0].1, "deny");
        assert_eq!(judged(&with("warn"))[0].1, "ask");
        assert_eq!(judged(&with("off")), []);
    }

    #[test]
    fn every_tool_that_runs_a_shell_is_covered() {
        for tool in TOOLS {
            assert_eq!(judged(&host(tool, "rm -rf x")).len(), 1, "{tool}");
        }
        assert_eq!(judged(&host("Read", "rm -rf x")), []);
    }

    #[test]
    fn an_analyser_that_fails_is_an_error() {
        let payload = json!({"tool_name": "Bash", "cwd": "/project", "tool_input": {"command": "rm -rf x"}});
        let host = FakeHost::new(payload).file(".foundry/config.json", "{}");
        assert!(matches!(host.judge(judge), Err(GateError::Host(_))));
    }

    #[test]
    fn what_the_messages_recommend_passes() {
        for command in [
            "rm -r build/cache",
            "mv build ~/scratch/",
            "git push --force-with-lease origin topic",
            "git stash push -m 'before reset'",
            "git switch -c keep",
            "git clean -n",
            "git clean -nfdx",
            "chmod u+x run.sh",
            "chmod 750 run.sh",
            "curl -fsSL https://example.com/i.sh -o i.sh",
            "less i.sh",
            "sh i.sh",
            "alembic revision -m 'drop table legacy'",
        ] {
            assert_eq!(judged(&host("Bash", command)), [], "{command}");
        }
    }
}
