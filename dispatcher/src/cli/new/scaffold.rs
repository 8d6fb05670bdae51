//! The files of a new gate: templates with the names filled in.

use std::path::{Path, PathBuf};

use super::example::{About, Example};
use super::language::{File, Language, template};

/// A gate that is to be.
pub struct Scaffold<'a> {
    /// Its name, which is good for packages and files.
    pub name: &'a str,
    /// What it is written in.
    pub language: Language,
    /// What it begins as.
    pub example: &'a Example,
    /// The SDK that it is built against, where that is no copy of its own.
    pub sdk: Option<&'a Path>,
}

impl Scaffold<'_> {
    /// All its files but the SDK, by their place in the folder.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = self.language.files(self.example.about);
        files.extend(shared(self.example.about));
        files.into_iter().map(|(path, text)| (self.filled(path).into(), self.filled(text).into_bytes())).collect()
    }

    fn filled(&self, template: &str) -> String {
        let Example { event, tools, about } = self.example;
        let component = self.language.component().replace("{{module}}", &self.module());
        let file = component.rsplit('/').next().unwrap_or_default().to_owned();
        let tool = tools.join("|");
        let or_nothing = |text: String| if tools.is_empty() { String::new() } else { text };
        let sdk = match self.sdk {
            Some(path) => toml::Value::from(&*path.to_string_lossy()).to_string(),
            None => "\"sdk\"".into(),
        };
        let sdk_comment = match self.sdk {
            Some(_) => "Until the SDK is published, a build needs it at this place.",
            None => "Until the SDK is published, a copy of it lies in this folder.",
        };
        let stops = *about != About::Advice;
        let mut text = template.to_owned();
        for (name, value) in [
            ("{{example}}", registered(*about).trim_end()),
            // A line that is left out goes whole.
            ("{{tool}}\n", &or_nothing(format!("tool = \"{tool}\"\n"))),
            ("{{case_tool}}\n", &or_nothing(format!("tool = \"{}\"\n\n", tools.first().map_or("", String::as_str)))),
            ("{{of_tool}}", &or_nothing(format!(" of `{tool}`"))),
            ("{{name}}", self.name),
            ("{{module}}", &self.module()),
            ("{{event}}", event),
            ("{{component}}", &component),
            ("{{file}}", &file),
            ("{{on_error}}", if stops { "block" } else { "continue" }),
            ("{{sdk}}", &sdk),
            ("{{sdk_comment}}", sdk_comment),
        ] {
            text = text.replace(name, value);
        }
        text
    }

    /// The name where hyphens are none.
    fn module(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// The files that are the same in every language.
fn shared(about: About) -> [File; 2] {
    let cases = match about {
        About::Command => template!("command.cases.toml"),
        About::File => template!("file.cases.toml"),
        About::Text => template!("text.cases.toml"),
        About::Advice => template!("advice.cases.toml"),
    };
    [("registry.toml", template!("registry.toml")), ("cases.toml", cases)]
}

/// The rest of the stanza.
fn registered(about: About) -> &'static str {
    match about {
        About::Command => template!("command.registry.toml"),
        About::File => template!("file.registry.toml"),
        About::Text => template!("text.registry.toml"),
        About::Advice => template!("advice.registry.toml"),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::registry::Registry;

    #[test]
    fn every_template_is_filled_and_its_registry_is_one() {
        let examples = [("PreToolUse", None), ("PreToolUse", Some("Write|Edit")), ("Stop", None), ("SessionStart", None)];
        let examples = examples.map(|(event, tools)| Example::of(event, tools).unwrap());
        assert_eq!(examples.each_ref().map(|example| example.about), About::ALL);
        for language in Language::value_variants() {
            for example in &examples {
                let scaffold = Scaffold { name: "my-gate", language: *language, example, sdk: Some(Path::new("/a \"b\"")) };
                for (path, content) in scaffold.files() {
                    let text = String::from_utf8(content).unwrap();
                    assert!(!text.contains("{{") && !text.contains("}}"), "{}: {text}", path.display());
                    assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{}: {text}", path.display());
                    if path == Path::new("registry.toml") {
                        let registry = Registry::parse(&text, &path).unwrap();
                        assert_eq!((registry.stanzas.len(), registry.stanzas[0].name.as_str()), (1, "my-gate"));
                    }
                    if path.extension().is_some_and(|extension| extension == "toml") {
                        text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    }
                }
            }
        }
    }
}
