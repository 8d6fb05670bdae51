use super::*;

fn word(text: &str) -> Word {
    Word { raw: text.into(), value: Some(text.into()), parts: vec![], quoted: false, glob: false }
}

fn unknown(raw: &str) -> Word {
    use crate::sandbox::bindings::shell_types::{Expansion, ExpansionKind};
    let part = Expansion { kind: ExpansionKind::Variable, raw: raw.into(), commands: vec![] };
    Word { value: None, parts: vec![WordPart::Expansion(part)], ..word(raw) }
}

fn command(words: Vec<Word>) -> Command {
    Command {
        program: words[0].value.clone().unwrap_or_default(),
        words,
        assignments: vec![],
        redirections: vec![],
        directory: None,
        stages: vec![],
        launchers: vec![],
        reached: vec![],
        certainty: Certainty::Certain,
        program_from_input: false,
        background: false,
        status_seen: true,
    }
}

fn line(words: &[&str]) -> Analysis {
    Analysis {
        commands: vec![command(words.iter().map(|text| word(text)).collect())],
        effects: vec![],
        parsed: true,
        unknowns: vec![],
    }
}

fn effect(kind: EffectKind, path: &str) -> Effect {
    Effect { kind, path: Some(path.into()), word: word(path), content: None, fragment: None, command: 0 }
}

fn concerned(entry: &str, analysis: &Analysis) -> bool {
    is_concerned(&[entry.to_owned()], Some("Bash"), analysis)
}

#[test]
fn a_program_and_a_text_among_its_words() {
    let push = line(&["git", "-c", "alias.p=PUSH", "p"]);
    for (entry, expected) in [("git", true), ("git* push", true), ("* push", true), ("git* commit", false), ("hg push", false)] {
        assert_eq!(concerned(entry, &push), expected, "{entry}");
    }
    assert!(concerned("git* push", &line(&["git-push", "origin"])));
    assert!(concerned("remove-item", &line(&["Remove-Item", "x"])));
    assert!(!concerned("rm", &line(&["git", "rm"])));
}

#[test]
fn what_is_not_known_may_be_anything() {
    let mut analysis = line(&["git", "status"]);
    assert!(!concerned("git* push", &analysis));
    for (tool, expected) in [("Bash", false), ("Monitor", false), ("PowerShell", true)] {
        assert_eq!(is_concerned(&["rm".into()], Some(tool), &analysis), expected, "{tool}");
    }
    analysis.commands[0].words.push(unknown("$what"));
    assert!(concerned("git* push", &analysis));
    assert!(!concerned("rm", &analysis));
    analysis.commands = vec![command(vec![unknown("$program"), word("-rf")])];
    assert!(concerned("rm", &analysis));
    let mut coarse = line(&["git", "status"]);
    coarse.commands[0].certainty = Certainty::Coarse;
    assert!(concerned("rm", &coarse));
    assert!(concerned("rm", &Analysis { parsed: false, ..line(&["git", "status"]) }));
    assert!(concerned("* .env", &line(&["find", "-name", ".e*"])));
}

#[test]
fn a_text_is_looked_for_in_all_that_a_command_is_given() {
    use crate::sandbox::bindings::shell_types::Assignment;
    let mut analysis = line(&["cat"]);
    analysis.commands[0].assignments.push(Assignment { name: "FILE".into(), value: word("x/.env") });
    assert!(concerned("* .env", &analysis));
    analysis.commands[0].assignments.clear();
    let body = Redirection { descriptor: None, kind: RedirectionKind::HereDocument, target: word("see *.txt") };
    analysis.commands[0].redirections.push(body);
    assert!(!concerned("* .env", &analysis), "a body is no pattern");
    analysis.commands[0].redirections[0].target = word("open('.ENV')");
    assert!(concerned("* .env", &analysis));
    analysis.commands[0].redirections.clear();
    analysis.commands[0].launchers.push("sudo -u x".into());
    assert!(concerned("* sudo", &analysis));
}

#[test]
fn changes_of_files() {
    for (kind, path, expected) in [
        (EffectKind::Read, "/p/a", false),
        (EffectKind::Write, "/p/a", true),
        (EffectKind::Mode, "/p/a", true),
        (EffectKind::Write, "/dev/null", false),
        (EffectKind::Delete, "/dev/null", true),
    ] {
        let analysis = Analysis { effects: vec![effect(kind, path)], ..line(&["x"]) };
        assert_eq!(concerned(">", &analysis), expected, "{kind:?} {path}");
    }
    let analysis = Analysis { effects: vec![effect(EffectKind::Write, "/p/STATE.md")], ..line(&["x"]) };
    assert!(concerned("> state.md", &analysis) && !concerned("> prd.md", &analysis));
    let mut redirected = line(&["x"]);
    let to = |text: &str| Redirection { descriptor: None, kind: RedirectionKind::Output, target: word(text) };
    redirected.commands[0].redirections = vec![to("/dev/null")];
    assert!(!concerned(">", &redirected));
    redirected.commands[0].redirections = vec![to("a")];
    assert!(concerned(">", &redirected) && !concerned("> b", &redirected));
}

#[test]
fn an_entry_that_cannot_be_meant_is_refused() {
    for entry in ["", " push", "git  push", "git ", "/bin/rm", "Git", "rm|mv", "git[ push"] {
        assert!(Concern::parse(entry).is_err(), "{entry:?}");
    }
    assert_eq!(Concern::parse("> state.md"), Ok(Concern { program: ">", text: Some("state.md") }));
    assert_eq!(Concern::parse("git* push"), Ok(Concern { program: "git*", text: Some("push") }));
}
