//! Commands that loosen the guard without naming a file of it.

use portcullis_sdk::shell::{Command, Word};

use crate::Loosened;

/// Judges the commands of one event.
pub fn judge(commands: &[Command]) -> Vec<Loosened> {
    let one = |command: &Command| {
        let (rule, how) = match command.program.as_str() {
            "dispatcher" => dispatcher(command.arguments())?,
            "claude" => claude(command)?,
            "kill" | "pkill" | "killall" => kill(command)?,
            _ => return None,
        };
        Some(Loosened { rule, what: command.display(), how: how.into() })
    };
    commands.iter().filter_map(one).collect()
}

type Found = (&'static str, &'static str);

/// Words before the first that is an option are the verb and what it does.
fn dispatcher(arguments: &[Word]) -> Option<Found> {
    let has = |text: &str| arguments.iter().any(|word| word.is(text));
    let mut verbs = arguments.iter().filter(|word| !word.literal_prefix().starts_with('-'));
    let (verb, what) = (verbs.next()?, verbs.next());
    match verb.value.as_deref() {
        Some("override")
            if what.is_some_and(|what| what.value.as_deref().is_none_or(|what| matches!(what, "add" | "remove"))) =>
        {
            Some(("overrides", "overrides are granted and taken back by people"))
        }
        // `--project DIRECTORY` may stand before the verb's own word.
        Some("override") if has("add") || has("remove") => Some(("overrides", "overrides are granted and taken back by people")),
        Some("trust") if !has("--list") => Some(("trust", "whether a project's own gates are trusted is for people to say")),
        Some("install" | "uninstall") if ["--dry-run", "--help", "-h"].into_iter().any(has) => None,
        Some("install") => Some(("hooks", "which dispatcher the agent calls is for people to say")),
        Some("uninstall") => Some(("component", "the gates would be gone")),
        None => Some(("component", "what the dispatcher would do is not known")),
        _ => None,
    }
}

fn claude(command: &Command) -> Option<Found> {
    let arguments = command.arguments();
    let has = |text: &str| arguments.iter().any(|word| word.is(text));
    let names_us =
        |word: &Word| word.value.as_deref().is_none_or(|name| name.starts_with("portcullis") || name == "--all" || name == "-a");
    let plugin = arguments.first().is_some_and(|word| word.is("plugin") || word.is("plugins"));
    let off = ["disable", "uninstall", "remove", "rm"].into_iter().any(has);
    if plugin && off && arguments.iter().any(names_us) {
        return Some(("hooks", "the agent would no longer call the gates"));
    }
    let switched = command.assignments.iter().any(|assignment| assignment.name == "CLAUDE_CODE_SIMPLE");
    let settings = arguments.iter().any(|word| word.raw.contains("disableAllHooks"));
    let without = switched || settings || has("--bare") || has("--safe-mode");
    without.then_some(("hooks", "another agent would be started without any hooks"))
}

fn kill(command: &Command) -> Option<Found> {
    let by_name = command.program != "kill";
    let names = |word: &Word| word.value.as_deref().is_some_and(|name| name == "dispatcher" || name.ends_with("/dispatcher"));
    (by_name && command.arguments().iter().any(names)).then_some(("component", "gates would be ended while they judge"))
}
