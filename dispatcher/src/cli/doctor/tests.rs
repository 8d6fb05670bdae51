use super::*;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    scratch
}

#[test]
fn every_fault_of_a_project_is_found_with_its_remedy() {
    for (files, state, found, remedy) in [
        (vec![(".foundry/config.json", "{}")], State::Ok, "config.json", ""),
        (vec![(".foundry/config.json", "{")], State::Error, "every setting has its default", "Correct it"),
        (
            vec![(".foundry/config.json", r#"{"_note": 1, "secretscan": true}"#)],
            State::Warning,
            "`secretscan` is no setting",
            "`secretScan`",
        ),
        (vec![(".foundry/config.json", r#"{"enforcement": "OFF"}"#)], State::Error, "its default counts", "\"warn\""),
        (vec![(".foundry/config.json", r#"{"enforcement": "off"}"#)], State::Warning, "nothing is stopped", "Remove the line"),
        (vec![(".foundry/config.json", r#"{"secretScan": false}"#)], State::Warning, "not searched", "Remove the line"),
        (vec![(".foundry/overrides.json", "[")], State::Error, "nothing is overridden", "Correct it"),
        (
            vec![(".foundry/overrides.json", r#"{"overrides":[{"gate":"r","reason":"x","expires":"2020-01-01"}]}"#)],
            State::Error,
            "stands again: r (2020-01-01)",
            "Remove what",
        ),
        (
            vec![(".foundry/overrides.json", r#"{"overrides":[{"gate":"r","expires":"2099-01-01"}]}"#)],
            State::Error,
            "`reason` is missing",
            "Correct or remove",
        ),
        (
            vec![(".foundry/memory/facts/a.md", "---\nid: fact-0001\ntype: 'decision'\n---\nbody")],
            State::Warning,
            "a.md does not say why",
            "**Why:**",
        ),
        (
            vec![(".foundry/memory/facts/a.md", "---\ntype: decision\n---\nbody")],
            State::Warning,
            "a.md is no fact",
            "`id: fact-NNNN`",
        ),
        (
            vec![
                (".foundry/memory/facts/a.md", "---\nid: fact-0001\ntitle: 'Same'\n---\n"),
                (".foundry/memory/facts/b.md", "---\nid: fact-0002\ntitle: Same\n---\n"),
            ],
            State::Warning,
            "a.md, b.md are all called \"Same\"",
            "supersede",
        ),
        (
            vec![
                (".foundry/memory/INDEX.md", "# Memory\n"),
                (".foundry/memory/facts/a.md", "---\nid: fact-0001\ntitle: A\n---\nid: fact-0009\n"),
                (".foundry/memory/facts/b.md", "---\nid: fact-0002\nexpires: 2020-01-01\n---\n"),
                (".foundry/memory/facts/c.md", "---\nid: fact-0003\nexpires: some day\n---\n"),
                (".foundry/memory/facts/d.md", "---\nid: fact-0004\n---\nsupersedes: fact-0001\n"),
                (".foundry/memory/facts/e.md", "---\nid: fact-0005\nsupersedes: 'fact-0004'\n---\n"),
            ],
            State::Warning,
            "INDEX.md does not name fact-0001, fact-0003, fact-0005",
            "Remove it",
        ),
        (vec![(".foundry/runbooks/d.md", "Deploy it")], State::Warning, "d.md has no way back", "## Rollback"),
    ] {
        let scratch = project(&files);
        let checks = foundry::checks(scratch.path());
        let hit = checks.iter().find(|check| check.found.contains(found));
        let hit = hit.unwrap_or_else(|| panic!("{found:?} not among {checks:?}"));
        assert!(hit.state == state && hit.remedy.contains(remedy), "{hit:?}");
    }
}

#[test]
fn the_safe_repairs_repair() {
    let scratch = project(&[
        (
            ".foundry/overrides.json",
            r#"{"overrides":[{"gate":"r","reason":"x","expires":"2020-01-01"},{"gate":"s","reason":"x","expires":"2099-01-01"}]}"#,
        ),
        (".git/HEAD", "ref: refs/heads/main"),
    ]);
    let checks = foundry::checks(scratch.path());
    for (path, content) in checks.iter().filter_map(|check| check.fix.as_ref()) {
        repair(path, content, true).unwrap();
    }
    let after = foundry::checks(scratch.path());
    assert!(after.iter().all(|check| check.fix.is_none()), "{after:?}");
    assert!(fs::read_to_string(scratch.path().join(".foundry/overrides.json")).unwrap().contains("\"s\""));
}
