//! Layers above the shipped registry: the user's own, and the project's, which is inert until it is trusted exactly as it is.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;
use std::time::Duration;

use portcullis_e2e::{Answer, Project, dist, each, finish, hostile};
use serde_json::{Value, json};

const LONGEST: Duration = Duration::from_secs(60);

/// Where a project keeps its layer.
const LAYER: &str = "project/.portcullis/registry.toml";
const COMPONENT: &str = "project/.portcullis/gates/own.wasm";
/// Where the user's own is.
const USERS: &str = "home/.config/portcullis/registry.toml";
/// What the project's gate says.
const SAYS: &str = "not in this project";
const SPEAKS: &str = "config.say = [{ block = 'not in this project' }]";

fn stanza(name: &str, plugin: &str, rest: &str) -> String {
    format!("schema_version = 2\n[[hooks]]\nname = '{name}'\nevent = 'PreToolUse'\nplugin = '{plugin}'\n{rest}\n")
}

/// A project that brings a gate along, which nobody has trusted.
fn project() -> Project {
    let project = Project::default();
    project.write(LAYER, stanza("own-gate", "gates/own.wasm", SPEAKS));
    project.write(COMPONENT, fs::read(hostile("speaker")).expect("the component"));
    project
}

/// The same, trusted.
fn trusted() -> Project {
    let project = project();
    let (code, shown) = dispatcher(&project, &["trust", "--yes"]);
    assert_eq!(code, Some(0), "{shown}");
    project
}

/// Runs a verb in the project; exit code, and all that it printed.
fn dispatcher(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let screen = File::create(project.path("screen")).expect("a file of the scratch");
    let mut dispatcher = project.dispatcher();
    dispatcher.args(words).stdin(File::open("/dev/null").expect("the null device"));
    dispatcher.stdout(screen.try_clone().expect("a file")).stderr(screen);
    let status = finish(&mut dispatcher, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
    (status.code(), fs::read_to_string(project.path("screen")).expect("what was printed"))
}

fn judged(project: &Project, event: &Value) -> Answer {
    project.call_as_is().event(event).answer()
}

fn is_in_force(project: &Project) -> bool {
    judged(project, &project.bash("true")).reason().contains(SAYS)
}

/// The shipped gates are there, whatever is the matter with the layer.
fn is_guarded(project: &Project) -> bool {
    judged(project, &project.bash("rm -rf /")).decision() == Some("deny")
}

#[test]
fn a_project_layer_is_inert_until_it_is_trusted_and_is_mentioned_once_per_session() {
    let project = project();
    let answer = judged(&project, &project.bash("true"));
    assert_eq!(answer.decision(), None, "{answer:#?}");
    assert!(answer.system_message().contains("dispatcher trust"), "{answer:#?}");
    assert_eq!(answer.events_of("dispatcher.layer_inert").len(), 1, "{answer:#?}");
    assert_eq!(judged(&project, &project.bash("true")).stdout, "", "told already");
    let mut other = project.bash("true");
    other["session_id"] = "another".into();
    assert!(judged(&project, &other).system_message().contains("dispatcher trust"), "another session");
    // A gate that stops says so, and the layer is mentioned beside it.
    assert!(is_guarded(&project));

    let (code, shown) = dispatcher(&project, &["trust"]);
    assert_eq!(code, Some(2), "nobody is there to be asked: {shown}");
    for part in ["own-gate", "on PreToolUse, everything", "gates/own.wasm", "SHA-256", "--yes"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!is_in_force(&project));
    assert_eq!(dispatcher(&project, &["trust", "--yes"]).0, Some(0));
    assert!(is_in_force(&project) && is_guarded(&project));
    let (_, listed) = dispatcher(&project, &["trust", "--list"]);
    assert!(listed.contains(&project.name(LAYER)) && listed.contains("as it is"), "{listed}");
    assert_eq!(dispatcher(&project, &["trust", "--revoke"]).0, Some(0));
    assert!(!is_in_force(&project));
}

/// A way around trust: its name, and what is done to a project whose layer is trusted.
type Way = (&'static str, fn(&mut Project));

const WAYS: [Way; 16] = [
    ("a blank more", |project| project.write(LAYER, stanza("own-gate", "gates/own.wasm", &format!("{SPEAKS} ")))),
    ("another capability", |project| {
        project.write(LAYER, stanza("own-gate", "gates/own.wasm", &format!("{SPEAKS}\ncapabilities.env_allow = ['CI']")))
    }),
    ("the file is a link to the same content", |project| {
        fs::rename(project.path(LAYER), project.path("outside/registry.toml")).expect("moved");
        symlink(project.path("outside/registry.toml"), project.path(LAYER)).expect("a link");
    }),
    ("the directory is a link", |project| {
        fs::rename(project.path("project/.portcullis"), project.path("outside/layer")).expect("moved");
        symlink(project.path("outside/layer"), project.path("project/.portcullis")).expect("a link");
    }),
    ("a FIFO", |project| {
        fs::remove_file(project.path(LAYER)).expect("removed");
        project.fifo(LAYER);
    }),
    ("a directory", |project| {
        fs::remove_file(project.path(LAYER)).expect("removed");
        fs::create_dir(project.path(LAYER)).expect("a directory");
    }),
    ("a device", |project| {
        fs::remove_file(project.path(LAYER)).expect("removed");
        symlink("/dev/zero", project.path(LAYER)).expect("a link");
    }),
    ("huge", |project| {
        File::options().write(true).open(project.path(LAYER)).and_then(|file| file.set_len(1 << 32)).expect("grown")
    }),
    ("no text", |project| project.write(LAYER, [0xff, 0xfe])),
    ("records inside the project", |project| {
        copy(project, "state", "project/.state");
        project.variable("XDG_STATE_HOME", &project.name("project/.state"));
    }),
    ("records that others can write", |project| mode(project, "state/portcullis", 0o777)),
    ("records of somebody else", |project| {
        let given_away = chown(project.path("state/portcullis/trusted"), Some(1), None);
        // Only root gives away what is its own; to everybody else, writable by others is as close as it gets.
        given_away.unwrap_or_else(|_| mode(project, "state/portcullis/trusted", 0o707));
    }),
    ("a directory of records that others can write", |project| mode(project, "state/portcullis/trusted", 0o770)),
    ("a record that others can write", |project| {
        let places = fs::read_dir(project.path("state/portcullis/trusted")).expect("records").flatten();
        let records = places.flat_map(|place| fs::read_dir(place.path()).expect("records").flatten());
        records.for_each(|record| fs::set_permissions(record.path(), Permissions::from_mode(0o666)).expect("a mode"));
    }),
    ("records behind a link", |project| {
        fs::rename(project.path("state/portcullis/trusted"), project.path("outside/trusted")).expect("moved");
        symlink(project.path("outside/trusted"), project.path("state/portcullis/trusted")).expect("a link");
    }),
    ("a copy of the project elsewhere", |project| {
        copy(project, "project", "outside/copy");
        project.variable("CLAUDE_PROJECT_DIR", &project.name("outside/copy"));
    }),
];

fn mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), Permissions::from_mode(mode)).expect("a mode");
}

fn copy(project: &Project, from: &str, to: &str) {
    let copied = Command::new("cp").arg("-R").args([project.path(from), project.path(to)]).status();
    assert!(copied.expect("cp runs").success());
}

#[test]
fn no_way_leads_around_trust() {
    each(
        &WAYS,
        |way| way.0,
        |(way, change)| {
            let mut project = trusted();
            assert!(is_in_force(&project), "{way}: before");
            change(&mut project);
            let answer = judged(&project, &project.bash("true"));
            assert_eq!(answer.decision(), None, "{way}: {answer:#?}");
            assert!(answer.system_message().contains("gates of its own"), "{way}: {answer:#?}");
            assert!(is_guarded(&project), "{way}");
        },
    );
}

/// Another component in the same place is never run. The layer stands, so its gate has failed, and its `on_error` decides: who
/// removes the component of a gate that fails closed has not removed the gate.
#[test]
fn another_component_in_a_trusted_place_is_never_run() {
    for (on_error, decision) in [("continue", None), ("block", Some("deny"))] {
        let project = project();
        project.write(LAYER, stanza("own-gate", "gates/own.wasm", &format!("on_error = '{on_error}'\n{SPEAKS}")));
        assert_eq!(dispatcher(&project, &["trust", "--yes"]).0, Some(0));
        let swaps: [(&str, &dyn Fn()); 4] = [
            ("another", &|| project.write(COMPONENT, fs::read(hostile("nothing")).expect("the component"))),
            ("a link to another", &|| symlink(hostile("nothing"), project.path(COMPONENT)).expect("a link")),
            ("a FIFO", &|| project.fifo(COMPONENT)),
            ("none", &|| ()),
        ];
        for (what, swap) in swaps {
            let _ = fs::remove_file(project.path(COMPONENT));
            swap();
            let answer = judged(&project, &project.bash("true"));
            assert_eq!(answer.decision(), decision, "{what} under {on_error}: {answer:#?}");
            assert!(!answer.stdout.contains(SAYS) && answer.system_message().contains("own-gate"), "{what}: {answer:#?}");
            assert!(answer.elapsed < Duration::from_secs(4), "{what} holds nobody up");
        }
    }
}

/// Native code that lies beside a component is run where the dispatcher itself is installed, and nowhere else.
#[test]
fn native_code_of_a_project_is_never_run() {
    let project = project();
    project.write("plugin/nothing.wasm", fs::read(hostile("nothing")).expect("the component"));
    let analyzer = dist().join("plugins/shell-analyzer.wasm");
    project.write("plugin/analyzer.wasm", fs::read(analyzer).expect("the component"));
    let dispatcher_of = "[dispatcher]\nanalyzer = 'analyzer.wasm'\n";
    let registry = stanza("x", "nothing.wasm", "").replace("[[hooks]]", &format!("{dispatcher_of}[[hooks]]"));
    project.write("plugin/registry.toml", registry);
    let (code, shown) = dispatcher(&project, &["compile", "--beside", "--registry", &project.name("plugin/registry.toml")]);
    assert_eq!(code, Some(0), "{shown}");
    let certificate = fs::read_to_string(project.path("plugin/nothing.cwasm.json")).expect("a certificate");
    let digest = |path: std::path::PathBuf| {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(fs::read(path).expect("the component"));
        digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    // What lets a call pass claims to be the artifact of what stops it.
    let forged = certificate.replace(&digest(hostile("nothing")), &digest(hostile("speaker")));
    assert_ne!(forged, certificate);
    project.write("project/.portcullis/gates/own.cwasm.json", forged);
    fs::copy(project.path("plugin/nothing.cwasm"), project.path("project/.portcullis/gates/own.cwasm")).expect("copied");
    assert_eq!(dispatcher(&project, &["trust", "--yes"]).0, Some(0));
    assert!(is_in_force(&project));
    let answer = project.call_as_is().with(&["--registry", &project.name(LAYER)]).event(&project.bash("true")).answer();
    assert!(answer.reason().contains(SAYS), "named on the command line: {answer:#?}");
}

/// A large component takes longer to compile than an event may. Whoever trusts it waits for that, and nobody before.
#[test]
fn what_is_trusted_is_compiled_at_once() {
    let mut project = project();
    project.variable("XDG_CACHE_HOME", &project.name("cache"));
    let compiled = || {
        let cache = fs::read_dir(project.path("cache/portcullis")).into_iter().flatten().flatten();
        cache.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "cwasm")).count()
    };
    assert_eq!(dispatcher(&project, &["compile"]).0, Some(0));
    assert_eq!(compiled(), 0, "the shipped ones are compiled, and the project's gate is not trusted");
    let (code, shown) = dispatcher(&project, &["trust", "--yes"]);
    assert!(code == Some(0) && shown.contains("own.wasm ("), "{shown}");
    assert_eq!(compiled(), 1);
    fs::remove_dir_all(project.path("cache")).expect("the cache");
    assert_eq!(dispatcher(&project, &["compile"]).0, Some(0));
    assert_eq!(compiled(), 1, "compile knows the trusted layer");
}

/// The layer is that of the project's root: a directory below sees it, a project inside another does not.
#[test]
fn a_layer_belongs_to_its_own_project() {
    let mut project = trusted();
    project.write("project/below/a.rs", "");
    project.write("project/nested/.git/HEAD", "ref: refs/heads/main\n");
    project.variable("CLAUDE_PROJECT_DIR", "");
    let within = |directory: &str| {
        let mut event = project.bash("true");
        event["cwd"] = json!(project.path(directory));
        judged(&project, &event).reason().contains(SAYS)
    };
    assert!(within("project") && within("project/below"));
    assert!(!within("project/nested"), "a project of its own");
    // Two names of one directory are one place.
    symlink(project.path("project"), project.path("alias")).expect("a link");
    assert!(within("alias"));
}

#[test]
fn what_a_project_layer_may_not_say_cannot_be_trusted() {
    let rows = [
        ("outside", stanza("own-gate", "../../outside/x.wasm", "")),
        ("absolute", stanza("own-gate", "/tmp/x.wasm", "")),
        ("a gate of another layer", stanza("guard-bash", "gates/own.wasm", "")),
        ("changes", "schema_version = 2\n[gates.guard-bash]\nmode = 'off'\n".to_owned()),
        ("no component", stanza("own-gate", "gates/missing.wasm", "")),
        ("no TOML", "schema_version".to_owned()),
    ];
    for (what, layer) in rows {
        let project = project();
        project.write(LAYER, layer);
        let (code, shown) = dispatcher(&project, &["trust", "--yes"]);
        assert_eq!(code, Some(2), "{what}: {shown}");
        assert!(shown.contains(".portcullis/"), "{what}: {shown}");
        assert!(!is_in_force(&project) && is_guarded(&project), "{what}");
    }
    let project = project();
    fs::remove_file(project.path(COMPONENT)).expect("removed");
    symlink(hostile("speaker"), project.path(COMPONENT)).expect("a link");
    assert_eq!(dispatcher(&project, &["trust", "--yes"]).0, Some(2), "a component behind a link");
}

#[test]
fn every_verb_shows_the_layers() {
    let project = project();
    let first = |words: &[&str], part: &str| {
        let (_, shown) = dispatcher(&project, words);
        assert!(shown.contains(part), "{words:?} shows {part:?}: {shown}");
    };
    let check = ["check", "true"];
    first(&check, "not trusted");
    first(&["explain", "--bash", "true"], "not trusted");
    first(&["list"], "not trusted");
    first(&["doctor"], "is not trusted");
    first(&["validate"], "untrusted-layer");
    dispatcher(&project, &["trust", "--yes"]);
    first(&check, "own-gate: block");
    first(&["explain", "--bash", "true"], "in force, 1 gates");
    first(&["list"], "own-gate");
    first(&["list", "--json"], "\"layer\": \"project\"");
    first(&["doctor"], ".portcullis/registry.toml: 1 gates");
    project.write(LAYER, stanza("guard-bash", "gates/own.wasm", ""));
    first(&["validate"], "a gate of that name is in a layer below");
    first(&["doctor"], "changed since it was trusted");
}

#[test]
fn the_users_layer_adds_and_changes_gates() {
    let project = Project::default();
    let stop = project.bash("rm -rf /");
    assert_eq!(judged(&project, &stop).decision(), Some("deny"));
    project.write(USERS, "schema_version = 2\n[gates.destructive-command-guard]\nmode = 'ask'\n");
    assert_eq!(judged(&project, &stop).decision(), Some("ask"));
    project.write(USERS, stanza("mine", &hostile("speaker").display().to_string(), SPEAKS));
    assert!(is_in_force(&project));
    // Whoever names a registry means that one alone.
    let shipped = project.call_shipped().event(&project.bash("true")).answer();
    assert_eq!(shipped.decision(), None, "{shipped:#?}");
}

/// The user's layer guards the user, so it fails as the shipped registry does.
#[test]
fn a_users_layer_that_cannot_be_used_stops_until_it_is_repaired() {
    let mut project = Project::default();
    let refused = |project: &Project, why: &str| {
        let answer = judged(project, &project.bash("true"));
        assert_eq!(answer.decision(), Some("deny"), "{why}: {answer:#?}");
        assert!(answer.reason().contains("portcullis/registry.toml") && answer.reason().contains(why), "{why}: {answer:#?}");
    };
    project.write(USERS, "schema_version = 2\n[gates.guard-bsh]\nmode = 'off'\n");
    refused(&project, "did you mean `guard-bash`?");
    let mut repair = project.bash("");
    repair["tool_name"] = "Write".into();
    repair["tool_input"] = json!({"file_path": project.path(USERS), "content": "schema_version = 2\n"});
    assert_eq!(judged(&project, &repair).decision(), None, "its repair passes");
    project.write(USERS, "schema_version = 2\n");
    mode(&project, USERS, 0o666);
    refused(&project, "can be written by others");
    mode(&project, USERS, 0o644);
    assert_eq!(judged(&project, &project.bash("true")).decision(), None);
    project.write("project/config/portcullis/registry.toml", "schema_version = 2\n[gates.guard-bash]\nmode = 'off'\n");
    project.variable("XDG_CONFIG_HOME", &project.name("project/config"));
    refused(&project, "lies inside the project");
}

#[test]
fn the_log_reads_the_journals_of_layers() {
    let project = Project::default();
    project.write("speaker.wasm", fs::read(hostile("speaker")).expect("the component"));
    let users = stanza("mine", &project.name("speaker.wasm"), &format!("journal = 'mine'\n{SPEAKS}"));
    project.write(USERS, format!("{users}\n[journals.mine]\npath = 'mine.jsonl'\n"));
    // A gate's failure is in its own journal alone.
    fs::write(project.path("speaker.wasm"), "no component").expect("a file of the scratch");
    judged(&project, &project.bash("true"));
    let (code, shown) = dispatcher(&project, &["log", "--json", "--gate", "mine"]);
    assert!(code == Some(0) && shown.contains("plugin.load_failed"), "{shown}");
}

/// What was attempted in all projects is nobody else's business, whoever makes the directory.
#[test]
fn the_users_own_journals_are_for_the_user_alone() {
    for first in ["hook", "doctor"] {
        let project = project();
        let _ = fs::remove_dir_all(project.path("state"));
        match first {
            "hook" => drop(judged(&project, &project.bash("true"))),
            verb => drop(dispatcher(&project, &[verb])),
        }
        let mode = fs::metadata(project.path("state/portcullis")).expect("the directory").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{first}");
    }
}
