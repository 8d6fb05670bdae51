use super::*;

const SHIPPED: &str = "schema_version = 2\n[dispatcher]\nmax_event_mb = 3\n[journals.j]\npath = 'j'\n\
    [[hooks]]\nname = 'a'\nevent = 'PreToolUse'\nplugin = 'a.wasm'\npriority = 900\nconfig.x = 1\nconfig.y = 2\n\
    [[hooks]]\nname = 'a'\nevent = 'Stop'\nplugin = 'a.wasm'\n\
    [[hooks]]\nname = 'b'\nevent = 'Stop'\nplugin = 'b.wasm'\nasync = true\n";

fn shipped() -> Registry {
    Registry::parse(SHIPPED, Path::new("/shipped/registry.toml")).unwrap()
}

fn checked(kind: Kind, rest: &str) -> Result<(), String> {
    let text = format!("schema_version = 2\n{rest}");
    check(kind, &text, Path::new("/p/.portcullis/registry.toml"), &shipped()).map_err(|error| error.to_string())
}

fn gate(rest: &str) -> String {
    format!("[[hooks]]\nname = 'own'\nevent = 'Stop'\n{rest}")
}

#[test]
fn the_users_layer_changes_gates_by_name() {
    let text = "schema_version = 2\n[dispatcher]\nask_unattended = 'deny'\n[gates.b]\nenabled = false\n\
        [gates.a]\nmode = 'ask'\non_error = 'block'\ntimeout_ms = 7\nconfig.x = 9\n";
    let (own, changes) = Registry::parse_layer(text, Path::new("/u/registry.toml")).unwrap();
    let mut lower = shipped();
    check_user(&lower, &own, &changes, text).unwrap();
    change(&mut lower, changes);
    settle(&mut lower, &own, text);
    assert_eq!(lower.stanzas.iter().map(|stanza| stanza.name.as_str()).collect::<String>(), "aa");
    for stanza in &lower.stanzas {
        assert_eq!((stanza.mode, stanza.on_error, stanza.timeout_ms), (Mode::Ask, crate::registry::OnError::Block, 7));
    }
    let first = lower.stanzas.iter().find(|stanza| stanza.priority == 900).unwrap();
    assert_eq!((&first.config["x"], &first.config["y"]), (&9.into(), &2.into()));
    assert_eq!(lower.ask_unattended, crate::registry::schema::AskUnattended::Deny);
    assert_eq!(lower.max_event_bytes, 3 << 20, "what a layer does not name stays");
}

#[test]
fn only_the_users_layer_changes_gates() {
    let change = "[gates.a]\nmode = 'advise'\n";
    assert_eq!(checked(Kind::User, change), Ok(()));
    assert!(checked(Kind::Project, change).unwrap_err().contains("only adds gates"));
    let text = format!("schema_version = 2\n{change}");
    let error = Registry::parse(&text, Path::new("/r.toml")).unwrap_err().to_string();
    assert!(error.starts_with("/r.toml:2:8: [gates.a] is for your own layer only"), "{error}");
}

#[test]
fn what_a_layer_may_not_say_is_refused_with_its_place() {
    let plugin = "plugin = 'own.wasm'\n";
    let allow = |what: &str, list: &str| gate(&format!("{plugin}[hooks.capabilities.{what}]\n{list}\n"));
    for (kind, text, expected) in [
        (Kind::User, "[gates.c]\nmode = 'ask'".into(), "registry.toml:2:8: [gates.c]: there is no shipped gate"),
        (Kind::User, "[dispatcher]\nanalyzer = 'x'".into(), "the shipped registry's to say"),
        (Kind::User, "[[hooks]]\nname = 'a'\nevent = 'Setup'\nplugin = 'x'".into(), ":3:8: [[hooks]] \"a\": a gate of that name"),
        (Kind::Project, "[[hooks]]\nname = 'a'\nevent = 'Setup'\nplugin = 'x'".into(), "a gate of that name"),
        (Kind::Project, "[journals.j]\npath = 'x'".into(), "[journals.j] is in a layer below"),
        (Kind::Project, "[dispatcher]\nask_unattended = 'ask'".into(), "`[dispatcher]` is for your own layer"),
        (Kind::Project, gate("plugin = '../own.wasm'"), "`plugin` must name a component below"),
        (Kind::Project, gate("plugin = 'a/../../own.wasm'"), "`plugin` must name a component below"),
        (Kind::Project, gate("plugin = '/tmp/own.wasm'"), "`plugin` must name a component below"),
        (Kind::Project, gate("plugin = ''"), "`plugin` must name a component below"),
        (Kind::Project, allow("read_file", "path_allow = ['~/.ssh']"), "leads out of the project"),
        (Kind::Project, allow("read_file", "path_allow = ['/etc']"), "leads out of the project"),
        (Kind::Project, allow("read_file", "path_allow = ['a/../../b']"), "leads out of the project"),
        (Kind::Project, allow("read_file", "path_allow = ['${plugin}/x']"), "leads out of the project"),
        (Kind::Project, allow("write_file", "path_allow = ['.']"), "would reach what guards"),
        (Kind::Project, allow("write_file", "path_allow = ['**/*.md']"), "would reach what guards"),
        (Kind::Project, allow("write_file", "path_allow = ['.Foundry/overrides.json']"), "would reach what guards"),
        (Kind::Project, allow("write_file", "path_allow = ['docs/../.portcullis']"), "would reach what guards"),
        (Kind::Project, allow("exec_subprocess", "binary_allow = ['bash']\nshell_bypass_acknowledged = 'x'"), "names bash"),
    ] {
        let error = checked(kind, &text).expect_err(&text);
        assert!(error.contains(expected), "{text}\n-> {error}");
    }
    let fine = format!(
        "{}[hooks.capabilities.read_file]\npath_allow = ['docs', '**/*.md', '${{transcript}}']\n\
        [hooks.capabilities.write_file]\npath_allow = ['docs/state.json']\n\
        [hooks.capabilities.exec_subprocess]\nbinary_allow = ['git']\n",
        gate("plugin = 'a/own.wasm'\n")
    );
    assert_eq!(checked(Kind::Project, &fine), Ok(()));
}

#[test]
fn a_layer_is_known_by_its_place() {
    assert_eq!(kind_of(Path::new("/p/.portcullis/registry.toml")), Kind::Project);
    assert_eq!(kind_of(Path::new("/p/registry.toml")), Kind::Shipped);
    assert_eq!(kind_of(&user_path().unwrap()), Kind::User);
}
