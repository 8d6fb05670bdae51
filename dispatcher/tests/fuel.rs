//! What gates use of their fuel, measured: over their case events, and over events and documents as large as they come.
//!
//! Fuel does not depend on the machine or its load. So a gate that uses at most a third of its budget here does not run out of it
//! anywhere, and the table in `docs/fuel.md` says by how much. It is written anew with `PORTCULLIS_WRITE=1`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::scope;
use std::time::Instant;

use portcullis::dispatch::{Dispatch, Gates, How, Place};
use portcullis::environment::Environment;
use portcullis::project;
use portcullis::protocol::event::Event;
use portcullis::registry::Registry;
use portcullis::sandbox::{Outcome, limits};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The part of a budget that may be used.
const HEADROOM: u64 = 3;
const CASES: [&str; 4] = ["foundry", "vsdd-pre", "vsdd-post-a", "vsdd-post-b"];
/// Cases of one gate that are run, the largest ones; all of them in `cargo xtask soak`.
const LARGEST: usize = 10;
const ONE_MEGABYTE: usize = 1_000_000;
const FIVE_MEGABYTES: usize = 5_000_000;
const SIXTY_KILOBYTES: usize = 60_000;
const ROWS: usize = 3_000;
/// Commands of which there is one in the analyser's own row of the table.
const ANALYZER: &str = "shell-analyzer";

/// What small commands are repeated to make a long one, and what comes behind them.
const COMMANDS: [(&str, &str); 10] = [
    ("true && ", "git reset --hard"),
    ("a;", "git reset --hard"),
    ("w ", "; git reset --hard"),
    ("x=$(date +%s); ", "git reset --hard"),
    ("rm -f a/b;", "git reset --hard"),
    (">a;", "git reset --hard"),
    ("echo $HOME | cat;", "git reset --hard"),
    ("git add .;", "git reset --hard"),
    ("find . -name x | xargs cat;", "git reset --hard"),
    ("python3 -c 'print(1)'\n", "rm -rf src"),
];
/// Few bytes that become many commands.
const MULTIPLIED: &str = "a() { x; x; x; x; x; x; x; x; x; x; }; b() { a; a; a; a; a; a; a; a; a; a; }; \
    for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do b; b; done; done; git reset --hard";

/// The text fields of an event that can be large.
const TEXTS: [&str; 7] = ["content", "new_string", "old_string", "new_source", "prompt", "last_assistant_message", "stdout"];

/// The most that was used, and of which budget; both kinds of events.
#[derive(Clone, Copy, Default)]
struct Used {
    cases: u64,
    large: u64,
    /// The largest part of a budget, in percent.
    share: u64,
}

/// Something to be judged: files of a project, and an event.
struct Task {
    what: String,
    gate: String,
    large: bool,
    files: Vec<(String, String)>,
    event: Value,
}

fn dist() -> PathBuf {
    let named = std::env::var_os("PORTCULLIS_DIST").map(PathBuf::from);
    named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/portcullis"))
}

/// The shipped registry, whose gates may take their time: only fuel is measured.
fn registry(scratch: &Path) -> Registry {
    let shipped = dist().join("registry.toml");
    let text =
        fs::read_to_string(&shipped).unwrap_or_else(|_| panic!("{} is missing: run `cargo xtask dist`", shipped.display()));
    let patient =
        |line: &str| if line.starts_with("timeout_ms = ") { "timeout_ms = 60000\n".to_owned() } else { format!("{line}\n") };
    let text: String = text.lines().map(patient).collect();
    let path = scratch.join("registry.toml");
    fs::write(&path, text.replace("\"plugins/", &format!("\"{}/plugins/", dist().display()))).expect("a registry");
    Registry::load(&path).expect("the shipped registry is valid")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A case as a task.
fn task(case: &Value) -> Option<Task> {
    let mut files: Vec<(String, String)> = Vec::new();
    for key in ["files", "fixture"] {
        let of = case[key].as_object().into_iter().flatten();
        files.extend(of.map(|(name, content)| (name.clone(), text(content).to_owned())));
    }
    if !case["config"].is_null() {
        files.push((".foundry/config.json".into(), case["config"].to_string()));
    }
    let event = case["event"].is_object().then(|| case["event"].clone())?;
    Some(Task { what: text(&case["id"]).into(), gate: text(&case["hook"]).into(), large: false, files, event })
}

/// Every gate's cases, the largest first.
fn cases() -> BTreeMap<String, Vec<Task>> {
    let mut cases: BTreeMap<String, Vec<(usize, Task)>> = BTreeMap::new();
    for name in CASES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/cases/{name}.jsonl"));
        for line in fs::read_to_string(path).expect("the cases").lines() {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            // What other implementations make of it does not count.
            let size = case["event"].to_string().len() + case["files"].to_string().len();
            if let Some(task) = task(&case).filter(|task| !task.gate.is_empty()) {
                cases.entry(task.gate.clone()).or_default().push((size, task));
            }
        }
    }
    let sorted = |mut tasks: Vec<(usize, Task)>| {
        tasks.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        tasks.into_iter().map(|(_, task)| task).collect()
    };
    cases.into_iter().map(|(gate, tasks)| (gate, sorted(tasks))).collect()
}

fn repeated(text: &str, size: usize) -> String {
    format!("{text}\n").repeat((size / (text.len() + 1)).max(1))
}

/// The longest run of table rows in a document, with its last row again and again.
fn longer_table(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match lines.iter().rposition(|line| line.trim_start().starts_with('|')) {
        Some(last) => [&lines[..last], &vec![lines[last]; ROWS], &lines[last..]].concat().join("\n"),
        None => format!("{text}\n## Changelog\n\n| Version | Date |\n|---|---|\n{}", "| 1.2 | 2026-01-01 |\n".repeat(ROWS)),
    }
}

/// What becomes of a case that is as large as it can be.
fn large(of: &Task) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut add = |what: String, files: Vec<(String, String)>, event: Value| {
        tasks.push(Task { what: format!("{} with {what}", of.what), gate: of.gate.clone(), large: true, files, event });
    };
    if of.event["tool_input"]["command"].is_string() {
        for (part, end) in COMMANDS {
            let mut event = of.event.clone();
            event["tool_input"]["command"] = format!("{}{end}", part.repeat(SIXTY_KILOBYTES / part.len())).into();
            add(format!("many {part:?}"), of.files.clone(), event);
        }
        let mut event = of.event.clone();
        event["tool_input"]["command"] = MULTIPLIED.into();
        add("few bytes that multiply".into(), of.files.clone(), event);
        let mut event = of.event.clone();
        let lines = "print('rm -rf /', \"$(git reset --hard)\")\n".repeat(SIXTY_KILOBYTES / 40);
        event["tool_input"]["command"] = format!("python3 - <<'END'\n{lines}END\nrm -rf src").into();
        add("a long here-document".into(), of.files.clone(), event);
    }
    for key in TEXTS {
        for place in ["", "/tool_input", "/tool_response"] {
            let mut event = of.event.clone();
            let Some(Value::String(text)) = event.pointer_mut(&format!("{place}/{key}")) else { continue };
            *text = repeated(text, ONE_MEGABYTE);
            add(format!("1 MB of {key}"), of.files.clone(), event);
        }
    }
    for at in 0..of.files.len() {
        for (what, change) in
            [("3,000 rows", longer_table as fn(&str) -> String), ("5 MB", |text| repeated(text, FIVE_MEGABYTES))]
        {
            let mut files = of.files.clone();
            files[at].1 = change(&files[at].1);
            add(format!("{what} in {}", files[at].0), files, of.event.clone());
        }
    }
    tasks
}

/// Has a gate judge a task in a project of its own. What it and the analyser used of which budget.
fn judge(registry: &Registry, task: &Task) -> Result<Vec<(String, u64, u64)>, String> {
    let scratch = TempDir::new().expect("a scratch directory");
    let root = fs::canonicalize(scratch.path()).expect("the scratch directory").join("project");
    for directory in [".foundry", ".factory"] {
        fs::create_dir_all(root.join(directory)).expect("a directory");
    }
    for (name, content) in &task.files {
        let path = project::absolute(name, &root);
        if path.starts_with(scratch.path()) {
            fs::create_dir_all(path.parent().expect("a file has a directory")).expect("a directory");
            fs::write(path, content).expect("a file of the scratch");
        }
    }
    let top = root.parent().expect("a directory").display().to_string();
    let here = root.display().to_string();
    let event = task.event.to_string().replace("${ROOT}", &here).replace("${FIXTURE}", &here);
    let event = event.replace("/home/dev/project", &here).replace("/home/dev", &top);
    let Ok(event) = Event::parse(event.as_bytes(), None) else { return Ok(vec![]) };
    let (bytes, command) = (event.json().len(), event.shell_command().map(|command| command.len()));
    let place = Place { root: root.clone(), cwd: root.clone(), environment: Environment::default() };
    let gates = Gates::of(registry, &event, &root, std::slice::from_ref(&task.gate));
    let how = How { today: None, trace: false, start: Instant::now() };
    let mut dispatch = Dispatch::new(registry, event, gates, &place, how);
    let judged = dispatch.judge().into_iter().chain(dispatch.judge_background()).collect::<Vec<_>>();
    let mut used = Vec::new();
    for one in judged {
        if let Outcome::Failed(failure) = &one.outcome
            && !matches!(failure.kind.word(), "gate" | "load")
        {
            return Err(format!("{}: {}: {} ({} fuel)", task.gate, task.what, failure.what, one.fuel));
        }
        used.push((one.stanza.name.clone(), one.fuel, limits::gate_fuel(one.stanza.fuel, bytes, command)));
    }
    if let Some(Ok(analysed)) = dispatch.shared().analysis.get() {
        used.push((ANALYZER.to_owned(), analysed.fuel, limits::analyzer_fuel(command.unwrap_or_default())));
    }
    Ok(used)
}

#[test]
fn no_gate_comes_near_the_end_of_its_fuel() {
    let cases = cases();
    let largest = if std::env::var_os("PORTCULLIS_SOAK").is_some() { usize::MAX } else { LARGEST };
    let mut tasks: Vec<Task> = cases.values().flat_map(|tasks| large(&tasks[0])).collect();
    tasks.extend(cases.into_values().flat_map(|tasks| tasks.into_iter().take(largest)));
    let scratch = TempDir::new().expect("a scratch directory");
    let registry = registry(scratch.path());
    let (table, faults) = (Mutex::new(BTreeMap::<String, Used>::new()), Mutex::new(Vec::new()));
    let waiting = Mutex::new(tasks.into_iter());
    let work = || {
        let next = || waiting.lock().expect("no panic").next();
        while let Some(task) = next() {
            match judge(&registry, &task) {
                Err(fault) => faults.lock().expect("no panic").push(fault),
                Ok(used) => {
                    let mut table = table.lock().expect("no panic");
                    for (name, fuel, budget) in used {
                        let row = table.entry(name).or_default();
                        let most = if task.large { &mut row.large } else { &mut row.cases };
                        *most = fuel.max(*most);
                        row.share = row.share.max((fuel * 100).div_ceil(budget));
                        if fuel * HEADROOM > budget {
                            let fault = format!("{}: {}: {fuel} of {budget}", task.gate, task.what);
                            faults.lock().expect("no panic").push(fault);
                        }
                    }
                }
            }
        }
    };
    scope(|threads| (0..2).for_each(|_| drop(threads.spawn(work))));
    let (table, faults) = (table.into_inner().expect("no panic"), faults.into_inner().expect("no panic"));
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
    documented(&registry, &table);
}

/// Holds the table in the documentation against what was measured: no figure may be larger.
fn documented(registry: &Registry, measured: &BTreeMap<String, Used>) {
    let bases: BTreeMap<&str, u64> = registry.stanzas.iter().map(|stanza| (stanza.name.as_str(), stanza.fuel)).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/fuel.md");
    let written = fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("PORTCULLIS_WRITE").is_some() {
        let (head, _) = written.split_once("| Gate |").expect("the table");
        let rows: String = measured
            .iter()
            .map(|(gate, used)| {
                let base = bases.get(gate.as_str()).copied().unwrap_or(limits::ANALYZER_FUEL_BASE) / 1_000_000;
                let (cases, large) = (millions(used.cases), millions(used.large));
                format!("| `{gate}` | {base} | {cases} | {large} | {} % |\n", (used.share + 1).min(100 / HEADROOM))
            })
            .collect();
        let table = format!("{head}| Gate | Base | Cases | Large | Of its budget |\n| --- | ---: | ---: | ---: | ---: |\n{rows}");
        fs::write(&path, table).expect("the documentation");
        return;
    }
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
    let rows: BTreeMap<String, Vec<String>> =
        written.lines().filter(|line| line.starts_with("| `")).map(cells).map(|row| (row[1].clone(), row)).collect();
    for (gate, used) in measured {
        let row =
            rows.get(gate).unwrap_or_else(|| panic!("docs/fuel.md has no row for {gate}: run this with PORTCULLIS_WRITE=1"));
        let figure = |at: usize| row[at].trim_end_matches(" %").parse::<f64>().expect("a figure");
        let holds =
            used.cases as f64 <= figure(3) * 1e6 && used.large as f64 <= figure(4) * 1e6 && used.share as f64 <= figure(5);
        let measured = format!("{} and {} at {} %", millions(used.cases), millions(used.large), used.share);
        assert!(holds, "docs/fuel.md says less of {gate} than was measured, {measured}: run this with PORTCULLIS_WRITE=1");
        let base = json!(bases.get(gate.as_str()).copied().unwrap_or(limits::ANALYZER_FUEL_BASE) / 1_000_000);
        assert_eq!(row[2], base.to_string(), "docs/fuel.md, {gate}");
    }
}

/// Rounded up, by a tenth and to two digits, so that no change of nothing shows.
fn millions(fuel: u64) -> String {
    let wanted = fuel as f64 * 1.1 / 1e6;
    let step = 10f64.powf(wanted.max(0.1).log10().floor() - 1.0);
    let rounded = (wanted / step).ceil() * step;
    if rounded < 10.0 { format!("{rounded:.2}") } else { format!("{rounded:.0}") }
}
