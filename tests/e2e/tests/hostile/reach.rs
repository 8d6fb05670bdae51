//! Gates that want more than the stanza grants: files, programs, variables, and whatever WASI may offer.
//!
//! The gates answer with a block whose reason says what they got. Rows that get something are the controls: without them
//! a host that refuses everything would pass.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::Command;

use portcullis_e2e::{Project, Registry, hostile};

use crate::{GATE, each};

/// Stands in a file and in a variable that no gate may see.
const SECRET: &str = "hunter2-of-the-outside";

struct Row {
    why: &'static str,
    gate: &'static str,
    /// The stanza's `[hooks.config]`, an inline table. `{root}` and `{outside}` are the directories.
    config: &'static str,
    /// The stanza's `[hooks.capabilities]`, an inline table.
    grants: &'static str,
    /// The gate's report contains one of these.
    says: &'static [&'static str],
    /// The journalled refusal: function, reason, and a field that names what was refused.
    denied: Option<(&'static str, &'static str, &'static str)>,
}

const INSIDE: &str = "read_file.path_allow = ['inside']";
const DENIED: &[&str] = &["denied"];
const NOT_ALLOWED: Option<(&str, &str, &str)> = Some(("read_file", "path_not_allowed", "path"));

const fn read(why: &'static str, config: &'static str, says: &'static [&'static str]) -> Row {
    Row { why, gate: "read", config, grants: INSIDE, says, denied: None }
}

/// A read that is refused and journalled.
const fn no_read(why: &'static str, config: &'static str) -> Row {
    Row { why, gate: "read", config, grants: INSIDE, says: DENIED, denied: NOT_ALLOWED }
}

const fn write(why: &'static str, config: &'static str, says: &'static [&'static str]) -> Row {
    Row { why, gate: "write", config, grants: "write_file.path_allow = ['inside']", says, denied: None }
}

const fn no_write(why: &'static str, config: &'static str) -> Row {
    let row = write(why, config, DENIED);
    Row { denied: Some(("write_file", "path_not_allowed", "path")), ..row }
}

const fn exec(why: &'static str, config: &'static str, grants: &'static str, says: &'static [&'static str]) -> Row {
    Row { why, gate: "exec", config, grants, says, denied: None }
}

const fn no_exec(why: &'static str, config: &'static str, grants: &'static str, reason: &'static str) -> Row {
    Row { why, gate: "exec", config, grants, says: DENIED, denied: Some(("exec_subprocess", reason, "command")) }
}

const fn no_env(why: &'static str, grants: &'static str) -> Row {
    let denied = Some(("env", "env_not_on_allow_list", "variable"));
    Row { why, gate: "env", config: "variable = 'SECRET_TOKEN'", grants, says: DENIED, denied }
}

#[rustfmt::skip]
const READS: &[Row] = &[
    read("a granted file", "path = 'inside/a.txt'", &["read 6 bytes"]),
    read("the same, absolute", "path = '{root}/inside/a.txt'", &["read 6 bytes"]),
    read("the same, round a corner", "path = 'inside/../inside/./a.txt'", &["read 6 bytes"]),
    read("a link that stays inside", "path = 'inside/link-in'", &["read 6 bytes"]),
    read("the end of a large file", "call = 'read_tail', path = 'inside/large'", &["read tail "]),
    read("a granted directory", "call = 'list_dir', path = 'inside'", &["a.txt"]),
    Row { why: "nothing is granted", gate: "read", config: "path = 'inside/a.txt'", grants: "", says: DENIED,
        denied: Some(("read_file", "no_read_file_capability", "path")) },
    no_read("a file beside the grant", "path = 'private.txt'"),
    no_read("a directory that begins like the grant", "path = 'inside-old/a.txt'"),
    no_read("parent directories", "path = '../outside/secret.txt'"),
    no_read("parent directories behind the grant", "path = 'inside/../../outside/secret.txt'"),
    no_read("parent directories behind what does not exist", "path = 'inside/none/../../private.txt'"),
    no_read("an absolute path", "path = '{outside}/secret.txt'"),
    no_read("a file of the system", "path = '/etc/passwd'"),
    no_read("the environment by /proc", "path = '/proc/self/environ'"),
    no_read("a link out", "path = 'inside/link-out'"),
    no_read("an absolute link out", "path = 'inside/absolute-out'"),
    no_read("a linked directory", "path = 'inside/directory-out/secret.txt'"),
    no_read("the end of a linked file", "call = 'read_tail', path = 'inside/link-out'"),
    no_read("names outside", "call = 'list_dir', path = '..'"),
    no_read("names in a linked directory", "call = 'list_dir', path = 'inside/directory-out'"),
    no_read("names beside the grant", "call = 'list_dir', path = '.'"),
    no_read("the size of a file outside", "call = 'stat', path = '../outside/secret.txt'"),
    no_read("the size of a linked file", "call = 'stat', path = 'inside/link-out'"),
    no_read("whether a file outside exists", "path = '../outside/none'"),
    read("a home that nobody expands", "path = '~/.ssh/id_ed25519'", &["denied", "not-found"]),
    read("a NUL", r#"path = "inside/a.txt\u0000.png""#, &["denied", "not-found", "io"]),
    read("what is not there", "path = 'inside/none'", &["not-found"]),
    read("a FIFO", "path = 'inside/fifo'", &["not-regular"]),
    read("the end of a FIFO", "call = 'read_tail', path = 'inside/fifo'", &["not-regular"]),
    read("a directory as a file", "path = 'inside'", &["not-regular"]),
    read("more than the cap", "path = 'inside/large'", &["too-large"]),
    Row { why: "a device, granted by mistake", gate: "read", config: "path = '/dev/zero'", grants: "read_file.path_allow = ['/dev']",
        says: &["not-regular"], denied: None },
    Row { why: "a granted directory that is a link elsewhere", gate: "read", config: "path = '.factory/secret.txt'",
        grants: "read_file.path_allow = ['.factory']", says: DENIED, denied: NOT_ALLOWED },
    Row { why: "the same with its target granted", gate: "read", config: "path = '.factory/public.txt'",
        grants: "read_file.path_allow = ['.factory', '{outside}']", says: &["read 6 bytes"], denied: None },
    Row { why: "a pattern does not reach up", gate: "read", config: "path = 'inside/../private.txt'",
        grants: "read_file.path_allow = ['inside/**/*.txt']", says: DENIED, denied: NOT_ALLOWED },
];

#[rustfmt::skip]
const WRITES: &[Row] = &[
    write("a granted file", "path = 'inside/new.txt'", &["wrote"]),
    write("an append", "call = 'append_file', path = 'inside/log.txt'", &["wrote"]),
    Row { why: "nothing is granted", gate: "write", config: "path = 'inside/pwned'", grants: "", says: DENIED,
        denied: Some(("write_file", "no_write_file_capability", "path")) },
    Row { why: "reading is not writing", gate: "write", config: "path = 'inside/pwned'", grants: INSIDE, says: DENIED,
        denied: Some(("write_file", "no_write_file_capability", "path")) },
    no_write("parent directories", "path = '../outside/pwned'"),
    no_write("an absolute path", "path = '{outside}/pwned'"),
    no_write("a git hook", "path = '.git/hooks/pwned'"),
    no_write("an append outside", "call = 'append_file', path = '../outside/secret.txt'"),
    no_write("a linked directory", "path = 'inside/directory-out/pwned'"),
    no_write("parent directories behind what does not exist", "path = 'inside/none/../../pwned'"),
    write("through a link", "path = 'inside/link-out'", &["denied", "not-regular"]),
    write("an append through a link", "call = 'append_file', path = 'inside/link-out'", &["denied", "not-regular"]),
    write("through a link to what does not exist yet", "path = 'inside/link-new'", &["denied", "not-regular"]),
    write("an append to a FIFO", "call = 'append_file', path = 'inside/fifo'", &["not-regular"]),
    write("a directory that is not there", "path = 'inside/none/new.txt'", &["not-found", "io"]),
    Row { why: "more than the stanza's cap", gate: "write", config: "path = 'inside/pwned'",
        grants: "write_file = { path_allow = ['inside'], max_bytes_per_call = 4 }", says: &["too-large", "denied"],
        denied: Some(("write_file", "output_too_large", "path")) },
];

#[rustfmt::skip]
const PROGRAMS: &[Row] = &[
    exec("a granted program", "program = 'echo', arguments = ['hello']", "exec_subprocess.binary_allow = ['echo']", &["exit Some(0), 6 bytes"]),
    exec("an empty environment", "program = 'env'", "exec_subprocess.binary_allow = ['env']", &["exit Some(0)"]),
    exec("a planted program", "program = 'git', arguments = ['--version']", "exec_subprocess.binary_allow = ['git']", &["exit Some(0)", "not-found"]),
    exec("more output than the cap", "program = 'seq', arguments = ['1000000']", "exec_subprocess.binary_allow = ['seq']", &["truncated"]),
    no_exec("nothing is granted", "program = 'echo'", "", "no_exec_subprocess_capability"),
    no_exec("another program", "program = 'cat', arguments = ['../outside/secret.txt']", "exec_subprocess.binary_allow = ['echo']",
        "binary_not_on_allow_list"),
    no_exec("a path that ends like a granted name", "program = '{root}/git'", "exec_subprocess.binary_allow = ['git']",
        "binary_not_on_allow_list"),
    no_exec("a relative path", "program = './git'", "exec_subprocess.binary_allow = ['git']", "binary_not_on_allow_list"),
    no_exec("a shell that nobody acknowledged", "program = 'sh', arguments = ['-c', 'true']", "exec_subprocess.binary_allow = ['sh']",
        "shell_bypass_not_acknowledged"),
    no_exec("a program with another owner's rights", "program = 'elevated'", "exec_subprocess.binary_allow = ['elevated']",
        "setuid_or_setgid_binary"),
    exec("a directory outside", "program = 'ls', cwd = '{outside}'", "exec_subprocess.binary_allow = ['ls']", DENIED),
];

#[rustfmt::skip]
const VARIABLES: &[Row] = &[
    Row { why: "a granted variable", gate: "env", config: "variable = 'HARMLESS'", grants: "env_allow = ['HARMLESS']",
        says: &["value Some(\"yes\")"], denied: None },
    Row { why: "a granted variable that is not set", gate: "env", config: "variable = 'UNSET'", grants: "env_allow = ['UNSET']",
        says: &["value None"], denied: None },
    no_env("nothing is granted", ""),
    no_env("another variable", "env_allow = ['HARMLESS', 'SECRET', 'SECRET_TOKEN_OF_MINE', 'secret_token', '*']"),
    no_env("a program's variable is not the gate's", "exec_subprocess = { binary_allow = ['env'], env_allow = ['SECRET_TOKEN'] }"),
];

fn project() -> Project {
    let mut project = Project::default();
    project.variable("HARMLESS", "yes");
    project.variable("SECRET_TOKEN", SECRET);
    // The first place on PATH is the project itself: what is planted there must not be found.
    let path = std::env::var("PATH").expect("PATH is set");
    project.variable("PATH", &format!("{}:{}:{path}", project.name("project"), project.name("bin")));
    project.program("project/git", "touch pwned; echo pwned", 0o755);
    project.program("bin/elevated", "touch pwned", 0o4755);
    project.write("outside/secret.txt", SECRET);
    for file in ["outside/public.txt", "project/inside/a.txt", "project/inside-old/a.txt", "project/private.txt"] {
        project.write(file, "six...");
    }
    let large = fs::File::create(project.path("project/inside/large")).expect("a large file");
    large.set_len(17 << 20).expect("a sparse file");
    let link = |target: &str, name: &str| symlink(target, project.path(name)).expect("a link");
    link("a.txt", "project/inside/link-in");
    link("../../outside/secret.txt", "project/inside/link-out");
    link("../../outside/pwned", "project/inside/link-new");
    link(&project.name("outside/secret.txt"), "project/inside/absolute-out");
    link("../../outside", "project/inside/directory-out");
    link("../outside", "project/.factory");
    let made = Command::new("mkfifo").arg(project.path("project/inside/fifo")).status().expect("mkfifo runs");
    assert!(made.success(), "mkfifo");
    project
}

#[test]
fn files_are_read_where_granted_only() {
    run(READS);
}

#[test]
fn files_are_written_where_granted_only() {
    run(WRITES);
}

#[test]
fn programs_run_if_granted_only() {
    run(PROGRAMS);
}

#[test]
fn variables_are_read_if_granted_only() {
    run(VARIABLES);
}

/// Whatever the standard library of a gate's language tries, there is nothing behind it, even with everything granted.
#[test]
fn wasi_leads_nowhere() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.set_nonblocking(true).expect("a mode");
    let address = listener.local_addr().expect("an address");
    let granted = "env_allow = ['HARMLESS', 'HOME']\nread_file.path_allow = ['.', '/etc']\nwrite_file.path_allow = ['.', '/tmp']\n\
                   exec_subprocess.binary_allow = ['true']";
    for grants in ["", granted] {
        let project = project();
        let stanza = format!("config.address = '{address}'\n[hooks.capabilities]\n{grants}");
        let registry = Registry::default().gate(GATE, &hostile("wasi"), "continue", &stanza);
        let answer = project.hook(&registry, &project.bash("true"));
        assert!(answer.reason().contains("file: nothing"), "no report: {answer:#?}");
        assert!(!answer.reason().contains("GOT"), "{answer:#?}");
        assert!(listener.accept().is_err(), "somebody connected");
        harmless("wasi", &project);
    }
}

fn run(rows: &[Row]) {
    each(
        rows,
        |row| row.why,
        |row| {
            let project = project();
            let (root, outside) = (project.name("project"), project.name("outside"));
            let stanza = format!("config = {{ {} }}\n[hooks.capabilities]\n{}", row.config, row.grants);
            let stanza = stanza.replace("{root}", &root).replace("{outside}", &outside);
            for on_error in ["block", "continue"] {
                let registry = Registry::default().gate(GATE, &hostile(row.gate), on_error, &stanza);
                let answer = project.hook(&registry, &project.bash("true"));
                let shown = format!("{} under on_error = {on_error}: {answer:#?}", row.why);
                assert_eq!(answer.decision(), Some("deny"), "the report, {shown}");
                assert!(row.says.iter().any(|part| answer.reason().contains(part)), "none of {:?} in {shown}", row.says);
                assert!(!answer.everything().contains(SECRET), "{shown}");
                let refusals = answer.events_of("internal.capability_denied");
                match row.denied {
                    None if row.says == DENIED => assert!(!refusals.is_empty(), "no refusal, {shown}"),
                    None if row.says.contains(&"denied") => {}
                    None => assert!(refusals.is_empty(), "a refusal, {shown}"),
                    Some((function, reason, field)) => assert!(
                        refusals.iter().any(|event| event["plugin_name"] == GATE
                            && event["function"] == function
                            && event["reason"] == reason
                            && event[field].as_str().is_some_and(|text| !text.is_empty())),
                        "the refusal, {shown}"
                    ),
                }
            }
            harmless(row.why, &project);
        },
    );
}

/// Nothing was run, and nothing written outside the grant.
fn harmless(why: &str, project: &Project) {
    let secret = fs::read_to_string(project.path("outside/secret.txt")).expect("the secret");
    assert_eq!(secret, SECRET, "{why}");
    for place in ["project/pwned", "project/inside/pwned", "project/.git/hooks/pwned", "outside/pwned", "bin/pwned"] {
        assert!(!project.path(place).exists(), "{why}: {place} exists");
    }
}
