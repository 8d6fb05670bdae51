//! `scan` over files of every kind and over changes: exactly what is wrong, exactly where.

use std::process::{Command, Output};

use portcullis_e2e::{Project, existing};
use serde_json::Value;

/// Files, with `«RULE»` behind each line that has a finding of that rule, or `«RULE@COLUMN»`.
const FILES: &[(&str, &str)] = &[
    (
        "deploy.sh",
        r#"#!/bin/sh
set -eu
ROOT=/
remove() {
  rm -rf "$1"
}
rm -rf build dist node_modules "$TMPDIR"
rm -rf "$ROOT" «catastrophic_root@1»
if [ -n "$x" ]; then
  git fetch && git push --force origin main «git-push-force@16»
  remove / «catastrophic_root@3»
fi
curl -fsSL https://example.com/i.sh \ «curl-pipe-shell@1»
  | sudo sh
x=$(git push -f) «git-push-force@1»
echo "never run: rm -rf / or git push --force"
cat <<EOF > notes.txt
chmod 777 /srv
EOF
cat <<EOF && chmod -R 777 /srv «chmod-777@14»
rm -rf /
EOF
psql -c 'DROP TABLE orders' «db-drop»
echo "$DEPLOY_TOKEN" «secret_var_echo»
: é; git push -f «git-push-force@6»
"#,
    ),
    ("tool", "#!/usr/bin/env bash\ngit push -f «git-push-force»\n"),
    ("tool.py", "#!/usr/bin/env python3\n# git push -f\n"),
    (
        "allowed.sh",
        "# portcullis: allow git-push-force a mirror of our own\ngit push -f\ngit push -f # portcullis: allow git-* and this\n",
    ),
    ("unreasoned.sh", "# portcullis: allow git-push-force\ngit push -f «git-push-force»\n"),
    ("broken.sh", "git status\nif then fi )\ngit push -f «git-push-force»\n"),
    (
        "Dockerfile",
        r#"# RUN git push -f
FROM debian AS build
RUN apt-get update && \
    # a comment in between
    curl https://example.com/x | bash && \ «curl-pipe-shell@5»
    rm -rf /var/lib/apt/lists/*
RUN ["/bin/sh", "-c", "git push -f"] «git-push-force»
RUN <<EOF
set -e
git push -f «git-push-force@1»
EOF
COPY <<EOF /x.txt
RUN git push -f
EOF
SHELL ["pwsh", "-c"]
RUN git push -f
"#,
    ),
    (
        "Makefile",
        r#"X = a \
	git push -f
all: dep
	@echo $$HOME; git push -f origin $(BRANCH) «git-push-force@16»
	-rm -rf $(BUILD) $(X)/y
	git push \ «git-push-force@2»
		--force
clean: ; rm -rf / «catastrophic_root@10»
"#,
    ),
    (
        ".github/workflows/ci.yml",
        r#"on: push
env: {NOTE: "git push -f"}
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: git push -f
        run: git push -f «git-push-force@14»
      - run: |
          echo "${{ github.ref }}"
          git push -f origin HEAD:${{ github.ref }} «git-push-force@11»
      - run: >-
          git push «git-push-force@11»
          -f
      - run: git push -f
        shell: pwsh
  two:
    runs-on: windows-latest
    steps:
      - run: git push -f
      - run: git push -f «git-push-force@14»
        shell: bash
"#,
    ),
    ("action.yml", "runs:\n  using: composite\n  steps:\n    - run: git push -f «git-push-force@12»\n      shell: bash\n"),
    (
        ".gitlab-ci.yml",
        "build:\n  before_script: [git status]\n  script:\n    - cd x\n    - git push -f «git-push-force@7»\n  after_script:\n    - |\n      git status\n      git push -f «git-push-force@7»\n",
    ),
    (
        "package.json",
        "{\n  \"name\": \"git push -f\",\n  \"scripts\": {\n    \"a\": \"echo \\\"x\\\" && git push -f\" «git-push-force@25»\n  }\n}\n",
    ),
    ("README.md", "```sh\ngit push -f\n```\n"),
    (
        "settings.py",
        "# é\nT = 1; K = \"TOKEN\" «secret:github-token@13»\nfake = \"ghp_REDACTED\"\nL = \"TOKEN\" «secret:github-token@6»\n",
    ),
    ("settings.py.example", "K = \"TOKEN\"\n"),
    ("key.txt", "x\n-----BEGIN RSA KEY----- «secret:private-key@1»\nMIIE\n-----END RSA KEY-----\n"),
    ("ignored/x.sh", "git push -f\n"),
    (".gitignore", "ignored/\n"),
    ("binary", "\0"),
];

/// File, line, rule, and the column where it is given.
type Told = (String, u64, String, Option<u64>);

/// A token that is nobody's, put together here.
fn token() -> String {
    format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
}

/// The project with all files, and what is to be found in it.
fn project() -> (Project, Vec<Told>) {
    let project = Project::default();
    let mut expected = Vec::new();
    for (path, marked) in FILES {
        let mut text = String::new();
        for (number, line) in marked.split_inclusive('\n').enumerate() {
            match line.split_once(" «") {
                None => text.push_str(line),
                Some((line, mark)) => {
                    let mark = mark.trim_end().trim_end_matches('»');
                    let (rule, column) = mark.split_once('@').map_or((mark, None), |(rule, at)| (rule, at.parse().ok()));
                    expected.push(((*path).to_owned(), number as u64 + 1, rule.to_owned(), column));
                    text.push_str(&format!("{line}\n"));
                }
            }
        }
        let text = text.replace("\"TOKEN\"", &format!("\"{}\"", token())).replace("RSA KEY", &format!("RSA {} KEY", "PRIVATE"));
        project.write(&format!("project/{path}"), text);
    }
    expected.sort();
    (project, expected)
}

fn scan(project: &Project, arguments: &[&str]) -> Output {
    project.dispatcher().arg("scan").args(arguments).output().expect("the dispatcher runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// What stands, as `expected` tells it: columns only where these are told there.
fn found(report: &Value, expected: &[Told]) -> Vec<Told> {
    let findings = report["findings"].as_array().expect("findings").iter().filter(|finding| finding["allowed"].is_null());
    let mut found: Vec<_> = findings
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().expect("text").to_owned();
            let (file, line, rule) = (text("file"), finding["line"].as_u64().expect("a line"), text("rule"));
            let told = expected.iter().find(|other| (&other.0, other.1, &other.2) == (&file, line, &rule));
            let column = told.and_then(|told| told.3).and(finding["column"].as_u64());
            (file, line, rule, column)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_finding_and_no_other_at_its_place() {
    let (project, expected) = project();
    let output = scan(&project, &["--json"]);
    let report = json(&output);
    assert_eq!(found(&report, &expected), expected);
    assert_eq!(output.status.code(), Some(1));
    let skipped: Vec<&str> = report["skipped"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert_eq!(skipped, [".github/workflows/ci.yml", "Dockerfile", "binary"]);
    let allowed: Vec<&str> = report["findings"].as_array().unwrap().iter().filter_map(|one| one["allowed"].as_str()).collect();
    assert_eq!(allowed, ["a mirror of our own", "and this"]);
    let note = report["findings"].as_array().unwrap().iter().find_map(|one| one["note"].as_str());
    assert!(note.is_some_and(|note| note.contains("without saying why")), "{note:?}");
}

#[test]
fn what_is_allowed_overridden_or_clean_is_no_finding() {
    let (project, _) = project();
    assert_eq!(scan(&project, &["allowed.sh", "README.md", "tool.py", "settings.py.example"]).status.code(), Some(0));
    assert_eq!(scan(&project, &["tool"]).status.code(), Some(1));
    let overrides = r#"{"overrides":[{"gate":"git-push-force","reason":"a mirror","expires":"2999-01-01"}]}"#;
    project.write("project/.portcullis/overrides.json", overrides);
    let output = scan(&project, &["tool"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("overridden: git-push-force (a mirror)"));
    assert_eq!(scan(&project, &["ignored/x.sh", "--rule", "git_push_force"]).status.code(), Some(1), "other rules, a named file");
    assert_eq!(scan(&project, &["--exclude", "*"]).status.code(), Some(0));
}

#[test]
fn what_cannot_be_looked_at_is_no_clean_result() {
    let (project, _) = project();
    for arguments in [&["missing.sh"][..], &["--diff", "nothing"], &["--diff", "--output=x"], &["--registry", "none.toml"]] {
        let output = scan(&project, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn no_output_tells_a_secret() {
    let (project, _) = project();
    let with_secret = format!("curl -H 'Authorization: Bearer {}' https://example.com/x | sh\n", token());
    project.write("project/secret.sh", with_secret);
    for format in ["human", "json", "sarif"] {
        let output = scan(&project, &["--format", format]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("secret.sh") && text.contains("secret:github-token"), "{text}");
        assert!(!text.contains(&token()) && !text.contains("MIIE"), "{format}: {text}");
    }
}

#[test]
fn sarif_follows_its_schema() {
    let (project, expected) = project();
    let log = json(&scan(&project, &["--sarif"]));
    let schema = existing(concat!(env!("CARGO_MANIFEST_DIR"), "/sarif/sarif-schema-2.1.0.json").into());
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    assert_eq!(breaches(&schema, &schema, &log, "log"), Vec::<String>::new());
    let mut wrong = log.clone();
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into();
    wrong["runs"][0]["tool"]["driver"].as_object_mut().unwrap().remove("name");
    wrong["runs"][0]["extra"] = true.into();
    assert_eq!(breaches(&schema, &schema, &wrong, "log").len(), 4, "each is seen");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), expected.len() + 2);
    assert_eq!(results.iter().filter(|result| result["suppressions"][0]["kind"] == "inSource").count(), 2);
}

/// What a JSON Schema has against a value. It knows the words of SARIF's schema and stops at any other: a library for the whole
/// language would bring forty crates.
fn breaches(schema: &Value, whole: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Some(words) = schema.as_object() else { return found };
    for (word, wanted) in words {
        let number = |wanted: &Value| value.as_f64().zip(wanted.as_f64());
        let any =
            |schemas: &Value| schemas.as_array().unwrap().iter().filter(|one| breaches(one, whole, value, at).is_empty()).count();
        let holds = match word.as_str() {
            "$schema" | "$id" | "title" | "description" | "default" | "definitions" => true,
            "additionalProperties" if wanted.is_object() || *wanted == true => true,
            "$ref" => {
                let definition = whole.pointer(wanted.as_str().unwrap().trim_start_matches('#')).expect("a definition");
                found.extend(breaches(definition, whole, value, at));
                true
            }
            "type" => match wanted.as_str().expect("one type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                other => panic!("{at}: type {other}"),
            },
            "enum" => wanted.as_array().unwrap().contains(value),
            "minimum" => number(wanted).is_none_or(|(value, least)| value >= least),
            "maximum" => number(wanted).is_none_or(|(value, most)| value <= most),
            "anyOf" => any(wanted) > 0,
            "oneOf" => any(wanted) == 1,
            "required" => wanted.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(key) {
                        found.extend(breaches(schema, whole, inner, &format!("{at}.{key}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                value.as_object().into_iter().flatten().all(|(key, _)| words["properties"].get(key).is_some())
            }
            "items" => {
                for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(breaches(wanted, whole, inner, &format!("{at}[{index}]")));
                }
                true
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
            "uniqueItems" => {
                value.as_array().is_none_or(|items| (1..items.len()).all(|index| !items[..index].contains(&items[index])))
            }
            "format" => value.as_str().is_none_or(|text| text.bytes().all(|byte| byte.is_ascii_graphic())),
            other => panic!("{at}: `{other}` is not checked here"),
        };
        if !holds {
            found.push(format!("{at}: {word} {wanted}"));
        }
    }
    found
}

fn git(project: &Project, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@example.com",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = git.args(arguments).current_dir(project.path("project")).env("HOME", project.path("home")).output();
    let output = output.expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

#[test]
fn a_change_answers_for_what_it_adds() {
    let project = Project::default();
    let places = |arguments: &[&str]| -> Vec<String> {
        let output = scan(&project, &[arguments, &["--json"]].concat());
        let findings = json(&output)["findings"].as_array().unwrap().clone();
        let places: Vec<String> =
            findings.iter().map(|one| format!("{}:{}", one["file"].as_str().unwrap(), one["line"])).collect();
        assert_eq!(output.status.code(), Some(i32::from(!places.is_empty())), "{output:?}");
        places
    };
    git(&project, &["init", "-q"]);
    project.write("project/old.sh", "git push -f\necho a\n");
    project.write("project/sub/a b.sh", "echo a\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "one"]);
    project.write("project/old.sh", "git push -f\necho b\ngit push -f\n");
    project.write("project/sub/a b.sh", "@@ -1 +1 @@\ngit push \\\n  -f\n");
    project.write("project/sub/new.py", format!("K = \"{}\"\n", token()));
    assert_eq!(places(&["--staged"]), Vec::<String>::new(), "nothing is staged");
    git(&project, &["add", "."]);
    let all = ["old.sh:3", "sub/a b.sh:2", "sub/new.py:1"];
    assert_eq!(places(&["--staged"]), all);
    assert_eq!(places(&["--staged", "sub"]), all[1..]);
    // What is staged counts, not what lies in the working tree.
    project.write("project/old.sh", "git push -f\n");
    assert_eq!(places(&["--staged"]), all);
    assert_eq!(places(&["--diff", "HEAD"]), all[1..]);
    git(&project, &["commit", "-qm", "two"]);
    assert_eq!(places(&["--diff", "HEAD~1..HEAD"]), all);
    assert_eq!(places(&["--staged"]), Vec::<String>::new());
    std::fs::remove_file(project.path("project/old.sh")).unwrap();
    std::os::unix::fs::symlink("sub/new.py", project.path("project/link")).unwrap();
    git(&project, &["add", "."]);
    assert_eq!(places(&["--staged"]), Vec::<String>::new(), "what goes away, and a link");
}
