//! Keys, types, words and ranges, as the JSON Schema says them.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::catalogue as rule;
use super::finding::Finding;
use super::place::Span;
use crate::registry::json_schema::{self, ALIAS_OF};
use crate::registry::rules;

/// A kind of file, and how people call its parts.
pub struct Kind {
    /// Its schema.
    pub schema: fn() -> &'static Value,
    /// The file itself.
    pub file: &'static str,
    /// Its lists of tables.
    pub lists: &'static [&'static str],
    /// Types of the schema, and where they are written.
    pub homes: &'static [(&'static str, &'static str)],
}

/// `registry.toml`.
const REGISTRY: Kind = Kind {
    schema: json_schema::of_registry,
    file: "the registry",
    lists: &["hooks", "writers"],
    homes: &[
        ("Hook", "[[hooks]]"),
        ("Defaults", "[defaults]"),
        ("Dispatcher", "[dispatcher]"),
        ("Journal", "[journals.NAME]"),
        ("Capabilities", "[hooks.capabilities]"),
        ("ReadFile", "[hooks.capabilities.read_file]"),
        ("ExecSubprocess", "[hooks.capabilities.exec_subprocess]"),
        ("WriteFile", "[hooks.capabilities.write_file]"),
    ],
};

/// Checks a whole registry.
pub fn check(file: &DeTable, text: &str, findings: &mut Vec<Finding>) {
    check_as(&REGISTRY, file, text, findings);
}

/// Checks a whole file of this kind.
pub fn check_as(of: &Kind, file: &DeTable, text: &str, findings: &mut Vec<Finding>) {
    let schema = (of.schema)();
    Walk { of, schema, text, findings }.table(file, 0..0, schema, "");
}

struct Walk<'a> {
    of: &'a Kind,
    /// The whole schema, for references.
    schema: &'static Value,
    text: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    /// `place` is the table's name as people write it, such as `hooks.capabilities`; empty for the file itself.
    fn table(&mut self, table: &DeTable, header: Span, schema: &'static Value, place: &str) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (key, value) in table.iter() {
            let name = key.get_ref();
            match (properties.and_then(|properties| properties.get(&**name)), schema.get("additionalProperties")) {
                (Some(property), _) => {
                    if let Some(twin) = property[ALIAS_OF].as_str().filter(|twin| table.contains_key(*twin)) {
                        let message = format!("`{name}` and `{twin}` are the same key");
                        self.findings.push(Finding::new(&rule::DUPLICATE_KEY, key.span(), message).help("keep one of them"));
                    }
                    self.value(value, property, name, place);
                }
                (None, Some(Value::Bool(true))) => self.anything(value),
                (None, Some(values @ Value::Object(_))) => self.value(value, values, name, place),
                (None, _) => self.unknown_key(key.span(), name, value.get_ref(), table, properties, place),
            }
        }
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(required) {
                let message = format!("{} needs the key `{required}`", self.bracketed(place));
                let help = properties.and_then(|properties| describe(&properties[required])).unwrap_or_default();
                self.findings
                    .push(Finding::new(&rule::MISSING_KEY, header.clone(), message).help(format!("add `{required} = …`{help}")));
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue>, schema: &'static Value, key: &str, place: &str) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema["anyOf"].as_array() {
            match choices.iter().map(|choice| self.resolve(choice)).find(|choice| fits(value.get_ref(), choice)) {
                Some(choice) => return self.value(value, choice, key, place),
                None => return self.wrong_type(value, schema, key),
            }
        }
        if !fits(value.get_ref(), schema) {
            return self.wrong_type(value, schema, key);
        }
        match value.get_ref() {
            DeValue::Table(table) => {
                let place = if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
                self.table(table, value.span(), schema, &place);
            }
            DeValue::Array(items) => {
                for item in items.iter() {
                    // A stanza is a table of an array; any other item is named by its list.
                    self.value(item, &schema["items"], key, place);
                }
            }
            DeValue::String(word) => self.word(word, value.span(), schema, key),
            DeValue::Integer(_) => self.number(value, schema, key),
            _ => {}
        }
    }

    fn resolve(&self, schema: &'static Value) -> &'static Value {
        let reference = schema.get("$ref").or_else(|| schema["allOf"][0].get("$ref")).and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.schema.pointer(pointer)).unwrap_or(schema)
    }

    fn word(&mut self, word: &str, span: Span, schema: &Value, key: &str) {
        let words = words(schema);
        if words.is_empty() || words.contains(&word) {
            return;
        }
        let near = rules::nearest(word, words.iter().copied());
        let mut finding = match schema["title"] == json_schema::EVENT {
            true => {
                let mistake = rules::event(word).expect_err("the schema lists the events of the protocol");
                Finding::new(&rule::UNKNOWN_EVENT, span.clone(), mistake.wrong).help(mistake.right)
            }
            false => Finding::new(&rule::UNKNOWN_VALUE, span.clone(), format!("`{key}` cannot be {word:?}"))
                .help(format!("it is one of {}", quoted(words.iter().copied()))),
        };
        if let Some(near) = near {
            finding = finding.replace(span, format!("{near:?}"));
        }
        self.findings.push(finding);
    }

    fn number(&mut self, value: &Spanned<DeValue>, schema: &Value, key: &str) {
        // The version has a rule of its own.
        if schema.get("const").is_some() {
            return;
        }
        let (least, most) = (schema["minimum"].as_i64().unwrap_or(i64::MIN), schema["maximum"].as_i64().unwrap_or(i64::MAX));
        if integer(value.get_ref()).is_none_or(|number| number < least.into() || number > most.into()) {
            let message = format!("`{key}` cannot be {}", &self.text[value.span()]);
            let help = format!("it is a number from {least} to {most}");
            self.findings.push(Finding::new(&rule::OUT_OF_RANGE, value.span(), message).help(help));
        }
    }

    /// A value that a gate reads, not the host; it must still be one that the host can hold.
    fn anything(&mut self, value: &Spanned<DeValue>) {
        match value.get_ref() {
            DeValue::Table(table) => table.values().for_each(|value| self.anything(value)),
            DeValue::Array(items) => items.iter().for_each(|value| self.anything(value)),
            DeValue::Integer(_) if integer(value.get_ref()).is_none_or(|number| i64::try_from(number).is_err()) => {
                let message = format!("{} is beyond 64 bits", &self.text[value.span()]);
                self.findings.push(Finding::new(&rule::OUT_OF_RANGE, value.span(), message).help("write it as a string"));
            }
            _ => {}
        }
    }

    fn wrong_type(&mut self, value: &Spanned<DeValue>, schema: &'static Value, key: &str) {
        let wanted = match self.of.lists.contains(&key) {
            true => format!("written as [[{key}]]"),
            false => self.kinds(schema),
        };
        let found = with_article(value.get_ref().type_str());
        let mut finding = Finding::new(&rule::WRONG_TYPE, value.span(), format!("`{key}` is {found}, but must be {wanted}"));
        if let Some(text) = self.converted(value, schema, key) {
            finding = finding.help(format!("write {text}")).replace(value.span(), text);
        }
        self.findings.push(finding);
    }

    /// The same value as the type that is wanted, where that is beyond doubt.
    fn converted(&self, value: &Spanned<DeValue>, schema: &'static Value, key: &str) -> Option<String> {
        let raw = &self.text[value.span()];
        match (schema["type"].as_str()?, value.get_ref()) {
            ("boolean", DeValue::String(word)) => Some(word.to_lowercase()).filter(|word| word == "true" || word == "false"),
            ("integer", DeValue::String(word)) => word.trim().parse::<u32>().ok().map(|number| number.to_string()),
            ("array", DeValue::String(_)) if self.resolve(&schema["items"])["type"] == "string" => Some(format!("[{raw}]")),
            ("string", DeValue::Array(items)) if key == "tool" || key == "matcher" => {
                let names: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
                names.filter(|names| !names.is_empty()).map(|names| format!("{:?}", names.join("|")))
            }
            _ => None,
        }
    }

    fn kinds(&self, schema: &'static Value) -> String {
        if let Some(choices) = schema["anyOf"].as_array() {
            let kinds: Vec<String> = choices.iter().map(|choice| self.kinds(self.resolve(choice))).collect();
            return kinds.join(" or ");
        }
        match kind(schema) {
            "array" => match kind(self.resolve(&schema["items"])) {
                "string" => "a list of strings".into(),
                _ => "a list of tables".into(),
            },
            "boolean" => "true or false".into(),
            kind => with_article(kind),
        }
    }

    fn unknown_key(
        &mut self,
        span: Span,
        name: &str,
        value: &DeValue,
        table: &DeTable,
        known: Option<&Map<String, Value>>,
        place: &str,
    ) {
        let keys =
            || known.into_iter().flatten().filter(|(_, schema)| schema.get(ALIAS_OF).is_none()).map(|(key, _)| key.as_str());
        let message = format!("unknown key `{name}` in {}", self.bracketed(place));
        let mut finding = Finding::new(&rule::UNKNOWN_KEY, span.clone(), message);
        if let Some(near) = rules::nearest(name, keys()) {
            // Parts of a table, and stanzas, add up under the right name; a value that is there already cannot be there twice.
            let free = !table.contains_key(near) || value.is_table() || value.is_array();
            finding = finding.help(format!("did you mean `{near}`?"));
            finding = if free { finding.replace(span, near) } else { finding };
        } else if let Some(home) = self.home(name) {
            finding = finding.help(format!("`{name}` belongs to {home}"));
        } else {
            finding = finding.help(format!("known here: {}", quoted(keys())));
        }
        self.findings.push(finding);
    }

    fn bracketed(&self, place: &str) -> String {
        match place {
            "" => self.of.file.into(),
            list if self.of.lists.contains(&list) => format!("[[{list}]]"),
            table => format!("[{table}]"),
        }
    }

    /// The table that a key of this name belongs to.
    fn home(&self, name: &str) -> Option<&'static str> {
        let holds = |definition: &str| self.schema["definitions"][definition]["properties"].get(name).is_some();
        let nested = self.of.homes.iter().find(|(definition, _)| holds(definition)).map(|(_, place)| *place);
        nested.or_else(|| self.schema["properties"].get(name).map(|_| "the top of the file"))
    }
}

fn kind(schema: &Value) -> &str {
    match schema["type"].as_str() {
        Some(kind) => kind,
        // A choice of words.
        None => schema["oneOf"][0]["type"].as_str().unwrap_or("object"),
    }
}

fn fits(value: &DeValue, schema: &Value) -> bool {
    match kind(schema) {
        "string" => value.is_str(),
        "integer" => value.is_integer(),
        "boolean" => value.is_bool(),
        "array" => value.is_array(),
        _ => value.is_table(),
    }
}

fn integer(value: &DeValue) -> Option<i128> {
    let integer = value.as_integer()?;
    i128::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}

fn words(schema: &Value) -> Vec<&str> {
    match schema["enum"].as_array() {
        Some(words) => words.iter().filter_map(Value::as_str).collect(),
        None => schema["oneOf"].as_array().into_iter().flatten().filter_map(|choice| choice["const"].as_str()).collect(),
    }
}

fn describe(schema: &Value) -> Option<String> {
    let text = schema["description"].as_str()?.trim_end_matches('.');
    Some(format!(": {}{}", text[..1].to_lowercase(), &text[1..]))
}

fn with_article(kind: &str) -> String {
    match kind {
        "integer" | "array" => format!("an {kind}"),
        "object" => "a table".into(),
        _ => format!("a {kind}"),
    }
}

fn quoted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
