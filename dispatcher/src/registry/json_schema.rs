//! The JSON Schema of `registry.toml`, made from the types in [`super::schema`].
//!
//! Two readers: editors that complete and check TOML (`dispatcher validate --schema`), and the linter, whose check of keys,
//! types and ranges is driven by it. So a key that is added to the types is known to both.

use std::borrow::Cow;
use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::schema::{File, SCHEMA_VERSION};
use crate::protocol::matrix;

/// The keyword that marks another spelling of a key; its value is the key.
pub const ALIAS_OF: &str = "x-alias-of";

/// The title of the definition that lists the events.
pub const EVENT: &str = "Event";

/// The schema; made once per process.
pub fn of_registry() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = of::<File>("Portcullis registry.toml");
        schema["properties"]["schema_version"]["const"] = SCHEMA_VERSION.into();
        schema
    })
}

/// The schema of a kind of TOML file.
pub fn of<File: JsonSchema>(title: &str) -> Value {
    // Editors of TOML know this draft; newer ones not all of them.
    let generator = SchemaSettings::draft07().with_transform(AsToml).into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    schema["title"] = title.into();
    schema
}

/// The seed's name for `fuel`, which serde knows as an alias.
pub fn add_fuel_cap(schema: &mut Schema) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    if let Some(mut fuel) = properties.get("fuel").cloned() {
        fuel[ALIAS_OF] = "fuel".into();
        fuel["description"] = "The same as `fuel`.".into();
        properties.insert("fuel_cap".into(), fuel);
    }
}

/// What TOML can hold: no null, and integers of 64 bits.
#[derive(Clone)]
struct AsToml;

impl Transform for AsToml {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        match schema.get_mut("default") {
            Some(Value::Null) => drop(schema.remove("default")),
            Some(Value::Object(table)) => table.retain(|_, value| !value.is_null()),
            _ => {}
        }
        if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
            types.retain(|kind| kind != "null");
            if let [one] = types.as_slice() {
                let one = one.clone();
                schema.insert("type".into(), one);
            }
        }
        if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
            choices.retain(|choice| choice["type"] != "null");
            if let [Value::Object(one)] = choices.as_slice() {
                let one = one.clone();
                schema.remove("anyOf");
                for (keyword, value) in one {
                    schema.insert(keyword, value);
                }
            }
        }
        let largest = match schema.remove("format").as_ref().and_then(Value::as_str) {
            Some("uint32") => u32::MAX.into(),
            Some("uint64") => i64::MAX,
            _ => return,
        };
        if schema.get("maximum").is_none() {
            schema.insert("maximum".into(), largest.into());
        }
    }
}

/// The name of an event of the protocol.
pub struct Event;

impl JsonSchema for Event {
    fn schema_name() -> Cow<'static, str> {
        EVENT.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = matrix::ROWS.iter().map(|row| row.event).collect();
        json_schema!({"title": EVENT, "type": "string", "enum": names})
    }
}

/// One event or a list of them.
pub struct Events;

impl JsonSchema for Events {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Events".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let event = generator.subschema_for::<Event>();
        json_schema!({"anyOf": [event, {"type": "array", "items": event, "minItems": 1}]})
    }
}

/// A table with whatever its reader knows.
pub struct AnyTable;

impl JsonSchema for AnyTable {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyTable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "additionalProperties": json!(true)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_the_types_say() {
        let schema = of_registry();
        let hook = &schema["definitions"]["Hook"];
        assert_eq!(hook["additionalProperties"], false);
        assert_eq!(hook["required"], json!(["name", "event", "plugin"]));
        assert_eq!(hook["properties"]["priority"]["maximum"], u32::MAX);
        assert_eq!(hook["properties"]["fuel_cap"][ALIAS_OF], "fuel");
        assert_eq!(hook["properties"]["config"]["additionalProperties"], true);
        assert!(hook["properties"]["event"]["anyOf"][1]["items"].is_object());
        assert!(schema["definitions"]["Event"]["enum"].as_array().unwrap().contains(&"SubagentStop".into()));
        assert_eq!(schema["properties"]["schema_version"]["const"], 2);
        assert!(!schema.to_string().contains("null"), "TOML has no null");
    }
}
