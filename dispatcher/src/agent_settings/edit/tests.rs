//! Round trips over many texts: written by hand, and by chance.

use serde_json::json;

use super::*;

fn entry(event: &str, matcher: Option<&str>) -> Entry {
    let handler = json!({"type": "command", "command": "/opt/p/bin/dispatcher", "args": ["hook", event], "timeout": 30});
    Entry { event: event.into(), matcher: matcher.map(str::to_owned), handler }
}

fn entries() -> Vec<Entry> {
    vec![entry("PreToolUse", Some("Bash|Write")), entry("Stop", None), entry("SessionEnd", None)]
}

/// What was put into `text`, with all that holds for it in any case.
fn inserted(text: &str) -> String {
    let with = insert(text, &entries()).unwrap_or_else(|why| panic!("{why}: {text}"));
    assert_eq!(insert(&with, &[]).as_ref(), Ok(&with), "the agent reads it");
    assert!(own(&with).unwrap().len() == 3 && entries().iter().all(|entry| own(&with).unwrap().contains(entry)), "{with}");
    let mut letters = with.chars();
    assert!(text.chars().all(|letter| letters.any(|other| other == letter)), "text is added, none is changed: {with}");
    with
}

/// Taken out again, it is `text`.
fn there_and_back(text: &str) {
    assert_eq!(remove(&inserted(text), &Kept::of(text)).as_deref(), Ok(text), "{text}");
}

#[test]
fn layouts() {
    for text in [
        "{}",
        "{}\n",
        "\u{feff}{\"a\": 1}\r\n",
        "{\"a\":1}",
        "{ \"a\": 1 }",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": 1,\n\n\t\"b\": {\n\t\t\"c\": []\n\t}\n}",
        "{\r\n    \"a\": 1,\r\n    \"hooks\": {}\r\n}\r\n",
        "{\"hooks\":{\"Stop\":[]}}",
        "{\n  \"hooks\": {\"Stop\": []},\n  \"z\": \"häh \\u00e4\"\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}\n    ]\n  }\n}",
        "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash|Write\",\"hooks\":[{\"type\":\"command\",\"command\":\"y\"}]}]},\"z\":0}",
        "{\n\"a\": 1\n}",
    ] {
        there_and_back(text);
    }
    // Blanks between brackets that held nothing are the one thing that is not known any more.
    assert_eq!(remove(&inserted("{\n}\n"), &Kept::default()).as_deref(), Ok("{}\n"));
    assert_eq!(inserted("").chars().last(), Some('\n'));
}

#[test]
fn what_is_added_looks_like_the_rest() {
    let one = [entry("Stop", None)];
    let with = insert("{\r\n\t\"a\": 1\r\n}\r\n", &one).unwrap();
    assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
    assert!(with.contains("\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": ["), "{with}");
    let with = insert("{\"a\":1}", &one).unwrap();
    assert!(!with.contains('\n') && with.starts_with("{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":["), "{with}");
}

#[test]
fn what_became_empty_goes_and_what_was_empty_stays() {
    let with = inserted("{\n  \"a\": 1\n}\n");
    assert_eq!(remove(&with, &Kept::default()).as_deref(), Ok("{\n  \"a\": 1\n}\n"));
    let text = "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    assert_eq!(remove(&inserted(text), &Kept::default()).as_deref(), Ok("{}\n"), "nothing is known about it");
    assert_eq!(remove(&inserted(text), &Kept::of(text)).as_deref(), Ok(text));
}

#[test]
fn what_a_person_wrote_since_then_stays() {
    let with = inserted("{\n  \"a\": 1\n}\n");
    // A comment, a trailing comma, a hook of their own in our group, and another group behind it.
    let with = with.replace("\"a\": 1,", "\"a\": 1, // mine");
    let theirs = "{\"type\": \"command\", \"command\": \"/opt/other/dispatcher-of-mail\"}";
    let with = with.replacen("\"timeout\": 30\n          }", &format!("\"timeout\": 30\n          }},\n          {theirs}"), 1);
    let left = remove(&with, &Kept::default()).unwrap();
    assert!(left.contains("// mine") && left.contains(theirs) && left.contains("\"matcher\": \"Bash|Write\""), "{left}");
    assert!(!left.contains("/opt/p/") && !left.contains("SessionEnd"), "{left}");
    Document::parse(&left, Reader::Person).unwrap();
}

#[test]
fn comments_around_entries_stay() {
    let ours = entry("Stop", None).group().to_string();
    for (text, expected) in [
        (format!("{{\"hooks\":{{\"Stop\":[1, // one\n  {ours} // two\n]}}}}"), "{\"hooks\":{\"Stop\":[1 // one // two\n]}}"),
        (format!("{{\"hooks\":{{\"Stop\":[{ours}, // two\n 2]}}}}"), "{\"hooks\":{\"Stop\":[ // two\n 2]}}"),
        (format!("{{\"hooks\":{{\"Stop\":[/* one */ {ours},]}}}}"), "{\"hooks\":{\"Stop\":[/* one */]}}"),
        (format!("{{\"hooks\":{{\"Stop\":[{ours},],}},}}"), "{}"),
        (format!("{{\"a\":1,\"hooks\":{{\"Stop\":[{ours},],}},}}"), "{\"a\":1,}"),
        (format!("{{\"hooks\":{{\"Stop\":[1,{ours},2]}}}}"), "{\"hooks\":{\"Stop\":[1,2]}}"),
    ] {
        assert_eq!(remove(&text, &Kept::default()).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn others_with_the_same_name_are_not_ours() {
    for handler in [
        json!({"type": "command", "command": "/opt/p/bin/dispatcher hook Stop"}),
        json!({"type": "command", "command": "/opt/p/bin/dispatcher", "args": ["hook", "Stop", "--only", "x"]}),
        json!({"type": "command", "command": "/opt/p/bin/dispatcher", "args": ["hook", "PreToolUse"]}),
        json!({"type": "command", "command": "/opt/p/bin/mail-dispatcher", "args": ["hook", "Stop"]}),
        json!({"type": "command", "command": "/opt/p/bin/dispatcher"}),
    ] {
        let text = json!({"hooks": {"Stop": [{"hooks": [handler]}]}}).to_string();
        assert_eq!(own(&text), Ok(vec![]), "{text}");
        there_and_back(&text);
    }
    let windows = json!({"type": "command", "command": "C:\\p\\bin\\dispatcher.exe", "args": ["hook", "Stop"]});
    assert_eq!(own(&json!({"hooks": {"Stop": [{"hooks": [windows]}]}}).to_string()).unwrap().len(), 1);
}

#[test]
fn what_the_agent_would_ignore_is_refused_with_its_place() {
    for (text, place) in [
        ("{\n  // mine\n}", "2:3: comments are not allowed"),
        ("{\"a\": 1,\n}", "1:8: trailing commas are not allowed"),
        ("{\"a\": 1", "1:1: unterminated object"),
        ("[]", "1:1: settings are an object"),
        ("{'a': 1}", "1:2: single-quoted strings are not allowed"),
        ("{\"hooks\": []}", "1:11: `hooks` is no object"),
        ("{\"hooks\": {}, \"hooks\": {}}", "1:15: `hooks` is there twice"),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "1:24: `Stop` is there twice"),
        ("{\"hooks\": {\"Stop\": 5}}", "1:20: `Stop` is no list"),
        ("{\"hooks\": {\"Stop\": [5]}}", "1:21: a group of hooks is no object (Stop)"),
        ("{\"hooks\": {\"Stop\": [{}]}}", "1:21: a group has no `hooks` (Stop)"),
        ("{\"hooks\": {\"Stop\": [{\"hooks\": 5}]}}", "1:31: `hooks` of a group is no list (Stop)"),
        ("{\"hooks\": {\"Stop\": [{\"matcher\": 5, \"hooks\": []}]}}", "1:33: a matcher is no text (Stop)"),
        ("{\"hooks\": {\"Stop\": [{\"hooks\": [{}]}]}}", "1:32: a hook has no `type` (Stop)"),
        ("{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\"}]}]}}", "1:32: a hook has no `command` (Stop)"),
    ] {
        let why = insert(text, &entries()).unwrap_err().to_string();
        assert!(why.starts_with(place), "{text}: {why}");
    }
}

/// Settings by chance: layouts of every kind, own and other hooks, odd texts.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn gap(&mut self, blanks: &str) -> String {
        (0..self.below(4)).map(|_| self.below(blanks.len() as u64) as usize).map(|at| &blanks[at..at + 1]).collect()
    }

    fn list(&mut self, brackets: [&str; 2], blanks: &str, items: Vec<String>) -> String {
        let mut text = brackets[0].to_owned();
        for (index, item) in items.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            text += &format!("{comma}{}{item}{}", self.gap(blanks), self.gap(blanks));
        }
        // What holds nothing has nothing between its brackets: see `layouts`.
        text + brackets[1]
    }

    fn value(&mut self, depth: u64, blanks: &str) -> String {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 => self.one_of(&["1.50", "-0", "true", "null", "1e3"]).to_owned(),
            1 => self.one_of(&["\"\"", "\"a, [b] { // c }\"", "\"\\u00e4 \\\\\"", "\"häh\"", "\"\\\"hooks\\\": {\""]).to_owned(),
            2 => {
                let items = (0..self.below(3)).map(|_| self.value(depth - 1, blanks)).collect();
                self.list(["[", "]"], blanks, items)
            }
            _ => {
                let items =
                    (0..self.below(3)).map(|key| format!("\"{key}\":{}{}", self.gap(blanks), self.value(depth - 1, blanks)));
                let items = items.collect();
                self.list(["{", "}"], blanks, items)
            }
        }
    }

    fn groups(&mut self, blanks: &str) -> String {
        let handler = |chance: &mut Self| {
            let more = chance.value(1, blanks);
            format!("{{\"type\":\"command\",\"command\":\"notify\",\"more\":{more}}}")
        };
        let groups = (0..self.below(3)).map(|_| {
            let handlers = (0..self.below(3)).map(|_| handler(self)).collect();
            let handlers = self.list(["[", "]"], blanks, handlers);
            format!("{{{}\"matcher\":\"Bash|Write\",{}\"hooks\":{handlers}}}", self.gap(blanks), self.gap(blanks))
        });
        let groups = groups.collect();
        self.list(["[", "]"], blanks, groups)
    }

    fn settings(&mut self) -> String {
        let blanks = self.one_of(&[" ", " \n", "\n\t", " \t\n"]);
        let mut items: Vec<String> =
            (0..self.below(4)).map(|key| format!("\"key{key}\":{}{}", self.gap(blanks), self.value(3, blanks))).collect();
        if self.below(3) > 0 {
            let events = ["PreToolUse", "Stop", "Notification"].into_iter().filter(|_| self.below(2) == 0).collect::<Vec<_>>();
            let events = events.into_iter().map(|event| format!("\"{event}\":{}{}", self.gap(blanks), self.groups(blanks)));
            let events = events.collect();
            let at = self.below(items.len() as u64 + 1) as usize;
            items.insert(at, format!("\"hooks\":{}", self.list(["{", "}"], blanks, events)));
        }
        let text = self.list(["{", "}"], blanks, items) + &self.gap(blanks);
        if self.below(4) == 0 { text.replace('\n', "\r\n") } else { text }
    }
}

#[test]
fn settings_by_chance_come_back_as_they_were() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3000 {
        there_and_back(&chance.settings());
    }
}
