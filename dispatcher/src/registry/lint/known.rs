//! What the agent is known to send: tools, and the values of closed fields. Source: the hook documentation of
//! Claude Code 2.1.332. Other agents and releases may send more, so a name that is not here is no mistake by itself.

/// Tools whose input names a file.
pub const FILE_TOOLS: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit", "Read"];

/// All other tools.
pub const OTHER_TOOLS: &[&str] = &[
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "PowerShell",
    "PushNotification",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "SubagentHandback",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
];

/// Every known tool.
pub fn tools() -> impl Iterator<Item = &'static str> + Clone {
    FILE_TOOLS.iter().chain(OTHER_TOOLS).copied()
}

/// The values of an event's subject where the set is closed.
pub fn subjects(event: &str) -> Option<&'static [&'static str]> {
    Some(match event {
        "SessionStart" => &["startup", "resume", "clear", "compact", "fork"],
        "SessionEnd" => &["clear", "resume", "logout", "prompt_input_exit", "other"],
        "Setup" => &["init", "maintenance"],
        "PreCompact" | "PostCompact" => &["manual", "auto"],
        "ConfigChange" => &["user_settings", "project_settings", "local_settings", "policy_settings", "skills"],
        "InstructionsLoaded" => &["session_start", "nested_traversal", "path_glob_match", "include", "compact"],
        "DirectoryAdded" => &["slash_command", "register_repo_root"],
        _ => return None,
    })
}

/// Programs besides shells that run whatever they are given.
pub const INTERPRETERS: &[&str] = &[
    "awk",
    "bun",
    "deno",
    "env",
    "find",
    "gawk",
    "lua",
    "make",
    "node",
    "npm",
    "npx",
    "osascript",
    "perl",
    "php",
    "python",
    "python3",
    "ruby",
    "ssh",
    "sudo",
    "uv",
    "uvx",
    "xargs",
];
