//! One merge, written into the text of `wave-state.yaml`.

use portcullis_vsdd::wave::{self, Wave};
use portcullis_vsdd::yaml;

use crate::place::{self, Place};

/// The state that a gate waits in.
const DUE: &str = "pending";
/// The key that names the wave whose gate is due.
const NEXT_GATE: &str = "next_gate_required";

/// What recording a merge comes to.
#[derive(Debug)]
pub struct Merge {
    /// The name of the story's wave.
    pub wave: String,
    /// How many stories the wave has.
    pub total: usize,
    /// How many of its merges are recorded now.
    pub merged: usize,
    /// All its stories are merged with this one, and its gate is now due.
    pub gate_due: bool,
    /// The new text; absent where the old one has a form that cannot be changed in place.
    pub text: Option<String>,
}

/// Records the merge of `story`. `None` where no wave has the story or its merge is recorded; the error says why `state`
/// cannot be read.
pub fn merge(state: &str, story: &str) -> Result<Option<Merge>, String> {
    let waves = wave::read(state)?;
    let Some(index) = waves.iter().position(|wave| wave.stories.iter().any(|id| id == story)) else { return Ok(None) };
    if waves[index].stories_merged.iter().any(|id| id == story) {
        return Ok(None);
    }
    let mut expected = waves;
    let wave = &mut expected[index];
    wave.stories_merged.push(story.into());
    let complete = wave.stories.iter().all(|id| wave.stories_merged.contains(id));
    let gate_due = complete && wave.gate_status.as_deref().is_none_or(|status| status == "not_started");
    if gate_due {
        wave.gate_status = Some(DUE.into());
    }
    let Wave { name, stories, stories_merged, .. } = &expected[index];
    let (wave, total, merged) = (name.clone(), stories.len(), stories_merged.len());
    let text = edited(state, index, story, gate_due.then_some(name));
    // An anchor, or a form that nobody thought of, may have changed more or less than was meant.
    let text = text.filter(|text| wave::read(text).is_ok_and(|waves| waves == expected));
    Ok(Some(Merge { wave, total, merged, gate_due, text }))
}

/// The text with the story merged and, where `due` names the wave, its gate due.
fn edited(state: &str, index: usize, story: &str, due: Option<&String>) -> Option<String> {
    let mut text = place::append(state, wave_at(&place::parse(state)?, index)?, "stories_merged", story, "stories")?;
    let Some(name) = due else { return Some(text) };
    text = place::set(&text, wave_at(&place::parse(&text)?, index)?, "gate_status", DUE, "stories_merged")?;
    let name = scalar(name);
    let root = place::parse(&text)?;
    let in_items = matches!(root.entry("waves")?.value, Place::Sequence { .. });
    if !in_items || root.entry(NEXT_GATE).is_some() {
        text = place::set(&text, &root, NEXT_GATE, &name, &root.entries().last()?.key)?;
    }
    match in_items {
        true => place::set(&text, wave_at(&place::parse(&text)?, index)?, NEXT_GATE, &name, "gate_status"),
        false => Some(text),
    }
}

/// The wave at `index`; entries that are no mappings do not count.
fn wave_at(root: &Place, index: usize) -> Option<&Place> {
    let waves: Vec<&Place> = match &root.entry("waves")?.value {
        Place::Sequence { items, .. } => items.iter().collect(),
        mapping => mapping.entries().iter().map(|entry| &entry.value).collect(),
    };
    waves.into_iter().filter(|wave| matches!(wave, Place::Mapping { .. })).nth(index)
}

/// `text` as YAML writes it: plain where it can only be read as this text.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str())
        && yaml::parse(text).is_ok_and(|node| node.is_some_and(|node| node.text() == Some(text)));
    match plain {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(state: &str, story: &str) -> String {
        merge(state, story).unwrap().unwrap().text.unwrap()
    }

    #[test]
    fn only_the_lines_concerned_change() {
        let state = "# tracker\nnext_gate_required: null  # wave or null\nwaves:\n  # first\n  wave_1:\n    stories:\n      - S-1.01\n      - \"S-1.02\" # late\n    stories_merged:\n      - S-1.02\n\n    gate_status: 'not_started' # open\n    extra: {a: [1, 2]}\n  gone: null\nowner: me\n";
        let expected = state
            .replace("required: null", "required: wave_1")
            .replace("merged:\n      - S-1.02\n", "merged:\n      - S-1.02\n      - S-1.01\n")
            .replace("'not_started'", "pending");
        assert_eq!(text(state, "S-1.01"), expected);
    }

    #[test]
    fn what_is_missing_is_added_where_it_belongs() {
        assert_eq!(
            text("waves:\n  w:\n    stories: [S-1.01]\n# end\n", "S-1.01"),
            "waves:\n  w:\n    stories: [S-1.01]\n    stories_merged: [S-1.01]\n    gate_status: pending\nnext_gate_required: w\n# end\n"
        );
        assert_eq!(
            text("waves:\n- stories: [S-1.01]\n  id: '7'\n", "S-1.01"),
            "waves:\n- stories: [S-1.01]\n  stories_merged: [S-1.01]\n  gate_status: pending\n  next_gate_required: '7'\n  id: '7'\n"
        );
        assert_eq!(
            text("{waves: [{id: \"it's\", stories: [S-1.01]}], next_gate_required: }", "S-1.01"),
            "{waves: [{id: \"it's\", stories: [S-1.01], stories_merged: [S-1.01], gate_status: pending, next_gate_required: 'it''s'}], next_gate_required: 'it''s' }"
        );
    }

    #[test]
    fn the_first_wave_of_the_story_and_only_once() {
        let state =
            "waves:\n- ~\n- {id: a, stories: [S-2.01]}\n- {id: b, stories: [S-1.01, S-1.02]}\n- {id: c, stories: [S-1.01]}\n";
        let merge_of = |story| merge(state, story).unwrap();
        assert_eq!(
            merge_of("S-1.01").map(|merge| (merge.wave, merge.total, merge.merged, merge.gate_due)),
            Some(("b".into(), 2, 1, false))
        );
        assert!(merge_of("S-9.09").is_none());
        assert!(merge(&text(state, "S-1.01"), "S-1.01").unwrap().is_none());
    }

    #[test]
    fn what_would_change_more_than_meant_is_left() {
        let shared = "waves:\n  a: {stories: [S-1.01], stories_merged: &m [S-9.09]}\n  b: {stories: [], stories_merged: *m}\n";
        assert!(merge(shared, "S-1.01").unwrap().unwrap().text.is_none());
    }
}
