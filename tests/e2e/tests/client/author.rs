//! A newcomer's hour: from an empty folder to a gate of one's own that stops the real client.

use std::path::Path;

use portcullis_e2e::Author;

use crate::model::{Script, Turn};
use crate::session::Session;
use crate::write;

/// The rule that the newcomer wants: the licence is not rewritten either.
const CASE: &str = r#"
[[case]]
name = "the licence is not rewritten"
write = { path = "LICENSE", content = "mine" }
expect = "deny"
rule = "lock-file"
"#;

const TEST: &str = "dispatcher test cases.toml --registry registry.toml";

#[test]
fn a_newcomers_hour() {
    let mut author = Author::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("scaffold"));
    author.does("dispatcher new hands-off --tool 'Write|Edit'\ncd hands-off");
    author.does(&format!("cargo build --release --target wasm32-wasip2\n{TEST}"));

    author.does(&format!("cat >> cases.toml <<'END'\n{CASE}END"));
    let red = author.fails(TEST);
    assert!(red.contains("the licence is not rewritten") && red.contains("pass"), "{red}");
    author.does(r#"sed -i 's/path.ends_with(".lock")/path.ends_with("LICENSE") || &/' src/lib.rs"#);
    author.does("cargo test\ncargo build --release --target wasm32-wasip2");
    let green = author.does(TEST);
    assert!(green.contains("4 passed in 1 file"), "{green}");

    // Their own layer, pinned: the stanza of the folder, with the component beside it.
    let inspected = author.does("dispatcher inspect target/wasm32-wasip2/release/hands_off.wasm");
    let digest = inspected.lines().find_map(|line| line.trim().strip_prefix("sha256")).expect("a digest").trim().to_owned();
    author.does("mkdir -p ~/.config/portcullis && cp target/wasm32-wasip2/release/hands_off.wasm ~/.config/portcullis/");
    let pinned = format!(r#"plugin = "hands_off.wasm"\nsha256 = "{digest}""#);
    author.does(&format!("sed 's|^plugin = .*|{pinned}|' registry.toml > ~/.config/portcullis/registry.toml"));
    author.does("dispatcher validate ~/.config/portcullis/registry.toml");

    let Some(client) = crate::client(crate::NEWER) else { return };
    let project = &author.project;
    project.write("project/LICENSE", "ours");
    for (path, told, written) in
        [("LICENSE", "is written by a package manager", false), ("notes.md", "created successfully", true)]
    {
        let script = Script::of([Turn::Call("Write", write(project, path, "mine")), Turn::say("done")]);
        let session = Session::run(&client, project, script, &["-p", "Go on."]);
        let heard = session.told().expect("a result");
        assert!(heard.contains(told), "{path}: {heard}");
        assert_eq!(session.denied(), !written, "{path}");
        let content = std::fs::read_to_string(project.path("project").join(path)).unwrap_or_default();
        assert_eq!(content == "mine", written, "{path}");
    }
}
