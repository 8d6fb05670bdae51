//! What the system refuses: space, memory, descriptors, threads, time. The decision is what it would have been, or a stop, and
//! never a death that the agent takes for consent; somebody is told what is wrong.

use std::fs;
use std::process::Command;

use Harmless::{MayStop, Passes};
use portcullis_e2e::{Answer, Project, Registry, each, possible};
use serde_json::json;

/// What becomes of a command that nobody objects to.
#[derive(Clone, Copy, PartialEq)]
enum Harmless {
    /// It passes, as ever.
    Passes,
    /// It is stopped, or passes.
    MayStop,
}

struct Row {
    why: &'static str,
    /// What starts the dispatcher, if not the test itself; without it the row is skipped.
    under: &'static [&'static str],
    /// What the shell does that becomes the dispatcher.
    first: &'static str,
    harmless: Harmless,
    /// What somebody is told.
    says: &'static str,
}

const fn row(why: &'static str, first: &'static str, harmless: Harmless, says: &'static str) -> Row {
    Row { why, under: &[], first, harmless, says }
}

/// Root without the privileges of root: what is read-only is so for it too.
const AS_OWNER: &[&str] = &["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
/// Somebody else, since limits on processes do not hold root back.
const AS_OTHER: &[&str] = &["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"];
/// A view of the file system of its own.
const OWN_MOUNTS: &[&str] = &["unshare", "--mount"];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("nothing", ":", Passes, ""),

    row("no home", "unset HOME XDG_STATE_HOME XDG_CACHE_HOME", Passes, "journal of the user not written: neither XDG_STATE_HOME nor HOME"),
    row("a home that is a file", "export HOME=/dev/null; unset XDG_STATE_HOME XDG_CACHE_HOME", Passes, "journal of the user not written"),
    row("a relative home", "export HOME=home; unset XDG_STATE_HOME XDG_CACHE_HOME", Passes, "journal of the user not written"),
    row("a journal that is a directory", "mkdir -p .foundry/metrics/events.jsonl", Passes, "journal foundry not written"),
    row("a log directory that is a file", "echo > .factory/logs", Passes, "journal factory not written"),
    row("a working directory that is gone", "mkdir gone; cd gone; rmdir ../gone", Passes, ""),
    Row { why: "a disk that is full", under: OWN_MOUNTS, harmless: Passes, says: "journal foundry not written: No space left",
        first: "for place in .foundry .factory $XDG_STATE_HOME; do mount -t tmpfs -o size=16k none $place; \
                cat /dev/zero > $place/full 2> /dev/null; done; : > .foundry/config.json" },
    Row { why: "a project that is read-only", under: OWN_MOUNTS, harmless: Passes, says: "journal foundry not written: Read-only",
        first: "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\"" },
    Row { why: "directories that are read-only", under: AS_OWNER, harmless: Passes, says: "journal foundry not written: Permission denied",
        first: "chmod 555 .foundry .factory \"$XDG_STATE_HOME\"" },
    Row { why: "a cache of somebody else's", under: AS_OTHER, harmless: Passes, says: "", first: ":" },

    row("files that may not grow", "ulimit -f 0", Passes, ""),
    row("files of one block", "ulimit -f 1; head -c 1024 /dev/zero > .foundry/metrics.jsonl; mkdir .foundry/metrics; \
        mv .foundry/metrics.jsonl .foundry/metrics/events.jsonl", Passes, ""),

    row("closed input", "exec 0<&-", MayStop, "standard input is empty"),
    row("closed output", "exec 1>&-", Passes, "nobody reads standard output"),
    row("closed errors", "exec 2>&-", Passes, ""),
    row("everything closed", "exec 0<&- 1>&- 2>&-", MayStop, ""),
    row("output to nowhere", "exec 1>/dev/null", Passes, "nobody reads standard output"),
    row("output to a full device", "exec 1>/dev/full", Passes, "could not be written: No space left"),
    row("errors to a full device", "exec 2>/dev/full", Passes, ""),
    row("output and errors to a full device", "exec 1>/dev/full 2>/dev/full", Passes, ""),
    row("output that nobody reads", "exec > >(exec true); sleep 0.3", Passes, "could not be written: Broken pipe"),
    row("output and errors that nobody reads", "exec > >(exec true) 2>&1; sleep 0.3", Passes, ""),
    row("directories for standard input", "exec 0< .", MayStop, "standard input"),

    row("4 descriptors", "ulimit -n 4", MayStop, "Too many open files"),
    row("5 descriptors", "ulimit -n 5", MayStop, "Too many open files"),
    row("6 descriptors", "ulimit -n 6", MayStop, ""),
    row("7 descriptors", "ulimit -n 7", MayStop, ""),
    row("8 descriptors", "ulimit -n 8", MayStop, ""),
    // One for each gate of the event, while its artifact is mapped.
    row("12 descriptors", "ulimit -n 12", MayStop, ""),
    row("16 descriptors", "ulimit -n 16", Passes, ""),

    // Below some 32 MiB the system's own loader fails, before any of our code is in place.
    row("40 MiB of addresses", "ulimit -v 40960", MayStop, ""),
    row("64 MiB of addresses", "ulimit -v 65536", MayStop, "memory"),
    row("256 MiB of addresses", "ulimit -v 262144", MayStop, "ulimit -v"),
    row("2 GiB of addresses", "ulimit -v 2097152", MayStop, "ulimit -v"),
    // Enough for one guest: the analyser is done before a gate starts.
    row("6 GiB of addresses", "ulimit -v 6291456", Passes, ""),
    row("16 MiB of data", "ulimit -d 16384", MayStop, ""),
    row("64 KiB of stack", "ulimit -s 64", Passes, ""),
    row("no locked memory", "ulimit -l 0", Passes, ""),
    // As much as the system hands to a program at all: three quarters of its 8 MiB.
    row("an environment of 5 MB", "ulimit -s 65536; x=$(head -c 100000 /dev/zero | tr '\\0' x); for i in $(seq 50); do export V$i=$x; done",
        Passes, ""),
    Row { why: "no more threads", under: AS_OTHER, first: "ulimit -u 1", harmless: MayStop, says: "no thread" },
    Row { why: "two threads", under: AS_OTHER, first: "ulimit -u 2", harmless: MayStop, says: "" },
];

/// A project of both sets, which anybody may write to.
fn project(row: &Row) -> Project {
    let project = Project::default().foundry();
    project.write("project/.git/HEAD", "ref: refs/heads/feature/STORY-001\n");
    project.write("project/.factory/STATE.md", "status: draft\n");
    if row.under == AS_OTHER {
        let owned = Command::new("chown").args(["-R", "12345:12345"]).arg(project.path("")).status();
        assert!(owned.expect("chown runs").success());
    }
    project
}

fn call(project: &Project, row: &Row, command: &str) -> Answer {
    let registry = portcullis_e2e::dist().join("registry.toml").display().to_string();
    // Without a copy of the events: a test's own file would be one more that is limited.
    let call = project.call_bare().with(&["PreToolUse", "--registry", &registry]);
    call.under(row.under).first(row.first).event(&project.bash(command)).run()
}

/// Whether the agent stops.
fn stops(answer: &Answer) -> bool {
    answer.code == Some(2) || (answer.code == Some(0) && matches!(answer.decision(), Some("deny" | "ask")))
}

#[test]
fn what_the_system_refuses_lets_nothing_through() {
    each(
        ROWS,
        |row| row.why,
        |row| {
            if !possible(row.under) {
                return;
            }
            let project = project(row);
            let answer = call(&project, row, "rm -rf src");
            let shown = format!("{}: {answer:#?}", row.why);
            assert!(stops(&answer), "{shown}");
            assert!(answer.everything().contains(row.says), "{shown}");
            let project = self::project(row);
            let answer = call(&project, row, "git status");
            let passes = answer.code == Some(0) && answer.decision().is_none();
            assert!(passes || (row.harmless == MayStop && stops(&answer)), "{}: {answer:#?}", row.why);
        },
    );
}

/// The soft limit is a signal, the hard one a death that nobody can do anything about.
#[test]
fn processor_time_that_is_used_up_stops_the_call() {
    let project = Project::default().foundry();
    let command = format!("{}rm -rf src", "true;".repeat(400_000));
    let registry = portcullis_e2e::dist().join("registry.toml").display().to_string();
    let call = project.call_bare().with(&["PreToolUse", "--registry", &registry]).first("ulimit -S -t 1");
    let answer = call.event(&project.bash(&command)).run();
    assert!(stops(&answer), "{:?} {:.500} {:.500}", answer.code, answer.stdout, answer.stderr);
}

/// A gate without native code is compiled by each process if the result cannot be kept.
#[test]
fn a_cache_that_cannot_be_written_changes_no_decision() {
    let rows = [
        Row { why: "no cache", under: &[], first: "unset XDG_CACHE_HOME HOME", harmless: Passes, says: "" },
        row("a file", "rm -rf \"$XDG_CACHE_HOME\"; : > \"$XDG_CACHE_HOME\"", Passes, ""),
        row("a link", "mkdir -m 700 elsewhere; ln -s \"$PWD/elsewhere\" \"$XDG_CACHE_HOME/portcullis\"", Passes, ""),
        row("open to all", "mkdir -m 777 \"$XDG_CACHE_HOME/portcullis\"", Passes, ""),
        row("no growing files", "ulimit -f 0", Passes, ""),
        row("threads that cannot be started", "ulimit -u 3", Passes, ""),
        Row {
            why: "read-only",
            under: AS_OWNER,
            first: "mkdir -m 500 \"$XDG_CACHE_HOME/portcullis\"",
            harmless: Passes,
            says: "",
        },
        Row {
            why: "a disk that is full",
            under: OWN_MOUNTS,
            harmless: Passes,
            says: "",
            first: "mkdir -m 700 \"$XDG_CACHE_HOME/portcullis\"; mount -t tmpfs -o size=16k,mode=700 none \"$XDG_CACHE_HOME/portcullis\"",
        },
    ];
    each(
        &rows,
        |row| row.why,
        |row| {
            if !possible(row.under) {
                return;
            }
            let mut project = Project::default();
            project.write("cache/here", "");
            project.variable("XDG_CACHE_HOME", &project.name("cache"));
            for (say, decision) in [("{ block = 'no' }", Some("deny")), ("{ emit = 'seen' }", None)] {
                let registry = Registry::default().speaker("gate", "PreToolUse", say, "on_error = 'block'");
                let call = project.call(&registry).under(row.under).first(row.first);
                let answer = call.event(&project.bash("true")).run();
                // Nor can the answer be written then, and memory that is a file cannot be made.
                let lost =
                    row.first.contains("ulimit -f") && (answer.code == Some(2) || (decision.is_none() && answer.code == Some(0)));
                assert!(lost || (answer.code == Some(0) && answer.decision() == decision), "{}, {say}: {answer:#?}", row.why);
            }
        },
    );
}

/// Says that it is 1970, and lets all else be.
const CLOCK: &str = r"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return syscall(SYS_clock_gettime, clock, now);
    now->tv_sec = 100;
    now->tv_nsec = 0;
    return 0;
}
int gettimeofday(struct timeval *now, void *zone) { now->tv_sec = 100; now->tv_usec = 0; return 0; }
time_t time(time_t *now) { if (now) *now = 100; return 100; }
";

/// A dead battery must not bring back what had its day.
#[test]
fn a_clock_in_1970_brings_no_override_back() {
    let project = Project::default().foundry();
    project.write("clock.c", CLOCK);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([project.path("clock.so"), project.path("clock.c")]);
    if !compiler.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no C compiler here");
        return;
    }
    let overridden = json!({"overrides": [{"gate": "rm-recursive-force", "reason": "long ago", "expires": "2020-01-01"}]});
    project.write("project/.foundry/overrides.json", overridden.to_string());
    let clock = format!("export LD_PRELOAD={}", project.name("clock.so"));
    for (command, decision) in [("rm -rf src", Some("deny")), ("git status", None)] {
        let answer = project.call_guards().first(&clock).event(&project.bash(command)).answer();
        let [decided] = answer.events_of("dispatcher.decision")[..] else { panic!("{answer:#?}") };
        if decided["ts_epoch"] != 100 {
            eprintln!("skipped: the dispatcher asks another clock");
            return;
        }
        assert_eq!((answer.code, answer.decision()), (Some(0), decision), "{answer:#?}");
        assert!(answer.system_message().contains("the clock says 1970-01-01"), "{answer:#?}");
    }
    assert!(project.path("state/portcullis/events-1970-01-01.jsonl").is_file());
}

/// What bash hooks call for telemetry: whatever is wrong, they do not notice, and nothing is written where it does not belong.
#[test]
fn an_event_that_cannot_be_emitted_is_dropped_without_a_word() {
    let rows = [
        ("nothing", String::new(), true),
        ("a FIFO", "mkdir -p .factory/logs; for d in 0 1; do mkfifo .factory/logs/events-$(date -d \"$d day\" +%F).jsonl; done".to_owned(), false),
        ("a directory", "for d in 0 1; do mkdir -p .factory/logs/events-$(date -d \"$d day\" +%F).jsonl; done".to_owned(), false),
        ("a file for a directory", ": > .factory".to_owned(), false),
        ("a link out", format!("mkdir .factory; ln -s {} .factory/logs", "../../outside"), false),
        ("no growing files", "ulimit -f 0".to_owned(), false),
        ("closed output", "exec 1>&- 2>&-".to_owned(), true),
        ("half a line", "mkdir -p .factory/logs; for d in 0 1; do printf '{\"type\":' > .factory/logs/events-$(date -d \"$d day\" +%F).jsonl; done".to_owned(), true),
    ];
    each(
        &rows,
        |row| row.0,
        |(why, first, written)| {
            let project = Project::default();
            project.write("stdout", "");
            let mut emit = project.within(&[], first);
            emit.args(["emit-event", "type=hook.action", "reason=x"]).stdin(std::process::Stdio::null());
            let output = |name: &str| fs::File::create(project.path(name)).expect("a file of the scratch");
            emit.stdout(output("stdout")).stderr(output("stderr"));
            let status = portcullis_e2e::finish(&mut emit, std::time::Duration::from_secs(10)).expect(why);
            let text = |name: &str| fs::read_to_string(project.path(name)).expect("a file of the scratch");
            assert_eq!((status.code(), text("stdout").as_str(), text("stderr").as_str()), (Some(0), "", ""), "{why}");
            assert_eq!(fs::read_dir(project.path("outside")).expect("a directory").count(), 0, "{why}");
            let found = fs::read_dir(project.path("project/.factory/logs")).into_iter().flatten().flatten();
            let lines: Vec<String> = found
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
                .flat_map(|entry| fs::read_to_string(entry.path()).expect("a log").lines().map(str::to_owned).collect::<Vec<_>>())
                .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
                .collect();
            assert_eq!(lines.len(), usize::from(*written), "{why}: {lines:?}");
        },
    );
}
