//! Gates for file tools and files that are written by other means: in commands, and by tools of MCP servers.

use std::fs;
use std::os::unix::fs::symlink;

use portcullis_e2e::{Answer, Project, Registry, dist, each, finish};
use serde_json::{Value, json};

const CONTRACT: &str = ".factory/specs/behavioral-contracts/BC-1.01.001.md";
const LIMIT: usize = 256;

/// A token that is nobody's, put together here.
fn key() -> String {
    format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
}

/// A project that both sets guard.
fn project() -> Project {
    let project = Project::default().foundry().factory();
    project.write(&format!("project/{CONTRACT}"), "# BC-1.01.001: Rows stay\n\nStatus: green\n");
    project.write("project/.factory/specs/behavioral-contracts/BC-2.01.001.md", "Status: draft\n");
    project.write("project/.reference/repo/lib.rs", "");
    project.write("project/package-lock.json", "{}\n");
    project.write("project/src/main.rs", "fn main() {}\n");
    project.write("project/sub/notes.md", "");
    symlink(project.path("project/.reference/repo"), project.path("project/vendor")).expect("a link");
    symlink(project.path("project").join(CONTRACT), project.path("project/contract.md")).expect("a link");
    project
}

fn judged(project: &Project, command: &str) -> Answer {
    let key = key();
    let (left, right) = key.split_at(20);
    let command = command.replace("KEY", &key).replace("LEFT", left).replace("RIGHT", right);
    project.call_shipped().event(&project.bash(&command)).answer()
}

/// A command (`KEY` stands for a credential), the decision and one of its rules or codes.
type Row = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const STOPPED: &[Row] = &[
    ("cat > config.ts <<'EOF'\nconst key = \"KEY\";\nEOF", "deny", "GitHub token"),
    ("cat > config.ts <<EOF\nconst home = \"$HOME/$x\", key = \"KEY\";\nEOF", "deny", "GitHub token"),
    ("cat <<'EOF' | tee -a sub/config.ts > /dev/null\nKEY\nEOF", "deny", "GitHub token"),
    ("echo 'token: KEY' >> notes.md", "deny", "GitHub token"),
    ("printf '%s' KEY > a.txt", "deny", "GitHub token"),
    ("printf LEFT > a; printf RIGHT >> a", "deny", "GitHub token"),
    ("mkdir -p x && bash -c 'cd x && echo KEY > y'", "deny", "GitHub token"),
    ("out=$(mktemp); echo KEY > \"$out\"", "deny", "GitHub token"),
    ("echo KEY | sed 's/a/b/' > config.ts", "deny", "GitHub token"),
    ("for f in a b; do echo KEY > $f.txt; done", "deny", "GitHub token"),
    ("sed -i 's/stay/go/' .factory/specs/behavioral-contracts/BC-1.01.001.md", "deny", "bc_green_immutable"),
    ("sed -i.bak -e 's/stay/go/' .factory/specs/behavioral-contracts/BC-*.md", "deny", "bc_green_immutable"),
    ("cd .factory/specs && perl -pi -e 's/a/b/' behavioral-contracts/BC-1.01.001.md", "deny", "bc_green_immutable"),
    ("cat > contract.md <<< 'Status: draft'", "deny", "bc_green_immutable"),
    ("rm .factory/specs/behavioral-contracts/BC-1.01.001.md", "deny", "bc_green_immutable"),
    ("mv .factory/specs/behavioral-contracts/BC-1.01.001.md old.md", "deny", "bc_green_immutable"),
    ("git mv sub/notes.md .factory/specs/behavioral-contracts/BC-1.01.001.md", "deny", "bc_green_immutable"),
    ("echo >> package-lock.json", "ask", "protected pattern"),
    ("cd sub && echo '{}' > ../package-lock.json", "ask", "protected pattern"),
    ("rm package-lock.json", "ask", "protected pattern"),
    ("cp /tmp/x .github/workflows/ci.yml", "ask", "protected pattern"),
    ("mkdir -p .github/workflows && tar xf w.tgz -C .github/workflows/ && cat > .github/workflows/a.yml < /tmp/a", "ask", "protected pattern"),
    ("cp src/main.rs .reference/repo/", "deny", "reference_readonly"),
    ("cp src/main.rs .reference", "deny", "reference_readonly"),
    ("cp -r src .reference/new", "deny", "reference_readonly"),
    ("mv src/main.rs .reference/repo/main.rs", "deny", "reference_readonly"),
    ("echo x | tee .reference/repo/a", "deny", "reference_readonly"),
    ("> .reference/repo/lib.rs", "deny", "reference_readonly"),
    ("dd if=/dev/zero of=.reference/repo/a bs=1 count=1", "deny", "reference_readonly"),
    ("rsync -a src/ .reference/repo/", "deny", "reference_readonly"),
    ("rsync -a --delete src/ .reference/repo/", "deny", "reference_readonly"),
    ("install -m 644 src/main.rs .reference/repo", "deny", "reference_readonly"),
    ("ln -sf ../../src/main.rs .reference/repo/main.rs", "deny", "reference_readonly"),
    ("ln -sf ../src/main.rs .reference", "deny", "reference_readonly"),
    ("tar xzf a.tgz -C .reference/repo", "deny", "reference_readonly"),
    ("sed -i s/a/b/ .reference/*/*.rs", "deny", "reference_readonly"),
    ("sed -i s/a/b/ vendor/lib.rs", "deny", "reference_readonly"),
    ("cd vendor && echo x > new.rs", "deny", "reference_readonly"),
    ("echo x > sub/../.reference/repo/a", "deny", "reference_readonly"),
    ("echo x > vendor/../other/a", "deny", "reference_readonly"),
    ("cp x 'C:\\work\\.reference\\a'", "deny", "reference_readonly"),
    ("echo x > '.reference\\a'", "deny", "reference_readonly"),
];

#[test]
fn what_a_file_gate_stops_a_command_cannot_do() {
    let project = project();
    each(
        STOPPED,
        |row| row.0,
        |(command, decision, word)| {
            let answer = judged(&project, command);
            assert_eq!(answer.decision(), Some(*decision), "{answer:#?}");
            assert!(answer.reason().contains(word) && answer.reason().contains("(through this Bash command"), "{answer:#?}");
            assert!(!answer.everything().contains(&key()), "the value is told: {answer:#?}");
        },
    );
}

#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "ls > /dev/null 2>&1; echo x > /dev/stderr; echo > /dev/tcp/localhost/1",
    "cargo build > /tmp/build.log 2>&1 || tail /tmp/build.log",
    "mkdir -p target dist && tsc --outDir dist && cat src/a.js src/b.js > dist/bundle.js",
    "git checkout package-lock.json && git restore src/main.rs && git stash",
    "git checkout main -- .reference package-lock.json",
    "npm test | tee log.txt",
    "echo '- done' >> notes.md",
    "out=\"$1\"; echo done > \"$out\"; date >> \"$LOG\"; cat > \"$ROOT/.factory/notes.md\" <<'EOF'\nx\nEOF",
    "cd \"$(mktemp -d)\" && echo '{}' > package-lock.json && mkdir .reference && echo > .reference/x",
    "touch src/main.rs package-lock.json .factory/specs/behavioral-contracts/BC-1.01.001.md",
    "cp .reference/repo/lib.rs src/lib.rs && grep -r x .reference vendor > found.txt",
    "cat > src/new.rs <<'EOF'\nfn f() { let key = std::env::var(\"KEY_NAME\"); }\nEOF",
    "sed -n 's/a/b/p' package-lock.json .factory/specs/behavioral-contracts/BC-1.01.001.md",
    "sed -i 's/draft/review/' .factory/specs/behavioral-contracts/BC-2.01.001.md",
    "chmod +x run.sh; chmod 644 package-lock.json",
    "rm -f sub/notes.md .factory/tmp.md missing/package-lock.json",
    "git diff > /tmp/p.diff; git commit -am 'sed -i package-lock.json > .reference/x'",
    "python3 - <<'EOF'\nopen('x', 'w').write('> package-lock.json')\nEOF",
    "echo 'echo x > .reference/a'; cat <<'EOF'\n> package-lock.json\nEOF",
    "diff <(sort a) <(sort b) > d.txt; sort -o out.txt in.txt",
    "ssh host 'echo x > package-lock.json'; docker exec web sh -c 'echo > .reference/x'",
    "tar xzf a.tgz && unzip -d vendor2 b.zip && curl -sO https://example.com/c.txt",
    "sed -i s/a/b/ missing.md .reference-notes.md; truncate -s 0 log.txt; : > empty",
    "mv src/main.rs src/app.rs && ln -s ../src/app.rs sub/app.rs",
];

#[test]
fn ordinary_commands_pass() {
    let project = project();
    each(
        ORDINARY,
        |command| command,
        |command| {
            let answer = project.call_shipped().event(&project.bash(command)).answer();
            assert_eq!(answer.stdout, "", "{answer:#?}");
        },
    );
}

#[test]
fn a_deleted_tree_is_one_answer() {
    let project = project();
    let answer = judged(&project, "rm -rf src .reference/repo");
    assert_eq!(answer.decision(), Some("deny"), "{answer:#?}");
    assert!(!answer.reason().contains("(through"), "{answer:#?}");
}

#[test]
fn every_shell_tool_counts() {
    let project = project();
    for tool in ["Bash", "Monitor", "PowerShell"] {
        let mut event = project.bash("echo x > .reference/repo/a");
        event["tool_name"] = tool.into();
        let answer = project.call_shipped().event(&event).answer();
        assert_eq!(answer.decision(), Some("deny"), "{tool}: {answer:#?}");
        assert!(answer.reason().contains(&format!("(through this {tool} command")), "{tool}: {answer:#?}");
    }
    let mut event = project.bash("Get-Date > .reference\\repo\\a");
    event["tool_name"] = "PowerShell".into();
    assert_eq!(project.call_shipped().event(&event).answer().decision(), Some("deny"), "a backslash is no escape there");
}

/// A table whose second row has a cell too many.
const BROKEN: &str = "# Story\n\n| A | B |\n|---|---|\n| 1 | 2 | 3 |\n";

fn after(project: &Project, name: &str, command: &str, fields: Value) -> Answer {
    let mut event = project.bash(command);
    event["hook_event_name"] = name.into();
    event.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    project.call_shipped().event(&event).answer()
}

#[test]
fn what_a_command_wrote_is_validated() {
    let project = project();
    project.write("project/.factory/stories/STORY-001.md", BROKEN);
    let write = "cat <<'EOF' > .factory/stories/STORY-001.md\nwhatever it says\nEOF";
    let done = json!({"tool_response": {"stdout": "", "interrupted": false}, "duration_ms": 12});
    let failed = json!({"error": "Exit code 1", "duration_ms": 12});
    for (name, command, fields) in [
        ("PostToolUse", write, &done),
        ("PostToolUseFailure", "sed -i s/a/b/ .factory/stories/STORY-001.md && false", &failed),
        ("PostToolUse", "cp -r drafts/. .factory/stories/", &done),
        ("PostToolUse", "tar xf stories.tgz -C .factory", &done),
    ] {
        let answer = after(&project, name, command, fields.clone());
        assert_eq!(answer.json["decision"], "block", "{command}: {answer:#?}");
        let reason = answer.json["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("table_cell_count_mismatch"), "{command}: {answer:#?}");
        assert!(reason.contains("(through this Bash command"), "{command}: {answer:#?}");
    }
    for command in
        ["git checkout -- .factory/stories/STORY-001.md", "cat .factory/stories/STORY-001.md", "rm .factory/gone.md", "ls"]
    {
        let answer = after(&project, "PostToolUse", command, done.clone());
        assert_eq!(answer.stdout, "", "{command}: {answer:#?}");
    }
}

#[test]
fn tools_of_mcp_servers_write_files_too() {
    let project = project();
    let call = |tool: &str, input: Value| {
        let mut event = project.bash("");
        event["tool_name"] = tool.into();
        event["tool_input"] = input;
        project.call_shipped().event(&event).answer()
    };
    let edits = json!([{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": format!("\"{}\"", key())}]);
    let reference = project.name("project/.reference/repo/lib.rs");
    for (tool, input, decision) in [
        ("mcp__filesystem__write_file", json!({"path": project.path("project/a.ts"), "content": key()}), Some("deny")),
        ("mcp__fs__edit_file", json!({"path": project.path("project/a.ts"), "edits": edits}), Some("deny")),
        ("mcp__fs__move_file", json!({"source": reference, "destination": project.path("project/a")}), Some("deny")),
        ("mcp__fs__move_file", json!({"source": project.path("project/src/main.rs"), "destination": reference}), Some("deny")),
        (
            "mcp__plugin_serena_serena__create_text_file",
            json!({"relative_path": "package-lock.json", "content": "{}"}),
            Some("ask"),
        ),
        ("mcp__serena__replace_symbol_body", json!({"relative_path": "vendor/lib.rs", "body": "x"}), Some("deny")),
        ("mcp__Desktop_Commander__write_file", json!({"path": "a.ts", "content": key(), "mode": "append"}), Some("deny")),
        ("mcp__filesystem__write_file", json!({"path": project.path("project/a.ts"), "content": "x"}), None),
        ("mcp__filesystem__read_file", json!({"path": reference}), None),
        ("mcp__github__create_or_update_file", json!({"path": "package-lock.json", "content": "x"}), None),
    ] {
        let answer = call(tool, input.clone());
        assert_eq!(answer.decision(), decision, "{tool} {input}: {answer:#?}");
        assert!(decision.is_none() || answer.reason().contains(&format!("(through {tool}, which")), "{answer:#?}");
    }
    project.write("project/.factory/stories/STORY-001.md", BROKEN);
    let mut event = project.bash("");
    event["hook_event_name"] = "PostToolUse".into();
    event["tool_name"] = "mcp__fs__write_file".into();
    event["tool_input"] = json!({"path": project.path("project/.factory/stories/STORY-001.md"), "content": BROKEN});
    let answer = project.call_shipped().event(&event).answer();
    assert!(answer.json["reason"].as_str().unwrap_or_default().contains("table_cell_count_mismatch"), "{answer:#?}");
}

#[test]
fn a_gate_reads_in_its_event_what_it_is() {
    let project = Project::default();
    let shown = |command: &str, part: &str| {
        let say = format!("{{ block = 'seen', if = '{part}' }}");
        let registry = Registry::default().speaker("gate", "PreToolUse", &say, "tool = 'Write|Edit'");
        project.hook(&registry, &project.bash(command)).decision() == Some("deny")
    };
    project.write("project/old", "x\n");
    for (command, part) in [
        ("echo x > new", r#""tool_name":"Write","tool_input":{"file_path":"#),
        ("echo x > new", r#"/new","content":"x\n"},"derived":{"tool":"Bash","effect":"write"}"#),
        ("echo x >> new", r#"/new","content":"x\n"},"derived":{"tool":"Bash","effect":"write"}"#),
        ("echo x >> old", r#""tool_name":"Edit","tool_input":{"file_path":"#),
        ("echo x >> old", r#"/old","new_string":"x\n"},"derived":{"tool":"Bash","effect":"append"}"#),
        ("echo x$y > new", r#""tool_name":"Edit","tool_input":{"file_path":"#),
        ("sort > new", r#"/new"},"derived":{"tool":"Bash","effect":"write"}"#),
        ("sed -i s/a/b/ old", r#"/old"},"derived":{"tool":"Bash","effect":"edit"}"#),
        ("rm old", r#"/old"},"derived":{"tool":"Bash","effect":"delete"}"#),
        ("echo x > $a/b", r#""file_path":"/?/b""#),
    ] {
        assert!(shown(command, part), "{command}: {part}");
    }
    assert!(!shown("sort > new", r#""content""#), "what is not known is absent");
    assert!(!shown("echo x > new", r#""command""#), "the command is another event's");
}

#[test]
fn a_stanza_opts_out_and_one_for_write_alone_sees_every_write() {
    let project = Project::default();
    for (stanza, command, decision) in [
        ("tool = 'Write|Edit'", "echo x > a", Some("deny")),
        ("tool = 'Write|Edit'\nderived = false", "echo x > a", None),
        ("tool = 'Write'", "echo x$y > a", Some("deny")),
        ("tool = 'Edit'", "echo x > a", None),
        ("tool = 'Write|Edit'\npaths = ['src/**']", "echo x > a", None),
        ("tool = 'Write|Edit'\npaths = ['src/**']", "cd src; echo x > a", Some("deny")),
        ("tool = 'Write|Edit'\nrequires = '.nowhere'", "echo x > a", None),
        ("matcher = 'Write'", "echo x > a", Some("deny")),
        ("tool = 'Write|Edit'", "echo x", None),
    ] {
        let registry = Registry::default().speaker("gate", "PreToolUse", "{ block = 'no' }", stanza);
        let answer = project.hook(&registry, &project.bash(command));
        assert_eq!(answer.decision(), decision, "{stanza}: {command}: {answer:#?}");
    }
}

#[test]
fn many_files_are_one_finding_and_too_many_a_question() {
    let project = Project::default();
    let write = |count: usize| (0..count).map(|number| format!("echo x > f{number}\n")).collect::<String>();
    let block = Registry::default().speaker("gate", "PreToolUse", "{ block = 'no', event = 'e' }", "tool = 'Write'");
    let answer = project.hook(&block, &project.bash(&write(12)));
    assert_eq!(answer.decision(), Some("deny"), "{answer:#?}");
    assert_eq!(answer.reason().matches("(through this Bash command").count(), 5, "{answer:#?}");
    assert!(answer.reason().starts_with("no (through this Bash command, whose `echo` writes `f0`)\n(through"), "{answer:#?}");
    assert!(answer.reason().ends_with("\n(and 7 more)"), "{answer:#?}");
    let told = answer.events_of("e");
    assert!(told.len() == 12 && told.iter().all(|event| event["derived"] == true), "{answer:#?}");
    let decision = answer.events_of("dispatcher.decision");
    let [gate] = decision[0]["gates"].as_array().expect("gates").as_slice() else { panic!("{decision:#?}") };
    assert_eq!((&gate["derived"], &gate["verdict"], &gate["files"][1]), (&json!(12), &json!("block"), &json!("f1")), "{gate}");
    assert_eq!(gate["files"].as_array().map(Vec::len), Some(8), "{gate}");

    let pass = Registry::default().speaker("gate", "PreToolUse", "", "tool = 'Write'");
    assert_eq!(project.hook(&pass, &project.bash(&write(LIMIT))).stdout, "");
    let answer = project.hook(&pass, &project.bash(&write(LIMIT + 3)));
    assert_eq!(answer.decision(), Some("ask"), "{answer:#?}");
    assert!(answer.reason().contains("makes 259 changes of files") && answer.reason().contains("the other 3"), "{answer:#?}");
    let elsewhere = Registry::default().speaker("gate", "PreToolUse", "", "tool = 'Write'\npaths = ['src/**']");
    assert_eq!(project.hook(&elsewhere, &project.bash(&write(LIMIT + 3))).stdout, "", "no gate is for these files");
}

/// Sixty kilobytes of the shortest writes: there is an answer in time, and it is no consent.
#[test]
fn a_command_that_writes_thousands_of_files_is_answered() {
    let project = project();
    for part in ["> aNUMBER;", "echo NUMBER>a;", "cp a bNUMBER;", "rm aNUMBER;"] {
        let command: String = (0..).map(|number| part.replace("NUMBER", &number.to_string())).take(60_000 / part.len()).collect();
        let answer = judged(&project, &format!("{command}\necho x > .reference/repo/a"));
        assert!(answer.decision().is_some(), "{part}: {:.1000}", answer.everything());
        assert!(answer.elapsed < std::time::Duration::from_secs(20), "{part}: {:?}", answer.elapsed);
    }
}

#[test]
fn a_rewrite_of_a_part_is_a_question() {
    let project = Project::default();
    let say = r#"{ rewrite = '{"file_path":"a","content":"y"}' }"#;
    let registry = Registry::default().speaker("gate", "PreToolUse", say, "tool = 'Write'");
    let answer = project.hook(&registry, &project.bash("echo x > a"));
    assert_eq!(answer.decision(), Some("ask"), "{answer:#?}");
    assert!(answer.reason().contains("Write the file with the Write or Edit tool"), "{answer:#?}");
    assert_eq!(answer.json.pointer("/hookSpecificOutput/updatedInput"), None, "{answer:#?}");
}

/// A gate rewrites the command; what is judged is what will be run.
#[test]
fn files_of_a_rewritten_command_are_judged() {
    let project = Project::default();
    let registry = Registry::default()
        .speaker("rewriter", "PreToolUse", "{ append = ' > a' }", "tool = 'Bash'\npriority = 900")
        .speaker("gate", "PreToolUse", "{ block = 'no' }", "tool = 'Write'\npriority = 1");
    assert_eq!(project.hook(&registry, &project.bash("echo x")).decision(), Some("deny"));
}

#[test]
fn a_gate_that_cannot_judge_a_file_fails_as_it_says() {
    let project = Project::default();
    for (on_error, decision) in [("block", Some("deny")), ("ask", Some("ask")), ("continue", None)] {
        let stanza = format!("tool = 'Write'\non_error = '{on_error}'");
        let registry = Registry::default().speaker("gate", "PreToolUse", "{ fail = 'f' }", &stanza);
        let answer = project.hook(&registry, &project.bash("echo x > a"));
        assert_eq!(answer.decision(), decision, "{answer:#?}");
        assert!(answer.system_message().contains("`gate` could not judge"), "{answer:#?}");
        // An analyser that is not there: no file can be looked for.
        let broken = Registry::default().setting("analyzer", "'nowhere.wasm'").speaker("gate", "PreToolUse", "", &stanza);
        let answer = project.hook(&broken, &project.bash("echo x > a"));
        assert_eq!(answer.decision(), decision, "{answer:#?}");
        assert!(answer.system_message().contains("could not be analysed"), "{answer:#?}");
    }
}

#[test]
fn check_and_explain_show_files_and_their_gates() {
    let project = project();
    let command = format!("cat > sub/config.ts <<'EOF'\n{}\nEOF", key());
    let registry = dist().join("registry.toml").display().to_string();
    let show = |arguments: &[&str]| {
        let mut dispatcher = project.dispatcher();
        let out = project.path("shown");
        let to = || fs::File::create(&out).expect("a file of the scratch");
        dispatcher.args(arguments).args(["--registry", &registry]);
        dispatcher.stdout(to()).stderr(std::process::Stdio::null());
        finish(&mut dispatcher, std::time::Duration::from_secs(30)).unwrap_or_else(|failure| panic!("{failure}"));
        fs::read_to_string(&out).expect("what it shows")
    };
    let checked = show(&["check", &command]);
    assert!(checked.contains("gate        guard-write: block on Write of sub/config.ts secret:github-token"), "{checked}");
    assert!(checked.contains("decision    deny by secret:github-token"), "{checked}");
    let explained = show(&["explain", "--bash", &command]);
    assert!(explained.contains("guard-write: block on Write of sub/config.ts ("), "{explained}");
    let json: Value = serde_json::from_str(&show(&["check", &command, "--json"])).expect("JSON");
    let gates = json["gates"].as_array().expect("gates");
    let guard = gates.iter().find(|gate| gate["gate"] == "guard-write").expect("the guard");
    assert_eq!(guard["derived"], json!({"tool": "Write", "file": "sub/config.ts"}));
}
