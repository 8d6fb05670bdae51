//! `scripts` of package.json, which npm and its like run with sh.

use portcullis_artifact::Value;
use portcullis_artifact::yaml;

use super::Extracted;
use crate::scan::script::Script;

/// Every script. JSON is YAML, and this reader knows the places of its strings.
pub fn scripts(text: &str) -> Extracted {
    let Some(root) = yaml::parse(text, 1) else { return Extracted::malformed() };
    let mut extracted = Extracted::default();
    let Some(Value::Map(entries)) = root.get("scripts").map(|node| &node.value) else { return extracted };
    for (_, node) in entries {
        if let Some(command) = node.text() {
            extracted.scripts.push(Script::aligned(command, text, super::pipeline::byte(text, node.at) + 1));
        }
    }
    extracted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_their_places() {
        let text = "{\n\t\"name\": \"é\",\n\t\"scripts\": {\"a\": \"echo \\\"x\\\" && rm y\", \"b\": 7}\n}\n";
        let found = scripts(text);
        assert_eq!(found.scripts[0].text, "echo \"x\" && rm y");
        assert_eq!(&text[found.scripts[0].span(12..16)], "rm y");
        assert!(found.skipped.is_empty());
        assert_eq!(scripts("{\"scripts\": "), Extracted::malformed());
    }
}
