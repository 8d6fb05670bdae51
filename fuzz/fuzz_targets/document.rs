//! The document model on any text: it ends without a panic, its positions are those of the text, and what is edited in place
//! keeps everything else.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_artifact::review::{Assessment, Series, grave_counts};
use portcullis_artifact::{Document, FrontMatter, Mask, Node, Table, Value, collapsed, ids, input_hash, plain};
use portcullis_vsdd::{wave, yaml};
use vsdd_update_wave_state_on_merge::record;

const DIGEST: &str = "b2d033e";
const KEY: &str = "input-hash";
/// The keys of a state of waves that a merge changes.
const CHANGED: [&str; 3] = ["stories_merged", "gate_status", "next_gate_required"];

fuzz_target!(|text: &str| {
    document(text);
    digest(text);
    waves(text);
});

fn document(text: &str) {
    let raw: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(text).lines().collect();
    let document = Document::parse(text);
    assert!(document.lines().iter().map(|line| line.raw).eq(raw.iter().copied()));
    assert!(document.lines().iter().enumerate().all(|(index, line)| line.number == index + 1));
    for heading in document.headings() {
        assert!((1..=6).contains(&heading.level));
        let line = &document.lines()[heading.number - 1];
        assert!(line.is_visible() && line.text.contains(&heading.text));
    }
    let front = document.lines().iter().filter(|line| line.mask == Mask::FrontMatter).count();
    if let Some(matter) = document.front_matter() {
        assert_eq!(Some(matter), FrontMatter::of(text).as_ref());
        for (key, node) in matter.entries() {
            nodes(node, front);
            assert!(matter.has(key));
            (matter.text(key), matter.texts(key), matter.rendered(key));
        }
    }
    document.tables().iter().chain(&document.tables_and_quoted()).for_each(|one| table(one, &raw));
    for section in document.sections(|_| true).take(50) {
        let numbers = section.lines().iter().map(|line| line.number);
        assert!(numbers.eq(section.heading.number + 1..section.heading.number + 1 + section.lines().len()));
        section.tables().iter().for_each(|one| table(one, &raw));
    }
    for line in document.visible() {
        let _ = (ids::contracts(&line.text), ids::properties(&line.text), collapsed(&line.text));
        assert!(plain(&line.text).len() <= line.text.len());
        if let Some(series) = Series::of(&line.text) {
            assert!(line.text.starts_with(series.prefix) && line.text.ends_with(series.suffix));
        }
    }
    let _ = (Assessment::of(&document).map(|found| found.converged()), grave_counts(&document));
}

fn nodes(node: &Node, lines: usize) {
    assert!((2..lines).contains(&node.line), "line {} of {lines}", node.line);
    match &node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => items.iter().for_each(|item| nodes(item, lines)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| nodes(value, lines)),
    }
}

fn table(table: &Table, raw: &[&str]) {
    let rows = || [&table.header, &table.delimiter].into_iter().chain(&table.rows);
    assert!(rows().enumerate().all(|(index, row)| row.number() == table.header.number() + index));
    for row in rows() {
        let cells = row.cells();
        assert!(row.number() <= raw.len() && cells.len() <= row.pipes() + 1);
        assert!(cells.iter().enumerate().all(|(index, cell)| row.plain(index) == plain(cell)));
    }
    assert!(table.columns().iter().all(|name| table.column(&[name]).is_some()));
}

/// The digest is written, and all other lines and values are as they were.
fn digest(text: &str) {
    let Some(written) = input_hash::with_digest(text, DIGEST) else { return };
    let (before, after) = (FrontMatter::of(text).expect("read before"), FrontMatter::of(&written).expect("still there"));
    assert_eq!(input_hash::stored(&after).as_deref(), Some(DIGEST));
    let others = |front: &FrontMatter| front.entries().iter().filter(|(key, _)| key != KEY).cloned().collect::<Vec<_>>();
    assert_eq!(others(&before), others(&after));
    let (gone, new) = difference(text, &written);
    assert!(gone <= 1 && new <= 1, "{gone} lines gone, {new} new");
    assert_eq!(input_hash::with_digest(&written, DIGEST).as_deref(), Some(written.as_str()));
}

/// A merge is recorded, and nothing else of the file changes.
fn waves(text: &str) {
    let Ok(waves) = wave::read(text) else { return };
    for story in waves.iter().flat_map(|wave| &wave.stories).take(4) {
        let Ok(Some(merge)) = record::merge(text, story) else { continue };
        let Some(written) = merge.text else { continue };
        let root = |text: &str| yaml::parse(text).expect("YAML").expect("a document");
        assert!(rest(&root(text)) == rest(&root(&written)), "more has changed:\n{written}");
        let (gone, new) = difference(text, &written);
        assert!(gone <= 4 && new <= 5, "{gone} lines gone, {new} new:\n{written}");
        assert!(record::merge(&written, story).is_ok_and(|again| again.is_none()));
    }
}

/// A tree without what a merge changes.
fn rest(node: &yaml::Node) -> String {
    let mut texts = String::new();
    match node {
        yaml::Node::Scalar { text, .. } => texts += &format!("{text:?} "),
        yaml::Node::Sequence(items) => items.iter().for_each(|item| texts += &format!("- {} ", rest(item))),
        yaml::Node::Mapping(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| !CHANGED.contains(&key.as_str())) {
                texts += &format!("{key:?}: {} ", rest(value));
            }
        }
    }
    texts
}

/// How many lines are gone, and how many are new, between what both texts begin and end with.
fn difference(before: &str, after: &str) -> (usize, usize) {
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (mut before, mut after) = (lines(before), lines(after));
    after.retain(|line| match before.iter().position(|other| other == line) {
        Some(at) => {
            before.remove(at);
            false
        }
        None => true,
    });
    (before.len(), after.len())
}
