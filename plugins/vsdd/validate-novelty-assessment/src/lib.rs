//! An adversarial review says how new its findings are.
//!
//! Without the Novelty Assessment nobody can tell whether another pass is worth it, and `convergence-tracker` has nothing to
//! judge. Whether what it says supports a claim is that gate's business, not this one's.

use portcullis_artifact::review::{self, Assessment};
use portcullis_artifact::{Document, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if place::in_factory(&target.path, &target.root).is_none() || !review::is_review(&target.path) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let what = match Assessment::of(&Document::parse(&text)) {
        None => "has no section `## Novelty Assessment`".to_owned(),
        Some(assessment) => match faults(&assessment) {
            faults if faults.is_empty() => return Ok(vec![]),
            faults => format!("has an incomplete Novelty Assessment (line {}): {}", assessment.line, faults.join("; ")),
        },
    };
    let stop = Stop {
        gate: "validate-novelty-assessment",
        matcher: "Edit|Write",
        code: "novelty_assessment_incomplete",
        reason: format!("the review {} {what}", quoted(target.name())),
        fix: "give the review a section `## Novelty Assessment` with a table `Field | Value` and rows Pass (a number), Novelty \
              score, Trajectory (such as 9→6→3) and Verdict (CONVERGENCE_REACHED or FINDINGS_REMAIN)"
            .into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// One phrase for each field that is missing or wrong.
fn faults(assessment: &Assessment) -> Vec<String> {
    let missing = |name: &str| format!("{name} is missing or unfilled");
    let pass = match assessment.field("pass") {
        Some(pass) if pass.bytes().all(|byte| byte.is_ascii_digit()) => None,
        Some(pass) => Some(format!("Pass is {}, not a number", quoted(pass))),
        None => Some(missing("Pass")),
    };
    let filled = |name: &str| assessment.field(&name.to_lowercase()).is_none().then(|| missing(name));
    let verdict = match (assessment.converged(), assessment.field("verdict")) {
        (Some(_), _) => None,
        (None, Some(verdict)) => Some(format!("Verdict is {}, none of the two words", quoted(verdict))),
        (None, None) => Some(missing("Verdict")),
    };
    [pass, filled("Novelty score"), filled("Trajectory"), verdict].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_named() {
        let faults = |rows: &str| {
            let text = format!("## Novelty Assessment\n| Field | Value |\n|---|---|\n{rows}");
            super::faults(&Assessment::of(&Document::parse(&text)).unwrap())
        };
        assert_eq!(
            faults("| Pass | 1 |\n| Novelty score | 0 |\n| Trajectory | 1 |\n| Verdict | findings_remain |\n"),
            Vec::<String>::new()
        );
        assert_eq!(
            faults("| Pass | 1 of 3 |\n| Novelty score | [n] |\n| Verdict | DONE |\n"),
            [
                "Pass is `1 of 3`, not a number",
                "Novelty score is missing or unfilled",
                "Trajectory is missing or unfilled",
                "Verdict is `DONE`, none of the two words"
            ]
        );
    }
}
