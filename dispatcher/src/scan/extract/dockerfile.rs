//! What a Dockerfile runs: `RUN`, `CMD` and `ENTRYPOINT` in shell and exec form, with lines that go on, comments between them, and
//! here-documents.
//!
//! An own reader: a parser of the whole language gives up on a file for one instruction that it does not know.

use super::{Extracted, is_shell};
use crate::scan::Why;
use crate::scan::script::Script;

/// Instructions that run something.
const RUNNING: [&str; 3] = ["RUN", "CMD", "ENTRYPOINT"];

/// Instructions that here-documents may belong to.
const WITH_HERE: [&str; 3] = ["RUN", "COPY", "ADD"];

/// The scripts of a Dockerfile.
pub fn scripts(text: &str) -> Extracted {
    let mut extracted = Extracted::default();
    let escape = escape(text);
    // On Windows, where that is the custom.
    let usual = escape == '\\';
    let mut shell = usual;
    let mut lines = Lines { text, at: 0, escape };
    while let Some(instruction) = lines.instruction() {
        let body = instruction.body;
        match instruction.name.as_str() {
            "FROM" => shell = usual,
            "SHELL" => shell = words(&body.text).is_some_and(|words| words.first().is_some_and(|program| is_shell(program))),
            name if RUNNING.contains(&name) => {
                if let Some(words) = words(&body.text) {
                    extracted.scripts.push(exec(&words, &body));
                } else if !shell || instruction.program.is_some_and(|program| !is_shell(&program)) {
                    extracted.skip(Why::OtherShell);
                } else {
                    extracted.scripts.push(body);
                }
            }
            _ => {}
        }
    }
    extracted
}

/// The character that a line goes on by, from a directive at the top.
fn escape(text: &str) -> char {
    let directives = text.lines().map_while(|line| line.trim().strip_prefix('#')?.split_once('='));
    let mut directives = directives.map(|(key, value)| (key.trim().to_ascii_lowercase(), value.trim().to_owned()));
    match directives.find(|(key, _)| key == "escape") {
        Some((_, value)) if value == "`" => '`',
        _ => '\\',
    }
}

struct Instruction {
    /// In capitals.
    name: String,
    /// What follows, without options; of `RUN <<EOF`, the here-document's text.
    body: Script,
    /// What a here-document names on its first line as its program.
    program: Option<String>,
}

struct Lines<'t> {
    text: &'t str,
    at: usize,
    escape: char,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Option<(&'t str, usize)> {
        let line = self.text[self.at..].split_inclusive('\n').next()?;
        let at = self.at;
        self.at += line.len();
        Some((line, at))
    }

    /// The next instruction with all its lines.
    fn instruction(&mut self) -> Option<Instruction> {
        let mut body = Script::default();
        let mut name = String::new();
        loop {
            let Some((line, at)) = self.next() else {
                if name.is_empty() {
                    return None;
                }
                break;
            };
            let code = line.trim_start();
            // Comments and empty lines do not end an instruction.
            if code.starts_with('#') || code.is_empty() {
                continue;
            }
            let mut start = line.len() - code.len();
            while name.is_empty() || name == "ONBUILD" {
                let (word, length) = first_word(&line[start..]);
                if word.is_empty() {
                    break;
                }
                name = word.to_ascii_uppercase();
                start += length;
            }
            let goes_on = code.trim_end().ends_with(self.escape);
            body.push(&line[start..], at + start);
            if !goes_on {
                break;
            }
        }
        let body = without_options(body);
        let tags = if WITH_HERE.contains(&name.as_str()) { here_documents(&body.text) } else { vec![] };
        let (body, program) = self.with_here_documents(body, &tags);
        Some(Instruction { name, body, program })
    }

    /// Takes the here-documents that an instruction announces. If it is nothing but one, its text is the script.
    fn with_here_documents(&mut self, body: Script, tags: &[Tag]) -> (Script, Option<String>) {
        let mut documents = Vec::new();
        for tag in tags {
            let mut document = Script::default();
            let mut end = Script::default();
            while let Some((line, at)) = self.next() {
                let content = if tag.strips_tabs { line.trim_start_matches('\t') } else { line };
                if content.trim_end_matches(['\n', '\r']) == tag.name {
                    end.push(line, at);
                    break;
                }
                document.push(line, at);
            }
            documents.push((document, end));
        }
        let alone = tags.len() == 1 && tags[0].whole.trim() == body.text.trim();
        match documents.pop() {
            None => (body, None),
            Some((document, _)) if alone => {
                let named = document.text.trim_start().strip_prefix("#!").and_then(|line| line.split_whitespace().last());
                let program = named.map(str::to_owned).filter(|_| document.text.trim_start().starts_with("#!"));
                (document, program)
            }
            Some(last) => {
                let mut whole = body;
                for (document, end) in documents.iter().chain([&last]) {
                    whole.append(document);
                    whole.append(end);
                }
                (whole, None)
            }
        }
    }
}

/// The first word and how far it reaches, blanks before it included.
fn first_word(text: &str) -> (&str, usize) {
    let word = text.split_whitespace().next().unwrap_or_default();
    (word, text.find(word).unwrap_or(0) + word.len())
}

/// What follows `--mount=…` and its like.
fn without_options(body: Script) -> Script {
    let mut start = 0;
    loop {
        let rest = body.text[start..].trim_start_matches([' ', '\t', '\n', '\r', '\\']);
        let begins = body.text.len() - rest.len();
        match rest.starts_with("--") {
            true => start = begins + first_word(rest).1,
            false => return body.part(begins..body.text.len()),
        }
    }
}

struct Tag {
    name: String,
    strips_tabs: bool,
    /// As it is written.
    whole: String,
}

/// Here-documents that a command announces.
fn here_documents(text: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("<<") {
        let after = &rest[at + 2..];
        let strips_tabs = after.starts_with('-');
        let quoted = after.trim_start_matches('-');
        let word = quoted.trim_start_matches(['"', '\'']);
        let length = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
        let name = &word[..length];
        // `<<<` is a text, `1 << 2` a number.
        if !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) {
            let closed = word[length..].starts_with(['"', '\'']);
            let end = rest.len() - word.len() + length + usize::from(closed);
            tags.push(Tag { name: name.to_owned(), strips_tabs, whole: rest[at..end].to_owned() });
        }
        rest = after.strip_prefix('<').unwrap_or(after);
    }
    tags
}

/// The words of exec form.
fn words(text: &str) -> Option<Vec<String>> {
    serde_json::from_str::<Vec<String>>(&text.replace("\\\n", "\n")).ok().filter(|words| !words.is_empty())
}

/// Words that no shell reads, as a command that means the same.
fn exec(words: &[String], body: &Script) -> Script {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let mut script = Script::default();
    script.insert(&quoted.join(" "), body.span(0..1).start);
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        scripts(text).scripts.iter().map(|script| script.text.trim_end().to_owned()).collect()
    }

    #[test]
    fn instructions_in_both_forms() {
        let text = "\
FROM a
# RUN not this
run --mount=type=cache,target=/x \\
  --network=none one && \\
  # a comment

  two
RUN [\"/bin/sh\", \"-c\", \"it's\"]
ENV X=rm
ONBUILD RUN three
CMD four
";
        assert_eq!(texts(text), ["one && \\\ntwo", "'/bin/sh' '-c' 'it'\\''s'", "three", "four"]);
        let script = &scripts(text).scripts[0];
        let at = script.text.find("two").unwrap();
        assert_eq!(&text[script.span(at..at + 3)], "two");
    }

    #[test]
    fn here_documents_are_scripts_or_data() {
        let text = "\
RUN <<EOF
one
EOF
RUN <<-'E' cat > x && two
\tRUN data
\tE
COPY <<A <<\"B\" /x/
RUN no
A
RUN no
B
RUN <<E
#!/usr/bin/env python3
no
E
RUN three <<< x && echo $((1 << 2))
";
        let found = scripts(text);
        assert_eq!(texts(text), ["one", "<<-'E' cat > x && two\n\tRUN data\n\tE", "three <<< x && echo $((1 << 2))"]);
        assert_eq!(found.skipped, [Why::OtherShell]);
    }

    #[test]
    fn shells_that_are_none_of_ours() {
        let text = "FROM a\nSHELL [\"pwsh\", \"-c\"]\nRUN one\nSHELL [\"/bin/bash\", \"-c\"]\nRUN two\nFROM b\nRUN three\n";
        assert_eq!(texts(text), ["two", "three"]);
        assert_eq!(texts("# escape=`\nFROM a\nRUN one\n"), Vec::<String>::new());
    }
}
