//! Documents that nobody wrote: whatever a file holds, reading it ends, in time and without a panic.

use std::time::{Duration, Instant};

use portcullis_artifact::review::{Assessment, Series, grave_counts};
use portcullis_artifact::{Document, ids, plain};

/// A whole document with everything in it that is parsed.
const MODEL: &str = "\u{feff}---\r\ntitle: \"a: b\" # c\nbcs: [BC-1.01.001,\n  'x']\nlist:\n- é\nmap: {a: &x 1, b: *x}\n...\n# H ##\n\
                     | **A** | [b](c) |\n|:--|--:|\n| `x \\| y` | _z_ |\n~~~ info\n| no |\n~~~\ntext <!-- c\n--> `<!--` VP-1\n> | q |\n> |---|\n\
                     \tcode\n## Novelty Assessment\n| Field | Value |\n|---|---|\n| Verdict | **FINDINGS_REMAIN** |\n";

/// Asks a document everything that gates ask.
fn ask_everything(text: &str) -> usize {
    let document = Document::parse(text);
    let mut asked = document.front_matter().map_or(0, |front| {
        front.entries().iter().map(|(key, _)| front.texts(key).len() + front.rendered(key).map_or(0, |text| text.len())).sum()
    });
    for table in document.tables_and_quoted().into_iter().chain(document.tables()) {
        asked += table.columns().len()
            + table.rows.iter().map(|row| row.cells().len() + row.plain(1).len() + row.pipes()).sum::<usize>();
    }
    for section in document.sections(|_| true).take(100) {
        asked += section.tables().len() + section.visible().count();
    }
    for line in document.visible() {
        asked += ids::contracts(&line.text).len() + ids::properties(&line.text).len() + plain(&line.text).len();
        asked += usize::from(Series::of(&line.text).is_some());
    }
    asked
        + Assessment::of(&document).and_then(|assessment| assessment.converged()).map_or(0, usize::from)
        + grave_counts(&document).len()
}

#[test]
fn every_prefix_and_many_mutations() {
    for (end, _) in MODEL.char_indices() {
        ask_everything(&MODEL[..end]);
    }
    // A fixed sequence, so that a failure repeats.
    let mut state: u64 = 1;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    const MARKS: [&str; 16] =
        ["|", "\\", "`", "```", "~~~", "<!--", "-->", "[", "](", "---\n", "#", "- ", "&a ", "*a", "\"", "\n"];
    for _ in 0..3000 {
        let mut characters: Vec<char> = MODEL.chars().collect();
        for _ in 0..4 {
            let at = next(characters.len());
            let mark = MARKS[next(MARKS.len())].chars();
            let end = (at + next(6)).min(characters.len());
            characters.splice(at..end, mark);
        }
        ask_everything(&characters.into_iter().collect::<String>());
    }
}

#[test]
fn large_documents_cost_no_more_than_their_size() {
    const PARTS: [&str; 24] = [
        "\n",
        "|",
        "`",
        "`a``",
        "<!--",
        "<!-- x -->",
        "```\n",
        "# a\n",
        "[",
        "](",
        "[x](",
        "_",
        "*",
        "\\|",
        ">",
        "- ",
        "a: b\n",
        "{",
        "é",
        "VP-1 ",
        "| a | b |\n",
        "| a |\n|---|\n",
        "pass-",
        "---\n",
    ];
    for part in PARTS {
        for head in ["", "---\n", "| a |\n|---|\n|"] {
            let text = format!("{head}{}", part.repeat(60_000 / part.len()));
            let start = Instant::now();
            ask_everything(&text);
            // What costs the square of its size takes far longer; the limit leaves room for a busy machine and a build without optimisation.
            assert!(start.elapsed() < Duration::from_secs(10), "{head:?} and {part:?}: {:?}", start.elapsed());
        }
    }
}
