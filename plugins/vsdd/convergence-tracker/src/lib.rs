//! Convergence is claimed only when it is reached: novelty at most 0.15, nothing critical or high, three clean passes in a row.
//!
//! A rising trajectory and a first pass without any finding are worth a warning. A review without a Novelty Assessment is
//! `validate-novelty-assessment`'s business.

mod score;
mod streak;

use portcullis_artifact::review::{self, Assessment};
use portcullis_artifact::{Document, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;
use portcullis_vsdd::{Stop, quoted};

const GATE: &str = "convergence-tracker";
const CODE: &str = "convergence_rule_violation";
/// Clean passes in a row that convergence takes.
const CLEAN_PASSES: u64 = 3;

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if place::in_factory(&target.path, &target.root).is_none() || !review::is_review(&target.path) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let document = Document::parse(&text);
    let Some(assessment) = Assessment::of(&document) else { return Ok(vec![]) };
    let warnings = warnings(&assessment);
    let faults = match assessment.converged() {
        Some(true) => faults(&target, host, &document, &assessment),
        _ => Vec::new(),
    };
    let about = format!("the review {} (Novelty Assessment in line {})", quoted(target.name()), assessment.line);
    if faults.is_empty() {
        let warning = Warning {
            gate: GATE,
            matcher: "Edit|Write",
            code: CODE,
            reason: format!("{about}: {}", warnings.join("; ")),
            fix: "run the pass again with a fresh context and have it justify the numbers".into(),
        };
        return Ok(if warnings.is_empty() { vec![] } else { vec![Verdict::Advise(warning.text())] });
    }
    let warned = warnings.iter().map(|warning| format!("; warning: {warning}")).collect::<String>();
    let stop = Stop {
        gate: GATE,
        matcher: "Edit|Write",
        code: CODE,
        reason: format!("{about} claims CONVERGENCE_REACHED too early: {}{warned}", faults.join("; ")),
        fix: format!(
            "set the verdict to FINDINGS_REMAIN and run further passes until the score is at most {}, no CRITICAL or HIGH \
             finding is left and {CLEAN_PASSES} passes in a row were clean",
            score::LIMIT
        ),
    };
    let fields = Fields::new()
        .text("file_path", target.given)
        .text("verdict", "CONVERGENCE_REACHED")
        .text("novelty_score", assessment.field("novelty score").unwrap_or_default());
    Ok(vec![stop.finding(fields).block()])
}

/// What is worth a second look, whatever the verdict.
fn warnings(assessment: &Assessment) -> Vec<String> {
    let number = |name: &str| assessment.field(name).and_then(|value| value.parse::<u64>().ok());
    let mut warnings = Vec::new();
    if let (Some(1), Some(0), Some(0)) = (number("pass"), number("new findings"), number("duplicate/variant findings")) {
        warnings.push("zero findings on the first pass are suspicious".to_owned());
    }
    if let Some(trajectory) = assessment.field("trajectory") {
        let arrows = trajectory.replace("->", "→").replace("=>", "→");
        let numbers: Vec<u64> = arrows.split('→').filter_map(|step| step.trim().parse().ok()).collect();
        if numbers.windows(2).any(|pair| pair[1] > pair[0]) {
            warnings.push(format!("the trajectory {} rises: findings should not grow from pass to pass", quoted(trajectory)));
        }
    }
    warnings
}

/// What stands against a claim of convergence.
fn faults(target: &Target, host: &impl Host, document: &Document, assessment: &Assessment) -> Vec<String> {
    let mut faults = Vec::new();
    let limit = score::LIMIT;
    match assessment.field("novelty score") {
        None => faults.push(format!("the novelty score is missing, the limit is {limit}")),
        Some(written) => match score::parse(written) {
            None => faults.push(format!("the novelty score {} cannot be read, the limit is {limit}", quoted(written))),
            Some(score) if score::is_above_limit(score) => {
                faults.push(format!("the novelty score {} is above {limit}", quoted(written)));
            }
            Some(_) => {}
        },
    }
    let counts = review::grave_counts(document);
    for (name, count) in ["CRITICAL", "HIGH"].into_iter().zip(counts) {
        match count {
            None => faults.push(format!("the severity count of {name} is unknown: the table `Severity | Count` lacks it")),
            Some(0) => {}
            Some(count) => faults.push(format!("{count} {name} findings are open")),
        }
    }
    let pass = assessment.field("pass").and_then(|pass| pass.parse().ok());
    let streak = streak::streak(target, host, counts, pass);
    if streak < CLEAN_PASSES {
        faults.push(format!("clean passes in a row are {streak} of {CLEAN_PASSES}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_a_warning() {
        let warned = |rows: &str| {
            let text = format!("## Novelty Assessment\n| Field | Value |\n|---|---|\n{rows}");
            warnings(&Assessment::of(&Document::parse(&text)).unwrap()).len()
        };
        for (rows, count) in [
            ("| Trajectory | 9→6→6 |", 0),
            ("| Trajectory | 9 -> 6 => **7** |", 1),
            ("| Trajectory | n/a→5→?→6 |", 1),
            ("| Trajectory | 3 |", 0),
            ("| Pass | 1 |\n| New findings | 0 |\n| Duplicate/variant findings | **0** |", 1),
            ("| Pass | 2 |\n| New findings | 0 |\n| Duplicate/variant findings | 0 |", 0),
            ("| Pass | 1 |\n| New findings | 0 |", 0),
        ] {
            assert_eq!(warned(rows), count, "{rows}");
        }
    }
}
