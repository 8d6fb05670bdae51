//! The promise of docs/contract.md: a gate that was built against the first 1.0 still runs, and today's contract has all that it has.

use std::fs;
use std::path::PathBuf;

use portcullis_e2e::{Answer, Project, Registry, existing};
use serde_json::json;
use wit_parser::{Function, InterfaceId, Resolve, Type, TypeDefKind, WorldItem};

/// What every call of the witness is granted.
const GRANTS: &str = "
[hooks.config]
key = { a = [1, true] }
[hooks.capabilities]
env_allow = ['WITNESS']
[hooks.capabilities.read_file]
path_allow = ['w']
[hooks.capabilities.write_file]
path_allow = ['w']
[hooks.capabilities.exec_subprocess]
binary_allow = ['echo']
";

fn in_repository(path: &str) -> PathBuf {
    existing([env!("CARGO_MANIFEST_DIR"), "../..", path].iter().collect())
}

fn witness() -> PathBuf {
    in_repository("tests/contract/1.0/witness.wasm")
}

/// What the witness answers to a command, under a stanza with these keys and tables.
fn asked(component: &std::path::Path, stanza: &str) -> Answer {
    let mut project = Project::default();
    project.variable("WITNESS", "seen");
    project.write("project/w/old", "");
    let registry = Registry::default().gate("witness", component, "block", stanza);
    let event = json!({
        "session_id": "5e551002-0000-4000-8000-000000000000",
        "cwd": project.path("project"),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "echo x > w/out"},
    });
    project.call(&registry).event(&event).with(&["--today", "2026-12-01"]).answer()
}

#[test]
fn every_host_call_of_1_0_is_answered_as_it_was() {
    let answer = asked(&witness(), GRANTS);
    assert_eq!(answer.decision(), Some("deny"), "{answer:?}");
    let said: Vec<&str> = answer.reason().lines().collect();
    for (call, came) in [
        ("event", "PreToolUse Some(\"Bash\") Some(\"5e551002-0000-4000-8000-000000000000\") "),
        ("config", "Some(\"{\\\"a\\\":[1,true]}\")"),
        ("all", "{\"key\":{\"a\":[1,true]}}"),
        ("base-directory", "/"),
        ("json", ""),
        ("field", "Some(\"{\\\"command\\\":\\\"echo x > w/out\\\"}\")"),
        ("text", "Some(\"echo x > w/out\")"),
        ("text-size", "Some(14)"),
        ("text-piece", "Some(\"cho \")"),
        ("commands", "Ok([Command { program: \"echo\", words: [Word { raw: \"echo\", value: Some(\"echo\")"),
        ("effects", "Ok([Effect { kind: EffectKind::Write, path: Some("),
        ("analyze", "Ok(Analysis { commands: [Command { program: \"true\""),
        ("checkout-at", "Some(Checkout { root: "),
        ("worktrees", "[Checkout { root: "),
        ("today-utc", "2026-12-01"),
        ("today-local", "2026-12-01"),
        ("now", "true"),
        ("write-file", "Ok(())"),
        ("write-file again", "Err(HostError::Conflict)"),
        ("append-file", "Ok(())"),
        ("read-file", "Ok(\"one more\")"),
        ("read-file denied", "Err(HostError::Denied("),
        ("read-file missing", "Err(HostError::NotFound)"),
        ("read-tail", "Ok([109, 111, 114, 101])"),
        ("list-dir", "Ok([\"new\", \"old\"])"),
        ("stat", "Ok((FileKind::File, 8, true))"),
        ("exec", "Ok(Output { code: Some(0), stdout: [104, 101, 108, 108, 111, 10], stderr: [], truncated: false })"),
        ("exec denied", "Err(HostError::Denied("),
        ("env", "Ok(Some(\"seen\"))"),
        ("env denied", "Err(HostError::Denied("),
    ] {
        let line = said.iter().find(|line| line.strip_prefix(call).is_some_and(|rest| rest.starts_with(&format!(" {came}"))));
        assert!(line.is_some(), "`{call}` should have come to `{came}`: {said:#?}");
    }
    let (saw, stands) = (answer.events_of("witness.saw"), answer.events_of("witness.stands"));
    assert_eq!((&saw[0]["t"], &saw[0]["n"], &saw[0]["f"]), (&json!("text"), &json!(-1), &json!(false)));
    assert_eq!((&stands[0]["decision"], &stands[0]["n"], &stands[0]["f"]), (&json!("deny"), &json!(1), &json!(true)));
}

#[test]
fn every_answer_of_1_0_means_what_it_meant() {
    let says = |say: &str| asked(&witness(), &format!("config.say = '{say}'"));
    for nothing in ["pass", "nothing"] {
        assert_eq!(says(nothing).stdout, "", "{nothing}");
    }
    assert_eq!(says("advise").json.pointer("/hookSpecificOutput/additionalContext"), Some(&json!("advice")));
    assert!(says("notify").system_message().contains("notice"));
    assert_eq!((says("ask").decision(), says("ask").reason().contains("asked")), (Some("ask"), true));
    let rewritten = says("rewrite");
    assert_eq!(rewritten.json.pointer("/hookSpecificOutput/updatedInput"), Some(&json!({"command": "true"})), "{rewritten:?}");
    for (failure, words) in [("config", "the setting"), ("input", "the field"), ("host", "the call")] {
        let answer = says(failure);
        assert_eq!((answer.decision(), answer.reason().contains(words)), (Some("deny"), true), "{failure}: {answer:?}");
    }
}

/// Imports and exports are found by their major version. A gate of a later minor is refused even so, since what it misses would
/// come out only when it calls it.
#[test]
fn a_gate_of_another_version_is_refused_with_both_versions() {
    let scratch = Project::default();
    for (version, runs) in [("1.0.9", true), ("1.9.0", false), ("2.0.0", false), ("0.1.0", false)] {
        // As long as the one it stands for, so that the component stays one.
        let component = replaced(&fs::read(witness()).expect("the witness"), b"@1.0.0", format!("@{version}").as_bytes());
        scratch.write("other.wasm", component);
        let answer = asked(&scratch.path("other.wasm"), "config.say = 'pass'");
        match runs {
            true => assert_eq!(answer.stdout, "", "{version}"),
            false => {
                assert_eq!(answer.decision(), Some("deny"), "{version}");
                let spoken = contract_version();
                let names = |version: &str| answer.reason().contains(&format!("portcullis:gate/judge@{version}"));
                assert!(names(version) && names(&spoken), "{version}: {}", answer.reason());
            }
        }
    }
}

/// Those of the contract only: interfaces of WASI have versions of their own.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let (mut bytes, mut count) = (bytes.to_vec(), 0);
    for start in 0..bytes.len() - from.len() {
        let name_start =
            bytes[..start].iter().rposition(|byte| !matches!(byte, b'a'..=b'z' | b'-' | b'/' | b':')).map_or(0, |at| at + 1);
        // A name may follow a byte that happens to be a letter: its length.
        let is_ours = bytes[name_start..start].windows(16).any(|window| window == b"portcullis:gate/");
        if bytes[start..].starts_with(from) && is_ours {
            bytes[start..start + from.len()].copy_from_slice(to);
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
    bytes
}

fn contract_version() -> String {
    let contract = parsed(&fs::read_to_string(in_repository("wit/gate.wit")).expect("the contract"));
    contract.packages.iter().next().and_then(|(_, package)| package.name.version.clone()).expect("a version").to_string()
}

fn parsed(text: &str) -> Resolve {
    let mut resolve = Resolve::default();
    resolve.push_str("gate.wit", text).unwrap_or_else(|error| panic!("{error:#}"));
    resolve
}

#[test]
fn the_contract_has_everything_that_1_0_has() {
    let first = parsed(&fs::read_to_string(in_repository("tests/contract/1.0/gate.wit")).expect("the copy"));
    let today = parsed(&fs::read_to_string(in_repository("wit/gate.wit")).expect("the contract"));
    assert_eq!(broken(&first, &today), Vec::<String>::new());
    assert!(contract_version().starts_with("1."), "another major version makes other promises");
}

#[test]
fn a_change_that_breaks_gates_is_noticed() {
    let text = fs::read_to_string(in_repository("tests/contract/1.0/gate.wit")).expect("the copy");
    for (from, to, fits) in [
        ("    today-utc: func() -> string;", "    today-utc: func() -> string;\n    zone: func() -> string;", true),
        ("    now: func() -> u64;", "    now: func() -> u64;\n    @since(version = 1.0.0)\n    zone: func() -> string;", true),
        ("world gate {", "interface more { f: func(); }\nworld gate {\n    import more;", true),
        ("        derived: bool,", "        derived: bool,\n        more: bool,", false),
        ("        derived: bool,", "        derived: option<bool>,", false),
        ("        background: bool,", "", false),
        ("        embedded,", "        embedded,\n        more,", false),
        ("        rewrite(string),", "        rewrite(string),\n        more,", false),
        ("    now: func() -> u64;", "", false),
        ("    now: func() -> u64;", "    now: func() -> s64;", false),
        ("    config: func(key: string)", "    config: func(name: string)", false),
        ("    import clock;", "", false),
        ("    evaluate: func", "    more: func();\n    evaluate: func", false),
    ] {
        assert!(text.contains(from), "{from}");
        let found = broken(&parsed(&text), &parsed(&text.replacen(from, to, 1)));
        assert_eq!(found.is_empty(), fits, "`{from}` as `{to}`: {found:?}");
    }
}

/// What a component built against `first` would miss in `today`.
fn broken(first: &Resolve, today: &Resolve) -> Vec<String> {
    let mut broken = Vec::new();
    for (_, world) in &first.worlds {
        let Some((_, now)) = today.worlds.iter().find(|(_, now)| now.name == world.name) else {
            broken.push(format!("world {}", world.name));
            continue;
        };
        for (is_export, items, items_now) in [(false, &world.imports, &now.imports), (true, &world.exports, &now.exports)] {
            let interfaces_now: Vec<_> =
                items_now.values().filter_map(interface).map(|id| (&today.interfaces[id].name, id)).collect();
            for id in items.values().filter_map(interface) {
                let name = &first.interfaces[id].name;
                match interfaces_now.iter().find(|(now, _)| *now == name) {
                    Some((_, id_now)) => broken.extend(missing(first, id, today, *id_now, is_export)),
                    None => broken.push(format!("{} in world {}", name.as_deref().unwrap_or_default(), world.name)),
                }
            }
        }
    }
    broken
}

fn interface(item: &WorldItem) -> Option<InterfaceId> {
    match item {
        WorldItem::Interface { id, .. } => Some(*id),
        _ => None,
    }
}

/// Of one interface; of one that components export, what they would have to have in addition.
fn missing(first: &Resolve, id: InterfaceId, today: &Resolve, id_now: InterfaceId, is_export: bool) -> Vec<String> {
    let (then, now) = (&first.interfaces[id], &today.interfaces[id_now]);
    let name = then.name.as_deref().unwrap_or_default();
    let types = then
        .types
        .iter()
        .filter(|(key, ty)| now.types.get(*key).is_none_or(|now| shape(first, Type::Id(**ty)) != shape(today, Type::Id(*now))));
    let functions = then
        .functions
        .iter()
        .filter(|(key, function)| now.functions.get(*key).is_none_or(|now| signature(first, function) != signature(today, now)));
    let added = now.functions.keys().filter(|key| is_export && !then.functions.contains_key(*key));
    types.map(|(key, _)| key).chain(functions.map(|(key, _)| key)).chain(added).map(|key| format!("{name}.{key}")).collect()
}

fn signature(resolve: &Resolve, function: &Function) -> String {
    let parameters = function.params.iter().map(|parameter| format!("{}: {}", parameter.name, shape(resolve, parameter.ty)));
    let result = function.result.map(|ty| shape(resolve, ty)).unwrap_or_default();
    format!("{:?} ({}) -> {result}", function.kind, parameters.collect::<Vec<_>>().join(", "))
}

/// A type with all that it is made of, as text.
fn shape(resolve: &Resolve, ty: Type) -> String {
    let Type::Id(id) = ty else { return format!("{ty:?}") };
    let all = |items: Vec<String>| format!("{{{}}}", items.join(", "));
    let optional = |ty: Option<Type>| ty.map_or("_".into(), |ty| shape(resolve, ty));
    match &resolve.types[id].kind {
        TypeDefKind::Type(ty) => shape(resolve, *ty),
        TypeDefKind::Option(ty) => format!("option<{}>", shape(resolve, *ty)),
        TypeDefKind::List(ty) => format!("list<{}>", shape(resolve, *ty)),
        TypeDefKind::Result(result) => format!("result<{}, {}>", optional(result.ok), optional(result.err)),
        TypeDefKind::Tuple(tuple) => all(tuple.types.iter().map(|ty| shape(resolve, *ty)).collect()),
        TypeDefKind::Record(record) => {
            all(record.fields.iter().map(|field| format!("{}: {}", field.name, shape(resolve, field.ty))).collect())
        }
        TypeDefKind::Variant(variant) => {
            all(variant.cases.iter().map(|case| format!("{}({})", case.name, optional(case.ty))).collect())
        }
        TypeDefKind::Enum(cases) => all(cases.cases.iter().map(|case| case.name.clone()).collect()),
        other => panic!("compare {} too", other.as_str()),
    }
}
