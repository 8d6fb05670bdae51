//! Entries for people: one line each, or a block each.

use std::io::IsTerminal;

use jiff::tz::TimeZone;

use crate::log::Entry;
use crate::log::entry::timestamp;
use crate::log::visible;

/// Width of a rule's column; longer ones push the rest to the right.
const RULE: usize = 26;

/// A table that is printed row by row.
pub struct Table {
    zone: TimeZone,
    long: bool,
    with_project: bool,
    /// Columns of the terminal; None where it is none, so that nothing is cut.
    width: Option<usize>,
    begun: bool,
}

impl Table {
    /// `with_project`: entries of several projects come.
    pub fn new(long: bool, with_project: bool) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let width = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
        Self { zone: TimeZone::system(), long, with_project, width: width.filter(|width| terminal && *width >= 60), begun: false }
    }

    /// The text of one entry, with the table's head before the first.
    pub fn entry(&mut self, entry: &Entry) -> String {
        let begun = std::mem::replace(&mut self.begun, true);
        match self.long {
            true => self.block(entry),
            false if begun => self.row(entry),
            false => {
                let what = if self.with_project { "PROJECT           WHAT" } else { "WHAT" };
                format!("{:<19}  {:<10}  {:<RULE$}  {:<10}  {what}\n", "WHEN", "OUTCOME", "RULE", "TOOL") + &self.row(entry)
            }
        }
    }

    fn row(&self, entry: &Entry) -> String {
        let rules = match entry.rules.is_empty() {
            true => entry.kind.clone(),
            false => entry.rules.join(", "),
        };
        let tool = entry.tool.as_ref().or(entry.event.as_ref()).map_or("-", String::as_str);
        let mut line = format!(
            "{:<19}  {:<10}  {:<RULE$}  {:<10}  ",
            self.when(entry),
            entry.outcome.word(),
            visible(&rules),
            visible(tool)
        );
        if self.with_project {
            let name = entry.project.as_deref().and_then(|project| project.rsplit('/').next()).unwrap_or("-");
            line += &format!("{:<16}  ", visible(name));
        }
        line += &visible(entry.subject.as_ref().or(entry.message.as_ref()).map_or("-", String::as_str));
        format!("{}\n", self.fit(&line))
    }

    fn block(&self, entry: &Entry) -> String {
        let mut text = format!("{}  {}", self.when(entry), entry.outcome.word());
        if !entry.rules.is_empty() {
            text += &format!("  {}", visible(&entry.rules.join(", ")));
        }
        text.push('\n');
        let gate = |gate: &crate::log::entry::Gate| {
            let time = gate.ms.map(|ms| format!(" {ms:.1} ms")).unwrap_or_default();
            let verdict = gate.failure.as_ref().or(gate.verdict.as_ref()).map(|word| format!(" ({word}{time})"));
            format!("{}{}", gate.name, verdict.unwrap_or_default())
        };
        let gates: Vec<String> = entry.speaking().map(gate).collect();
        let overridden = entry.overridden.join(", ");
        let event = [&entry.event, &entry.tool].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        for (name, value) in [
            ("what", entry.subject.clone()),
            ("why", entry.message.clone()),
            ("on", some(event)),
            ("gates", some(gates.join(", "))),
            ("overridden", some(overridden)),
            ("session", entry.session.clone()),
            ("agent", entry.agent.clone()),
            ("project", entry.project.clone()),
            ("directory", entry.cwd.clone().filter(|cwd| Some(cwd) != entry.project.as_ref())),
            ("line", Some(entry.kind.clone()).filter(|_| !entry.is_decision())),
        ] {
            if let Some(value) = value {
                text += &format!("    {name:<10}  {}\n", visible(&value));
            }
        }
        text + "\n"
    }

    fn when(&self, entry: &Entry) -> String {
        timestamp(entry.at).to_zoned_datetime(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// Cut to the terminal, which would break the line anywhere.
    fn fit(&self, line: &str) -> String {
        match self.width {
            Some(width) if line.chars().count() > width => line.chars().take(width - 1).chain(['…']).collect(),
            _ => line.trim_end().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::line;

    fn table(long: bool) -> Table {
        Table { zone: TimeZone::UTC, long, with_project: false, width: None, begun: false }
    }

    fn entry() -> Entry {
        line::read(
            r#"{"type":"dispatcher.decision","ts_epoch":0,"session_id":"s-1","event":"PreToolUse","decision":"deny","rules":["git-push-force"],
               "tool":"Bash","command":"git push -f \u001b[2Jx","message":"It rewrites history.","cwd":"/p/sub","project":"/p",
               "gates":[{"gate":"guard-bash","verdict":"block","ms":1.25},{"gate":"other","verdict":"pass"}]}"#
                .as_bytes(),
        )
        .unwrap()
    }

    #[test]
    fn a_row_and_a_block_show_who_stopped_what_and_why() {
        assert_eq!(
            table(false).entry(&entry()),
            "WHEN                 OUTCOME     RULE                        TOOL        WHAT\n\
             1970-01-01 00:00:00  stopped     git-push-force              Bash        git push -f \\u{1b}[2Jx\n"
        );
        assert_eq!(
            table(true).entry(&entry()),
            "1970-01-01 00:00:00  stopped  git-push-force\n    what        git push -f \\u{1b}[2Jx\n    why         It rewrites history.\n    \
             on          PreToolUse Bash\n    gates       guard-bash (block 1.2 ms)\n    session     s-1\n    project     /p\n    \
             directory   /p/sub\n\n"
        );
    }

    #[test]
    fn a_line_is_cut_to_the_terminal() {
        let mut table = Table { width: Some(60), ..table(false) };
        let text = table.entry(&entry());
        assert!(text.lines().nth(1).unwrap().ends_with('…'), "{text}");
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 60), "{text}");
    }
}
