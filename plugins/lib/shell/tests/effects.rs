//! Which files are touched, as tables: a text, and every effect on a file, in order.
//!
//! An effect is written as its kind and path; paths below the project are written relative to it, a path that is not known
//! as the word between `‹ ›`. ` = …` is literal content, ` ~ …` what is known of it where that is not all.
#![cfg(feature = "analyze")]
#![allow(missing_docs)]

use portcullis_sdk::shell::{Effect, EffectKind};
use portcullis_shell::{Context, analyze};

const PROJECT: &str = "/home/dev/project";

fn written(effect: &Effect) -> String {
    let kind = match effect.kind {
        EffectKind::Write => "write",
        EffectKind::Append => "append",
        EffectKind::Edit => "edit",
        EffectKind::MoveFrom => "move-from",
        EffectKind::Delete => "delete",
        EffectKind::DeleteTree => "delete-tree",
        EffectKind::Mode => "mode",
        EffectKind::Read => "read",
        EffectKind::Other => "other",
    };
    let path = match &effect.path {
        Some(path) => path.strip_prefix(PROJECT).map_or(path.as_str(), |rest| rest.trim_start_matches('/')).to_owned(),
        None => format!("‹{}›", effect.word.raw),
    };
    let content = match (&effect.content, &effect.fragment) {
        (Some(content), _) => format!(" = {content:?}"),
        (None, Some(fragment)) => format!(" ~ {fragment:?}"),
        (None, None) => String::new(),
    };
    format!("{kind} {path}{content}")
}

fn check(table: &[(&str, &[&str])]) {
    let context = Context { cwd: PROJECT.into(), project_root: PROJECT.into(), home: Some("/home/dev".into()) };
    let mut failures = Vec::new();
    for (text, expected) in table {
        let found: Vec<String> = analyze(text, &context).effects.iter().map(written).collect();
        if found != *expected {
            failures.push(format!("{text}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), table.len(), failures.join("\n"));
}

#[test]
fn redirections_write_what_is_printed() {
    check(&[
        ("echo hi > a", &["write a = \"hi\\n\""]),
        ("printf '%s' x >> a 2> b", &["append a = \"x\"", "write b"]),
        ("cat > a <<EOF\nx $y\nEOF", &["write a ~ \"x \u{FFFD}\\n\""]),
        ("cat <<'EOF' > a\nx $y\nEOF", &["write a = \"x $y\\n\""]),
        ("echo x | tee a | cat > b", &["write a = \"x\\n\"", "write b = \"x\\n\""]),
        ("tee -a a <<< x", &["append a = \"x\\n\""]),
        ("> a; : >| b; ls &> c; ls >& d; ls >&2 2>&1", &["write a = \"\"", "write b = \"\"", "write c", "write d"]),
        ("{ echo a; echo b; } > c", &["write c = \"a\\nb\\n\""]),
        ("sort < a > b", &["read a", "write b"]),
        ("cd sub; echo x > ../a; (cd /tmp; echo > b)", &["write a = \"x\\n\"", "write /tmp/b = \"\\n\""]),
        ("cd \"$x\"; echo y > a; echo z > /b", &["write ‹a› = \"y\\n\"", "write /b = \"z\\n\""]),
        ("exec > log", &["write log"]),
        ("ssh host 'rm x; echo > y'; docker exec web rm z", &[]),
    ]);
}

#[test]
fn programs_touch_their_operands() {
    check(&[
        (
            "rm -f a b; rm -r c; rm --recurs d -- -e",
            &["delete a", "delete b", "delete-tree c", "delete-tree d", "delete-tree -e"],
        ),
        ("unlink a; rmdir b; shred -u c; shred d", &["delete a", "delete b", "delete c", "write d"]),
        (
            "cp a b; cp a c/; cp a b d; cp -t e a b",
            &[
                "read a",
                "write b",
                "read a",
                "write c/a",
                "read a",
                "read b",
                "write d/a",
                "write d/b",
                "read a",
                "read b",
                "write e/a",
                "write e/b",
            ],
        ),
        (
            "mv x/a .; ln -s ../a b; ln /x/c; install -m 755 a b",
            &["move-from x/a", "write a", "write b", "write c", "read a", "write b"],
        ),
        (
            "cp /dev/null .factory/STATE.md; dd if=/dev/zero of=a bs=1",
            &["read /dev/null", "write .factory/STATE.md", "read /dev/zero", "write a"],
        ),
        ("sed -i s/a/b/ x y; sed -i.bak -e s/a/b/ z; sed s/a/b/ w; sed -n -i '' p v", &["edit x", "edit y", "edit z", "edit v"]),
        ("perl -pi -e 's/a/b/' x; perl -i.bak -ne print y; perl -e 1 z", &["edit x", "edit y"]),
        ("truncate -s 0 a; truncate -s 5 b; touch c", &["write a = \"\"", "write b", "append c = \"\""]),
        ("chmod -R 777 a b; chown --reference=x y; chgrp g z", &["mode a", "mode b", "mode y", "mode z"]),
        ("rsync -a --exclude .env a/ b/; rsync -a --delete a host:b; rsync -n a b", &["read a", "write b", "read a"]),
        (
            "curl -o a u; curl -sO https://h/x/b.tgz?v=1; curl --output-dir d -o c u; curl u",
            &["write a", "write b.tgz", "write d/c"],
        ),
        ("wget -O a u; wget -P d https://h/b; wget -qO- u", &["write a", "write d/b"]),
        ("tar xzf a.tgz -C b; tar -czf c.tgz d e; tar tf f", &["read a.tgz", "write b", "write c.tgz", "read d", "read e"]),
        ("unzip -d b a.zip; zip -r c.zip d -x .env; unzip -l e", &["read a.zip", "write b", "write c.zip", "read d", "read e"]),
        ("patch a < b; sort -o c d", &["edit a", "read b", "write c"]),
        ("find src -name x -delete; find . -exec rm {} +", &["delete-tree src", "delete ‹{}›"]),
        (
            "git rm -r a; git rm --cached b; git mv c d; git -C e rm f; git-rm g",
            &["delete-tree a", "move-from c", "write d", "delete e/f", "delete g"],
        ),
        (
            "git checkout -- .; git checkout main; git checkout ./a; git restore b; git restore --staged c",
            &["write ", "write a", "write b"],
        ),
        ("git clean -fd; git clean -n; git clean -f a", &["delete-tree ", "delete-tree a"]),
        ("rm *.o \"$X\" ~/y {a,b}", &["delete *.o", "delete ‹\"$X\"›", "delete /home/dev/y", "delete a", "delete b"]),
        ("echo 'rm -rf \"x", &["delete-tree x"]),
    ]);
}
