//! Input that tries to blind the guard: whatever is wrapped around `rm -rf src`, it is stopped, unless the agent itself would
//! see another command there. What the agent could not read either is no event, and the registry says what that means.

use std::iter::once;

use Then::{Asks, Passes, Stops};
use portcullis_e2e::{Project, Registry, each};

const RM: &str = r#""rm -rf src""#;
const HARMLESS: &str = r#""git status""#;
/// Of a size at which parsers give up or run out of stack.
const DEEP: usize = 100_000;
const TEN_MEGABYTES: usize = 10_000_000;

/// What follows.
enum Then {
    /// Denied, with one of these in the reason.
    Stops(&'static [&'static str]),
    /// No opinion.
    Passes,
    /// Unreadable, and nobody said what that means: the human is asked.
    Asks,
}

/// The gate's own finding.
const FINDING: Then = Stops(&["`rm-recursive-force`"]);
/// The same, or that it could not judge so much; both stop the call.
const FINDING_OR_LIMIT: Then = Stops(&["`rm-recursive-force`", "`guard-bash` could not judge"]);

type Row = (&'static str, fn() -> String, Then);

/// An event with this JSON text for its command.
fn command(command: &str) -> String {
    input(&format!(r#"{{"command":{command},"description":"d"}}"#))
}

/// An event of Bash with this JSON text for its `tool_input`.
fn input(input: &str) -> String {
    beside(&format!(r#""tool_name":"Bash","tool_input":{input}"#))
}

/// An event that destroys, with these members beside the usual ones.
fn extra(members: &str) -> String {
    beside(&format!(r#"{members},"tool_name":"Bash","tool_input":{{"command":{RM}}}"#))
}

fn beside(members: &str) -> String {
    format!(r#"{{"session_id":"s","hook_event_name":"PreToolUse",{members}}}"#)
}

fn arrays(depth: usize) -> String {
    ["[".repeat(depth), "]".repeat(depth)].concat()
}

fn objects(depth: usize) -> String {
    [r#"{"a":"#.repeat(depth), "1".into(), "}".repeat(depth)].concat()
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("nothing in its way", || command(RM), FINDING),
    ("a command that is harmless", || command(HARMLESS), Passes),

    ("half a surrogate pair in the command", || command(r#""echo \ud800; rm -rf src""#), FINDING),
    ("the other half", || command(r#""rm -rf src # \udc00""#), FINDING),
    ("the halves the wrong way round", || command(r#""echo \udc00\ud800; rm -rf src""#), FINDING),
    ("half a pair before an escape", || command(r#""echo \ud83d\n rm -rf src""#), FINDING),
    ("half a pair in a key", || input(&format!(r#"{{"\ud800":1,"command":{RM},"\udfff":2}}"#)), FINDING),
    ("half a pair in a key beside", || extra(r#""\udbff":{"\udbff":"\udbff"}"#), FINDING),
    ("half a pair in every other string", || extra(r#""agent_id":"\ud800","agent_type":"\ud800","permission_mode":"\ud800""#), FINDING),

    ("deep arrays after the command", || input(&format!(r#"{{"command":{RM},"x":{}}}"#, arrays(DEEP))), FINDING),
    ("deep objects before the command", || input(&format!(r#"{{"x":{},"command":{RM}}}"#, objects(DEEP))), FINDING),
    ("deep arrays beside the input", || extra(&format!(r#""x":{}"#, arrays(DEEP))), FINDING),
    ("deep objects in a field that is read", || extra(&format!(r#""cwd":{}"#, objects(DEEP))), FINDING),
    ("a command nested deeper than any shell would", || command(&format!(r#""rm -rf src; {} true {}""#, "$(".repeat(DEEP), ")".repeat(DEEP))),
        FINDING_OR_LIMIT),

    ("two commands: the last counts", || input(&format!(r#"{{"command":{HARMLESS},"command":{RM}}}"#)), FINDING),
    ("two commands: the first does not", || input(&format!(r#"{{"command":{RM},"command":{HARMLESS}}}"#)), Passes),
    ("two inputs: the last counts", || extra(&format!(r#""tool_input":{{"command":{HARMLESS}}}"#)), FINDING),
    ("two inputs: the first does not", || input(&format!(r#"{{"command":{RM}}},"tool_input":{{"command":{HARMLESS}}}"#)), Passes),
    ("two tools: the last counts", || extra(r#""tool_name":"Read""#), FINDING),
    ("two tools: the first does not", || input(&format!(r#"{{"command":{RM}}},"tool_name":"Read""#)), Passes),
    ("two events: the last counts", || format!(r#"{{"hook_event_name":"Stop",{}"#, &command(RM)[1..]), FINDING),
    ("two events: the first does not", || input(&format!(r#"{{"command":{RM}}},"hook_event_name":"Stop""#)), Passes),
    ("escapes in keys", || command(RM).replace("\"command", r#""c\u006fmmand"#).replace("tool_", r"t\u006f\u006fl_"), FINDING),

    ("an escaped NUL before", || command(r#""echo \u0000; rm -rf src""#), FINDING),
    ("an escaped NUL behind", || command(r#""rm -rf src\u0000""#), FINDING),
    ("an escaped NUL in a key", || input(&format!(r#"{{"command\u0000":{HARMLESS},"command":{RM}}}"#)), FINDING),
    ("a raw NUL in a string", || command("\"rm -rf src\0\""), Asks),
    ("a raw control character in a key", || input(&format!("{{\"a\u{5}\":1,\"command\":{RM}}}")), Asks),
    ("the same in a key beside", || extra("\"a\u{5}\":1"), Asks),
    ("a raw NUL behind the object", || command(RM) + "\0", Asks),
    ("a raw line end in a string", || command("\"true\nrm -rf src\""), Asks),
    ("half an escape", || command(r#""rm -rf src \ud8""#), Asks),
    ("an escape that does not exist", || command(r#""rm -rf \src""#), Asks),

    ("10 MB of comment before", || command(&format!(r#""true # {}\nrm -rf src""#, "x".repeat(TEN_MEGABYTES))), FINDING_OR_LIMIT),
    ("10 MB of comment behind", || command(&format!(r#""rm -rf src # {}""#, "x".repeat(TEN_MEGABYTES))), FINDING_OR_LIMIT),
    ("1 MB of words behind", || command(&format!(r#""rm -rf src {}""#, "x ".repeat(500_000))), FINDING_OR_LIMIT),
    ("10 MB of text for another program", || command(&format!(r#""cat <<'E'\n{}\nE\nrm -rf src""#, r"line\n".repeat(TEN_MEGABYTES / 6))),
        FINDING_OR_LIMIT),
    ("1 MB of small commands", || command(&format!(r#""{}rm -rf src""#, "true;".repeat(200_000))), FINDING_OR_LIMIT),
    ("10 MB beside the input", || extra(&format!(r#""x":"{}""#, "x".repeat(TEN_MEGABYTES))), FINDING),
    ("10 MB of description", || input(&format!(r#"{{"description":"{}","command":{RM}}}"#, "x".repeat(TEN_MEGABYTES))), FINDING),
    ("a session named with 10 MB", || extra(&format!(r#""session_id":"{}""#, "x".repeat(TEN_MEGABYTES))), FINDING),
    ("a million members", || extra(&(0..1_000_000).map(|n| format!(r#""{n}":0"#)).collect::<Vec<_>>().join(",")), FINDING),

    ("a byte order mark", || format!("\u{feff}{}", command(RM)), FINDING),
    ("two byte order marks", || format!("\u{feff}\u{feff}{}", command(RM)), Asks),
    ("CRLF between the members", || command(RM).replace(',', "\r\n,\r\n\t"), FINDING),
    ("CRLF at the end", || command(RM) + "\r\n", FINDING),
    ("CRLF in the command", || command(r#""cd lib\r\nrm -rf src\r\n""#), FINDING),
    ("blanks all around", || format!("\r\n \t{}\n\n", command(RM)), FINDING),

    ("half an object", || command(RM)[..90].into(), Asks),
    ("an object that lacks its end", || command(RM)[..command(RM).len() - 1].into(), Asks),
    ("an open nest", || extra(&format!(r#""x":{}"#, "[".repeat(DEEP))), Asks),
    ("something behind the object", || command(RM) + "x", Asks),
    ("another object behind it", || command(RM) + &command(HARMLESS), Asks),
    ("a list of events", || format!("[{}]", command(RM)), Asks),
    ("an event as a string", || format!("{:?}", command(RM)), Asks),
    ("a comment before", || format!("// event\n{}", command(RM)), Asks),
    ("nothing", String::new, Asks),
    ("blanks", || " \r\n\t".into(), Asks),

    ("fields of other types", || extra(r#""cwd":7,"session_id":[],"agent_id":{},"permission_mode":null,"stop_hook_active":"yes""#), FINDING),
    ("values that are not known", || extra(r#""permission_mode":"tomorrow","effort":{"level":"enormous"},"source":"\u2603""#), FINDING),
    ("a directory that is not there", || extra(r#""cwd":"/nowhere/at/all""#), FINDING),
    ("a relative directory", || extra(r#""cwd":"../..""#), FINDING),
    ("a tool that is not known", || command(RM).replace("\"Bash\"", "\"Abacus\""), Passes),
    ("an event that is not known", || command(RM).replace("PreToolUse", "PreToolReuse"), Passes),
];

#[test]
fn nothing_blinds_the_guard() {
    let project = Project::default().foundry();
    each(
        ROWS,
        |row| row.0,
        |(why, input, then)| {
            let answer = project.call_guards().with(&["PreToolUse"]).input(input()).answer();
            let shown = format!("{why}: {:.2000}", answer.everything());
            assert_eq!(answer.code, Some(0), "{shown}");
            match then {
                Passes => assert_eq!(answer.stdout, "", "{shown}"),
                Asks => {
                    assert_eq!(answer.decision(), Some("ask"), "{shown}");
                    assert_eq!(answer.events_of("dispatcher.unreadable").len(), 1, "{shown}");
                }
                Stops(reasons) => {
                    assert_eq!(answer.decision(), Some("deny"), "{shown}");
                    assert!(reasons.iter().any(|reason| answer.reason().contains(reason)), "{shown}");
                }
            }
            let longest = answer.events.iter().map(|event| event.to_string().len()).max().unwrap_or_default();
            assert!(longest < 16_384, "{longest} bytes in one line of the journal, {shown:.500}");
        },
    );
}

/// Text of other encodings; the agent sends UTF-8, and reads other bytes as U+FFFD.
#[test]
fn bytes_that_are_no_text_do_not_blind_the_guard() {
    let project = Project::default().foundry();
    let place = |mark: &str, bytes: &[u8]| -> Vec<u8> {
        let text = command(&format!(r#""echo {mark}; rm -rf src""#));
        let (before, behind) = text.split_once(mark).expect("the mark");
        [before.as_bytes(), bytes, behind.as_bytes()].concat()
    };
    let utf16 = |text: String| once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let rows: [(&str, Vec<u8>, &str); 6] = [
        ("a byte that is never UTF-8", place("@", b"\xff"), "deny"),
        ("half a character before the quote", place("@; rm -rf src", b"; rm -rf src \xe2"), "deny"),
        ("a surrogate in bytes", place("@", b"\xed\xa0\x80"), "deny"),
        ("a semicolon in two bytes", place("@", b"\xc0\xbb"), "deny"),
        ("another alphabet", place("@", b"\xe4\xf6\xfc"), "deny"),
        ("UTF-16", utf16(command(RM)), "ask"),
    ];
    each(
        &rows,
        |row| row.0,
        |(why, input, decision)| {
            let answer = project.call_guards().with(&["PreToolUse"]).input(input.clone()).answer();
            assert_eq!((answer.code, answer.decision()), (Some(0), Some(*decision)), "{why}: {answer:#?}");
        },
    );
}

/// What is written is scanned to its end, and in every place that a tool writes from.
#[test]
fn a_key_is_found_wherever_it_stands() {
    let key = ["AKIA", "Q7XZ2MPL5TRW4VNB"].concat();
    let filler = "some words that are no key\\n".repeat(TEN_MEGABYTES / 28);
    let deep = arrays(DEEP);
    let rows: [(&str, &str, String); 6] = [
        ("at the end of 10 MB", "Write", format!(r#""content":"{filler}{key}""#)),
        (
            "in an edit after one with half a surrogate pair",
            "MultiEdit",
            format!(r#""edits":[{{"new_string":"\ud800"}},{{"new_string":"{key}"}}]"#),
        ),
        ("beside half a surrogate pair", "Write", format!(r#""content":"\ud800 {key} \udc00""#)),
        ("in the last of two contents", "Write", format!(r#""content":"","content":"{key}""#)),
        (
            "in an edit after one that is nested deep",
            "MultiEdit",
            format!(r#""edits":[{{"new_string":"a","x":{deep}}},{{"new_string":"{key}"}}]"#),
        ),
        ("in a cell", "NotebookEdit", format!(r#""new_source":"{key}","x":{deep}"#)),
    ];
    let project = Project::default().foundry();
    each(
        &rows,
        |row| row.0,
        |(why, tool, members)| {
            let path = if *tool == "NotebookEdit" { "notebook_path" } else { "file_path" };
            let event = beside(&format!(r#""tool_name":"{tool}","tool_input":{{"{path}":"src/a.rs",{members}}}"#));
            let answer = project.call_guards().with(&["PreToolUse"]).input(event).answer();
            let shown = format!("{why}: {:.2000}", answer.everything());
            assert_eq!(answer.decision(), Some("deny"), "{shown}");
            assert!(answer.reason().contains("Foundry blocked this write"), "{shown}");
            assert!(!answer.everything().contains(&key), "the key itself, {shown}");
        },
    );
}

/// What an unreadable PreToolUse means is a setting; of anything else there is nothing to stop.
#[test]
fn an_unreadable_event_means_what_the_registry_says() {
    let whole = command(RM);
    let large = extra(&format!(r#""x":"{}""#, "x".repeat(1 << 20)));
    let unreadable = [("empty", ""), ("truncated", &whole[..whole.len() / 2]), ("no object", "[]"), ("too large", &large)];
    for (why, input) in unreadable {
        let project = Project::default();
        for (setting, decision) in
            [(None, Some("ask")), (Some("ask"), Some("ask")), (Some("block"), Some("deny")), (Some("continue"), None)]
        {
            let mut registry = Registry::default().setting("max_event_mb", "1");
            if let Some(setting) = setting {
                registry = registry.setting("on_unreadable", &format!("'{setting}'"));
            }
            let answer = project.call(&registry).with(&["PreToolUse"]).input(input).answer();
            let shown = format!("{why} under {setting:?}: {answer:#?}");
            assert_eq!((answer.code, answer.decision()), (Some(0), decision), "{shown}");
            assert!(answer.system_message().contains("on_unreadable"), "the human's line, {shown}");
            assert_eq!(answer.events_of("dispatcher.unreadable").len(), 1, "the event, {shown}");
            assert_eq!(answer.events_of("dispatcher.decision").len(), 1, "the decision's event, {shown}");
            for event in [&[][..], &["Stop"], &["UserPromptSubmit"], &["PostToolUse"], &["NotAnEvent"]] {
                let answer = project.call(&registry).with(event).input(input).answer();
                let shown = format!("{why} for {event:?}: {answer:#?}");
                assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{shown}");
                assert_eq!(answer.stderr.lines().count(), 1, "one line, {shown}");
            }
        }
    }
}

/// The event names itself; the command line only stands in for a name that is missing.
#[test]
fn the_events_own_name_counts() {
    let nameless = command(RM).replacen(r#""hook_event_name":"PreToolUse","#, "", 1);
    let older = command(RM).replacen("hook_event_name", "event_name", 1);
    let rows: [(&str, String, &[&str], Option<&str>); 8] = [
        ("no name on the command line", command(RM), &[], Some("deny")),
        ("another name on the command line", command(RM), &["Stop"], Some("deny")),
        ("a name that is not known on the command line", command(RM), &["Frobnicate"], Some("deny")),
        ("no name but on the command line", nameless.clone(), &["PreToolUse"], Some("deny")),
        ("no name at all", nameless.clone(), &[], None),
        ("an empty name", command(RM).replace("PreToolUse", ""), &["PreToolUse"], Some("deny")),
        ("the older field", older, &[], Some("deny")),
        ("a stop on PreToolUse's command line", command(RM).replace("PreToolUse", "Stop"), &["PreToolUse"], None),
    ];
    let project = Project::default().foundry();
    each(
        &rows,
        |row| row.0,
        |(why, input, arguments, decision)| {
            let answer = project.call_guards().with(arguments).input(input.as_str()).answer();
            assert_eq!((answer.code, answer.decision()), (Some(0), *decision), "{why}: {answer:#?}");
        },
    );
}
