//! The verb on real files, and on the files of the gate's own cases.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::*;

const BRIEF: (&str, &str) = (".factory/specs/brief.md", "# Brief\n\nSell tea.\n");

/// A project with these files, and its root.
fn project(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(scratch.path()).unwrap();
    for (name, content) in files {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), content).unwrap();
    }
    (scratch, root)
}

fn document(value: &str) -> String {
    format!("---\ninputs: [brief.md]\ninput-hash: {value}\n---\n# T\n")
}

/// What comes of `.factory/specs/prd.md` with this text.
fn of(text: &str, action: Action) -> Outcome {
    let (_scratch, root) = project(&[BRIEF, (".factory/specs/prd.md", text)]);
    outcome(&root.join(".factory/specs/prd.md"), &root, action)
}

#[test]
fn every_state_of_a_file() {
    let digest = || "b2d033e".to_owned();
    let stale = |stored: &str| Outcome::Stale { stored: stored.into(), digest: Some(digest()) };
    for (value, checked) in [
        ("b2d033e", Outcome::Current),
        ("\"[live-state]\"", Outcome::Exempt),
        ("\"[md5]\"", Outcome::Uncomputed(digest())),
        ("0000000", stale("0000000")),
        ("12e4567", stale("12e4567")),
        ("B2D033E", stale("B2D033E")),
    ] {
        assert_eq!(of(&document(value), Action::Check), checked, "{value}");
        assert_eq!(of(&document(value), Action::Print), Outcome::Digest(digest()), "{value}");
        let updated = match checked {
            Outcome::Stale { .. } | Outcome::Uncomputed(_) => Outcome::Updated(digest()),
            settled => settled,
        };
        assert_eq!(of(&document(value), Action::Update), updated, "{value}");
    }
    assert_eq!(of("# T\n", Action::Check), Outcome::NoInputs);
    assert_eq!(of("---\ninputs: [gone.md]\n---\n", Action::Update), Outcome::Unknown(vec!["gone.md".into()]));
    assert_eq!(of("---\ninputs: [gone.md]\n---\n", Action::Print), Outcome::Unknown(vec!["gone.md".into()]));
    let resolved = of("---\ninputs: [gone.md, brief.md]\n---\n", Action::Resolve);
    let Outcome::Inputs(inputs) = resolved else { panic!("{resolved:?}") };
    assert_eq!(inputs[0], ("gone.md".to_owned(), None));
    assert!(inputs[1].1.as_ref().unwrap()[0].ends_with("/.factory/specs/brief.md"), "{inputs:?}");
}

#[test]
fn an_update_changes_one_line_and_settles() {
    let text = "\u{feff}---\r\ninputs:\r\n- brief.md\r\ninput-hash: \"[md5]\"  # computed\r\n---\r\n# T\r\n";
    let (_scratch, root) = project(&[BRIEF, (".factory/prd.md", text)]);
    let file = root.join(".factory/prd.md");
    assert_eq!(outcome(&file, &root, Action::Update), Outcome::Updated("b2d033e".into()));
    assert_eq!(fs::read_to_string(&file).unwrap(), text.replace("[md5]", "b2d033e"));
    assert_eq!(outcome(&file, &root, Action::Update), Outcome::Current);
}

#[test]
fn what_lies_outside_the_project_is_no_input() {
    let (_elsewhere, outside) = project(&[("o.md", "x")]);
    let (_scratch, root) = project(&[(".factory/prd.md", "---\ninputs: [link.md]\n---\n")]);
    std::os::unix::fs::symlink(outside.join("o.md"), root.join(".factory/link.md")).unwrap();
    let file = root.join(".factory/prd.md");
    assert_eq!(outcome(&file, &root, Action::Print), Outcome::Unknown(vec!["link.md".into()]));
    // The project is the one around the artifact, wherever the verb is called.
    assert_eq!(outcome(&file, &outside, Action::Print), Outcome::Unknown(vec!["link.md".into()]));
    let fault = outcome(&outside.join("o.md"), &root, Action::Print);
    assert_eq!(fault, Outcome::Failed("it lies in no .factory directory".into()));
}

#[test]
fn a_scan_counts_and_its_code_is_the_worst() {
    let (current, stale, unset) = (document("b2d033e"), document("0000000"), document("[md5]"));
    let gone = "---\ninputs: [gone.md]\ninput-hash: 0000000\n---\n";
    let odd = "---\n\"a\": &x [1]\ninputs: [brief.md]\ninput-hash: |\n  0000000\n---\n";
    let (_scratch, root) = project(&[
        BRIEF,
        (".factory/specs/a.md", &current),
        (".factory/specs/b.md", &stale),
        (".factory/specs/c.md", &unset),
        (".factory/specs/d/d.md", gone),
        (".factory/specs/e.md", odd),
        (".factory/specs/X-INDEX.md", &stale),
        (".factory/specs/none.md", "# T\n"),
    ]);
    let scanned = |action: Action| {
        let files = disk::artifacts_below(&root.join(".factory")).unwrap();
        let outcomes = files.into_iter().map(|file| (file.clone(), outcome(&file, &root, action))).collect();
        let report = Report { action, scan: true, outcomes };
        (report.text().lines().last().unwrap().to_owned(), report.code())
    };
    let counted = |line: &str, code: u8| (line.to_owned(), code);
    assert_eq!(scanned(Action::Check), counted("TOTAL=5 MATCH=1 STALE=2 UNCOMPUTED=1 NOINPUT=1 UPDATED=0 UPDATE_FAILED=0", 2));
    assert_eq!(scanned(Action::Resolve), counted("TOTAL=5 RESOLVABLE=4 UNRESOLVABLE=1", 1));
    assert_eq!(scanned(Action::Update), counted("TOTAL=5 MATCH=1 STALE=0 UNCOMPUTED=0 NOINPUT=1 UPDATED=2 UPDATE_FAILED=1", 1));
    assert_eq!(scanned(Action::Check), counted("TOTAL=5 MATCH=3 STALE=1 UNCOMPUTED=0 NOINPUT=1 UPDATED=0 UPDATE_FAILED=0", 2));
}

/// What the gate calls drift or missing, the verb does not call current, and the other way round.
#[test]
fn the_verb_and_the_gate_agree_on_the_shared_cases() {
    let cases = include_str!("../../../../tests/cases/vsdd-post-a.jsonl").lines();
    let cases =
        cases.map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|case| case["hook"] == "validate-input-hash");
    let mut seen = 0;
    for case in cases {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let files: Vec<(String, String)> =
            case["files"].as_object().unwrap().iter().map(|(name, content)| (name.clone(), text(content))).collect();
        let (_scratch, root) =
            project(&files.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect::<Vec<_>>());
        let named = text(&case["event"]["tool_input"]["file_path"]).replace("${ROOT}", root.to_str().unwrap());
        // Indexes and files elsewhere are the gate's to leave out; the verb is told which file it is about.
        if case["expect"]["decision"] == "none" && !named.ends_with("prd.md") {
            continue;
        }
        let found = outcome(Path::new(&named), &root, Action::Check);
        let agrees = match case["expect"]["code"].as_str() {
            Some("input_hash_drift" | "input_hash_invalid_format") => matches!(found, Outcome::Stale { .. }),
            Some("input_hash_missing") => matches!(found, Outcome::Uncomputed(_) | Outcome::Unknown(_)),
            _ => !matches!(found, Outcome::Stale { .. } | Outcome::Uncomputed(_)),
        };
        assert!(agrees, "{}: {found:?} ({})", case["id"], case["why"]);
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}
