//! Many processes at one journal, while it is rotated under them: every line is whole, and in exactly one place.
//!
//! The documented rule is that one rotated generation is kept: a line may only go with the generation that it was in. So one
//! run rotates once, and must have all lines in the two files that remain; another rotates many times, and the writers keep a
//! link to every generation that they see, to count what was rotated away.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use portcullis::journal::{Emitted, Journals};
use portcullis::registry::schema::{Journal, Shape};
use serde_json::{Value, json};

const PROCESSES: u64 = 8;
const LINES: u64 = 10_000;
/// Every line has this length.
const LINE_BYTES: u64 = 104;
/// Tells the one test that this process is a writer: its number, the rotation limit and the project.
const WRITER: &str = "PORTCULLIS_SOAK_WRITER";
const JOURNAL: &str = ".foundry/metrics/events.jsonl";
const ROTATED: &str = ".foundry/metrics/events.1.jsonl";
/// Links to generations, in the project.
const KEPT: &str = "kept";

/// What a writer runs: this test program again, with nothing but this test.
#[test]
fn writer() {
    let Ok(task) = std::env::var(WRITER) else { return };
    let mut parts = task.splitn(3, ' ');
    let mut number = || parts.next().expect("three parts").parse::<u64>().expect("a number");
    let (process, limit) = (number(), number());
    write(process, limit, Path::new(parts.next().expect("a directory")));
}

fn write(process: u64, limit: u64, root: &Path) {
    let journal = Journal { path: JOURNAL.into(), shape: Shape::Metric, rotate_bytes: Some(limit), ..Journal::default() };
    let defined = BTreeMap::from([("foundry".to_owned(), journal)]);
    let mut seen = 0;
    for line in 0..LINES {
        seen = keep(root, process, line, seen);
        let journals = Journals { root, defined: &defined, session: None, copy: None, now: Timestamp::UNIX_EPOCH };
        // Fixed width, so that a line that was cut or mixed with another cannot have the right length.
        let fields = json!({"process": process, "line": format!("{line:05}"), "padding": "x".repeat(16)});
        let event = Emitted { journal: Some("foundry".into()), ..Emitted::about("soak", "soak", fields) };
        assert_eq!(journals.write(&[event]), Vec::<String>::new(), "process {process}, line {line}");
    }
}

/// Links the current generation, unless this process has. Returns its inode, which no other file has while the link is there.
///
/// Each writer does it before each line. One that began its line before a generation was there adds one line to it at most,
/// so of a generation that holds more lines than there are processes, some writer has a link.
fn keep(root: &Path, process: u64, line: u64, seen: u64) -> u64 {
    let current = root.join(JOURNAL);
    match fs::metadata(&current) {
        Ok(metadata) if metadata.ino() != seen => {}
        _ => return seen,
    }
    let kept = root.join(KEPT).join(format!("{process}-{line}"));
    match fs::hard_link(&current, &kept) {
        Ok(()) => fs::metadata(&kept).expect("the link").ino(),
        // Between one generation and the next there is none.
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
            seen
        }
    }
}

/// Lets the writers loose on a journal with this limit. Gives back every generation's content by inode: those that are left,
/// and those that were linked.
fn soak(limit: u64) -> (tempfile::TempDir, BTreeMap<u64, String>) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let root = scratch.path();
    fs::create_dir(root.join(KEPT)).expect("a directory for the links");
    let program = std::env::current_exe().expect("a test knows its own path");
    let writers: Vec<_> = (0..PROCESSES)
        .map(|process| {
            let mut writer = Command::new(&program);
            writer.args(["--exact", "writer", "--quiet"]).env(WRITER, format!("{process} {limit} {}", root.display()));
            writer.stdout(std::process::Stdio::null()).spawn().expect("a writer starts")
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().expect("a writer ends").success());
    }
    let links = fs::read_dir(root.join(KEPT)).expect("the links").map(|entry| entry.expect("a link").path());
    let files = links.chain([root.join(JOURNAL), root.join(ROTATED)]);
    let generations = files.filter_map(|path| Some((fs::metadata(&path).ok()?.ino(), fs::read_to_string(path).ok()?)));
    let generations = generations.collect();
    (scratch, generations)
}

/// Every line of every process, once, and whole.
fn complete(generations: &BTreeMap<u64, String>) {
    let mut times = vec![0_u32; (PROCESSES * LINES) as usize];
    for line in generations.values().flat_map(|text| text.split_inclusive('\n')) {
        assert_eq!(line.len() as u64, LINE_BYTES, "torn or mixed: {line:?}");
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let number = line["line"].as_str().and_then(|number| number.parse::<u64>().ok()).expect("a number");
        times[(line["process"].as_u64().expect("a process") * LINES + number) as usize] += 1;
    }
    let count = |wanted: fn(u32) -> bool| times.iter().filter(|times| wanted(**times)).count();
    assert_eq!((count(|times| times == 0), count(|times| times > 1)), (0, 0), "lost and doubled lines");
}

#[test]
fn one_rotation_leaves_every_line_in_one_of_two_files() {
    // More than half of all fits in, so that a second rotation would be one too many.
    let limit = PROCESSES * LINES * LINE_BYTES * 6 / 10;
    let (scratch, mut generations) = soak(limit);
    complete(&generations);
    assert_eq!(generations.len(), 2, "the generation rotated away, and the current one");
    let inode = |name: &str| fs::metadata(scratch.path().join(name)).expect("a generation").ino();
    let (rotated, current) = (inode(ROTATED), inode(JOURNAL));
    generations.retain(|generation, _| [rotated, current].contains(generation));
    complete(&generations);
    assert!(generations[&rotated].len() as u64 >= limit, "rotated before its time");
}

#[test]
fn many_rotations_lose_nothing_but_whole_generations() {
    const LINES_OF_A_GENERATION: u64 = 500;
    let (_scratch, generations) = soak(LINES_OF_A_GENERATION * LINE_BYTES);
    complete(&generations);
    let over = generations.values().filter(|text| text.len() as u64 >= LINES_OF_A_GENERATION * LINE_BYTES).count();
    assert!(over + 1 >= generations.len(), "only the current generation may be short");
    // Whoever finds the lock taken appends once more; nobody may do so for ever.
    let longest = generations.values().map(String::len).max().expect("a generation") as u64 / LINE_BYTES;
    assert!(generations.len() > 2 && longest < PROCESSES * LINES, "{} generations, {longest} lines", generations.len());
}
