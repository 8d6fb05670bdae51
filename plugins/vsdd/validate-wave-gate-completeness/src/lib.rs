//! A wave's gate has passed only if its report shows all six checks.
//!
//! Every write of `wave-state.yaml` is checked against the reports of all waves that claim `gate_status: passed`.

mod evidence;

use portcullis_artifact::place;
use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Level, Verdict, input};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::wave::{self, Wave};
use portcullis_vsdd::{Stop, quoted};

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host).filter(|target| target.name() == "wave-state.yaml") else { return Ok(vec![]) };
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let waves = match wave::read(&text) {
        Ok(waves) => waves,
        Err(what) => {
            host.log(Level::Warn, &format!("{}: {what}", target.path));
            return Ok(vec![]);
        }
    };
    let passed = waves.iter().filter(|wave| wave.gate_status.as_deref() == Some("passed"));
    let violations: Vec<String> = passed
        .filter_map(|wave| violation(wave, &places(event, &target), host).map(|what| format!("{}: {what}", quoted(&wave.name))))
        .collect();
    if violations.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-wave-gate-completeness",
        matcher: "Edit|Write",
        code: "wave_gate_incomplete",
        reason: format!(
            "{} says `gate_status: passed` without the evidence of all six gates: {}",
            quoted(&target.given),
            violations.join("; ")
        ),
        fix:
            "run /vsdd-factory:wave-gate and name its report in `gate_report`, or set `gate_status: deferred` with a `rationale`"
                .into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given.as_str())).block()])
}

/// Where a relative report path may start, in order.
fn places(event: &Event, target: &Target) -> Vec<String> {
    let factory = place::factory_directory(&target.path, &target.root).map(str::to_owned);
    factory.into_iter().chain([target.root.clone(), event.cwd.clone()]).collect()
}

/// What a wave that claims to have passed lacks.
fn violation(wave: &Wave, places: &[String], host: &impl Host) -> Option<String> {
    let Some(report) = &wave.gate_report else { return Some("no gate_report".into()) };
    // An absolute path is the same from everywhere.
    let mut error = HostError::NotFound;
    let text = places.iter().find_map(|place| match host.read_text(&input::normalize(report, place)) {
        Ok(text) => Some(text),
        Err(HostError::NotFound | HostError::NotRegular) => None,
        Err(other) => {
            error = other;
            None
        }
    });
    let Some(text) = text else {
        let what = match error {
            HostError::NotFound => "not found".to_owned(),
            HostError::Denied(_) => "not found in the project".to_owned(),
            other => format!("not readable ({})", other.describe()),
        };
        return Some(format!("gate_report {} {what}", quoted(report)));
    };
    let missing = evidence::missing(&text);
    (!missing.is_empty()).then(|| format!("gate_report {} has no evidence of {}", quoted(report), missing.join(", ")))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    const REPORT: &str = "Gate 1\nGate 2\nGate 3\nGate 4\nGate 5\nGate 6\n";

    fn reason(path: &str, report: &str) -> Option<String> {
        let state = format!("waves:\n  a: {{gate_status: passed, gate_report: '{path}'}}\n  b: {{gate_status: Passed}}\n");
        let input = json!({"file_path": "/p/.factory/wave-state.yaml"});
        let host = FakeHost::new(json!({"tool_name": "Write", "cwd": "/p/sub", "tool_input": input}))
            .file("/p/.factory/wave-state.yaml", state)
            .file(report, REPORT);
        let verdicts = judge(&Event { project_root: "/p".into(), ..host.event() }, &host).unwrap();
        match verdicts.as_slice() {
            [Verdict::Block(finding)] => Some(finding.reason.clone()),
            _ => None,
        }
    }

    #[test]
    fn a_report_is_looked_for_where_people_name_it_from() {
        for (path, report) in [
            ("cycles/r.md", "/p/.factory/cycles/r.md"),
            (".factory/r.md", "/p/.factory/r.md"),
            ("docs/r.md", "/p/docs/r.md"),
            ("docs/r.md", "/p/sub/docs/r.md"),
            ("/elsewhere/r.md", "/elsewhere/r.md"),
        ] {
            assert_eq!(reason(path, report), None, "{path}");
        }
        assert!(reason("r.md", "/p/other/r.md").unwrap().contains("`a`: gate_report `r.md` not found"));
    }
}
