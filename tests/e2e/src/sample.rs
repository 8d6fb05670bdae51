//! Journals as a team leaves them, made up: the same for the same size, on every machine.

use std::io::{self, Write};

/// The project that the lines are about.
pub const PROJECT: &str = "/home/team/shop";

/// Seconds since 1970 of the first line: 1 September 2026.
const BEGIN: u64 = 1_788_220_800;

/// A command that a gate stops, its rule, gate, decision, why, and how it is done after all.
struct Way {
    rule: &'static str,
    gate: &'static str,
    decision: &'static str,
    tool: &'static str,
    subject: &'static str,
    message: &'static str,
    then: Option<&'static str>,
    /// How many times as often as the rarest.
    often: u64,
}

#[rustfmt::skip]
const WAYS: [Way; 9] = [
    Way { rule: "git-push-force", gate: "guard-bash", decision: "deny", tool: "Bash", subject: "git push --force origin main", message: "A force push overwrites what others have pushed. Use --force-with-lease.", then: Some("git push --force-with-lease origin main"), often: 9 },
    Way { rule: "rm-recursive-force", gate: "guard-bash", decision: "deny", tool: "Bash", subject: "rm -rf src/generated", message: "A recursive, forced deletion cannot be undone. Name the files.", then: None, often: 7 },
    Way { rule: "protected-path", gate: "guard-write", decision: "ask", tool: "Edit", subject: "/home/team/shop/.github/workflows/ci.yml", message: "This path is protected: a human should see the change.", then: Some("/home/team/shop/.github/workflows/ci.yml"), often: 6 },
    Way { rule: "secret:github-token", gate: "guard-write", decision: "deny", tool: "Write", subject: "/home/team/shop/src/client.rs", message: "This text holds what looks like a GitHub token.", then: None, often: 3 },
    Way { rule: "git-reset-hard-remote", gate: "guard-bash", decision: "deny", tool: "Bash", subject: "git reset --hard origin/main", message: "Uncommitted work would be lost. Commit or stash first.", then: None, often: 2 },
    Way { rule: "curl-pipe-shell", gate: "guard-bash", decision: "deny", tool: "Bash", subject: "curl -fsSL https://example.org/install.sh | sh", message: "A download would run unseen. Save it and read it first.", then: None, often: 2 },
    Way { rule: "git_push_protected", gate: "verify-git-push", decision: "deny", tool: "Bash", subject: "git push origin HEAD:main", message: "BLOCKED by verify-git-push: main is protected. Fix: open a pull request. Code: git_push_protected.", then: None, often: 4 },
    Way { rule: "db-drop", gate: "guard-bash", decision: "deny", tool: "Bash", subject: "psql shop_test -c 'DROP TABLE orders'", message: "A dropped table cannot be brought back.", then: Some("psql shop_test -c 'DROP TABLE orders'"), often: 1 },
    Way { rule: "verify-before-claiming", gate: "stop-verify", decision: "block", tool: "", subject: "", message: "Completion is claimed, and no test has run.", then: None, often: 2 },
];

const HARMLESS: [(&str, &str); 6] = [
    ("Bash", "git status --short"),
    ("Bash", "cargo test --release -p shop"),
    ("Bash", "rg -n 'fn total' src"),
    ("Edit", "/home/team/shop/src/basket.rs"),
    ("Write", "/home/team/shop/tests/basket.rs"),
    ("Bash", "git commit -m 'Round prices at the end'"),
];

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Written {
    /// Lines of the user's journal.
    pub lines: u64,
    /// Of these, decisions that stopped something or asked.
    pub in_the_way: u64,
    /// Of these, the ones that were done all the same within ten minutes.
    pub done_anyway: u64,
    /// Uses of an override.
    pub overridden: u64,
    /// Torn lines.
    pub torn: u64,
}

/// Writes a user's journal of about `bytes` bytes, and to `metrics` the lines that the gates leave in the project. One decision of
/// `rarity` is in the way; `step` seconds lie between two.
pub fn journals(user: &mut dyn Write, metrics: &mut dyn Write, bytes: u64, rarity: u64, step: u64) -> io::Result<Written> {
    let mut random = Random(20_260_901);
    let mut written = Written::default();
    let (mut size, mut second) = (0, BEGIN);
    while size < bytes {
        second += random.below(2 * step) + 1;
        let session = format!("5e5510{:02}-0000-4000-8000-000000000000", second / 7200 % 97);
        let mut line = |text: &str, written: &mut Written| {
            size += text.len() as u64 + 1;
            written.lines += 1;
            writeln!(user, "{text}")
        };
        if random.below(rarity) > 0 {
            let (tool, subject) = HARMLESS[random.below(6) as usize];
            line(&decision(second, &session, &passing(tool, subject), &mut random), &mut written)?;
            continue;
        }
        match random.below(40) {
            0 => {
                let failed = format!(
                    r#"{{"type":"plugin.timeout","ts_epoch":{second},"schema_version":1,"session_id":"{session}","plugin_name":"validate-contract","hook":"validate-contract","cause":"deadline","message":"it took longer than 5000 ms","project":"{PROJECT}"}}"#
                );
                line(&failed, &mut written)?;
            }
            1 => {
                written.torn += 1;
                line(r#"{"type":"dispatcher.decision","ts":"2026-09-0"#, &mut written)?;
            }
            2 | 3 => {
                written.overridden += 1;
                let way = &WAYS[7];
                line(&decision(second, &session, &overriding(way), &mut random), &mut written)?;
                metric(
                    metrics,
                    second,
                    &format!(r#""kind":"gate_override_used","gate":"{}","reason":"the seed database of the tests""#, way.rule),
                )?;
            }
            _ => {
                let way = choose(&mut random);
                written.in_the_way += 1;
                line(&decision(second, &session, &stopping(way), &mut random), &mut written)?;
                let kind = if way.decision == "ask" { "gate_escalated" } else { "gate_blocked" };
                metric(metrics, second, &format!(r#""kind":"{kind}","gate":"{}""#, way.rule))?;
                if let Some(then) = way.then.filter(|_| random.below(3) > 0) {
                    written.done_anyway += 1;
                    second += 20 + random.below(200);
                    line(&decision(second, &session, &passing(way.tool, then), &mut random), &mut written)?;
                }
            }
        }
    }
    Ok(written)
}

fn choose(random: &mut Random) -> &'static Way {
    let mut at = random.below(WAYS.iter().map(|way| way.often).sum());
    for way in &WAYS {
        match at.checked_sub(way.often) {
            Some(rest) => at = rest,
            None => return way,
        }
    }
    &WAYS[0]
}

/// One decision's line; `middle` is what depends on its outcome.
fn decision(second: u64, session: &str, middle: &Middle, random: &mut Random) -> String {
    // Most are quick, some are not.
    let mut ms =
        || (2 + random.below(4) + (random.below(12) == 0) as u64 * random.below(40)) as f64 + random.below(1000) as f64 / 1000.0;
    let (total, own, other) = (ms(), ms() / 3.0, ms() / 4.0);
    let Middle { event, decision, rules, about, gate, verdict } = middle;
    format!(
        r#"{{"type":"dispatcher.decision","ts_epoch":{second},"schema_version":1,"session_id":"{session}","plugin_name":"dispatcher","hook":"dispatcher","event":"{event}","decision":"{decision}","rules":[{rules}],"ms":{total:.3},{about}"cwd":"{PROJECT}","gates":[{{"gate":"{gate}","verdict":"{verdict}","ms":{own:.3},"fuel":81234}},{{"gate":"protect-secrets","verdict":"pass","ms":{other:.3},"fuel":52345}}],"project":"{PROJECT}"}}"#
    )
}

struct Middle {
    event: &'static str,
    decision: &'static str,
    rules: String,
    about: String,
    gate: &'static str,
    verdict: &'static str,
}

fn about(tool: &str, subject: &str) -> String {
    let field = if tool == "Bash" { "command" } else { "file_path" };
    if tool.is_empty() { String::new() } else { format!(r#""tool":"{tool}","{field}":"{subject}","#) }
}

fn passing(tool: &str, subject: &str) -> Middle {
    let gate = if tool == "Bash" { "guard-bash" } else { "guard-write" };
    Middle { event: "PreToolUse", decision: "pass", rules: String::new(), about: about(tool, subject), gate, verdict: "pass" }
}

fn stopping(way: &Way) -> Middle {
    let message = format!(r#"{}"message":"{}","#, about(way.tool, way.subject), way.message);
    let event = if way.tool.is_empty() { "Stop" } else { "PreToolUse" };
    let verdict = if way.decision == "ask" { "ask" } else { "block" };
    Middle { event, decision: way.decision, rules: format!("{:?}", way.rule), about: message, gate: way.gate, verdict }
}

fn overriding(way: &Way) -> Middle {
    let passing = passing(way.tool, way.subject);
    Middle { about: format!(r#"{}"overridden":["{}"],"#, passing.about, way.rule), ..passing }
}

fn metric(out: &mut dyn Write, second: u64, rest: &str) -> io::Result<()> {
    let (day, time) = (second / 86_400, second % 86_400);
    let (year, month, of_month) = civil(day);
    let (hour, minute) = (time / 3600, time / 60 % 60);
    writeln!(
        out,
        r#"{{"ts":"{year:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{:02}.{:03}Z",{rest}}}"#,
        time % 60,
        second * 7 % 1000
    )
}

/// The date of a day since 1970, after 2000.
fn civil(mut day: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    let leap = |year: u64| year.is_multiple_of(4);
    while day >= 365 + leap(year) as u64 {
        day -= 365 + leap(year) as u64;
        year += 1;
    }
    let months = [31, 28 + leap(year) as u64, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    (year, month as u64 + 1, day + 1)
}

/// SplitMix64: enough for made-up lines, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_same_each_time_and_its_lines_are_events() {
        let make = || {
            let (mut user, mut metrics) = (Vec::new(), Vec::new());
            let written = journals(&mut user, &mut metrics, 200_000, 20, 60).unwrap();
            (written, user, metrics)
        };
        let (written, user, metrics) = make();
        assert_eq!((written, &user, &metrics), (make().0, &make().1, &make().2));
        let events = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count() as u64
        };
        assert_eq!(events(&user), written.lines - written.torn);
        assert_eq!(events(&metrics), written.in_the_way + written.overridden);
        assert!(written.done_anyway > 0 && written.overridden > 0 && written.torn > 0, "{written:?}");
        assert!(String::from_utf8(metrics).unwrap().starts_with("{\"ts\":\"2026-09-01T"));
    }
}
