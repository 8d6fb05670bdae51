//! Which entries somebody asks for.

use std::path::PathBuf;

use super::entry::{Entry, Outcome};

/// Shortest text worth looking for in a line before it is parsed.
const SHORTEST: usize = 3;

/// What is asked for; what is empty or None asks for nothing in particular.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Not before this moment, in milliseconds.
    pub since: Option<i64>,
    /// Before this moment, in milliseconds.
    pub until: Option<i64>,
    /// Working trees of the project; None: all projects.
    pub projects: Option<Vec<PathBuf>>,
    /// Rules, as globs.
    pub rules: Vec<String>,
    /// Gates by name.
    pub gates: Vec<String>,
    /// Beginnings of session ids.
    pub sessions: Vec<String>,
    /// Outcomes; none: the notable ones.
    pub outcomes: Vec<Outcome>,
    /// A text in what was attempted, why, where or by what.
    pub text: Option<String>,
}

impl Filter {
    /// The outcomes that are asked for.
    pub fn outcomes(&self) -> &[Outcome] {
        if self.outcomes.is_empty() { &Outcome::NOTABLE } else { &self.outcomes }
    }

    /// Whether it is about this project and time at all.
    pub fn in_scope(&self, entry: &Entry) -> bool {
        self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
            && self.projects.as_ref().is_none_or(|roots| entry.happened_in(roots))
    }

    /// Whether it is asked for, given that it is in scope.
    pub fn admits(&self, entry: &Entry) -> bool {
        let any = |wanted: &[String], test: &dyn Fn(&String) -> bool| wanted.is_empty() || wanted.iter().any(test);
        let rule = |glob: &String| entry.rules.iter().any(|rule| fast_glob::glob_match(glob, rule));
        let outcomes = self.outcomes();
        (outcomes.contains(&entry.outcome) || (!entry.overridden.is_empty() && outcomes.contains(&Outcome::Overridden)))
            && any(&self.rules, &rule)
            && any(&self.gates, &|name| entry.speaking().any(|gate| gate.name == *name))
            && any(&self.sessions, &|start| entry.session.as_ref().is_some_and(|session| session.starts_with(start)))
            && self.text.as_ref().is_none_or(|text| mentions(entry, text))
    }

    /// Texts of which a line must hold one to be asked for; None where no text says it. One condition is enough for that, and
    /// the first here is taken for the rarest.
    pub fn literals(&self) -> Option<Vec<String>> {
        let all = |texts: &[String], literal: fn(&str) -> Option<&str>| {
            let literals: Option<Vec<String>> = texts.iter().map(|text| literal(text).map(str::to_owned)).collect();
            literals.filter(|literals| !literals.is_empty())
        };
        let text: Vec<String> = self.text.iter().cloned().collect();
        all(&text, plain)
            .or_else(|| all(&self.sessions, plain))
            .or_else(|| all(&self.rules, of_rule))
            .or_else(|| all(&self.gates, plain))
            .or_else(|| of_outcomes(self.outcomes()))
    }
}

/// Rules that only the host knows stand in no line that way, so that no text looks for them.
fn mentions(entry: &Entry, text: &str) -> bool {
    let rules = entry.rules.iter().filter(|_| entry.outcome != Outcome::Failed);
    let fields = [&entry.subject, &entry.message, &entry.tool, &entry.event, &entry.agent, &entry.cwd, &entry.project];
    let gates = entry.gates.iter().map(|gate| &gate.name);
    fields.into_iter().flatten().chain(rules).chain(gates).chain([&entry.kind]).any(|field| field.contains(text))
}

/// The longest part of a text that every JSON writer leaves as it is.
fn plain(text: &str) -> Option<&str> {
    let escaped = |c: char| !c.is_ascii_graphic() && c != ' ' || matches!(c, '"' | '\\' | '/' | '<' | '>' | '&' | '\'');
    text.split(escaped).max_by_key(|part| part.len()).filter(|part| part.len() >= SHORTEST)
}

fn of_rule(glob: &str) -> Option<&str> {
    let start = glob.split(['*', '?', '[', ']', '{', '}', '!', '\\']).next()?;
    let hosts = ["failed:", "unreadable-event", "registry-invalid"];
    let host = hosts.iter().any(|rule| rule.starts_with(start) || start.starts_with(rule));
    plain(start).filter(|_| !host)
}

fn of_outcomes(outcomes: &[Outcome]) -> Option<Vec<String>> {
    let words: Option<Vec<&[&str]>> = outcomes.iter().map(|outcome| of_outcome(*outcome)).collect();
    let mut words: Vec<String> = words?.concat().iter().map(|word| format!("{word}\"")).collect();
    words.sort();
    words.dedup();
    Some(words)
}

/// Ends of values, before the closing quote, of which one stands in every line of the outcome. Their first letters decide how fast
/// they are looked for: those of an opening quote and a common name would be found in every line.
fn of_outcome(outcome: Outcome) -> Option<&'static [&'static str]> {
    Some(match outcome {
        Outcome::Stopped => &["deny", "block", "_blocked"],
        Outcome::Asked => &["ask", "_escalated"],
        Outcome::Overridden => &["overridden", "_override_used"],
        Outcome::Failed => &["load_failed", ".crashed", ".timeout", ".error", ".unreadable", "_invalid"],
        Outcome::Advised => &["advise", "warn"],
        Outcome::Passed | Outcome::Other => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::line;

    /// One line of every outcome, as they are written.
    const LINES: [&str; 11] = [
        r#"{"type":"dispatcher.decision","ts_epoch":1,"session_id":"s-1","decision":"deny","rules":["git-push-force"],"tool":"Bash","command":"git push -f \"x\"","gates":[{"gate":"other","verdict":"pass"},{"gate":"guard-bash","verdict":"block"}]}"#,
        r#"{"type":"dispatcher.decision","ts_epoch":1,"decision":"ask","rules":["protected-path"],"file_path":"/p/ü","gates":[]}"#,
        r#"{"type":"dispatcher.decision","ts_epoch":1,"decision":"pass","rules":[],"overridden":["db-drop"],"gates":[]}"#,
        r#"{"type":"dispatcher.decision","ts_epoch":1,"decision":"advise","rules":[],"gates":[]}"#,
        r#"{"type":"dispatcher.decision","ts_epoch":1,"decision":"pass","rules":[],"gates":[{"gate":"guard-bash","verdict":"pass"}]}"#,
        r#"{"ts":"2026-01-31T10:00:00.123Z","kind":"gate_blocked","gate":"secret:jwt","file":"a"}"#,
        r#"{"ts":"2026-01-31T10:00:00.123Z","kind":"gate_override_used","gate":"db-drop","reason":"why"}"#,
        r#"{"ts":"2026-01-31T10:00:00.123Z","kind":"session_end","reason":"exit"}"#,
        r#"{"type":"hook.block","ts":"2026-01-31T10:00:00+0100","hook":"protect-bc","reason":"bc_green_immutable"}"#,
        r#"{"type":"hook.block","ts_epoch":1,"severity":"warn","hook":"regression-gate","reason":"r"}"#,
        r#"{"type":"plugin.crashed","ts_epoch":1,"plugin_name":"guard-bash","message":"trap"}"#,
    ];

    #[test]
    fn what_is_admitted_is_never_missed_by_its_literals() {
        let outcome = |outcome| Filter { outcomes: vec![outcome], ..Filter::default() };
        let rule = |rule: &str| Filter { rules: vec![rule.into()], ..Filter::default() };
        let text = |text: &str| Filter { text: Some(text.into()), ..Filter::default() };
        let gate = |gate: &str| Filter { gates: vec![gate.into()], ..Filter::default() };
        for (filter, expected) in [
            (Filter::default(), vec![0, 1, 2, 5, 6, 8, 10]),
            (outcome(Outcome::Stopped), vec![0, 5, 8]),
            (outcome(Outcome::Asked), vec![1]),
            (outcome(Outcome::Overridden), vec![2, 6]),
            (outcome(Outcome::Failed), vec![10]),
            (outcome(Outcome::Advised), vec![3, 9]),
            (outcome(Outcome::Passed), vec![4]),
            (outcome(Outcome::Other), vec![7]),
            (rule("git-push-force"), vec![0]),
            (rule("secret:*"), vec![5]),
            (rule("db-drop"), vec![2, 6]),
            (rule("failed:*"), vec![10]),
            (rule("*"), vec![0, 1, 2, 5, 6, 8, 10]),
            (rule("git-push"), vec![]),
            (text("-f \"x"), vec![0]),
            (text("ü"), vec![1]),
            (text("why"), vec![6]),
            (gate("guard-bash"), vec![0, 10]),
            (gate("other"), vec![]),
            (Filter { sessions: vec!["s-".into()], ..Filter::default() }, vec![0]),
        ] {
            let literals = filter.literals();
            let found = |text: &str| literals.as_ref().is_none_or(|all| all.iter().any(|literal| text.contains(literal)));
            let admitted: Vec<usize> =
                (0..LINES.len()).filter(|at| filter.admits(&line::read(LINES[*at].as_bytes()).unwrap())).collect();
            assert_eq!(admitted, expected, "{filter:?}");
            assert!(admitted.iter().all(|at| found(LINES[*at])), "{filter:?}: {literals:?}");
        }
    }

    #[test]
    fn time_and_project_are_the_scope() {
        let mut entry = line::read(LINES[5].as_bytes()).unwrap();
        let at = entry.at;
        let scope = |since, until| Filter { since, until, projects: Some(vec!["/p".into()]), ..Filter::default() };
        assert!(scope(Some(at), Some(at + 1)).in_scope(&entry));
        assert!(!scope(Some(at + 1), None).in_scope(&entry) && !scope(None, Some(at)).in_scope(&entry));
        entry.project = Some("/q".into());
        assert!(!scope(None, None).in_scope(&entry));
    }
}
