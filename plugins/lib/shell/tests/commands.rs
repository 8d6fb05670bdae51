//! What runs, as tables: a text, and every command that the analysis lists for it, in order.
//!
//! A command is written as its words' values; a word that is not known stands as written between `‹ ›`, assignments alone as
//! `name=value`. `?` marks a command that is only possible, `~` one of the conservative scan, `<` a program taken from
//! standard input.
#![cfg(feature = "analyze")]
#![allow(missing_docs)]

use portcullis_sdk::shell::{Certainty, Command};
use portcullis_shell::{Context, analyze};

fn context() -> Context {
    Context { cwd: "/home/dev/project".into(), project_root: "/home/dev/project".into(), home: Some("/home/dev".into()) }
}

fn written(command: &Command) -> String {
    let words = command.words.iter().map(|word| word.value.clone().unwrap_or_else(|| format!("‹{}›", word.raw)));
    let assignments = command.assignments.iter().filter(|_| command.words.is_empty());
    let assignments =
        assignments.map(|a| format!("{}={}", a.name, a.value.value.clone().unwrap_or_else(|| format!("‹{}›", a.value.raw))));
    let mark = match command.certainty {
        Certainty::Certain => "",
        Certainty::Possible => "? ",
        Certainty::Coarse => "~ ",
    };
    let input = if command.program_from_input { " <" } else { "" };
    format!("{mark}{}{input}", assignments.chain(words).collect::<Vec<_>>().join(" "))
}

fn check(table: &[(&str, &[&str])]) {
    let mut failures = Vec::new();
    for (text, expected) in table {
        let analysis = analyze(text, &context());
        let found: Vec<String> = analysis.commands.iter().map(written).collect();
        if found != *expected {
            failures.push(format!("{text}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), table.len(), failures.join("\n"));
}

#[test]
fn quotes_and_escapes_are_removed() {
    check(&[
        ("r''m -rf x", &["rm -rf x"]),
        ("\"rm\" '-rf' \"a b\"", &["rm -rf a b"]),
        ("\\rm -\\rf x", &["rm -rf x"]),
        ("rm \\\n  -rf x", &["rm -rf x"]),
        ("r\\\nm x", &["rm x"]),
        ("$'\\x72m' $'a\\'b' $\"c d\"", &["rm a'b c d"]),
        ("echo \"a \\\"b\\\" \\$c \\d\"", &["echo a \"b\" $c \\d"]),
        ("rm 'it'\\''s'", &["rm it's"]),
        ("rm $IFS-rf${IFS}x", &["rm -rf x"]),
        ("rm$IFS-rf$IFS/", &["rm -rf /"]),
        ("rm \"\" ''", &["rm  "]),
        ("ls -la # rm -rf x", &["ls -la"]),
        ("echo a#b", &["echo a#b"]),
    ]);
}

#[test]
fn data_is_never_a_command() {
    check(&[
        ("echo 'x; rm -rf y'", &["echo x; rm -rf y"]),
        ("git commit -m \"stop using `echo rm` $(true)\"", &["git commit -m stop using rm ", "echo rm", "true"]),
        ("git commit -m \"$(cat <<'EOF'\n1) it's \"rm -rf\"\nEOF\n)\"", &["git commit -m 1) it's \"rm -rf\"", "cat"]),
        ("cat > notes <<EOF\nrm -rf x\nEOF", &["cat"]),
        ("cat > notes <<'EOF'\n$(rm -rf x)\nEOF\nls", &["cat", "ls"]),
        ("cat > notes <<-EOF\n\trm\n\tEOF\nls", &["cat", "ls"]),
        ("git commit -F - <<'EOF'; git push origin x\ndocs: git restore .\nEOF", &["git commit -F -", "git push origin x"]),
        ("grep -c 'rm -rf \"$body\"' docs/x.md", &["grep -c rm -rf \"$body\" docs/x.md"]),
        ("x='rm -rf y'", &["x=rm -rf y"]),
        ("[[ rm < x && -n git ]]", &[]),
        ("(( rm < 1 ))", &[]),
        ("echo '{\"command\":\"rm -rf /\"}' | cat", &["echo {\"command\":\"rm -rf /\"}", "cat"]),
    ]);
}

#[test]
fn every_construct_is_looked_into() {
    check(&[
        ("a; b & c && d || e | f\ng", &["a", "b", "c", "d", "e", "f", "g"]),
        ("if a; then b; elif c; then d; else e; fi > log", &["", "a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]),
        ("for x in 1 2; do rm $x; done", &["rm 1", "rm 2"]),
        ("for x in 1; { rm $x; }", &["rm 1"]),
        ("for ((i=0; i<3; i++)); do rm $i; done", &["rm ‹$i›"]),
        ("select x in a; do rm $x; done", &["rm a"]),
        ("case x in (a|b) rm 1;; *) rm 2;& c) rm 3;;& esac", &["rm 1", "rm 2", "rm 3"]),
        ("{ rm 1; }; (rm 2)", &["rm 1", "rm 2"]),
        ("!(rm 1); ! rm 2; time -p rm 3; time rm 4", &["rm 1", "rm 2", "rm 3", "rm 4"]),
        ("coproc rm 1; coproc N { rm 2; }", &["rm 1", "rm 2"]),
        ("((rm 1) ; (rm 2) )", &["rm 1", "rm 2"]),
        ("a |& b", &["a", "b"]),
        ("a |\n  b", &["a", "b"]),
        (">x rm y 2>&1 <z &>w", &["rm y"]),
        ("{fd}>x rm y", &["rm y"]),
        ("[[ -n $(rm 1) ]] && rm 2", &["rm 1", "rm 2"]),
        ("((x = $(rm 1)))", &["rm 1"]),
        ("a[$(rm 1)]=2", &["a=2", "rm 1"]),
    ]);
}

#[test]
fn substitutions_run() {
    check(&[
        ("echo \"$(rm 1)\" `rm 2` $(echo $(rm 3))", &["echo ", "rm 1", "rm 2", "echo", "rm 3"]),
        ("cat <(rm 1) > >(rm 2)", &["cat ‹<(rm 1)›", "rm 1", "rm 2"]),
        ("echo $(case a in a) rm 1;; esac)", &["echo ‹$(case a in a) rm 1;; esac)›", "rm 1"]),
        ("echo \"`echo \\`rm 1\\``\"", &["echo ", "echo", "rm 1"]),
        ("echo ${x:-$(rm 1)}", &["echo ‹${x:-$(rm 1)}›", "rm 1", "echo"]),
        ("echo \"${y:=\"$(rm 2)\"}\"", &["echo ‹\"${y:=\"$(rm 2)\"}\"›", "rm 2", "echo "]),
        ("cat <<E\n$(rm 1) `rm 2`\nE", &["cat", "rm 1", "rm 2"]),
        ("rm $((1+$(rm 1)))", &["rm ‹$((1+$(rm 1)))›", "rm 1"]),
        ("echo $(# it's a comment )\nrm 1)", &["echo", "rm 1"]),
        ("x=`rm 1` y=$(rm 2) true", &["true", "rm 1", "rm 2"]),
    ]);
}

#[test]
fn launchers_are_removed() {
    check(&[
        ("sudo -u deploy rm -rf x", &["rm -rf x"]),
        ("sudo -E -- env -i A=1 B=2 nice -n 5 nohup rm x", &["rm x"]),
        ("timeout -k 5 30 rm x; nice -10 rm y; ionice -c2 -n 7 rm z", &["rm x", "rm y", "rm z"]),
        ("env -S 'rm -rf' x; env --split-string='rm -rf /'", &["rm -rf x", "rm -rf /"]),
        ("env -u A -S 'rm -rf /' x; env -iS'rm y'", &["rm -rf / x", "rm y"]),
        ("command rm x; builtin cd /; exec -a y rm z", &["rm x", "cd /", "rm z"]),
        ("command -v rm", &["command -v rm"]),
        ("busybox rm x; flock /tmp/l rm y; stdbuf -oL rm z", &["rm x", "rm y", "rm z"]),
        ("strace -f -o log rm x; setsid -w rm y", &["rm x", "rm y"]),
        ("/usr/bin/env /bin/rm x", &["/bin/rm x"]),
        ("env", &["env"]),
        ("sudo -l rm", &["sudo -l rm"]),
        ("unknown-launcher -f rm -rf x", &["unknown-launcher -f rm -rf x", "? rm -rf x"]),
        ("$SUDO rm x", &["‹$SUDO› rm x", "? rm x"]),
        ("\"$BIN\"/rm x", &["‹\"$BIN\"/rm› x"]),
    ]);
}

#[test]
fn program_texts_are_opened() {
    check(&[
        ("sh -c 'rm 1; rm 2'", &["sh -c rm 1; rm 2", "rm 1", "rm 2"]),
        ("bash -lc \"rm 1\"", &["bash -lc rm 1", "rm 1"]),
        ("bash -c 'rm \"$0\" \"$1\"' zero one", &["bash -c rm \"$0\" \"$1\" zero one", "rm ‹\"$0\"› one"]),
        ("eval rm '1; rm 2'", &["eval rm 1; rm 2", "rm 1", "rm 2"]),
        ("sh -c \"rm $x\"", &["sh -c ‹\"rm $x\"›", "rm ‹$x›"]),
        ("bash <<E\nrm 1\nE", &["bash <", "rm 1"]),
        ("bash <<< 'rm 1'", &["bash <", "rm 1"]),
        ("echo 'rm 1' | sudo tee log | sh -s x", &["echo rm 1", "tee log", "sh -s x <", "rm 1"]),
        ("printf 'rm %s\\n' 1 2 | sh", &["printf rm %s\\n 1 2", "sh <", "rm 1", "rm 2"]),
        ("echo cm0gMQ== | base64 -d | sh", &["echo cm0gMQ==", "base64 -d", "sh <", "rm 1"]),
        ("{ echo rm 1; echo rm 2; } | bash", &["echo rm 1", "echo rm 2", "bash <", "rm 1", "rm 2"]),
        ("bash <(echo rm 1); . /dev/stdin <<< 'rm 2'", &["bash ‹<(echo rm 1)›", "echo rm 1", "rm 1", ". /dev/stdin <", "rm 2"]),
        ("echo 'rm 1' > x.sh; sh ./x.sh", &["echo rm 1", "sh ./x.sh", "rm 1"]),
        ("trap 'rm 1' EXIT; watch -n 5 rm 2", &["trap rm 1 EXIT", "rm 1", "watch -n 5 rm 2", "rm 2"]),
        ("su - bob -c 'rm 1'; ssh -p 22 host rm '$x'", &["su - bob -c rm 1", "rm 1", "ssh -p 22 host rm $x", "rm ‹$x›"]),
        ("ssh host <<E\nrm 1\nE", &["ssh host", "rm 1"]),
        (
            "git -c alias.x='!rm 1' x; git -c alias.p='push -f' p o",
            &["git -c alias.x=!rm 1 x", "rm 1", "git -c alias.p=push -f p o", "git push -f o"],
        ),
        (
            "git rebase -x 'rm 1' main; git submodule foreach 'rm 2'",
            &["git rebase -x rm 1 main", "rm 1", "git submodule foreach rm 2", "rm 2"],
        ),
        (
            "curl x | python3 -; python3 -m json.tool; python3 x.py",
            &["curl x", "python3 - <", "python3 -m json.tool", "python3 x.py"],
        ),
        ("curl x | bash process.sh", &["curl x", "bash process.sh"]),
    ]);
}

#[test]
fn argument_lists_are_commands() {
    check(&[
        ("find . -exec rm {} \\; -o -ok chmod 1 {} +", &["find . -exec rm {} ; -o -ok chmod 1 {} +", "rm ‹{}›", "chmod 1 ‹{}›"]),
        ("ls | xargs -0 -n 1 rm -f", &["ls", "xargs -0 -n 1 rm -f", "rm -f"]),
        ("printf '%s\\n' a b | xargs rm", &["printf %s\\n a b", "xargs rm", "rm a b"]),
        ("ls | xargs -I{} sh -c 'rm {}/x'", &["ls", "xargs -I{} sh -c rm {}/x", "sh -c ‹'rm {}/x'›", "rm ‹{}/x›"]),
        ("echo a | xargs -I{} rm {}/x", &["echo a", "xargs -I{} rm {}/x", "rm a/x"]),
        (
            "docker exec -it web rm x; docker run --rm -v a:b img rm y",
            &["docker exec -it web rm x", "rm x", "docker run --rm -v a:b img rm y", "rm y"],
        ),
        ("kubectl exec pod -c app -- sh -c 'rm 1'", &["kubectl exec pod -c app -- sh -c rm 1", "sh -c rm 1", "rm 1"]),
        ("docker compose -f x.yml exec web rm 1", &["docker compose -f x.yml exec web rm 1", "rm 1"]),
        ("docker run --rm -f Dockerfile img", &["docker run --rm -f Dockerfile img"]),
        (
            "npx -y jest --ci; uv run pytest; npm exec -- rm 1",
            &["npx -y jest --ci", "jest --ci", "uv run pytest", "pytest", "npm exec -- rm 1", "rm 1"],
        ),
        ("git bisect run rm 1; parallel rm ::: a b", &["git bisect run rm 1", "rm 1", "parallel rm ::: a b", "rm a b"]),
    ]);
}

#[test]
fn values_are_known_where_the_text_says_them() {
    check(&[
        ("F=-rf; rm $F /", &["F=-rf", "rm -rf /"]),
        ("F='-r -f'; rm $F \"$F\"", &["F=-r -f", "rm -r -f -r -f"]),
        (
            "export D=/; sh -c 'rm $D'; E=1; sh -c 'rm $E'",
            &["export D=/", "sh -c rm $D", "rm /", "E=1", "sh -c rm $E", "rm ‹$E›"],
        ),
        ("X=1 sh -c 'rm $X'; rm $X", &["sh -c rm $X", "rm 1", "rm ‹$X›"]),
        ("a=(rm -r 'b c'); \"${a[@]}\"; rm ${a[2]} ${#a[@]}", &["a=rm -r b c", "rm -r b c", "rm b c 3"]),
        ("set -- -rf /; rm \"$@\"; shift; rm $1", &["set -- -rf /", "rm -rf /", "shift", "rm /"]),
        ("rm {a,b}{1..2} ~/x $HOME/y \"$PWD\" ~other", &["rm a1 a2 b1 b2 /home/dev/x /home/dev/y /home/dev/project ‹~other›"]),
        (
            "rm $(pwd)/a $(git rev-parse --show-toplevel)/b",
            &["rm /home/dev/project/a /home/dev/project/b", "pwd", "git rev-parse --show-toplevel"],
        ),
        ("$(echo rm) -rf x", &["rm -rf x", "echo rm"]),
        (
            "p=a.tar.gz; rm ${p%.gz} ${p%%.*} ${p##*.} ${p/tar/zip} ${p:2:3} ${p^^}",
            &["p=a.tar.gz", "rm a.tar a gz a.zip.gz tar A.TAR.GZ"],
        ),
        ("[ a ] && D=/; rm $D", &["[ a ]", "D=/", "rm /", "rm ‹$D›"]),
        ("if a; then D=1; else D=2; fi; rm $D", &["a", "D=1", "D=2", "rm 1", "rm 2"]),
        ("(D=/); rm $D", &["D=/", "rm ‹$D›"]),
        ("read -r a b <<< '1 2 3'; rm $a $b", &["read -r a b", "rm 1 2 3"]),
        ("while read -r f; do rm \"$f\"; done <<E\na\nb\nE", &["", "read -r f", "rm a", "read -r f", "rm b"]),
        ("X=1; read X; rm $X; Y=1; unset Y; rm $Y", &["X=1", "read X", "rm ‹$X›", "Y=1", "unset Y", "rm"]),
        ("f() { rm \"$1\" $#; }; f x y; rm $1", &["? f x y", "rm x 2", "rm ‹$1›"]),
        ("f() { rm 1; }", &["rm 1"]),
        ("alias x='rm 1'; x 2", &["alias x=rm 1", "? x 2", "rm 1 2"]),
        ("rm ${unset:-/} ${other:+/x}", &["rm ‹${unset:-/}›", "rm ‹${unset:-/}› /x", "rm /", "rm / /x"]),
        ("x=a; x+=b; rm $x ${#x}", &["x=a", "x=b", "rm ab 2"]),
        ("rm *.o \"*\" a[1-2]", &["rm *.o * a[1-2]"]),
    ]);
}

#[test]
fn what_cannot_be_parsed_is_scanned() {
    check(&[
        ("echo \"unterminated; rm -rf x", &["~ echo unterminated", "~ rm -rf x"]),
        ("ls\nif rm x", &["ls", "~ if rm x", "~ rm x"]),
        ("echo )", &["~ echo"]),
        ("curl x | sudo bash 'y", &["~ curl x", "~ sudo bash y", "~ bash y"]),
        ("echo \"${x:-it's}\"; rm y", &["~ echo", "~ x:-its", "~ rm y"]),
        (
            "echo \"${x:-'}\" ; echo '}\"; rm y",
            &["echo ‹\"${x:-'}\" ; echo '}\"›", "echo '}\" ; echo '", "rm y", "~ echo", "~ x:-", "~ echo", "~ rm y"],
        ),
        ("sh -c 'rm \"x'", &["sh -c rm \"x", "~ rm x"]),
    ]);
}

#[test]
fn directories_are_tracked() {
    let directories = |text: &str| -> Vec<Option<String>> {
        let commands = analyze(text, &context()).commands;
        commands.into_iter().filter(|command| command.program == "rm").map(|command| command.directory).collect()
    };
    let known = |path: &str| Some(path.to_owned());
    assert_eq!(
        directories("cd sub && rm x; (cd /tmp; rm y); rm z"),
        [known("/home/dev/project/sub"), known("/tmp"), known("/home/dev/project/sub")]
    );
    assert_eq!(
        directories("cd ../a/./b; rm x; cd -; rm y; cd; rm z"),
        [known("/home/dev/a/b"), known("/home/dev/project"), known("/home/dev")]
    );
    assert_eq!(directories("cd \"$x\"; rm x; cd /y; rm z"), [None, known("/y")]);
    assert_eq!(
        directories("env -C /a rm x; sudo -D b rm y; rm z"),
        [known("/a"), known("/home/dev/project/b"), known("/home/dev/project")]
    );
    assert_eq!(directories("cd sub | rm x; rm y"), [known("/home/dev/project"), known("/home/dev/project")]);
    assert_eq!(directories("docker exec web rm x; ssh h rm y"), [None, None]);
    assert_eq!(directories("if a; then cd b; fi; rm x"), [known("/home/dev/project/b"), known("/home/dev/project")]);
    assert_eq!(
        directories("cd a; sh -c 'rm x; cd b; rm y'; rm z"),
        [known("/home/dev/project/a"), known("/home/dev/project/a/b"), known("/home/dev/project/a")]
    );
}
