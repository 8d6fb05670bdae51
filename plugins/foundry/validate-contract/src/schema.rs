//! A validator for the part of JSON Schema that contracts use.
//!
//! A keyword outside of that part is refused, not passed over: a check that never happens looks like one that succeeds.

use std::collections::HashSet;

use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::format;

/// Keywords that are checked.
const ASSERTIONS: [&str; 16] = [
    "$ref",
    "type",
    "const",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
];
/// Keywords that say nothing about the value.
const ANNOTATIONS: [&str; 12] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];
/// What a `$ref` to a whole contract begins with.
const URN: &str = "urn:foundry:contract:";

/// Everything about `value` that its contract does not allow, each as `pointer: text`. `contract` finds contracts by id.
pub fn violations(contract: &dyn Fn(&str) -> Option<Value>, id: &str, value: &Value) -> Vec<String> {
    let mut check = Check { contract, found: Vec::new(), refused: HashSet::new() };
    check.reference(&format!("{URN}{id}"), value, "#", &mut Vec::new());
    check.found
}

/// Why a contract cannot be used: each keyword, anywhere in it, that would not be checked.
pub fn refusals(schema: &Value) -> Vec<String> {
    let Some(schema) = schema.as_object() else { return vec!["a schema that is no object".into()] };
    let mut found: Vec<String> = Vec::new();
    for (keyword, setting) in schema {
        match keyword.as_str() {
            "additionalProperties" if *setting != Value::Bool(false) => found.push(format!("`{keyword}` other than false")),
            "items" if setting.is_array() => found.push("`items` as an array".into()),
            "items" => found.extend(refusals(setting)),
            "properties" => found.extend(setting.as_object().into_iter().flatten().flat_map(|(_, schema)| refusals(schema))),
            known if ASSERTIONS.contains(&known) || ANNOTATIONS.contains(&known) => {}
            unknown => found.push(format!("the keyword `{unknown}`")),
        }
    }
    found
}

struct Check<'a> {
    contract: &'a dyn Fn(&str) -> Option<Value>,
    found: Vec<String>,
    /// Contracts already reported as unusable.
    refused: HashSet<String>,
}

impl Check<'_> {
    fn violation(&mut self, pointer: &str, text: impl std::fmt::Display) {
        self.found.push(format!("{pointer}: {text}"));
    }

    /// `references` are those that led to this very value.
    fn reference(&mut self, reference: &str, value: &Value, pointer: &str, references: &mut Vec<String>) {
        if references.iter().any(|earlier| earlier == reference) {
            return self.violation(pointer, format_args!("circular $ref {reference}"));
        }
        let Some(schema) = reference.strip_prefix(URN).and_then(self.contract) else {
            return self.violation(pointer, format_args!("cannot resolve $ref {reference}"));
        };
        let refusals = refusals(&schema);
        if refusals.is_empty() {
            references.push(reference.to_owned());
            self.value(&schema, value, pointer, references);
            references.pop();
        } else if self.refused.insert(reference.to_owned()) {
            for refusal in refusals {
                self.violation(pointer, format_args!("the contract uses {refusal}, which is not supported"));
            }
        }
    }

    fn value(&mut self, schema: &Value, value: &Value, pointer: &str, references: &mut Vec<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            self.reference(reference, value, pointer, references);
        }
        if let Some(only) = schema.get("const").filter(|only| *only != value) {
            self.violation(pointer, format_args!("must equal {only}"));
        }
        if let Some(allowed) = schema["enum"].as_array().filter(|allowed| !allowed.contains(value)) {
            self.violation(pointer, format_args!("must be one of {}", Value::Array(allowed.clone())));
        }
        let types = types(&schema["type"]);
        if !types.is_empty() && !types.iter().any(|name| is_of_type(name, value)) {
            return self.violation(pointer, format_args!("expected {}, got {}", types.join("|"), type_of(value)));
        }
        match value {
            Value::String(text) => self.text(schema, text, pointer),
            Value::Number(number) => self.number(schema, number.as_f64().unwrap_or_default(), pointer),
            Value::Array(items) => self.array(schema, items, pointer),
            Value::Object(members) => self.object(schema, members, pointer),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, schema: &Value, text: &str, pointer: &str) {
        let length = text.chars().count() as u64;
        if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
            self.violation(pointer, format_args!("longer than {most} characters"));
        }
        if let Some(least) = schema["minLength"].as_u64().filter(|least| length < *least) {
            self.violation(pointer, format_args!("shorter than {least} characters"));
        }
        let matches = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
        if let Some(pattern) = schema["pattern"].as_str().filter(|pattern| !matches(pattern)) {
            self.violation(pointer, format_args!("does not match {pattern}"));
        }
        if let Some(format) = schema["format"].as_str().filter(|format| !format::holds(format, text)) {
            self.violation(pointer, format_args!("is not a valid {format}"));
        }
    }

    fn number(&mut self, schema: &Value, number: f64, pointer: &str) {
        let bound = |keyword: &str| Some((schema[keyword].as_f64()?, &schema[keyword]));
        if let Some((_, least)) = bound("minimum").filter(|(least, _)| number < *least) {
            self.violation(pointer, format_args!("below minimum {least}"));
        }
        if let Some((_, most)) = bound("maximum").filter(|(most, _)| number > *most) {
            self.violation(pointer, format_args!("above maximum {most}"));
        }
    }

    fn array(&mut self, schema: &Value, items: &[Value], pointer: &str) {
        let length = items.len() as u64;
        if let Some(least) = schema["minItems"].as_u64().filter(|least| length < *least) {
            self.violation(pointer, format_args!("needs at least {least} items"));
        }
        if let Some(most) = schema["maxItems"].as_u64().filter(|most| length > *most) {
            self.violation(pointer, format_args!("allows at most {most} items"));
        }
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.value(schema, item, &format!("{pointer}/{index}"), &mut Vec::new());
            }
        }
    }

    fn object(&mut self, schema: &Value, members: &Map<String, Value>, pointer: &str) {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for key in required.filter(|key| !members.contains_key(*key)) {
            self.violation(pointer, format_args!("missing required property \"{key}\""));
        }
        let none = Map::new();
        let declared = schema["properties"].as_object().unwrap_or(&none);
        for (key, schema) in declared {
            if let Some(member) = members.get(key) {
                self.value(schema, member, &format!("{pointer}/{}", escaped(key)), &mut Vec::new());
            }
        }
        if schema.get("additionalProperties").is_some() {
            for key in members.keys().filter(|key| !declared.contains_key(*key)) {
                self.violation(pointer, format_args!("unexpected property \"{key}\""));
            }
        }
    }
}

/// A key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn types(setting: &Value) -> Vec<&str> {
    match setting {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    name == type_of(value) || name == "number" && value.is_number()
}

/// The narrowest type; `3.0` is an integer.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;
