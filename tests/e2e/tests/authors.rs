//! What authors of gates are promised: `dispatcher new` makes what builds and runs, and docs/writing-a-gate.md works as it stands.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_e2e::{Author, Project, Registry, dist};

fn author() -> Author {
    Author::new(&builds())
}

fn builds() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("scaffold")
}

/// The fenced blocks of a page: what stands behind the fence, and the text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = page.split("```").collect();
    assert!(parts.len() % 2 == 1, "a fence is left open");
    let inner = parts.iter().skip(1).step_by(2);
    inner.map(|block| block.split_once('\n').expect("a fence stands on a line of its own")).collect()
}

#[test]
fn the_guide_works_as_it_stands() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/writing-a-gate.md");
    let page = fs::read_to_string(page).expect("the guide");
    let mut author = author();
    let (mut printed, mut ran) = (String::new(), 0);
    for (info, text) in blocks(&page) {
        match info {
            "sh" => printed = author.does(text),
            "sh fails" => printed = author.fails(text),
            "diff" => author.applies(text),
            "text" => {
                for line in text.lines() {
                    assert!(printed.contains(line.trim()), "`{line}` is not in what was printed:\n{printed}");
                }
            }
            // What comes before: the machine is set up.
            "" => continue,
            other => panic!("nobody runs blocks of `{other}`"),
        }
        ran += 1;
    }
    assert!(ran > 10, "{ran}");
    // With the override, as the guide ends; without it, an event of the agent itself is stopped.
    author.does("dispatcher override remove cargo-publish");
    let shop = author.project.path("work/shop");
    let mut event = author.project.bash("cargo publish");
    event["cwd"] = shop.display().to_string().into();
    let answer = {
        author.project.variable("CLAUDE_PROJECT_DIR", &shop.display().to_string());
        author.project.call_as_is().event(&event).answer()
    };
    assert_eq!((answer.decision(), answer.reason().contains("cannot be undone")), (Some("deny"), true), "{answer:?}");
}

#[test]
fn every_example_builds_tests_and_runs() {
    let mut author = author();
    let sdk = dist().join("sdk");
    for (name, words) in [
        ("a-command", ""),
        ("a-file", "--tool 'Write|Edit'"),
        ("a-text", "--event Stop"),
        ("a-tool", "--tool mcp__tracker__close"),
        ("an-advice", "--event SessionStart"),
    ] {
        author.does(&format!("dispatcher new {name} {words} --sdk '{}' --dir gates/{name}\ncd gates/{name}", sdk.display()));
        author.does("cargo fmt --check\ncargo build --release --target wasm32-wasip2");
        let tested = author.does("cargo test");
        assert!(tested.contains("test result: ok") && !tested.contains("warning"), "{tested}");
        author.does("cargo clippy --all-targets -- -Dwarnings");
        let judged =
            author.does("dispatcher test cases.toml --registry registry.toml\ndispatcher validate --strict registry.toml");
        assert!(judged.contains("passed in 1 file"), "{judged}");
        author.does("cd ../..");
    }
}

/// A gate of the SDK's needs the package alone: what is in the plugin is what would be published, and nothing of the workspace.
#[test]
fn the_sdk_is_whole_by_itself() {
    let manifest = fs::read_to_string(dist().join("sdk/Cargo.toml")).expect("the SDK of the plugin");
    assert!(!manifest.contains("workspace") && !manifest.contains("path = \".."), "{manifest}");
    for key in ["description", "license", "readme", "rust-version"] {
        assert!(manifest.contains(&format!("\n{key} = ")), "{key}");
    }
    for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs", "wit/gate.wit"] {
        assert!(fs::symlink_metadata(dist().join("sdk").join(file)).is_ok_and(|file| file.is_file()), "{file}");
    }
}

#[test]
fn new_says_what_it_will_not_do() {
    let mut author = author();
    author.does("mkdir full empty && touch full/x");
    for (words, says) in [
        ("my-gate --dir full", "full is there already, and not empty"),
        ("my-gate --dir full/x", "full/x: "),
        ("My_Gate", "`My_Gate` is no name for a gate"),
        ("../out", "`../out` is no name for a gate"),
        ("my-gate --event PreTool", "there is no event `PreTool`"),
        ("my-gate --event SessionEnd", "can say nothing"),
        ("my-gate --event Stop --tool Bash", "leave out --tool"),
        ("my-gate --lang cobol", "invalid value 'cobol'"),
        ("my-gate --sdk empty", "empty is no SDK"),
    ] {
        let printed = author.fails(&format!("dispatcher new {words}"));
        assert!(printed.contains(says), "{words}: {printed}");
    }
    assert_eq!(author.does("ls; ls -A empty").trim(), "empty\nfull");
    author.does("dispatcher new my-gate --dir empty");
    assert!(author.does("ls -A empty").contains("registry.toml"));
}

/// A registry in a folder of its own needs no analyser there.
#[test]
fn a_registry_that_names_no_analyser_has_the_installed_one() {
    let project = Project::default();
    let stanza = "schema_version = 2\n[[hooks]]\nname = 'guard-bash'\nevent = 'PreToolUse'\ntool = 'Bash'\n";
    let plugin = dist().join("plugins/guard-bash.wasm");
    let grant = "on_error = 'block'\ncapabilities.read_file.path_allow = ['.foundry']\n";
    let registry = Registry::of(format!("{stanza}plugin = '{}'\n{grant}", plugin.display()));
    let project = project.foundry();
    let answer = project.hook(&registry, &project.bash("git push --force"));
    assert!(answer.reason().contains("git-push-force"), "{answer:?}");
    assert_eq!(project.hook(&registry, &project.bash("git push")).decision(), None);
}
