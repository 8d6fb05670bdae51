//! `$x`, `${x…}`, `$(( … ))`: values where they are known.

use portcullis_sdk::shell::{Expansion, ExpansionKind};

use super::expand::Atom;
use super::known::{Known, Variable};
use super::walk::{Choice, Walk};
use crate::glob;
use crate::syntax::tree::{Parameter, Part};

/// Whether a parameter gives one word per element inside double quotes.
pub(super) fn is_list(parameter: &Parameter) -> bool {
    let all = |parts: &Vec<Part>| matches!(parts.as_slice(), [Part::Plain(text)] if text == "@");
    !parameter.length && (parameter.name == "@" || parameter.subscript.as_ref().is_some_and(all))
}

/// Longer values are not matched against patterns: the cost is their product.
const MAX_MATCHED: usize = 1024;

impl Walk<'_> {
    /// The value of a variable in the combination that is being tried.
    pub fn lookup(&mut self, name: &str) -> Known {
        let Some(variable) = self.variables.get(name) else {
            return if name == "IFS" { Known::Text(" \t\n".to_owned()) } else { Known::Unknown };
        };
        let count = variable.choices.len();
        let index = if count > 1 { self.choose(name, count) } else { 0 };
        match self.variables.get(name) {
            Some(variable) => variable.choices[index.min(variable.choices.len() - 1)].clone(),
            None => Known::Unknown,
        }
    }

    /// Which of `count` possibilities under `name` is being tried.
    fn choose(&mut self, name: &str, count: usize) -> usize {
        if let Some(choice) = self.choices.iter().find(|choice| choice.name == name) {
            return choice.index;
        }
        self.choices.push(Choice { name: name.to_owned(), index: 0, count });
        0
    }

    pub fn parameter(&mut self, parameter: &Parameter, quoted: bool, splits: bool, atoms: &mut Vec<Atom>) {
        let start = self.commands.len() as u32;
        let value = self.parameter_value(parameter);
        match value {
            Some(Value::Atoms(argument)) => atoms.extend(argument),
            Some(Value::Known(Known::Text(text))) => self.known(&text, quoted, splits, atoms),
            Some(Value::Known(Known::Pattern(text))) => {
                atoms.push(Atom::Pattern);
                self.known(&text, true, splits, atoms);
            }
            Some(Value::Known(Known::List(items))) if quoted && !is_list(parameter) => atoms.push(Atom::quoted(items.join(" "))),
            Some(Value::Known(Known::List(items))) => {
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        atoms.push(Atom::Break);
                    }
                    self.known(item, quoted, splits, atoms);
                }
            }
            Some(Value::Known(Known::Unknown)) | None => {
                let commands = (start..self.commands.len() as u32).collect();
                let expansion = Expansion { kind: ExpansionKind::Variable, raw: parameter.raw.clone(), commands };
                atoms.push(Atom::Hole { expansion, quoted });
            }
        }
    }

    /// None where it is not known.
    fn parameter_value(&mut self, parameter: &Parameter) -> Option<Value> {
        let mut argument = Vec::new();
        // Expanded whether or not it is used: what it runs may run.
        for part in &parameter.argument {
            self.part(part, matches!(parameter.operator, "" | ":"), false, &mut argument);
        }
        let value = self.base_value(parameter);
        if parameter.length {
            return Some(Value::Known(match value {
                Known::Unknown | Known::Pattern(_) => Known::Unknown,
                Known::Text(text) => Known::Text(text.chars().count().to_string()),
                Known::List(items) => Known::Text(items.len().to_string()),
            }));
        }
        let text = value.scalar().map(str::to_owned);
        let colon = parameter.operator.starts_with(':');
        match parameter.operator {
            "" | ":?" | "?" => return Some(Value::Known(value)),
            ":-" | "-" | ":=" | "=" => {
                let used = match &text {
                    Some(text) => colon && text.is_empty(),
                    None => self.choose(&parameter.raw, 2) == 1,
                };
                if !used {
                    return Some(Value::Known(value));
                }
                if parameter.operator.ends_with('=')
                    && let Some(text) = known_text(&argument)
                {
                    self.variables.set(&parameter.name, Variable::text(text));
                }
                return Some(Value::Atoms(argument));
            }
            ":+" | "+" => {
                let used = match &text {
                    Some(text) => !(colon && text.is_empty()),
                    None => self.choose(&parameter.raw, 2) == 1,
                };
                return Some(if used { Value::Atoms(argument) } else { Value::Known(Known::Text(String::new())) });
            }
            _ => {}
        }
        let exact = !matches!(value, Known::Pattern(_));
        let text = text.filter(|text| exact && text.len() <= MAX_MATCHED)?;
        let pattern = known_text(&argument).filter(|pattern| pattern.len() <= MAX_MATCHED)?;
        let changed = match parameter.operator {
            ":" => substring(&text, &pattern)?,
            "#" => strip(&text, &pattern, false, false),
            "##" => strip(&text, &pattern, false, true),
            "%" => strip(&text, &pattern, true, false),
            "%%" => strip(&text, &pattern, true, true),
            "/" | "//" | "/#" | "/%" => replace(&text, &pattern, parameter.operator)?,
            "^^" if pattern.is_empty() => text.to_uppercase(),
            ",," if pattern.is_empty() => text.to_lowercase(),
            "^" if pattern.is_empty() => capitalised(&text, char::to_ascii_uppercase),
            "," if pattern.is_empty() => capitalised(&text, char::to_ascii_lowercase),
            "@" if pattern == "U" => text.to_uppercase(),
            "@" if pattern == "L" => text.to_lowercase(),
            _ => return None,
        };
        Some(Value::Known(Known::Text(changed)))
    }

    fn base_value(&mut self, parameter: &Parameter) -> Known {
        let mut name = parameter.name.clone();
        if parameter.indirect {
            match self.lookup(&name).scalar() {
                Some(target) => name = target.to_owned(),
                None => return Known::Unknown,
            }
        }
        if let Ok(position) = name.parse::<usize>() {
            return match self.lookup("@") {
                Known::List(items) if position > 0 => Known::Text(items.get(position - 1).cloned().unwrap_or_default()),
                _ => Known::Unknown,
            };
        }
        let value = match name.as_str() {
            "@" | "*" => return self.lookup("@"),
            "#" => match self.lookup("@") {
                Known::List(items) => return Known::Text(items.len().to_string()),
                _ => return Known::Unknown,
            },
            _ => self.lookup(&name),
        };
        let Some(subscript) = &parameter.subscript else {
            return match value.scalar() {
                Some(_) if matches!(value, Known::Pattern(_)) => value,
                Some(text) => Known::Text(text.to_owned()),
                None => Known::Unknown,
            };
        };
        let mut index = Vec::new();
        for part in subscript {
            self.part(part, true, false, &mut index);
        }
        match (value, known_text(&index).as_deref()) {
            (value, Some("@" | "*")) => value,
            (Known::List(items), Some(index)) => match index.parse::<usize>() {
                Ok(index) => Known::Text(items.get(index).cloned().unwrap_or_default()),
                Err(_) => Known::Unknown,
            },
            (Known::Text(text), Some("0")) => Known::Text(text),
            _ => Known::Unknown,
        }
    }

    /// Follows what arithmetic runs and assigns; its value where it is only numbers and known variables.
    pub fn arithmetic(&mut self, parts: &[Part]) -> Option<i64> {
        let mut atoms = Vec::new();
        for part in parts {
            self.part(part, true, false, &mut atoms);
        }
        let text = known_text(&atoms);
        let assigns = parts
            .iter()
            .any(|part| matches!(part, Part::Plain(text) if text.contains('=') || text.contains("++") || text.contains("--")));
        if assigns {
            for part in parts {
                if let Part::Plain(text) = part {
                    for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                        if self.variables.get(name).is_some() {
                            self.variables.set(name, Variable::new(Known::Unknown, false));
                        }
                    }
                }
            }
            return None;
        }
        text?.trim().parse().ok()
    }
}

/// The value of a parameter.
enum Value {
    Known(Known),
    /// The word after the operator.
    Atoms(Vec<Atom>),
}

/// The text of atoms that are all known.
pub(super) fn known_text(atoms: &[Atom]) -> Option<String> {
    atoms
        .iter()
        .map(|atom| match atom {
            Atom::Text { text, .. } => Some(text.as_str()),
            Atom::Break => Some(" "),
            Atom::Hole { .. } | Atom::Pattern => None,
        })
        .collect()
}

/// `${x:offset}`, `${x:offset:length}`.
fn substring(text: &str, range: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let (offset, length) = match range.split_once(':') {
        Some((offset, length)) => (offset, Some(length.trim().parse::<i64>().ok()?)),
        None => (range, None),
    };
    let from_end = |n: i64| if n < 0 { chars.len() as i64 + n } else { n };
    let start = from_end(offset.trim().parse().ok()?);
    let end = match length {
        Some(length) if length >= 0 => start.saturating_add(length),
        Some(length) => chars.len() as i64 + length,
        None => chars.len() as i64,
    };
    let clamp = |n: i64| n.clamp(0, chars.len() as i64) as usize;
    Some(chars.get(clamp(start)..clamp(end).max(clamp(start)))?.iter().collect())
}

/// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.
fn strip(text: &str, pattern: &str, suffix: bool, longest: bool) -> String {
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    // Shortest first: for a prefix the earliest cut, for a suffix the latest.
    if suffix != longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (head, tail) = text.split_at(cut);
        if glob::matches(pattern, if suffix { tail } else { head }) {
            return if suffix { head } else { tail }.to_owned();
        }
    }
    text.to_owned()
}

/// `${x/p/r}` and its kin, for patterns without wildcards.
fn replace(text: &str, argument: &str, operator: &str) -> Option<String> {
    let (pattern, with) = argument.split_once('/').unwrap_or((argument, ""));
    if pattern.is_empty() || pattern.contains(['*', '?', '[', '\\']) {
        return None;
    }
    Some(match operator {
        "//" => text.replace(pattern, with),
        "/#" => text.strip_prefix(pattern).map_or_else(|| text.to_owned(), |rest| format!("{with}{rest}")),
        "/%" => text.strip_suffix(pattern).map_or_else(|| text.to_owned(), |rest| format!("{rest}{with}")),
        _ => text.replacen(pattern, with, 1),
    })
}

fn capitalised(text: &str, change: impl Fn(&char) -> char) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| change(&first)).into_iter().chain(chars).collect()
}
