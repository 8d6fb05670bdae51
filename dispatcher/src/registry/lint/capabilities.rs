//! `[hooks.capabilities]` by itself: what is wider than it should be, and what grants nothing.

use super::catalogue as rule;
use super::draft::{At, Draft, Stanza};
use super::finding::Finding;
use super::{known, paths};
use crate::places;
use crate::sandbox::capability::process::SHELLS;

/// The entries that stand for a file of the event, each with the event that has it, if only one has.
const PLACEHOLDERS: [(&str, Option<&str>); 3] =
    [("${transcript}", None), ("${agent_transcript}", Some("SubagentStop")), ("${subagent_transcripts}", None)];
/// The entry that stands for the directory of the stanza's journal.
const JOURNAL: &str = "${journal}";

/// Checks all stanzas.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in &draft.stanzas {
        let own = &stanza.capabilities;
        for (list, verb) in [(&own.read, "read"), (&own.write, "write")] {
            let Some(list) = list else { continue };
            if list.is_empty() {
                findings.push(nothing(
                    list.span.clone(),
                    &format!("no path may be {}", if verb == "read" { "read" } else { "written" }),
                ));
            }
            list.iter().for_each(|entry| findings.extend(grant(entry, verb, stanza)));
        }
        programs(stanza, findings);
    }
    for path in draft.journals.iter().filter_map(|journal| journal.path.as_ref()).filter(|path| leaves(path)) {
        let message = format!("the journal {:?} is not below the project", path.value);
        findings.push(
            Finding::new(&rule::LEAVES_PROJECT, path.span.clone(), message).help("write a path relative to the project root"),
        );
    }
}

fn nothing(span: std::ops::Range<usize>, why: &str) -> Finding {
    Finding::new(&rule::GRANTS_NOTHING, span, format!("this grants nothing: {why}"))
        .help("name something, or leave the table out")
}

fn grant(entry: &At<String>, verb: &str, stanza: &Stanza) -> Option<Finding> {
    if entry.starts_with("${") {
        return placeholder(entry, verb, stanza);
    }
    if let Some(finding) = paths::valid(entry) {
        return Some(finding);
    }
    let everything = ["", ".", "./", "*", "**", "**/*", "/", "/**", "~/", "~/**"].contains(&entry.as_str());
    if everything {
        let what = match entry.chars().next() {
            Some('/') => "on the machine",
            Some('~') => "in the home directory",
            _ => "in the project, .git and the gates' own settings included",
        };
        let message = format!("{:?} lets the gate {verb} every file {what}", entry.value);
        return Some(Finding::new(&rule::TOO_WIDE, entry.span.clone(), message).help("name the directories that the gate needs"));
    }
    leaves(entry).then(|| {
        let message = format!("{:?} lets the gate {verb} outside the project", entry.value);
        let help = "write a path relative to the project root; if the gate needs this one, `--allow leaves-project` accepts it";
        Finding::new(&rule::LEAVES_PROJECT, entry.span.clone(), message).help(help)
    })
}

fn placeholder(entry: &At<String>, verb: &str, stanza: &Stanza) -> Option<Finding> {
    if places::of_host(entry).is_some() {
        let what = "places of the host are only read";
        return (verb != "read").then(|| nothing(entry.span.clone(), what).help("write below the project"));
    }
    if entry.as_str() == JOURNAL {
        return match (verb, &stanza.journal) {
            ("read", Some(_)) => None,
            ("read", None) => Some(nothing(entry.span.clone(), "the gate has no journal").help("add `journal` to its stanza")),
            _ => Some(nothing(entry.span.clone(), "a journal is only read").help("a gate's events are written by the host")),
        };
    }
    match PLACEHOLDERS.iter().find(|(name, _)| *name == entry.as_str()) {
        Some((_, Some(event))) if !stanza.events.iter().any(|own| own.as_str() == *event) => {
            Some(nothing(entry.span.clone(), &format!("only {event} has that file")))
        }
        Some(_) => None,
        None => {
            let finding = nothing(entry.span.clone(), &format!("there is no {}", entry.value));
            Some(finding.help(
                "`${transcript}`, `${agent_transcript}` and `${subagent_transcripts}` stand for files of the event, `${journal}` for the \
                 directory of the gate's journal; `${plugin}/…` is what is installed with it, `${config}/…` your own layer, `${agent}/…` the \
                 agent's settings",
            ))
        }
    }
}

/// Whether a path starts outside the project, or climbs out of it.
fn leaves(path: &str) -> bool {
    let mut depth = 0_i64;
    let climbs = path.split('/').any(|part| {
        depth += match part {
            ".." => -1,
            "" | "." => 0,
            _ => 1,
        };
        depth < 0
    });
    climbs || path.starts_with('/') || path.starts_with('~')
}

fn programs(stanza: &Stanza, findings: &mut Vec<Finding>) {
    let own = &stanza.capabilities;
    let Some(programs) = &own.exec else { return };
    if programs.is_empty() {
        findings.push(nothing(programs.span.clone(), "no program may be run"));
    }
    for directory in own.cwd_allow.iter().filter(|directory| leaves(directory)) {
        let message = format!("{:?} lets programs be started outside the project", directory.value);
        findings
            .push(Finding::new(&rule::LEAVES_PROJECT, directory.span.clone(), message).help("name a directory of the project"));
    }
    for program in programs.iter() {
        let shell = SHELLS.contains(&program.as_str());
        let finding = if program.contains('/') || program.is_empty() {
            let name = program.rsplit('/').next().unwrap_or_default();
            let message = format!("{:?} is never run: programs are named, and found on PATH", program.value);
            let finding = Finding::new(&rule::NOT_A_PROGRAM_NAME, program.span.clone(), message);
            match name {
                "" => finding.help("name a program"),
                name => finding.help(format!("write {name:?}")).replace(program.span.clone(), format!("{name:?}")),
            }
        } else if shell && own.acknowledged.is_none() {
            let message = format!("`{}` is a shell, and is not run without an acknowledgement", program.value);
            let help = "run the program that is meant; or say why a shell must be: `shell_bypass_acknowledged = \"…\"`";
            Finding::new(&rule::SHELL_UNACKNOWLEDGED, program.span.clone(), message).help(help)
        } else if shell || known::INTERPRETERS.contains(&program.as_str()) {
            let message =
                format!("the gate `{}` is not sandboxed: `{}` runs whatever it is given", stanza.title(), program.value);
            Finding::new(&rule::UNSANDBOXED, program.span.clone(), message)
        } else {
            continue;
        };
        findings.push(finding);
    }
    if let Some(acknowledged) = &own.acknowledged
        && !programs.iter().any(|program| SHELLS.contains(&program.as_str()))
    {
        let message = "no shell is granted, so there is nothing to acknowledge";
        findings.push(Finding::new(&rule::NO_EFFECT, acknowledged.span.clone(), message).help("leave it out"));
    }
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn only_what_climbs_out_leaves() {
        for inside in [".foundry", "a/../b", "a/b/../../c", "./x", "..a"] {
            assert!(!leaves(inside), "{inside}");
        }
        for outside in ["..", "../x", "a/../../b", "/etc", "~/x", "~"] {
            assert!(leaves(outside), "{outside}");
        }
    }
}
