//! What git does to files of the working tree.

use portcullis_sdk::shell::{EffectKind, Word};

use super::{Examined, values};
use crate::git;
use crate::options::{self, Spec};

pub(super) fn examine(examined: &mut Examined) {
    let Some(invocation) = git::invocation(examined.command) else { return };
    let arguments = invocation.arguments.as_slice();
    // Paths start where git runs, which `-C` changes.
    let mut command = examined.command.clone();
    command.directory = invocation.directory.clone();
    let mut inner = Examined { command: &command, slot: examined.slot, effects: Vec::new() };
    match invocation.subcommand.as_str() {
        "rm" => {
            let spec = Spec {
                long_flags: &["cached", "force", "dry-run", "quiet", "ignore-unmatch", "sparse"],
                ..values("", &["pathspec-from-file"])
            };
            let parsed = options::parse(arguments, &spec);
            let kind = if parsed.has('r', "") { EffectKind::DeleteTree } else { EffectKind::Delete };
            if !parsed.has('n', "dry-run") && !parsed.has('\0', "cached") {
                inner.all(kind, &parsed.operands, None);
            }
        }
        "mv" => {
            let parsed = options::parse(arguments, &values("", &[]));
            if let Some((target, sources)) = parsed.operands.split_last()
                && !parsed.has('n', "dry-run")
            {
                inner.all(EffectKind::MoveFrom, sources, None);
                inner.place(EffectKind::Write, sources, target, false);
            }
        }
        "clean" => {
            let parsed = options::parse(
                arguments,
                &Spec { long_flags: &["force", "dry-run", "interactive", "quiet"], ..values("e", &["exclude"]) },
            );
            let previews = parsed.has('n', "dry-run") || parsed.has('i', "interactive");
            if !previews && parsed.operands.is_empty() {
                inner.touch(EffectKind::DeleteTree, &Word::literal("."), None);
            } else if !previews {
                inner.all(EffectKind::DeleteTree, &parsed.operands, None);
            }
        }
        "restore" => {
            let spec = Spec {
                long_flags: &["staged", "worktree", "patch", "quiet", "progress", "overlay"],
                ..values("s", &["source", "conflict", "pathspec-from-file"])
            };
            let parsed = options::parse(arguments, &spec);
            if !parsed.has('S', "staged") || parsed.has('W', "worktree") {
                inner.all(EffectKind::Write, &parsed.operands, None);
            }
        }
        "checkout" => {
            let parsed = options::parse(arguments, &values("bB", &["orphan", "conflict", "pathspec-from-file"]));
            let paths = match arguments.iter().position(|word| word.is("--")) {
                Some(at) => arguments[at + 1..].to_vec(),
                // Without `--` the first operand may be a branch; what looks like a path is one.
                None => {
                    parsed.operands.into_iter().filter(|word| word.literal_prefix().contains(['/', '.']) || word.glob).collect()
                }
            };
            if !parsed.options.iter().any(|found| matches!(found.name.as_str(), "b" | "B" | "orphan")) {
                inner.all(EffectKind::Write, &paths, None);
            }
        }
        _ => {}
    }
    examined.effects.append(&mut inner.effects);
}
