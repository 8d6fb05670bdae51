//! What came of the cases, in the XML that build servers read.

use std::time::Duration;

use super::{Counts, Tested, human};
use crate::cases::judge::Outcome;

/// One `testsuite` per file, one `testcase` per case.
pub fn xml(tested: &[Tested]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites name=\"dispatcher test\" {}>\n", counted(tested));
    for one in tested {
        let path = escaped(&one.file.path.to_string_lossy());
        xml += &format!("  <testsuite name=\"{path}\" {}>\n", counted(std::slice::from_ref(one)));
        for (_, case, outcome) in one.cases() {
            let time = seconds(outcome.as_ref().map_or(Duration::ZERO, |outcome| outcome.elapsed));
            let (name, line) = (escaped(&case.name), case.line);
            xml += &format!("    <testcase name=\"{name}\" classname=\"{path}\" file=\"{path}\" line=\"{line}\" time=\"{time}\"");
            match told(outcome) {
                Some((element, message, text)) => {
                    let (message, text) = (escaped(&message), escaped(&text));
                    xml += &format!(">\n      <{element} message=\"{message}\">{text}</{element}>\n    </testcase>\n");
                }
                None => xml += "/>\n",
            }
        }
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
}

fn counted(tested: &[Tested]) -> String {
    let Counts { passed, failed, broken } = Counts::of(tested);
    let elapsed = tested.iter().flat_map(Tested::cases).filter_map(|(.., outcome)| Some(outcome.as_ref().ok()?.elapsed)).sum();
    format!("tests=\"{}\" failures=\"{failed}\" errors=\"{broken}\" time=\"{}\"", passed + failed + broken, seconds(elapsed))
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Element, message and text of a case that does not hold.
fn told(outcome: &anyhow::Result<Outcome>) -> Option<(&'static str, String, String)> {
    match outcome {
        Err(error) => Some(("error", "could not run".into(), format!("{error:#}"))),
        Ok(outcome) => {
            let first = outcome.differences.first()?;
            let message = format!("{}: {}", first.key, first.expected.lines().next().unwrap_or_default());
            Some(("failure", message, outcome.differences.iter().map(human::shown).collect()))
        }
    }
}

/// As text or as a value in double quotes; characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_text_breaks_out_of_its_place() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}[0m\u{0}\n"), "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}[0m\u{fffd}\n");
    }
}
