//! Native code is run only if it was made from the component at hand, by this version, and by somebody who could replace the
//! dispatcher too. Anything else is made again, and the decision is the same.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use portcullis_e2e::{Project, Registry, dist, each, hostile};

/// Somebody else.
const OTHER: u32 = 12345;

/// A project with a cache of its own and one gate, which stops everything.
struct Cached {
    project: Project,
    registry: Registry,
    artifact: PathBuf,
    /// The artifact as it was compiled; compiling it again gives the same bytes.
    code: Vec<u8>,
}

impl Cached {
    fn new() -> Self {
        let mut project = Project::default();
        fs::create_dir(project.path("cache")).expect("a directory");
        project.variable("XDG_CACHE_HOME", &project.name("cache"));
        fs::copy(hostile("speaker"), project.path("plugin/gate.wasm")).expect("a component");
        let registry = Registry::default().gate("gate", Path::new("gate.wasm"), "block", "config.say = [{ block = 'no' }]");
        let answer = project.hook(&registry, &project.bash("true"));
        assert_eq!(answer.decision(), Some("deny"), "{answer:#?}");
        let artifact = one(&project.path("cache/portcullis"), ".cwasm");
        let code = fs::read(&artifact).expect("an artifact");
        Self { project, registry, artifact, code }
    }

    fn certificate(&self) -> PathBuf {
        self.artifact.with_extension("cwasm.json")
    }

    fn stops(&self, why: &str) {
        let answer = self.project.hook(&self.registry, &self.project.bash("true"));
        assert_eq!((answer.decision(), answer.reason()), (Some("deny"), "no"), "{why}: {answer:#?}");
    }

    /// The artifact is what the compiler made, and nobody else can have written it.
    fn is_whole(&self, why: &str) {
        assert!(fs::read(&self.artifact).expect("an artifact") == self.code, "{why}: other code");
        for path in [&self.artifact, &self.certificate()] {
            let metadata = fs::symlink_metadata(path).expect("a file");
            let own = metadata.is_file() && metadata.uid() != OTHER && metadata.mode() & 0o022 == 0;
            assert!(own, "{why}: {} has mode {:o}", path.display(), metadata.mode());
        }
    }
}

/// The one file in a directory whose name ends so.
fn one(directory: &Path, end: &str) -> PathBuf {
    let paths = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("a file of the scratch");
}

fn change(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut content = fs::read(path).expect("a file of the scratch");
    change(&mut content);
    write(path, &content);
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Puts `content` where a file is, without changing that one.
fn instead(path: &Path, content: &[u8]) {
    fs::remove_file(path).expect("a file of the scratch");
    write(path, content);
}

/// Replaces text of the same length in a binary file.
fn patch(content: &mut [u8], from: &str, to: &str) -> usize {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> =
        content.windows(from.len()).enumerate().filter(|(_, part)| *part == from.as_bytes()).map(|(place, _)| place).collect();
    for place in &places {
        content[*place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    places.len()
}

type Damage = (&'static str, fn(&Cached));

#[rustfmt::skip]
const DAMAGES: &[Damage] = &[
    ("nothing", |_| {}),
    ("an empty artifact", |c| write(&c.artifact, b"")),
    ("a truncated artifact", |c| write(&c.artifact, &c.code[..c.code.len() / 2])),
    ("an artifact that lacks a byte", |c| write(&c.artifact, &c.code[..c.code.len() - 1])),
    ("a longer artifact", |c| change(&c.artifact, |code| code.push(0))),
    ("a flipped bit in the middle", |c| change(&c.artifact, |code| { let middle = code.len() / 2; code[middle] ^= 1; })),
    ("a flipped bit in the head", |c| change(&c.artifact, |code| code[4] ^= 1)),
    ("text", |c| write(&c.artifact, b"no native code")),
    ("another component's artifact", |c| { fs::copy(dist().join("plugins/guard-bash.cwasm"), &c.artifact).expect("a copy"); }),
    ("another component's artifact and certificate", |c| {
        fs::copy(dist().join("plugins/guard-bash.cwasm"), &c.artifact).expect("a copy");
        fs::copy(dist().join("plugins/guard-bash.cwasm.json"), c.certificate()).expect("a copy");
    }),
    ("the component itself", |c| { fs::copy(c.project.path("plugin/gate.wasm"), &c.artifact).expect("a copy"); }),

    ("no certificate", |c| fs::remove_file(c.certificate()).expect("a file")),
    ("no artifact", |c| fs::remove_file(&c.artifact).expect("a file")),
    ("an empty certificate", |c| write(&c.certificate(), b"")),
    ("a truncated certificate", |c| change(&c.certificate(), |text| text.truncate(20))),
    ("a certificate of another version", |c| change(&c.certificate(), |text| { assert!(patch(text, "\"key\":\"0", "\"key\":\"9") > 0); })),
    ("a certificate of another component", |c| change(&c.certificate(), |text| text[60] = if text[60] == b'0' { b'1' } else { b'0' })),

    ("an artifact that all may write", |c| mode(&c.artifact, 0o666)),
    ("an artifact that a group may write", |c| mode(&c.artifact, 0o664)),
    ("a certificate that all may write", |c| mode(&c.certificate(), 0o666)),
    ("an artifact of somebody else", |c| own(&c.artifact)),
    ("a certificate of somebody else", |c| own(&c.certificate())),
    ("a link to the artifact", |c| {
        let place = c.project.path("outside/code");
        fs::rename(&c.artifact, &place).expect("a name");
        symlink(place, &c.artifact).expect("a link");
    }),
    ("a FIFO for the certificate", |c| {
        fs::remove_file(c.certificate()).expect("a file");
        let name = c.certificate();
        c.project.fifo(&name.to_string_lossy());
    }),

    ("a memory that is no JSON", |c| memory(c, |_| b"{".to_vec())),
    ("a memory of other things", |c| memory(c, |_| b"[1]".to_vec())),
    ("a memory that somebody else wrote", |c| {
        settled(c);
        // What it says would fit, and leads to code that is not the component's.
        change(&c.artifact, |code| { let middle = code.len() / 2; code[middle] ^= 1; });
        forge(c);
        own(&one(&c.project.path("cache/portcullis"), &memory_end()));
    }),
];

fn own(path: &Path) {
    // Nobody but root can give files away; where the tests are not root, nothing is planted.
    let _ = chown(path, Some(OTHER), Some(OTHER));
}

fn memory_end() -> String {
    "-1.json".into()
}

fn memory(cached: &Cached, change: fn(Vec<u8>) -> Vec<u8>) {
    settled(cached);
    let memory = one(&cached.project.path("cache/portcullis"), &memory_end());
    write(&memory, &change(fs::read(&memory).expect("the memory")));
}

/// Has the artifact remembered: files are, once they have been there for a while.
fn settled(cached: &Cached) {
    sleep(Duration::from_millis(3100));
    cached.stops("settled");
}

/// Writes the artifact's times into the memory as they are now.
fn forge(cached: &Cached) {
    let memory = one(&cached.project.path("cache/portcullis"), &memory_end());
    let mut known: serde_json::Value = serde_json::from_slice(&fs::read(&memory).expect("the memory")).expect("JSON");
    let m = fs::metadata(&cached.artifact).expect("the artifact");
    for (_, accepted) in known.as_object_mut().expect("an object") {
        if accepted["artifact"] == cached.artifact.to_string_lossy().as_ref() {
            accepted["stamp"] =
                serde_json::json!([m.dev(), m.ino(), m.size(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec()]);
        }
    }
    write(&memory, known.to_string().as_bytes());
}

#[test]
fn an_artifact_that_is_not_what_it_should_be_is_made_again() {
    each(
        DAMAGES,
        |row| row.0,
        |(why, damage)| {
            let cached = Cached::new();
            damage(&cached);
            cached.stops(why);
            cached.is_whole(why);
            cached.stops(why);
        },
    );
}

/// An artifact of the right component, certified, that another version of the engine made, or one with other settings: its own
/// check finds that out.
#[test]
fn an_artifact_of_another_engine_is_made_again() {
    type Change = (&'static str, fn(&mut Vec<u8>));
    let changes: [Change; 2] = [
        ("another version", |code| {
            // The section that comes first holds the version as text behind its length.
            assert!(code[0x43].is_ascii_digit(), "the engine's version stands in the artifact");
            code[0x43] ^= 1;
        }),
        ("other settings", |code| assert_eq!(patch(&mut code[..0x400], "strategy\0\u{6}inline", "strategy\0\u{6}outlin"), 1)),
    ];
    for (why, change) in changes {
        let cached = Cached::new();
        let mut code = cached.code.clone();
        change(&mut code);
        instead(&cached.artifact, &code);
        // Certified by whoever could also replace the dispatcher.
        let mut certificate: serde_json::Value =
            serde_json::from_slice(&fs::read(cached.certificate()).expect("the certificate")).expect("JSON");
        certificate["artifact"] = sha256(&cached.artifact).into();
        instead(&cached.certificate(), certificate.to_string().as_bytes());
        cached.stops(why);
        cached.is_whole(why);
    }
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().expect("sha256sum runs");
    String::from_utf8_lossy(&output.stdout).split(' ').next().expect("a digest").to_owned()
}

/// Remembered files are recognised by device, inode, size and times. Whoever changes one may set its modification time back, but
/// not the time of that change.
#[test]
fn a_remembered_artifact_that_is_changed_is_made_again() {
    type Change = (&'static str, fn(&Cached));
    let changes: [Change; 4] = [
        ("in place, with its old time", |c| {
            let time = fs::metadata(&c.artifact).expect("the artifact").modified().expect("a time");
            change(&c.artifact, |code| {
                let middle = code.len() / 2;
                code[middle] ^= 1;
            });
            File::options().write(true).open(&c.artifact).and_then(|file| file.set_modified(time)).expect("a time");
        }),
        ("by another file with its size and time", |c| {
            let time = fs::metadata(&c.artifact).expect("the artifact").modified().expect("a time");
            let mut code = c.code.clone();
            let middle = code.len() / 2;
            code[middle] ^= 1;
            let other = c.project.path("outside/code");
            write(&other, &code);
            mode(&other, 0o644);
            File::options().write(true).open(&other).and_then(|file| file.set_modified(time)).expect("a time");
            fs::rename(other, &c.artifact).expect("a name");
        }),
        ("by a mode that lets others write", |c| {
            mode(&c.artifact, 0o666);
        }),
        ("by a link", |c| {
            let other = c.project.path("outside/code");
            fs::rename(&c.artifact, &other).expect("a name");
            symlink(other, &c.artifact).expect("a link");
        }),
    ];
    each(
        &changes,
        |row| row.0,
        |(why, change)| {
            let cached = Cached::new();
            settled(&cached);
            let memory = fs::read_to_string(one(&cached.project.path("cache/portcullis"), &memory_end())).expect("the memory");
            assert!(memory.contains(cached.artifact.to_string_lossy().as_ref()), "{memory}");
            change(&cached);
            cached.stops(why);
            cached.is_whole(why);
        },
    );
}

/// A component that is replaced is another one, whatever was remembered of it.
#[test]
fn a_component_that_is_replaced_is_judged_anew() {
    let cached = Cached::new();
    settled(&cached);
    let component = cached.project.path("plugin/gate.wasm");
    let time = fs::metadata(&component).expect("the component").modified().expect("a time");
    fs::copy(dist().join("plugins/guard-bash.wasm"), &component).expect("a component");
    File::options().write(true).open(&component).and_then(|file| file.set_modified(time)).expect("a time");
    let answer = cached.project.hook(&cached.registry, &cached.project.bash("true"));
    assert!(answer.reason().contains("cannot read .foundry"), "the other gate's own words: {answer:#?}");
    // And one whose digest is pinned is not run at all.
    let pinned = cached.registry.text().replace("on_error", &format!("sha256 = '{}'\non_error", sha256(&hostile("speaker"))));
    let answer = cached.project.hook(&Registry::of(pinned), &cached.project.bash("true"));
    assert!(answer.reason().contains("pins"), "{answer:#?}");
}

/// A file that has just been written is not remembered yet: a second change within the clock's tick would not show.
#[test]
fn what_has_just_been_written_is_not_remembered() {
    let cached = Cached::new();
    cached.stops("at once");
    let names = fs::read_dir(cached.project.path("cache/portcullis")).expect("the cache").flatten();
    let memories = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("accepted-"));
    let texts: String = memories.map(|entry| fs::read_to_string(entry.path()).expect("a memory")).collect();
    assert!(!texts.contains("gate.wasm"), "{texts}");
}

/// The directory of the cache: nothing in it counts unless it is the user's own.
#[test]
fn a_cache_that_others_could_write_to_is_not_used() {
    type Place = (&'static str, fn(&Path));
    let places: [Place; 4] = [
        ("that all may write", |cache| mode(cache, 0o777)),
        ("that others may read", |cache| mode(cache, 0o755)),
        ("of somebody else", |cache| own(cache)),
        ("that is a link", |cache| {
            let real = cache.with_file_name("real");
            fs::rename(cache, &real).expect("a name");
            symlink(real, cache).expect("a link");
        }),
    ];
    each(
        &places,
        |row| row.0,
        |(why, place)| {
            let cached = Cached::new();
            let cache = cached.project.path("cache/portcullis");
            let planted = b"planted";
            write(&cached.artifact, planted);
            place(&cache);
            if *why == "of somebody else" && fs::metadata(&cache).expect("the cache").uid() != OTHER {
                return;
            }
            cached.stops(why);
            assert_eq!(fs::read(&cached.artifact).expect("the artifact"), planted, "{why}: written to");
            let mut compile = cached.project.dispatcher();
            compile.args(["compile", "--registry", &cached.project.name("plugin/registry.toml")]);
            let output = compile.output().expect("it starts");
            assert_eq!(output.status.code(), Some(2), "{why}: {output:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("XDG_CACHE_HOME"), "{why}: {output:?}");
        },
    );
}

/// What is shipped beside the components is not used either once others could have written it; `doctor` says so.
#[test]
fn a_shipped_artifact_that_others_could_have_written_is_not_used() {
    type Place = (&'static str, fn(&Path));
    let places: [Place; 4] = [
        ("all may write it", |artifact| mode(artifact, 0o666)),
        ("somebody else's", |artifact| own(artifact)),
        ("all may write its certificate", |artifact| mode(&artifact.with_extension("cwasm.json"), 0o666)),
        ("a flipped bit", |artifact| change(artifact, |code| code[100] ^= 1)),
    ];
    for (why, place) in places {
        let cached = Cached::new();
        let beside = cached.project.path("plugin/gate.cwasm");
        let mut compile = cached.project.dispatcher();
        // Only this project's component: the shipped ones are others' to compile.
        cached
            .project
            .write("plugin/shell-analyzer.wasm", fs::read(dist().join("plugins/shell-analyzer.wasm")).expect("a component"));
        let registry = Registry::of(cached.registry.text().to_owned()).setting("analyzer", "'shell-analyzer.wasm'");
        cached.project.write("plugin/registry.toml", registry.text());
        compile.args(["compile", "--beside", "--registry", &cached.project.name("plugin/registry.toml")]).stdout(Stdio::null());
        assert!(compile.status().expect("it starts").success());
        place(&beside);
        if why == "somebody else's" && fs::metadata(&beside).expect("the artifact").uid() != OTHER {
            continue;
        }
        let before = fs::read(&beside).expect("the artifact");
        fs::remove_file(&cached.artifact).expect("the artifact");
        cached.stops(why);
        cached.is_whole(why);
        assert!(fs::read(&beside).expect("the artifact") == before, "{why}: what is shipped is not ours to change");
    }
}

/// Two versions of the dispatcher on one machine: each has its own code, and leaves the other's alone.
#[test]
fn two_versions_share_a_cache() {
    let cached = Cached::new();
    let mut program = fs::read(dist().join("bin/dispatcher")).expect("the dispatcher");
    let key = concat!(env!("CARGO_PKG_VERSION"), "-1");
    let other_key = format!("{}9", &key[..key.len() - 1]);
    assert!(patch(&mut program, key, &other_key) > 0, "the version stands in the program");
    cached.project.write("bin/other", program);
    mode(&cached.project.path("bin/other"), 0o755);
    let other = || {
        let mut hook = Command::new(cached.project.path("bin/other"));
        hook.args(["hook", "--registry", &cached.project.name("plugin/registry.toml")]);
        hook.current_dir(cached.project.path("project")).env_clear().envs(cached.project.environment());
        cached.project.write("other.json", cached.project.bash("true").to_string());
        hook.stdin(File::open(cached.project.path("other.json")).expect("the event"));
        let output = hook.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("\"deny\"") && text.contains("\"no\""), "{output:?}");
    };
    let artifacts = || -> Vec<(PathBuf, u64, i64)> {
        let paths = fs::read_dir(cached.project.path("cache/portcullis")).expect("the cache").flatten().map(|entry| entry.path());
        let mut found: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "cwasm"))
            .map(|path| {
                let metadata = fs::metadata(&path).expect("an artifact");
                (path, metadata.ino(), metadata.ctime_nsec())
            })
            .collect();
        found.sort();
        found
    };
    other();
    let both = artifacts();
    assert_eq!(both.len(), 2, "{both:?}");
    for _ in 0..3 {
        cached.stops("the one version");
        other();
    }
    assert_eq!(artifacts(), both, "neither makes the other's again");
    cached.is_whole("the one version");
}

/// Many that find nothing compiled make it once, and nobody gets half of it.
#[test]
fn many_that_compile_at_once_get_one_whole_artifact() {
    let cached = Cached::new();
    cached.project.write("all.json", cached.project.bash("true").to_string());
    for round in 0..portcullis_e2e::rounds(2, 20) {
        for entry in fs::read_dir(cached.project.path("cache/portcullis")).expect("the cache").flatten() {
            fs::remove_file(entry.path()).expect("a file of the scratch");
        }
        let start = |verb: &[&str]| {
            let mut dispatcher = cached.project.dispatcher();
            dispatcher.args(verb).args(["--registry", &cached.project.name("plugin/registry.toml")]);
            dispatcher.stdin(File::open(cached.project.path("all.json")).expect("the event")).stdout(Stdio::piped());
            dispatcher.spawn().expect("it starts")
        };
        let compiling: Vec<_> = (0..3).map(|_| start(&["compile"])).collect();
        let judging: Vec<_> = (0..4).map(|_| start(&["hook", "PreToolUse"])).collect();
        for one in compiling {
            assert!(one.wait_with_output().expect("a child is ours").status.success(), "round {round}");
        }
        for one in judging {
            let output = one.wait_with_output().expect("a child is ours");
            assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""), "round {round}: {output:?}");
        }
        cached.is_whole("after all");
    }
}

/// Two installs into one place: what lies there in the end is whole.
#[test]
fn two_installs_at_once_leave_whole_artifacts() {
    let cached = Cached::new();
    cached
        .project
        .write("plugin/shell-analyzer.wasm", fs::read(dist().join("plugins/shell-analyzer.wasm")).expect("a component"));
    let registry = Registry::of(cached.registry.text().to_owned()).setting("analyzer", "'shell-analyzer.wasm'");
    cached.project.write("plugin/registry.toml", registry.text());
    let start = Instant::now();
    let install = || {
        let mut compile = cached.project.dispatcher();
        compile.args(["compile", "--beside", "--registry", &cached.project.name("plugin/registry.toml")]);
        compile.stdout(Stdio::null()).spawn().expect("it starts")
    };
    let running: Vec<_> = (0..portcullis_e2e::rounds(3, 12)).map(|_| install()).collect();
    for mut one in running {
        assert!(one.wait().expect("a child is ours").success());
    }
    for name in ["gate", "shell-analyzer"] {
        let artifact = cached.project.path(&format!("plugin/{name}.cwasm"));
        let certificate = fs::read_to_string(artifact.with_extension("cwasm.json")).expect("a certificate");
        assert!(certificate.contains(&sha256(&artifact)), "{name}: {certificate} after {:?}", start.elapsed());
    }
    let left = fs::read_dir(cached.project.path("plugin")).expect("a directory").flatten();
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp")).count(), 0);
}

/// A component that takes longer to compile than an event may leaves no native code behind, so its gate fails each time: the
/// remedy is not to try again.
#[test]
fn a_component_that_is_not_compiled_in_time_is_told_as_such() {
    let mut project = Project::default();
    project.variable("XDG_CACHE_HOME", &project.name("cache"));
    // The largest there is: some seconds of work.
    fs::copy(dist().join("plugins/shell-analyzer.wasm"), project.path("plugin/large.wasm")).expect("a component");
    let registry = Registry::default().gate("large", Path::new("large.wasm"), "block", "timeout_ms = 20");
    let answer = project.hook(&registry, &project.bash("true"));
    assert_eq!(answer.decision(), Some("deny"), "{answer:#?}");
    assert!(
        answer.reason().contains("not compiled yet") && answer.reason().contains("dispatcher compile"),
        "{}",
        answer.reason()
    );
}
