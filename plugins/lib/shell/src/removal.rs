//! Programs that delete files: `rm`, and PowerShell's `Remove-Item` with its other names, of which `rm` is one.

use portcullis_sdk::shell::{Command, Word};

use crate::options;
use crate::tables::RM;

/// `Remove-Item` of PowerShell and its other names but `rm`.
const REMOVE_ITEM: [&str; 6] = ["remove-item", "ri", "rd", "rmdir", "del", "erase"];

/// What a command deletes, and how.
#[derive(Debug, Clone, Default)]
pub struct Removal {
    /// With everything below.
    pub recursive: bool,
    /// Without a question.
    pub force: bool,
    /// The words that name files.
    pub operands: Vec<Word>,
}

impl Removal {
    /// Reads a command; absent if it is none that deletes files.
    pub fn of(command: &Command) -> Option<Self> {
        let arguments = command.arguments();
        if REMOVE_ITEM.iter().any(|name| command.program.eq_ignore_ascii_case(name)) {
            let (options, operands): (Vec<Word>, _) =
                arguments.iter().cloned().partition(|word| word.literal_prefix().starts_with('-'));
            let has = |start: &str| options.iter().any(|word| word.literal_prefix().to_ascii_lowercase().starts_with(start));
            return Some(Self { recursive: has("-r"), force: has("-f"), operands });
        }
        if command.program != "rm" {
            return None;
        }
        let end = arguments.iter().position(|word| word.is("--")).unwrap_or(arguments.len());
        let (before, after) = arguments.split_at(end);
        let has = |name: &str| before.iter().any(|word| abbreviates(word, name));
        let mut rest: Vec<Word> =
            before.iter().filter(|word| !abbreviates(word, "recurse") && !abbreviates(word, "force")).cloned().collect();
        rest.extend_from_slice(after);
        let parsed = options::parse(&rest, &RM);
        Some(Self {
            recursive: has("recurse") || parsed.has('r', "recursive") || parsed.has('R', ""),
            force: has("force") || parsed.has('f', "force"),
            operands: parsed.operands,
        })
    }
}

/// PowerShell's `-Recurse` for `recurse`, or a beginning of it that is longer than a letter: that is no option of `rm` itself.
fn abbreviates(word: &Word, name: &str) -> bool {
    let flag = word.value.as_deref().and_then(|value| value.strip_prefix('-')).unwrap_or_default();
    flag.len() > 1 && name.get(..flag.len()).is_some_and(|start| start.eq_ignore_ascii_case(flag))
}
