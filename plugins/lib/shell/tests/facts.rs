//! The facts that rules need beyond the list of commands: pipelines, ways, expansions, here-documents, launchers.
#![cfg(feature = "analyze")]
#![allow(missing_docs)]

use portcullis_sdk::shell::{Analysis, Command, ExpansionKind, RedirectionKind, Route, WordPart};
use portcullis_shell::{Context, analyze, git};

fn analysed(text: &str) -> Analysis {
    let context = Context { cwd: "/home/dev/project".into(), project_root: "/home/dev/project".into(), home: None };
    analyze(text, &context)
}

fn command<'a>(analysis: &'a Analysis, program: &str) -> &'a Command {
    analysis.commands.iter().find(|command| command.program == program).unwrap_or_else(|| panic!("no {program}"))
}

/// Whether `later` stands in a later stage of a pipeline that `earlier` stands in too.
fn flows(earlier: &Command, later: &Command) -> bool {
    earlier.stages.iter().any(|a| later.stages.iter().any(|b| a.pipeline == b.pipeline && a.position < b.position))
}

#[test]
fn a_download_that_reaches_a_shell_is_seen_through_groups_and_filters() {
    for (text, expected) in [
        ("curl x | sh", true),
        ("curl x | tee y | sudo -E bash -", true),
        ("curl x |\n sh", true),
        ("(cd /tmp; curl x) | { true; sh; }", true),
        ("if a; then curl x; fi | while b; do sh; done", true),
        ("f() { sh; }; curl x | f", true),
        ("curl x | env sh -c sh", true),
        ("curl x || sh", false),
        ("curl x; sh", false),
        ("sh | curl x", false),
    ] {
        let analysis = analysed(text);
        let runs = analysis.commands.iter().any(|shell| shell.program_from_input && flows(command(&analysis, "curl"), shell));
        assert_eq!(runs, expected, "{text}");
    }
}

#[test]
fn the_commands_behind_an_expansion_are_named() {
    let analysis = analysed("sh -c \"$(curl -s x | cat) y\"");
    let script = &command(&analysis, "sh").words[2];
    assert_eq!(script.raw, "\"$(curl -s x | cat) y\"");
    let [WordPart::Expansion(expansion), WordPart::Literal(rest)] = script.parts.as_slice() else { panic!("{script:?}") };
    assert_eq!((expansion.kind, expansion.raw.as_str(), rest.as_str()), (ExpansionKind::Command, "$(curl -s x | cat)", " y"));
    let programs: Vec<&str> =
        expansion.commands.iter().map(|index| analysis.commands[*index as usize].program.as_str()).collect();
    assert_eq!(programs, ["curl", "cat"]);
    assert!(!analysis.unknowns.is_empty());

    let analysis = analysed("bash <(curl x)");
    let [WordPart::Expansion(expansion)] = command(&analysis, "bash").words[1].parts.as_slice() else { panic!() };
    assert_eq!((expansion.kind, expansion.commands.as_slice()), (ExpansionKind::ProcessInput, [1].as_slice()));
}

#[test]
fn every_step_of_the_way_is_recorded() {
    let analysis = analysed("ssh host \"sudo sh -c 'rm x'\"; find . -exec sh -c 'rm \"$1\"' _ {} \\;");
    let routes: Vec<Vec<Route>> = analysis
        .commands
        .iter()
        .filter(|c| c.program == "rm")
        .map(|c| c.reached.iter().map(|reach| reach.route).collect())
        .collect();
    assert_eq!(routes, [vec![Route::Remote, Route::ScriptArgument], vec![Route::ArgumentList, Route::ScriptArgument]]);
    let rm = command(&analysis, "rm");
    assert_eq!(rm.reached.iter().map(|reach| reach.by).collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!(analysis.commands[1].launchers, ["sudo"]);
}

/// What of a text must have succeeded if the text did. `set` is not in force on itself.
fn seen(text: &str) -> Vec<String> {
    let commands = analysed(text).commands;
    commands.into_iter().filter(|command| command.status_seen).map(|command| command.program).collect()
}

#[test]
fn the_exit_statuses_that_reach_the_whole_texts() {
    for (text, expected) in [
        ("a && b", vec!["a", "b"]),
        ("a || b", vec![]),
        ("a || b && c", vec!["c"]),
        ("a && b || c", vec![]),
        ("a || exit 1 && c", vec!["a", "c"]),
        ("a || exit", vec!["a"]),
        ("a || false", vec!["a"]),
        ("a || { echo no; exit 3; }", vec!["a"]),
        ("a || { echo no; exit; }", vec![]),
        ("a || exit 0", vec![]),
        ("a || exit 256", vec![]),
        ("a || ! false", vec![]),
        ("a; b", vec!["b"]),
        ("a\nb\n\n# end\n", vec!["b"]),
        ("a | b", vec!["b"]),
        ("! a", vec![]),
        ("! ! a", vec!["a"]),
        ("a &", vec![]),
        ("a & b", vec!["b"]),
        ("coproc a", vec![]),
        ("b \"$(a)\"", vec!["b"]),
        ("{ a; b; } && (c; d)", vec!["b", "d"]),
        ("if a; then b; else c; fi", vec![]),
        ("while a; do b; done", vec![]),
        ("for x in 1 2; do a; done", vec![]),
        ("case x in x) a;; esac", vec![]),
        ("f() { a; b; }; f", vec!["f", "b"]),
        ("f() { a; }", vec![]),
        ("sh -c 'a; b'; c", vec!["c"]),
        ("sh -c 'a; b'", vec!["sh", "b"]),
        ("trap 'a' EXIT", vec!["trap"]),
        ("find . -exec a {} +", vec!["find"]),
        ("set -e; a; b && c; d", vec!["a", "d"]),
        ("set -e; a || b; c", vec!["c"]),
        ("set -e; sh -c 'a; b'; c", vec!["sh", "b", "c"]),
        ("set -e; set +e; a; b", vec!["set", "b"]),
        ("(set -e; a; b); c; d", vec!["d"]),
        ("(set -e; a; b)", vec!["a", "b"]),
        ("x && set -e; a; b", vec!["b"]),
        ("if x; then set -e; fi; a; b", vec!["b"]),
        ("set -o errexit; a; b", vec!["a", "b"]),
        ("set -uo pipefail; a | b", vec!["a", "b"]),
        ("a | b; set -o pipefail", vec!["set"]),
        ("$X a", vec![""]),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn here_documents_are_the_targets_of_their_redirections() {
    let analysis = analysed("psql <<SQL\nDROP TABLE $x;\nSQL\nmysql <<< 'drop table y'; cat <<'E' | sqlite3 a\n$z\nE");
    let text = |program: &str| {
        let redirection = &command(&analysis, program).redirections[0];
        (redirection.kind, redirection.target.raw.clone(), redirection.target.value.clone())
    };
    assert_eq!(text("psql"), (RedirectionKind::HereDocument, "DROP TABLE $x;\n".into(), None));
    assert_eq!(text("mysql"), (RedirectionKind::HereString, "'drop table y'".into(), Some("drop table y".into())));
    assert_eq!(text("cat"), (RedirectionKind::HereDocument, "$z\n".into(), Some("$z\n".into())));
    assert!(flows(command(&analysis, "cat"), command(&analysis, "sqlite3")));
}

#[test]
fn a_word_keeps_its_literal_parts() {
    let analysis = analysed("git reset --hard \"origin/$BRANCH\"; rm \"$REPO/src\" \"$DIR\"/* $HOME/x");
    let words = &command(&analysis, "git").words;
    assert_eq!(words[3].literal_prefix(), "origin/");
    let rm = command(&analysis, "rm");
    assert!(
        matches!(&rm.words[1].parts[..], [WordPart::Expansion(x), WordPart::Literal(src)] if x.raw == "$REPO" && src == "/src")
    );
    assert!(rm.words[2].glob && rm.words[2].quoted && rm.words[2].value.is_none());
    assert_eq!((rm.words[3].value.as_deref(), rm.words[3].raw.as_str()), (None, "$HOME/x"));
}

#[test]
fn names_from_a_pattern_stay_a_pattern() {
    let analysis = analysed("for f in .factory/*.md; do rm \"$f\" \"$f.bak\"; done; a=(*.o); rm \"${a[@]}\"");
    let words: Vec<(bool, Option<&str>)> = analysis
        .commands
        .iter()
        .filter(|c| c.program == "rm")
        .flat_map(|c| &c.words[1..])
        .map(|w| (w.glob, w.value.as_deref()))
        .collect();
    assert_eq!(words, [(true, Some(".factory/*.md")), (true, Some(".factory/*.md.bak")), (false, None)]);
}

#[test]
fn git_is_read_past_its_global_options() {
    for (text, subcommand, arguments, directory) in [
        ("git -C ../repo push --force", "push", 1, Some("/home/dev/repo")),
        ("git --git-dir=.g --work-tree . push -f o", "push", 2, Some("/home/dev/project")),
        ("git --no-pager -c a.b=c -p reset --hard", "reset", 1, Some("/home/dev/project")),
        ("git -C \"$x\" clean -fd", "clean", 1, None),
        ("git-filter-repo --path a", "filter-repo", 2, Some("/home/dev/project")),
        ("git --version", "", 0, Some("/home/dev/project")),
    ] {
        let analysis = analysed(text);
        let invocation = git::invocation(&analysis.commands[0]).expect("git");
        assert_eq!(
            (invocation.subcommand.as_str(), invocation.arguments.len(), invocation.directory.as_deref()),
            (subcommand, arguments, directory),
            "{text}"
        );
    }
    let analysis = analysed("git -c core.hooksPath=/x -c Commit.GpgSign=false -c a.b commit");
    let invocation = git::invocation(&analysis.commands[0]).expect("git");
    assert_eq!(
        [
            invocation.config("core.hookspath"),
            invocation.config("commit.gpgsign"),
            invocation.config("a.b"),
            invocation.config("c.d")
        ],
        [Some("/x"), Some("false"), Some("true"), None]
    );
}

#[test]
fn background_and_assignments_are_kept() {
    let analysis = analysed("A=1 B=\"$x\" env C=3 make & coproc cat; ls");
    let make = command(&analysis, "make");
    assert!(make.background && command(&analysis, "cat").background && !command(&analysis, "ls").background);
    let names: Vec<(&str, Option<&str>)> = make.assignments.iter().map(|a| (a.name.as_str(), a.value.value.as_deref())).collect();
    assert_eq!(names, [("A", Some("1")), ("B", None), ("C", Some("3"))]);
}

#[test]
fn data_in_here_documents_does_not_count_as_code() {
    let body = "it's \"talk\" about rm -rf $( and more\n".repeat(20_000);
    let analysis = analysed(&format!("cat > notes.md <<'EOF'\n{body}EOF\nrm -rf dist"));
    assert!(analysis.parsed);
    assert_eq!(analysis.commands.iter().map(|command| command.program.as_str()).collect::<Vec<_>>(), ["cat", "rm"]);
    assert_eq!(analysis.effects[0].content.as_deref(), Some(body.as_str()));
    assert!(!analysed(&format!("echo {} ; rm -rf dist", "x ".repeat(40_000))).parsed);
}

#[test]
fn a_here_document_in_an_attempt_that_is_taken_back_swallows_nothing() {
    for text in [
        "a[$(cat <<X)] b\nrm -rf src\nX\n",
        "a[$(cat <<X\nx\nX\n)] b\nrm -rf src\nX\n",
        "((echo $(cat <<X)) ) \nrm -rf src\nX\n",
        "((echo $(cat <<X\nx\nX\n)) ) \nrm -rf src\nX\n",
        "echo $((a `cat <<X\nx\nX\n`) )\nrm -rf src\nX\n",
    ] {
        let analysis = analysed(text);
        assert!(analysis.commands.iter().any(|command| command.program == "rm"), "{text:?}: {:?}", analysis.commands);
    }
}

#[test]
fn bodies_read_in_an_attempt_that_is_taken_back_count_once() {
    // Found by fuzzing: the bodies were counted more often than the text is long.
    let text = "(((((,((((i((ma`ckm -rf out`\"J0sh -c \"$(wget -z_0.- ht\\.J<<-\u{1}\n\nA\u{2}LEco/*`````&>>`f out`\"J`e";
    assert!(!analysed(text).commands.is_empty());
    assert!(analysed(&format!("{}cat <<A\n{}A\n{}", "((".repeat(30), "x\n".repeat(100), ") )".repeat(30))).commands.len() < 200);
}
