//! Whether the agent takes the hooks of a file for what they are. The older of its releases drops the whole file for one group
//! or handler of another shape, and then nothing in it is in force.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::document::{Document, Refusal};

const REMEDY: &str = "The agent may ignore the whole file for it. Correct it.";

/// Checks all groups below `hooks`.
pub fn check(document: &Document) -> Result<(), Refusal> {
    let Some(hooks) = hooks(document)? else { return Ok(()) };
    for property in &hooks.properties {
        let event = property.name.as_str();
        document.property(hooks, event)?;
        // Any other value the agent passes over.
        for element in property.value.as_array().iter().flat_map(|groups| &groups.elements) {
            group(document, event, element)?;
        }
    }
    Ok(())
}

/// The object `hooks`, if there is one.
pub fn hooks<'d>(document: &'d Document) -> Result<Option<&'d Object<'d>>, Refusal> {
    let Some(root) = &document.root else { return Ok(None) };
    let Some(property) = document.property(root, "hooks")? else { return Ok(None) };
    let wrong = || Refusal::at(document.text, property.value.start(), "`hooks` is no object", REMEDY);
    property.value.as_object().map(Some).ok_or_else(wrong)
}

fn group(document: &Document, event: &str, element: &Value) -> Result<(), Refusal> {
    let wrong = |at: &Value, what: &str| Refusal::at(document.text, at.start(), format!("{what} ({event})"), REMEDY);
    let Some(group) = element.as_object() else { return Err(wrong(element, "a group of hooks is no object")) };
    if let Some(matcher) = document.property(group, "matcher")?
        && matcher.value.as_string_lit().is_none()
    {
        return Err(wrong(&matcher.value, "a matcher is no text"));
    }
    let Some(handlers) = document.property(group, "hooks")? else {
        return Err(wrong(element, "a group has no `hooks`"));
    };
    let Some(list) = handlers.value.as_array() else { return Err(wrong(&handlers.value, "`hooks` of a group is no list")) };
    for element in &list.elements {
        let Some(handler) = element.as_object() else { return Err(wrong(element, "a hook is no object")) };
        let kind = document.property(handler, "type")?.and_then(|kind| kind.value.as_string_lit());
        let command = document.property(handler, "command")?.and_then(|command| command.value.as_string_lit());
        match kind {
            None => return Err(wrong(element, "a hook has no `type`")),
            Some(kind) if kind.value == "command" && command.is_none() => return Err(wrong(element, "a hook has no `command`")),
            Some(_) => {}
        }
    }
    Ok(())
}
