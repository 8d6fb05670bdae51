//! The gates over artifacts in the real host, where it matters that they run in one: many at once on one file, and documents
//! that try what a sandbox allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::thread::scope;
use std::time::Duration;

use portcullis_e2e::{Project, dist, finish};
use serde_json::{Value, json};

const WAVES: usize = 4;
const STORIES: usize = 50;
const TRACKER: &str = "project/.factory/wave-state.yaml";
/// No process of a test may take longer.
const LONGEST: Duration = Duration::from_secs(60);

/// A tracker with a remark wherever one may stand.
fn tracker() -> String {
    let mut text = "# tracker: by hand\ncurrent_wave: w0\nnext_gate_required: null  # a name, or null\nwaves:\n".to_owned();
    for wave in 0..WAVES {
        text += &format!("  # wave {wave}\n  w{wave}:\n    stories:\n");
        for story in 0..STORIES {
            text += &format!("      - S-{wave}.{story:02}  # story {story}\n");
        }
        text += if wave % 2 == 0 { "    stories_merged: []\n" } else { "    stories_merged: # none yet\n" };
        text += "    gate_status: not_started # by hand\n    owner: {team: x}\n";
    }
    text
}

/// The remarks of a text.
fn remarks(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find('#').map(|at| &line[at..])).collect()
}

/// The stories below `stories_merged` of each wave in the tracker, and the wave's gate.
fn waves(text: &str) -> Vec<(Vec<&str>, &str)> {
    let of_wave = |wave: &'_ _| -> (Vec<&str>, &str) {
        let (_, rest): (&str, &str) = text.split_once(&format!("\n  {wave}:\n")).expect("the wave is there");
        let (_, rest) = rest.split_once("stories_merged:").expect("the wave has merged stories");
        let (merged, rest) = rest.split_once("gate_status: ").expect("the wave has a gate");
        let words = merged.split(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c));
        (words.filter(|word| word.starts_with("S-")).collect(), rest.split([' ', '\n']).next().unwrap_or_default())
    };
    (0..WAVES).map(|wave| of_wave(&format!("w{wave}"))).collect()
}

#[test]
fn two_hundred_merges_at_once_lose_no_story_and_no_remark() {
    let project = Project::default();
    let before = tracker();
    project.write(TRACKER, &before);
    let end = |story: &str| {
        let message = format!("STEP_COMPLETE: step=8 name=merge status=ok note={story} merged");
        let event = json!({
            "hook_event_name": "SubagentStop", "session_id": "s", "cwd": project.path("project"), "agent_id": story,
            "agent_type": "pr-manager", "last_assistant_message": message,
        });
        project.write(&format!("{story}.json"), event.to_string());
        let create = |kind: &str| File::create(project.path(&format!("{story}.{kind}"))).expect("a file of the scratch");
        let mut dispatcher = project.dispatcher();
        dispatcher.arg("hook").arg("--registry").arg(dist().join("registry.toml"));
        dispatcher.args(["--only", "update-wave-state-on-merge", "--events"]).arg(project.path(&format!("{story}.jsonl")));
        dispatcher.stdin(File::open(project.path(&format!("{story}.json"))).expect("the event"));
        dispatcher.stdout(create("out")).stderr(create("err"));
        finish(&mut dispatcher, LONGEST).map(|status| status.code())
    };
    let stories: Vec<String> =
        (0..STORIES).flat_map(|story| (0..WAVES).map(move |wave| format!("S-{wave}.{story:02}"))).collect();
    scope(|threads| {
        let end = &end;
        let running: Vec<_> = stories.iter().map(|story| (story, threads.spawn(move || end(story)))).collect();
        for (story, ended) in running {
            assert_eq!(ended.join().expect("no panic"), Ok(Some(0)), "{story}");
        }
    });
    for story in &stories {
        let written = |kind: &str| fs::read_to_string(project.path(&format!("{story}.{kind}"))).unwrap_or_default();
        assert_eq!((written("out").as_str(), written("err").as_str()), ("", ""), "{story}");
        assert!(written("jsonl").contains("hook.action"), "{story} is in no journal: {}", written("jsonl"));
    }
    let after = fs::read_to_string(project.path(TRACKER)).expect("the tracker");
    for (wave, (merged, gate)) in waves(&after).into_iter().enumerate() {
        let expected: BTreeSet<String> = (0..STORIES).map(|story| format!("S-{wave}.{story:02}")).collect();
        assert_eq!(merged.len(), STORIES, "each once in wave {wave}: {merged:?}");
        assert_eq!(merged.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), expected, "wave {wave}");
        assert_eq!(gate, "pending", "wave {wave}");
    }
    assert_eq!(remarks(&after), remarks(&before));
    assert_eq!(after.matches("owner: {team: x}").count(), WAVES);
}

/// Of a size at which parsers give up, run out of stack or take for ever.
const FIVE_MEGABYTES: usize = 5_000_000;

type Mutation = (&'static str, fn(&[u8]) -> Vec<u8>);

/// What becomes of a document that a gate objects to.
#[rustfmt::skip]
const MUTATIONS: &[Mutation] = &[
    ("nothing", |_| Vec::new()),
    ("cut off", |text| text[..text.len() / 2].to_vec()),
    ("binary", |_| noise().take(4096).collect()),
    ("bits flipped", |text| text.iter().zip(noise()).map(|(byte, dice)| if dice < 12 { byte ^ (1 << (dice % 8)) } else { *byte }).collect()),
    ("NUL bytes", |text| text.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\0\n"[..])),
    ("CR only", |text| text.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect()),
    ("nested brackets", |text| around(format!("---\nx: {}\n---\n", "[".repeat(20_000)), text)),
    ("nested lists", |text| around(format!("---\n{}\n---\n", "- ".repeat(20_000)), text)),
    ("nested maps", |text| around(format!("waves: {}", "{a: ".repeat(5000)), text)),
    ("nested quotes", |text| around(format!("{}\n", "> ".repeat(20_000)), text)),
    ("cyclic anchors", |text| around("---\na: &a [*a, *a]\nb: &b {c: *b}\n---\n".into(), text)),
    ("a cyclic tracker", |text| around("waves: &w\n  a: *w\n".into(), text)),
    ("anchors that grow", |text| around(growing(), text)),
    ("fences", |text| around("```\n".repeat(20_000), text)),
    ("backticks", |text| around((0..3000).map(|n| "`".repeat(n % 300) + "x").collect(), text)),
];

/// The same with five megabytes: of the document that the event is about.
#[rustfmt::skip]
const LARGE: &[Mutation] = &[
    ("itself again and again", |text| [text, b"\n"].concat().repeat(FIVE_MEGABYTES / (text.len() + 1))),
    ("one front matter", |text| around(format!("---\n{}---\n", "k: v\n".repeat(FIVE_MEGABYTES / 5)), text)),
    ("one table", |text| [text, b"\n## Changelog\n\n| Version | Date |\n|---|---|\n", "| 1.2 | 2026-01-01 |\n".repeat(FIVE_MEGABYTES / 21).as_bytes()].concat()),
    ("one line", |text| [text, "{a`<!--|".repeat(FIVE_MEGABYTES / 8).as_bytes()].concat()),
];

fn around(before: String, text: &[u8]) -> Vec<u8> {
    [before.as_bytes(), text].concat()
}

/// Aliases of aliases: a hundred bytes of text that stand for millions of values.
fn growing() -> String {
    let lists = ('b'..='j').zip('a'..).map(|(name, of)| format!("{name}: &{name} [{}]\n", vec![format!("*{of}"); 9].join(",")));
    format!("a: &a [x,x,x,x,x,x,x,x,x]\n{}waves: {{w: {{stories: *j}}}}\n", lists.collect::<String>())
}

/// Bytes without meaning, the same ones in every run.
fn noise() -> impl Iterator<Item = u8> {
    let mut state: u32 = 7;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as u8
    })
}

/// Gates in the same case files that judge commands.
const OTHERS: [&str; 3] = ["capture-commit-activity", "capture-pr-activity", "regression-gate"];

/// The cases of each gate over artifacts, subagents and the session's rests.
fn cases() -> BTreeMap<String, Vec<Value>> {
    let mut cases: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for part in ["a", "b"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../cases/vsdd-post-{part}.jsonl"));
        for line in fs::read_to_string(path).expect("the cases").lines() {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            if !OTHERS.contains(&text(&case["hook"])) {
                cases.entry(text(&case["hook"]).to_owned()).or_default().push(case);
            }
        }
    }
    cases
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The case whose files hold most, of those that the gate objects to: all of its rules are at work on it.
fn seed(cases: &[Value]) -> &Value {
    let size = |case: &&Value| case["files"].as_object().map_or(0, |files| files.values().map(|file| text(file).len()).sum());
    let objected = |case: &&Value| case["expect"]["decision"] != "allow" && size(case) < 20_000;
    cases.iter().filter(objected).max_by_key(size).unwrap_or(&cases[0])
}

/// Has one gate judge all mutations of its seed; what it did wrong.
fn faults(gate: &str, case: &Value) -> Vec<String> {
    let project = Project::default();
    fs::create_dir_all(project.path("project/.factory")).expect("a directory of the scratch");
    let event = case["event"].to_string().replace("${ROOT}", &project.name("project"));
    let event: Value = serde_json::from_str(&event).expect("an event is JSON");
    let ask = |event: String| project.call_shipped().with(&["--only", gate]).input(event).run();
    let judged = |event: String, what: String| {
        let answer = ask(event);
        let wrong = |event: &&Value| matches!(text(&event["type"]), "plugin.crashed" | "plugin.timeout" | "plugin.error");
        let wrong: Vec<&Value> = answer.events.iter().filter(wrong).collect();
        let decided = answer.code == Some(0) && (answer.stdout.trim().is_empty() || answer.json.is_object());
        let judged = decided && wrong.is_empty() && !answer.stdout.contains("could not judge");
        (!judged).then(|| format!("{gate}: {what}: {:?} {:.300} {:.300} {wrong:?}", answer.code, answer.stdout, answer.stderr))
    };
    let files: BTreeMap<&String, &[u8]> =
        case["files"].as_object().into_iter().flatten().map(|(name, content)| (name, text(content).as_bytes())).collect();
    let write = |name: &str, content: &[u8]| project.write(&format!("project/{name}"), content);
    let subject = text(&case["event"]["tool_input"]["file_path"]).trim_start_matches("${ROOT}/");
    let mut faults = Vec::new();
    files.iter().for_each(|(name, content)| write(name, content));
    let objects = matches!(text(&case["expect"]["decision"]), "block" | "warn");
    if objects && ask(event.to_string()).stdout.is_empty() {
        faults.push(format!("{gate} says nothing of {}: its rules are not at work", case["id"]));
    }
    for (name, content) in &files {
        files.iter().for_each(|(name, content)| write(name, content));
        let is_subject = *name == subject || files.len() == 1;
        for (what, mutated) in MUTATIONS.iter().chain(if is_subject { LARGE } else { &[] }) {
            write(name, &mutated(content));
            faults.extend(judged(event.to_string(), format!("{name}: {what}")));
        }
    }
    // Of a subagent that ends, its last message is the document.
    if let Some(message) = event["last_assistant_message"].as_str() {
        files.iter().for_each(|(name, content)| write(name, content));
        for (what, mutated) in MUTATIONS.iter().chain(LARGE) {
            let mut event = event.clone();
            event["last_assistant_message"] = String::from_utf8_lossy(&mutated(message.as_bytes())).into();
            faults.extend(judged(event.to_string(), format!("message: {what}")));
        }
    }
    faults
}

#[test]
fn whatever_a_document_holds_there_is_a_decision() {
    let cases = cases();
    assert_eq!(cases.len(), 27, "{:?}", cases.keys());
    let waiting = std::sync::Mutex::new(cases.iter());
    let work = || {
        let next = || waiting.lock().expect("no panic").next();
        std::iter::from_fn(next).flat_map(|(gate, cases)| faults(gate, seed(cases))).collect::<Vec<String>>()
    };
    let faults: Vec<String> = scope(|threads| {
        let workers: Vec<_> = (0..4).map(|_| threads.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
}
