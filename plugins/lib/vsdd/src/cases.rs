//! Runs the shared case files of the vsdd set against one gate, natively.
//!
//! What is the host's own is left to the end-to-end run of the same files: masking of what is written down, the variable that
//! silences events, text that is no event, files as they really lie on disk.

use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::shell::Analysis;
use portcullis_sdk::{Checkout, Event, EventDraft, FieldValue, Finding, GateError, Host, Output, Verdict};
use serde_json::{Map, Value};

use crate::date;

/// Relative to this crate.
const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/cases");
/// Relative to this crate.
const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../templates");
/// The files that hold cases of this set.
const FILES: [&str; 3] = ["vsdd-pre.jsonl", "vsdd-post-a.jsonl", "vsdd-post-b.jsonl"];
/// Where the events of the cases' project are.
const JOURNAL: &str = ".factory/logs/";
/// The project that the cases are about.
pub const ROOT: &str = "/home/dev/project";
/// Where a case that brings plugin files has the plugin.
const PLUGIN: &str = "/home/dev/plugin";
/// The home directory of the cases.
const HOME: &str = "/home/dev";
/// A commit of the repository that a case describes.
const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";
/// The day of the fake host's clock, which stands at its first moment.
const TODAY: &str = "1970-01-01";
/// Fields of an event that the host adds.
const HOST_FIELDS: [&str; 4] = ["ts", "ts_epoch", "schema_version", "session_id"];
/// Longest line of a stop in bytes.
const LINE_BYTES: usize = 4096;

/// A gate's function by some of its rules, over the fake host.
pub type JudgeBy<Rule> = fn(&[Rule], &Event, &FakeHost) -> Result<Vec<Verdict>, GateError>;

/// The cases of one gate.
pub struct Cases {
    hook: String,
    cases: Vec<Value>,
}

impl Cases {
    /// The cases of `hook`, as the case files have them.
    pub fn of(hook: &str) -> Self {
        let read = |name| {
            let path = format!("{DIRECTORY}/{name}");
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
        };
        let parse = |line: &str| serde_json::from_str::<Value>(&filled(line)).expect("a case is JSON");
        let files = FILES.map(read);
        let cases = files.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty()).map(parse);
        let is_native = |case: &Value| case["event"].is_object() && case["env"]["VSDD_TELEMETRY"] != "off";
        let cases: Vec<Value> = cases.filter(|case| case["hook"] == hook && is_native(case)).collect();
        assert!(!cases.is_empty(), "no case for {hook}");
        Self { hook: hook.into(), cases }
    }

    /// Judges every case and panics with the ids that fail, each with what is wrong.
    pub fn all_pass(&self, judge: impl Fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>) {
        let failing = self.failing(judge);
        println!("{}: {} of {} cases pass", self.hook, self.cases.len() - failing.len(), self.cases.len());
        assert!(failing.is_empty(), "{} of {} cases fail:\n  {}", failing.len(), self.cases.len(), failing.join("\n  "));
    }

    /// Panics unless each of `rules` is needed: without it, some case fails. `code` names a rule.
    pub fn need_each<Rule: Copy>(&self, rules: &[Rule], code: fn(&Rule) -> &'static str, judge_by: JudgeBy<Rule>) {
        for rule in rules {
            let others: Vec<Rule> = rules.iter().filter(|other| code(other) != code(rule)).copied().collect();
            assert!(!self.failing(|event, host| judge_by(&others, event, host)).is_empty(), "no case needs {}", code(rule));
        }
    }

    /// The cases that fail, as `id [grade]: what is wrong`.
    pub fn failing(&self, judge: impl Fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>) -> Vec<String> {
        let failing = self.cases.iter().filter_map(|case| {
            let wrong = self.fault(case, &judge)?;
            Some(format!("{} [{}]: {wrong}", case["id"].as_str()?, case["grade"].as_str().unwrap_or("-")))
        });
        failing.collect()
    }

    fn fault(&self, case: &Value, judge: impl Fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>) -> Option<String> {
        let host = host(case);
        let event = Event { project_root: root(case, &host), ..host.event() };
        let expect = &case["expect"];
        let wanted = decision_word(expect["decision"].as_str().unwrap_or_default());
        let verdicts = match judge(&event, &host) {
            Ok(verdicts) => verdicts,
            // Every gate that can fail is registered to block then.
            Err(_) if wanted == "stop" && expect["code"].is_null() => return None,
            Err(error) => return Some(format!("cannot judge: {error:?}")),
        };
        let findings: Vec<&Finding> = verdicts.iter().filter_map(finding).collect();
        let emitted = host.emitted().into_iter().map(|(kind, fields)| EventDraft { kind, fields: fields.0 });
        let drafts: Vec<EventDraft> = emitted.chain(findings.iter().filter_map(|finding| finding.event.clone())).collect();
        let text = verdicts.iter().filter_map(text).collect::<Vec<_>>().join("\n");
        if wanted != decision(&verdicts) {
            // Other answers that the case accepts; their texts are free.
            let mut also = expect["also"].as_array().into_iter().flatten().filter_map(Value::as_str).map(decision_word);
            if also.any(|also| also == decision(&verdicts)) {
                return None;
            }
            return Some(format!("wants {wanted}, got {}: {text:.160}", decision(&verdicts)));
        }
        if wanted == "stop" {
            let code = expect["code"].as_str().unwrap_or_default();
            let fault = findings.iter().find_map(|finding| stop_fault(&self.hook, finding));
            if fault.is_some() {
                return fault;
            }
            if findings.first().is_none_or(|finding| finding.rule != code) {
                return Some(format!("wants {code} first: {text:.160}"));
            }
        }
        text_fault(expect, &text).or_else(|| events_fault(expect, &drafts)).or_else(|| files_fault(case, &host))
    }
}

/// A line of a case file with its placeholders filled in: `${ROOT}`, `${DATE-1}` (days ago), `${EPOCH-60}` (seconds from now).
fn filled(line: &str) -> String {
    let line = line.replace("${ROOT}", ROOT);
    let mut parts = line.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.split_once('}').and_then(|(name, rest)| {
            let value = match name.strip_prefix("DATE") {
                Some(days) => date::days_before(TODAY, days.strip_prefix('-').map_or(Some(0), |days| days.parse().ok())?)?,
                None => name.strip_prefix("EPOCH")?.trim_start_matches('+').to_owned(),
            };
            Some((if value.is_empty() { "0".into() } else { value }, rest))
        });
        match value {
            Some((value, rest)) => filled.extend([&value, rest]),
            None => filled.extend(["${", part]),
        }
    }
    filled
}

/// A host for one call of a tool that runs `command`, in the project of the cases.
pub fn shell_call(tool: &str, command: &str) -> FakeHost {
    let payload = serde_json::json!({
        "hook_event_name": "PreToolUse", "tool_name": tool, "cwd": ROOT, "tool_input": {"command": command},
    });
    FakeHost::new(payload).analyzer(analyze)
}

/// The analyser as the host runs it.
fn analyze(text: &str, event: &Event) -> Analysis {
    let context =
        portcullis_shell::Context { cwd: event.cwd.clone(), project_root: root_around(&event.cwd), home: Some(HOME.into()) };
    portcullis_shell::analyze(text, &context)
}

/// The host of a case: its event, files and repository.
fn host(case: &Value) -> FakeHost {
    let mut host = FakeHost::new(case["event"].clone()).analyzer(analyze);
    let root = root(case, &host);
    for (path, content) in case["files"].as_object().unwrap_or(&Map::new()) {
        let content = content.as_str().unwrap_or_default();
        // As gates name it: absolute, and relative to the root.
        let absolute = portcullis_shell::paths::resolve(ROOT, path);
        let relative = absolute.strip_prefix(&root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path).to_owned();
        host = host.file(&relative, content).file(&absolute, content);
        if let Some(name) = relative.strip_prefix(JOURNAL) {
            host = host.file(&format!("${{journal}}/{name}"), content);
        }
    }
    for (path, content) in case["plugin_files"].as_object().unwrap_or(&Map::new()) {
        host = host.file(&format!("{PLUGIN}/{path}"), content.as_str().unwrap_or_default());
    }
    if case["tier"] == "builtin" {
        let plugin = host.base_directory();
        host = shipped().fold(host, |host, (name, content)| host.file(&format!("{plugin}/templates/{name}"), content));
    }
    if !case["plugin_files"].is_null() {
        host = host.environment("CLAUDE_PLUGIN_ROOT", PLUGIN);
    }
    host = host.program("git", committed(&case["git"]));
    for (name, value) in case["env"].as_object().unwrap_or(&Map::new()) {
        host = host.environment(name, value.as_str().unwrap_or_default());
    }
    checkouts(&case["git"]).into_iter().fold(host, FakeHost::checkout)
}

/// The templates of this repository.
fn shipped() -> impl Iterator<Item = (String, Vec<u8>)> {
    let entries = std::fs::read_dir(TEMPLATES).unwrap_or_else(|error| panic!("{TEMPLATES}: {error}"));
    entries.map(|entry| {
        let entry = entry.expect("a directory can be listed");
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a template can be read"))
    })
}

/// `git -C DIRECTORY show HEAD:./FILE`, answered from what the case committed.
fn committed(git: &Value) -> impl Fn(&[String], &[u8]) -> Output + 'static {
    let top = portcullis_shell::paths::resolve(ROOT, git["dir"].as_str().unwrap_or_default());
    let files = git["commit"].clone();
    move |arguments, _| {
        let content = match arguments {
            [flag, directory, show, object] if flag == "-C" && show == "show" => object
                .strip_prefix("HEAD:./")
                .map(|file| format!("{directory}/{file}"))
                .and_then(|path| files.get(path.strip_prefix(&top)?.strip_prefix('/')?)?.as_str().map(str::to_owned)),
            _ => None,
        };
        let code = if content.is_some() { 0 } else { 128 };
        Output { code: Some(code), stdout: content.unwrap_or_default().into_bytes(), stderr: Vec::new(), truncated: false }
    }
}

/// The working trees that `git` of a case describes, the main one first.
fn checkouts(git: &Value) -> Vec<Checkout> {
    let common = format!("{ROOT}/.git");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let main = Checkout {
        root: ROOT.into(),
        git_directory: common.clone(),
        common_directory: common.clone(),
        branch: text(&git["branch"]).or_else(|| Some("main".into())),
        head: Some(HEAD.into()),
    };
    let linked = git["worktrees"].as_array().into_iter().flatten().map(|tree| {
        let path = tree["path"].as_str().unwrap_or_default();
        Checkout {
            root: format!("{ROOT}/{path}"),
            git_directory: format!("{common}/worktrees/{}", portcullis_shell::paths::base_name(path)),
            common_directory: common.clone(),
            branch: text(&tree["branch"]).filter(|_| tree["detached"] != true),
            head: Some(HEAD.into()).filter(|_| tree["unborn"] != true),
        }
    });
    match git.is_object() && git["init"] != false {
        true => std::iter::once(main).chain(linked).collect(),
        false => Vec::new(),
    }
}

/// The project root that the host would find.
fn root(case: &Value, host: &FakeHost) -> String {
    let set = case["env"]["CLAUDE_PROJECT_DIR"].as_str().filter(|path| path.starts_with('/'));
    set.map_or_else(|| root_around(&host.event().cwd), str::to_owned)
}

fn root_around(cwd: &str) -> String {
    if portcullis_shell::paths::is_within(cwd, ROOT) { ROOT.into() } else { cwd.into() }
}

/// What is wrong with a stop's line or event.
fn stop_fault(hook: &str, finding: &Finding) -> Option<String> {
    let Finding { rule, reason, .. } = finding;
    let middle =
        reason.strip_prefix(&format!("BLOCKED by {hook}: ")).and_then(|rest| rest.strip_suffix(&format!(". Code: {rule}.")));
    let is_line = middle
        .and_then(|middle| middle.split_once(". Fix: "))
        .is_some_and(|(reason, fix)| !reason.is_empty() && !fix.is_empty() && !reason.ends_with('.') && !fix.ends_with('.'));
    if !is_line || reason.contains('\n') || reason.len() > LINE_BYTES {
        return Some(format!("not the line form of {rule}: {reason:?}"));
    }
    if !finding.overridable {
        return Some(format!("{rule} cannot be overridden"));
    }
    let draft = finding.event.as_ref()?;
    let is = |name: &str, wanted: &str| value(draft, name).is_some_and(|value| value == wanted);
    match draft.kind == "hook.block" && is("hook", hook) && is("reason", rule) && value(draft, "matcher").is_some() {
        true => None,
        false => Some(format!("no hook.block event of {rule}: {draft:?}")),
    }
}

fn text_fault(expect: &Value, text: &str) -> Option<String> {
    let strings = |key: &str| expect[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
    if let Some(missing) = strings("reason_contains").into_iter().find(|part| !text.contains(part)) {
        return Some(format!("the reason lacks {missing:?}: {text:?}"));
    }
    let held = strings("reason_excludes").into_iter().find(|part| text.contains(part))?;
    Some(format!("the reason holds {held:?}"))
}

/// `events` of a case lists all of them; without it, only the stops' own may be there.
fn events_fault(expect: &Value, drafts: &[EventDraft]) -> Option<String> {
    let decided = decision_word(expect["decision"].as_str().unwrap_or_default());
    let Some(wanted) = expect["events"].as_array() else {
        // A warning may leave an event that says it is one.
        let is_warning =
            |draft: &EventDraft| decided == "advise" && value(draft, "severity").is_some_and(|severity| severity == "warn");
        let stray = drafts.iter().find(|draft| draft.kind == "hook.block" && decided != "stop" && !is_warning(draft));
        return stray.map(|draft| format!("an event without a stop: {draft:?}"));
    };
    let kinds: Vec<&str> = drafts.iter().map(|draft| draft.kind.as_str()).collect();
    let wanted_kinds: Vec<&str> = wanted.iter().filter_map(|event| event["type"].as_str()).collect();
    if kinds != wanted_kinds {
        return Some(format!("wants the events {wanted_kinds:?}, got {kinds:?}"));
    }
    wanted.iter().zip(drafts).find_map(|(event, draft)| {
        let fields = event["fields"].as_object().into_iter().flatten();
        let own = event.as_object().into_iter().flatten().filter(|(name, _)| !["type", "fields"].contains(&name.as_str()));
        let mut set_by_gate = fields.chain(own).filter(|(name, _)| !HOST_FIELDS.contains(&name.as_str()));
        set_by_gate.find_map(|(name, wanted)| {
            let got = value(draft, name);
            (!field_matches(wanted, got.as_deref())).then(|| format!("event field {name}: wants {wanted}, got {got:?}"))
        })
    })
}

/// Patterns are left to the end-to-end run, where the host has masked and completed the event.
fn field_matches(wanted: &Value, got: Option<&str>) -> bool {
    match wanted {
        Value::Null => got.is_none(),
        Value::String(text) => got == Some(text),
        Value::Object(matcher) => match matcher.get("between") {
            Some(range) => {
                let inside = |number: i64| Some((range[0].as_i64()?..=range[1].as_i64()?).contains(&number));
                got.and_then(|text| text.parse().ok()).and_then(inside) == Some(true)
            }
            None => got.is_some(),
        },
        other => got == Some(&other.to_string()),
    }
}

fn files_fault(case: &Value, host: &FakeHost) -> Option<String> {
    // On disk a file appears only in a directory that is there.
    let directory_exists = |name: &str| {
        let directory = name.rfind('/').map_or("", |end| &name[..=end]);
        case["files"].as_object().is_some_and(|files| files.keys().any(|file| file.starts_with(directory)))
    };
    case["expect"]["files_after"].as_object()?.iter().find_map(|(name, wanted)| {
        let content = host.content(name).or_else(|| host.content(&format!("{ROOT}/{name}")));
        let content = content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match wanted {
            Value::Null => content.filter(|_| directory_exists(name)).map(|_| format!("{name} must not exist")),
            Value::String(text) if content.as_ref() != Some(text) => Some(format!("{name} holds {content:?}")),
            Value::Object(matcher) if matcher.contains_key("json") => {
                let json = content.as_ref().and_then(|content| serde_json::from_str::<Value>(content).ok());
                let fields = matcher["json"].as_object()?;
                let wrong = fields.iter().find(|(key, wanted)| {
                    let got = json.as_ref().and_then(|json| json.get(key.as_str()));
                    !field_matches(wanted, got.map(|got| got.as_str().map_or_else(|| got.to_string(), str::to_owned)).as_deref())
                });
                wrong.map(|(key, wanted)| format!("{name}: wants {key} {wanted}, holds {content:?}"))
            }
            _ => None,
        }
    })
}

fn value(draft: &EventDraft, name: &str) -> Option<String> {
    Some(match &draft.fields.iter().find(|field| field.name == name)?.value {
        FieldValue::Text(text) => text.clone(),
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Flag(flag) => flag.to_string(),
    })
}

fn finding(verdict: &Verdict) -> Option<&Finding> {
    match verdict {
        Verdict::Block(finding) | Verdict::Ask(finding) => Some(finding),
        _ => None,
    }
}

/// What the verdict's reader reads.
fn text(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Advise(text) | Verdict::Notify(text) => Some(text),
        other => finding(other).map(|finding| finding.reason.as_str()),
    }
}

/// The decisions of the case files as the kinds that a gate can tell apart.
fn decision_word(wanted: &str) -> &str {
    match wanted {
        "block" | "deny" => "stop",
        "advise" | "warn" | "context" => "advise",
        "allow" | "none" => "none",
        other => other,
    }
}

/// The strictest verdict.
fn decision(verdicts: &[Verdict]) -> &'static str {
    let any = |is: fn(&Verdict) -> bool| verdicts.iter().any(is);
    if any(|verdict| matches!(verdict, Verdict::Block(_))) {
        "stop"
    } else if any(|verdict| matches!(verdict, Verdict::Ask(_))) {
        "ask"
    } else if any(|verdict| matches!(verdict, Verdict::Advise(_) | Verdict::Notify(_))) {
        "advise"
    } else {
        "none"
    }
}
