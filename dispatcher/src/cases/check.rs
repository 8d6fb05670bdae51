//! Everything that can be said against a file of cases, with its place. It is said before any case runs: a misspelt key would
//! otherwise be an expectation that always holds.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::schema::{self, Entry};
use crate::protocol::event::Event;
use crate::registry::lint::place::{self, Span};
use crate::registry::lint::{Finding, Rule, Severity, catalogue, shape};

const fn error(id: &'static str, about: &'static str) -> Rule {
    Rule { id, severity: Severity::Error, about }
}

static NO_CASES: Rule = error("no-cases", "A file without a case tests nothing.");
/// What `--update` can repair.
pub static NO_EXPECTATION: Rule = error("no-expectation", "A case that does not say what should come of it cannot fail.");
static NO_EVENT: Rule = error("no-event", "A case in which nothing happens.");
static TWO_EVENTS: Rule = error("two-events", "A case in which two things happen at once.");
static SAME_NAME: Rule = error("same-name", "Two cases of one name.");
static CONTRADICTION: Rule = error("contradiction", "Two keys that cannot both be meant.");
static NOT_A_DATE: Rule = error("not-a-date", "A date that is none.");
static NOT_AN_EVENT: Rule = error("not-an-event", "A text that is no event.");

const CASES: shape::Kind = shape::Kind {
    schema: schema::json_schema,
    file: "the file of cases",
    lists: &["case"],
    homes: &[
        ("Entry", "[[case]] or [defaults]"),
        ("Hook", "[stanza]"),
        ("Capabilities", "`capabilities`"),
        ("Written", "`write`"),
        ("Edited", "`edit`"),
    ],
};

/// The keys that make an event, of which a case has one.
pub const ACTIONS: [&str; 7] = ["bash", "write", "edit", "read", "tool", "prompt", "json"];

/// The keys that say what should come of it, beside `expect`.
const EXPECTATIONS: [&str; 10] =
    ["rule", "rules", "overridden", "contains", "lacks", "rewritten", "events", "used", "denied", "files_after"];

/// All findings about the text of a file of cases, in the order of their places.
pub fn check(text: &str) -> Vec<Finding> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut findings: Vec<Finding> = errors
        .iter()
        .map(|error| {
            let span = error.span().unwrap_or(text.len()..text.len());
            Finding::new(&catalogue::TOML_SYNTAX, place::within(span, text), error.message().replace('\n', " "))
        })
        .collect();
    if findings.is_empty() {
        shape::check_as(&CASES, table.get_ref(), text, &mut findings);
    }
    // What has the wrong shape says nothing that could be weighed.
    if findings.is_empty() {
        check_cases(table.get_ref(), text, &mut findings);
    }
    findings.sort_by_key(|finding| finding.span.start);
    // Nothing repairs files of cases; what would be right is said all the same.
    findings.iter_mut().for_each(|finding| finding.fix = None);
    findings
}

fn check_cases(file: &DeTable, text: &str, findings: &mut Vec<Finding>) {
    let cases = file.get("case").and_then(|cases| cases.get_ref().as_array()).map(|cases| &cases[..]).unwrap_or_default();
    if cases.is_empty() {
        let end = text.len()..text.len();
        findings
            .push(Finding::new(&NO_CASES, end, "the file has no case").help("write one: `[[case]]`, `name`, an event, `expect`"));
    }
    let defaults = file.get("defaults").and_then(|defaults| defaults.get_ref().as_table());
    if let Some(name) = defaults.and_then(|defaults| defaults.get("name")) {
        findings.push(Finding::new(&SAME_NAME, name.span(), "all cases would have this name").help("name each of them"));
    }
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for case in cases {
        let Some(table) = case.get_ref().as_table() else { continue };
        One { table, defaults, header: case.span() }.check(findings);
        let Some(name) = table.get("name") else { continue };
        if let Some(first) = name.get_ref().as_str().and_then(|text| names.insert(text, name.span())) {
            let message = "another case has this name".to_owned();
            findings.push(Finding::new(&SAME_NAME, name.span(), message).related(first, "here").help("say how they differ"));
        }
    }
}

/// One case with what it takes from the defaults.
struct One<'a> {
    table: &'a DeTable<'a>,
    defaults: Option<&'a DeTable<'a>>,
    header: Span,
}

impl<'a> One<'a> {
    fn own(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.own(key).or_else(|| self.defaults?.get(key))
    }

    fn check(&self, findings: &mut Vec<Finding>) {
        if self.own("name").is_none_or(|name| name.get_ref().as_str().is_some_and(|name| name.trim().is_empty())) {
            let finding = Finding::new(&catalogue::MISSING_KEY, self.header.clone(), "the case has no name");
            findings.push(finding.help("say what it shows: `name = \"a forced push is stopped\"`"));
        }
        if self.get("expect").is_none() {
            let others = EXPECTATIONS.iter().any(|key| self.get(key).is_some());
            let message = if others { "the case does not say which verdict it expects" } else { "the case expects nothing" };
            let help = "add `expect`: pass, advise, notify, rewrite, ask, deny, failed or unasked";
            findings.push(Finding::new(&NO_EXPECTATION, self.header.clone(), message).help(help));
        }
        self.check_event(findings);
        for (one, other, why) in [
            ("rule", "rules", "`rules` names all that stand, `rule` one of them; keep one"),
            ("json", "event", "`json` is the whole event; write its `hook_event_name` there"),
            ("json", "payload", "`json` is the whole event; write these fields there"),
            ("json", "response", "`json` is the whole event; write its `tool_response` there"),
        ] {
            if let (Some(one_at), Some(other_at)) = (self.own(one), self.own(other)) {
                let message = format!("`{one}` and `{other}` do not go together");
                findings
                    .push(Finding::new(&CONTRADICTION, other_at.span(), message).related(one_at.span(), "the other").help(why));
            }
        }
        let verdict = self.get("expect").and_then(|verdict| verdict.get_ref().as_str());
        for key in ["rule", "rules"] {
            let stands = self.own(key).filter(|rules| rules.get_ref().as_array().is_none_or(|rules| !rules.is_empty()));
            if let Some(rules) = stands.filter(|_| !matches!(verdict, None | Some("ask" | "deny" | "block" | "failed"))) {
                let message = format!("`{key}` names what stops or asks, but `expect` is neither");
                findings.push(Finding::new(&CONTRADICTION, rules.span(), message).help("remove it, or expect `ask` or `deny`"));
            }
        }
        if let Some(today) = self.own("today") {
            let text = today.get_ref().as_str().unwrap_or_default();
            if text.len() != 10 || text.parse::<jiff::civil::Date>().is_err() {
                let message = format!("{text:?} is no date");
                findings.push(Finding::new(&NOT_A_DATE, today.span(), message).help("write it as \"2026-12-31\""));
            }
        }
    }

    fn check_event(&self, findings: &mut Vec<Finding>) {
        let own: Vec<&str> = ACTIONS.into_iter().filter(|key| self.own(key).is_some()).collect();
        if let [first, second, ..] = own[..] {
            let (first_at, second_at) = (self.own(first).expect("it is there"), self.own(second).expect("it is there"));
            let message = format!("`{first}` and `{second}` are two events");
            let finding = Finding::new(&TWO_EVENTS, second_at.span(), message).related(first_at.span(), "the other");
            findings.push(finding.help("make two cases of it"));
        }
        let named = || {
            self.get("payload")
                .is_some_and(|fields| fields.get_ref().as_table().is_some_and(|fields| fields.contains_key("hook_event_name")))
        };
        if !ACTIONS.iter().any(|key| self.get(key).is_some()) && self.get("event").is_none() && !named() {
            let help = format!("add one of `{}`, or `event = \"Stop\"`", ACTIONS.join("`, `"));
            findings.push(Finding::new(&NO_EVENT, self.header.clone(), "nothing happens in this case").help(help));
        }
        if let Some(input) = self.own("input").filter(|_| self.get("tool").is_none()) {
            let message = "`input` without `tool`";
            findings.push(
                Finding::new(&CONTRADICTION, input.span(), message)
                    .help("name the tool, or use `bash`, `write`, `edit` or `read`"),
            );
        }
        if let Some(json) = self.own("json")
            && let Err(error) = Event::parse(json.get_ref().as_str().unwrap_or_default().as_bytes(), None)
        {
            let message = error.to_string().replace("standard input", "it");
            findings.push(Finding::new(&NOT_AN_EVENT, json.span(), message).help("write one JSON object with `hook_event_name`"));
        }
    }
}

/// Which of the keys in [`ACTIONS`] an entry has.
pub fn acts(entry: &Entry) -> bool {
    let Entry { bash, write, edit, read, tool, prompt, json, .. } = entry;
    [bash, read, tool, prompt, json].into_iter().any(Option::is_some) || write.is_some() || edit.is_some()
}
