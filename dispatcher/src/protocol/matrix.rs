//! Which verdict can be said on which event, and how: one table for dispatcher, linter, generator and docs.

/// How a stop is worded for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// `hookSpecificOutput.permissionDecision: "deny"`.
    Deny,
    /// `hookSpecificOutput.decision: {behavior: "deny"}`.
    DenyRequest,
    /// Top-level `decision: "block"` with `reason`.
    Decision,
    /// Exit code 2 with the reason on stderr.
    Exit2,
    /// `hookSpecificOutput.action: "decline"`.
    Decline,
    /// Any failure stops it: exit code 1 with the reason on stderr.
    Exit1,
    /// Cannot stop; said as [`Advise`] would.
    Advice,
    /// Cannot stop, and nobody would read it: journalled only.
    Never,
}

/// How a question to the human is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `hookSpecificOutput.permissionDecision: "ask"`.
    Permission,
    /// The agent asks anyway; the reason goes to the human.
    Notice,
    /// There is no question on this event: as a stop.
    Block,
    /// As advice.
    Advice,
    /// Journalled only.
    Never,
}

/// How a statement reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advise {
    /// `hookSpecificOutput.additionalContext`.
    Context,
    /// The model cannot be told without keeping it running or at all: `systemMessage`, for the human.
    SystemMessage,
    /// Plain text on stdout.
    Plain,
    /// Journalled only.
    Never,
}

/// What a rewrite becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// `hookSpecificOutput.updatedInput`.
    Input,
    /// `hookSpecificOutput.updatedToolOutput`.
    Output,
    /// Not expressible: journalled only.
    Never,
}

/// One event's row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The event's name.
    pub event: &'static str,
    /// The payload field that a `matcher` is tested against; `None`: the event has no matcher.
    pub subject: Option<&'static str>,
    /// How each verdict is said.
    pub block: Block,
    /// See [`Ask`].
    pub ask: Ask,
    /// See [`Advise`].
    pub advise: Advise,
    /// Whether `systemMessage` reaches the human.
    pub notify: bool,
    /// See [`Rewrite`].
    pub rewrite: Rewrite,
    /// The limit that hooks.json gives the dispatcher, in milliseconds.
    pub timeout_ms: u64,
    /// Known to every client release that runs this dispatcher, hence safe in hooks.json.
    pub established: bool,
}

impl Row {
    /// When the dispatcher answers at the latest, in milliseconds from its start: a fifth before the agent gives up.
    pub fn deadline_ms(&self) -> u64 {
        self.timeout_ms * 4 / 5
    }
}

const fn row(event: &'static str, subject: Option<&'static str>, block: Block, ask: Ask, advise: Advise) -> Row {
    Row { event, subject, block, ask, advise, notify: true, rewrite: Rewrite::Never, timeout_ms: 30_000, established: true }
}

const fn silent(event: &'static str, subject: Option<&'static str>) -> Row {
    Row { notify: false, ..row(event, subject, Block::Never, Ask::Never, Advise::Never) }
}

const TOOL: Option<&str> = Some("/tool_name");

/// Every event of the protocol. Source: the hook documentation of Claude Code 2.1.332.
pub const ROWS: &[Row] = &[
    Row { rewrite: Rewrite::Input, ..row("PreToolUse", TOOL, Block::Deny, Ask::Permission, Advise::Context) },
    Row { established: false, ..row("PreSkillShellCommand", TOOL, Block::Deny, Ask::Permission, Advise::SystemMessage) },
    row("PermissionRequest", TOOL, Block::DenyRequest, Ask::Notice, Advise::SystemMessage),
    Row { established: false, ..row("PermissionDenied", TOOL, Block::Never, Ask::Never, Advise::SystemMessage) },
    Row {
        rewrite: Rewrite::Output,
        timeout_ms: 60_000,
        ..row("PostToolUse", TOOL, Block::Decision, Ask::Block, Advise::Context)
    },
    row("PostToolUseFailure", TOOL, Block::Decision, Ask::Block, Advise::Context),
    Row { established: false, ..row("PostToolBatch", None, Block::Decision, Ask::Advice, Advise::Context) },
    Row { timeout_ms: 20_000, ..row("UserPromptSubmit", None, Block::Decision, Ask::Advice, Advise::Context) },
    Row {
        timeout_ms: 20_000,
        established: false,
        ..row("UserPromptExpansion", Some("/command_name"), Block::Decision, Ask::Advice, Advise::Context)
    },
    Row { timeout_ms: 15_000, ..row("SessionStart", Some("/source"), Block::Advice, Ask::Advice, Advise::Context) },
    row("SubagentStart", Some("/agent_type"), Block::Advice, Ask::Advice, Advise::Context),
    Row { established: false, ..row("PostModelSwitch", Some("/to_model"), Block::Advice, Ask::Advice, Advise::Context) },
    row("Stop", None, Block::Decision, Ask::Advice, Advise::SystemMessage),
    row("SubagentStop", Some("/agent_type"), Block::Decision, Ask::Advice, Advise::SystemMessage),
    Row { established: false, ..row("TaskCreated", None, Block::Decision, Ask::Block, Advise::SystemMessage) },
    Row { established: false, ..row("TaskCompleted", None, Block::Exit2, Ask::Block, Advise::SystemMessage) },
    Row { established: false, ..row("TeammateIdle", None, Block::Exit2, Ask::Block, Advise::SystemMessage) },
    Row { notify: false, timeout_ms: 20_000, ..row("PreCompact", Some("/trigger"), Block::Decision, Ask::Never, Advise::Plain) },
    Row { notify: false, established: false, ..row("ConfigChange", Some("/source"), Block::Decision, Ask::Block, Advise::Never) },
    Row { established: false, ..row("PreModelSwitch", Some("/to_model"), Block::Deny, Ask::Permission, Advise::SystemMessage) },
    Row { established: false, ..row("CwdChanged", None, Block::Never, Ask::Never, Advise::SystemMessage) },
    Row { established: false, ..row("FileChanged", Some("/file_path"), Block::Never, Ask::Never, Advise::SystemMessage) },
    Row { established: false, ..row("Elicitation", Some("/mcp_server_name"), Block::Decline, Ask::Never, Advise::SystemMessage) },
    Row {
        established: false,
        ..row("ElicitationResult", Some("/mcp_server_name"), Block::Decline, Ask::Never, Advise::SystemMessage)
    },
    Row { established: false, ..row("WorktreeCreate", None, Block::Exit1, Ask::Never, Advise::SystemMessage) },
    Row { established: false, timeout_ms: 8_000, ..silent("MessageDisplay", None) },
    silent("Notification", Some("/notification_type")),
    Row { established: false, ..silent("StopFailure", Some("/error")) },
    // Shared by the SessionEnd hooks of all plugins, and a plugin's own timeout does not raise it.
    Row { timeout_ms: 1_250, ..silent("SessionEnd", Some("/reason")) },
    Row { established: false, ..silent("PostCompact", Some("/trigger")) },
    Row { established: false, ..silent("InstructionsLoaded", Some("/load_reason")) },
    Row { established: false, ..silent("Setup", Some("/trigger")) },
    Row { established: false, ..silent("WorktreeRemove", None) },
    Row { established: false, ..silent("DirectoryAdded", Some("/source")) },
];

/// The row of `event`; of an event that this release does not know, one that can say nothing.
pub fn of(event: &str) -> Row {
    let unknown = Row { established: false, ..silent("", None) };
    ROWS.iter().find(|row| row.event == event).copied().unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_one_row() {
        let mut names: Vec<_> = ROWS.iter().map(|row| row.event).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), ROWS.len()), (34, 34));
    }

    #[test]
    fn the_answer_comes_before_the_agent_gives_up() {
        for row in ROWS {
            assert!(row.deadline_ms() < row.timeout_ms);
        }
        assert_eq!(of("SessionEnd").deadline_ms(), 1_000);
        assert_eq!(of("NotAnEvent").block, Block::Never);
    }
}
