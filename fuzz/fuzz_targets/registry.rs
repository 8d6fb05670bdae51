//! Registries: any bytes. Loader and linter never panic and never disagree, what they say has a place, and what loads routes.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use portcullis::protocol::event::Event;
use portcullis::protocol::matrix;
use portcullis::registry::lint::render::{self, Checked};
use portcullis::registry::lint::{Severity, Surroundings, decode, fix, lint, place};
use portcullis::registry::{Registry, RegistryError};
use portcullis::route;

/// Where the registry would lie.
const PLACE: &str = "/r/registry.toml";

/// Every event, with different tools and files.
static EVENTS: LazyLock<Vec<Event>> = LazyLock::new(|| {
    const FIELDS: [&str; 4] = [
        "",
        r#","tool_name":"Bash","agent_type":"vsdd:pr-manager","source":"startup""#,
        r#","tool_name":"Write","tool_input":{"file_path":".factory/stories/S-1.01-a.md"}"#,
        r#","tool_name":"mcp__a__b","tool_input":{"file_path":"/elsewhere/ü.md"}"#,
    ];
    let event = |name: &str, fields: &str| format!(r#"{{"hook_event_name":"{name}"{fields}}}"#);
    let all = matrix::ROWS.iter().flat_map(|row| FIELDS.map(|fields| event(row.event, fields)));
    all.map(|text| Event::parse(text.as_bytes(), None).expect("an event")).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let around = Surroundings::default();
    let (text, no_text) = decode(bytes);
    let is_text = no_text.is_none();
    let findings = no_text.map_or_else(|| lint(&text, &around), |finding| vec![finding]);
    let errors = findings.iter().any(|finding| finding.rule.severity == Severity::Error);
    for finding in &findings {
        assert_ne!(finding.rule.id, "refused", "only the loader refuses: {finding:?}");
        let spans = std::iter::once(&finding.span)
            .chain(finding.related.iter().map(|(span, _)| span))
            .chain(finding.fix.iter().flat_map(|fix| fix.edits.iter().map(|edit| &edit.span)));
        spans.for_each(|span| assert!(text.get(span.clone()).is_some(), "{finding:?} has no place"));
    }
    let all = [Checked { path: "r.toml".into(), text: text.clone(), hooks_json: None, findings }];
    render::human(&all[0], true);
    assert!(render::json(&all).is_object() && render::sarif(&all).is_object());
    if !is_text {
        return;
    }
    let (repaired, count) = fix::repair(&text, &around);
    assert_eq!(repaired == text, count == 0);
    match Registry::parse(&text, PLACE.as_ref()) {
        Ok(registry) => {
            assert!(Registry::parse(&repaired, PLACE.as_ref()).is_ok(), "a repair that breaks something:\n{repaired}");
            for event in EVENTS.iter() {
                let chosen = route::select(&registry, event, Path::new("/nowhere"), &[]);
                assert!(chosen.is_sorted_by_key(|stanza| stanza.priority));
            }
        }
        Err(error) => {
            assert!(errors, "validate likes what the loader refuses: {error}");
            if let RegistryError::Syntax { line, column, .. } | RegistryError::Stanza { line, column, .. } = error {
                let offset = place::offset(&text, line, column);
                assert_eq!(place::line_and_column(&text, offset), (line, column), "outside of the text");
            }
        }
    }
});
