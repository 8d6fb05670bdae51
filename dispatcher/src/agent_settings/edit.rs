//! Entries put into a text and taken out of it. Putting in adds text and changes none; taking out removes what was added, and
//! what has become empty by it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;
use serde_json::Value;

use super::document::{Container, Document, Reader, Refusal, split};
use super::entries::{Entry, is_own};
use super::shape;

mod layout;

use layout::Layout;

/// What was there before there were entries, and stays when it has become empty.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    hooks: bool,
    events: BTreeSet<String>,
}

impl Kept {
    /// All that `text` has; nothing of what cannot be read.
    pub fn of(text: &str) -> Self {
        let (_, body) = split(text);
        let Ok(document) = Document::parse(body, Reader::Person) else { return Self::default() };
        let hooks = shape::hooks(&document).ok().flatten();
        let events = hooks.iter().flat_map(|hooks| &hooks.properties).map(|event| event.name.as_str().to_owned());
        Self { hooks: hooks.is_some(), events: events.collect() }
    }
}

/// `text` with `entries` as well, each in a group behind those of its event. The text must be one that the agent reads.
pub fn insert(text: &str, entries: &[Entry]) -> Result<String, Refusal> {
    let (mark, body) = split(text);
    let document = Document::parse(body, Reader::Agent)?;
    shape::check(&document)?;
    let mut body = match document.root {
        Some(_) => body.to_owned(),
        None => format!("{{}}{}", if body.is_empty() { "\n" } else { body }),
    };
    for entry in entries {
        body = with(&body, entry)?;
    }
    Ok(format!("{mark}{body}"))
}

fn with(body: &str, entry: &Entry) -> Result<String, Refusal> {
    let document = Document::parse(body, Reader::Agent)?;
    let root = document.root.as_ref().expect("there is an object by now");
    let layout = Layout::of(body, root);
    let group = entry.group();
    let Some(hooks) = shape::hooks(&document)? else {
        let hooks = Value::Object([(entry.event.clone(), Value::Array(vec![group]))].into_iter().collect());
        return Ok(layout.appended(body, &Container::object(root), Some("hooks"), &hooks));
    };
    Ok(match document.property(hooks, &entry.event)? {
        None => layout.appended(body, &Container::object(hooks), Some(&entry.event), &Value::Array(vec![group])),
        Some(event) => {
            let what = || format!("`{}` is no list", entry.event);
            let wrong = || Refusal::at(body, event.value.start(), what(), "Correct it.");
            let groups = event.value.as_array().ok_or_else(wrong)?;
            layout.appended(body, &Container::array(groups), None, &group)
        }
    })
}

/// The entries in `text`.
pub fn own(text: &str) -> Result<Vec<Entry>, Refusal> {
    let (_, body) = split(text);
    let document = Document::parse(body, Reader::Person)?;
    let handlers = handlers(&document)?.into_iter();
    let value = |range: Range<usize>| serde_json::from_str(&body[range]).unwrap_or_default();
    Ok(handlers.map(|(entry, handler)| Entry { handler: value(handler), ..entry }).collect())
}

/// Every own handler: its event and matcher, and its place.
fn handlers(document: &Document) -> Result<Vec<(Entry, Range<usize>)>, Refusal> {
    let mut found = Vec::new();
    for property in shape::hooks(document)?.iter().flat_map(|hooks| &hooks.properties) {
        let event = property.name.as_str();
        for group in property.value.as_array().iter().flat_map(|groups| &groups.elements).filter_map(|group| group.as_object()) {
            let matcher = document.property(group, "matcher")?.and_then(|matcher| matcher.value.as_string_lit());
            let matcher = matcher.map(|matcher| matcher.value.to_string());
            for handler in list(document, group)?.filter_map(|handler| handler.as_object()) {
                if is_own(document, event, handler)? {
                    let entry = Entry { event: event.to_owned(), matcher: matcher.clone(), handler: Value::Null };
                    found.push((entry, handler.start()..handler.end()));
                }
            }
        }
    }
    Ok(found)
}

/// The handlers of a group.
fn list<'g>(
    document: &Document<'g>,
    group: &'g Object<'g>,
) -> Result<impl Iterator<Item = &'g jsonc_parser::ast::Value<'g>>, Refusal> {
    let handlers = document.property(group, "hooks")?.and_then(|hooks| hooks.value.as_array());
    Ok(handlers.into_iter().flat_map(|handlers| &handlers.elements))
}

/// `text` without its entries, and without what holds nothing any more, `kept` excepted.
pub fn remove(text: &str, kept: &Kept) -> Result<String, Refusal> {
    let (mark, body) = split(text);
    let mut body = body.to_owned();
    loop {
        let document = Document::parse(&body, Reader::Person)?;
        let Some((_, handler)) = handlers(&document)?.into_iter().next() else { return Ok(format!("{mark}{body}")) };
        let (container, index) = target(&document, &handler, kept)?;
        let (item, comma) = removal(&document, &container, index);
        let mut cuts: Vec<Range<usize>> = comma.into_iter().chain([item]).collect();
        // From behind, so that places before a cut stay right.
        cuts.sort_by_key(|cut| Reverse(cut.start));
        cuts.into_iter().for_each(|cut| body.replace_range(cut, ""));
    }
}

/// What is to go with the handler at `place`: the outermost thing that would hold nothing without it.
fn target(document: &Document, place: &Range<usize>, kept: &Kept) -> Result<(Container, usize), Refusal> {
    let root = document.root.as_ref().expect("a handler lies in an object");
    let hooks = shape::hooks(document)?.expect("a handler lies below hooks");
    let around = |range: jsonc_parser::common::Range| range.start <= place.start && place.end <= range.end;
    let event = hooks.properties.iter().find(|event| around(event.range)).expect("a handler is of an event");
    let groups = event.value.as_array().expect("an event with a handler is a list");
    let group = groups.elements.iter().find(|group| around(group.range())).and_then(|group| group.as_object());
    let group = group.expect("a handler is in a group");
    let handlers = document.property(group, "hooks")?.and_then(|hooks| hooks.value.as_array()).expect("a group has handlers");
    // From the inside, each with whether it stays though it is empty.
    let levels = [
        (Container::array(handlers), false),
        (Container::array(groups), kept.events.contains(event.name.as_str())),
        (Container::object(hooks), kept.hooks),
        (Container::object(root), true),
    ];
    let mut levels = levels.into_iter();
    loop {
        let (container, stays) = levels.next().expect("the last level stays");
        let index = container.items.iter().position(|item| around(*item)).expect("the handler lies in it");
        let alone = container.items.len() == 1 && lone(document, &container);
        if !alone || stays {
            return Ok((container, index));
        }
    }
}

/// Whether there is nothing but blanks around the only item, so that no comment of a person goes with it.
fn lone(document: &Document, container: &Container) -> bool {
    let item = container.items[0];
    let behind = document.comma(item.end, container.inside.end).map_or(item.end, |comma| comma.end);
    blank(document, container.inside.start..item.start) && blank(document, behind..container.inside.end)
}

/// What to take out so that item `index` is gone; the comma, where it does not lie in that anyway.
fn removal(document: &Document, container: &Container, index: usize) -> (Range<usize>, Option<Range<usize>>) {
    let Container { inside, items } = container;
    let item = items[index];
    let next = items.get(index + 1).map_or(inside.end, |next| next.start);
    let behind = document.comma(item.end, next);
    let before = index.checked_sub(1).and_then(|before| document.comma(items[before].end, item.start));
    let gap = document.text[inside.start..item.start].trim_end().len() + inside.start..item.start;
    match (before, behind) {
        // It was put behind another: comma, blanks, item.
        (Some(comma), _) if blank(document, comma.end..item.start) => (comma.start..item.end, None),
        (None, _) if items.len() == 1 && lone(document, container) => (inside.clone(), None),
        (None, Some(comma)) if index + 1 < items.len() && blank(document, comma.end..next) => (item.start..next, None),
        // A person's comment stays.
        (before, behind) => (gap.start..item.end, behind.or(before).map(|comma| comma.start..comma.end)),
    }
}

fn blank(document: &Document, range: Range<usize>) -> bool {
    document.text[range].trim().is_empty()
}

#[cfg(test)]
mod tests;
