//! Command lines that were, or might be, too much for a parser. Each runs `rm` somewhere.

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

/// A repeated piece, up to `size` bytes.
fn filled(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

/// Few bytes that came to tens of thousands of words, as fuzzing found them.
const MULTIPLYING: [&str; 2] = [
    "cle[().()..an().\x01&().@&-hacle[().(). - cm'r\" $0\"' echo ${A${APH_KEY:+sgit ctle}ean t c,c.ho ${API_KEY:+sgicho ${APH_KEY:+sCit clet}ean t clean -fzclet}ean t clean -fz[clerfHlean -fz&an().\x01&-ham}",
    "clean()GTI_Slean()GIT_SSSH_CO6MMAND=ssocho ${ND=/bi)rm -rssocho ${APIKE-dc\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7fhecY:+sgitDngicho%${API_KEY:+s\x03}ean t clet}ea nt clean -f=-f -dcht cle /b{tngicho%${API_KEY:+sgit clet}ean t }eat clean $fz-f \n-dc_ . KEY ",
];

/// Inputs with their names: nested ones, and those that repeat a piece up to each of `sizes` in bytes.
pub fn of(sizes: &[usize]) -> Vec<(&'static str, String)> {
    let mut inputs = Vec::new();
    for depth in [10, 40, 60, 1_000, 20_000] {
        inputs.extend([
            ("subshells", nested("( ", "rm -rf x", " )", depth)),
            ("parentheses", nested("(", "rm -rf x", ")", depth) + "; rm -rf x"),
            ("groups", nested("{ ", "rm -rf x", "; }", depth)),
            ("substitutions", nested("echo $(", "rm -rf x", ")", depth)),
            ("quoted substitutions", nested("echo \"$(", "rm -rf x", ")\"", depth)),
            ("process substitutions", nested("cat <(", "rm -rf x", ")", depth)),
            ("conditions", nested("if true; then ", "rm -rf x", "; fi", depth)),
            ("functions", nested("f() { ", "rm -rf x", "; }", depth)),
            ("parameters", nested("echo ${x:-", "$(rm -rf x)", "}", depth)),
            ("arithmetic", nested("echo $((", "$(rm -rf x)", "))", depth)),
            ("almost arithmetic", nested("((", "1", ") )", depth) + "; rm -rf x"),
            ("cases", nested("case a in a) ", "rm -rf x", ";; esac", depth)),
            ("braces", format!("rm -rf {}", nested("{a,", "b", "}", depth))),
            ("extended globs", format!("rm -rf {}", nested("+(", "b", ")", depth))),
            ("quoted parameters", nested("echo \"${x:-", "$(rm -rf x)", "}\"", depth)),
            ("unclosed", "$(".repeat(depth) + "rm -rf x"),
            ("unclosed quotes", "\"$(".repeat(depth) + "rm -rf x"),
            ("coprocesses", "coproc ".repeat(depth) + "rm -rf x"),
            ("launchers", "sudo ".repeat(depth) + "rm -rf x"),
            ("split strings", "env -S ".repeat(depth) + "'rm -rf x'"),
        ]);
    }
    inputs.extend(MULTIPLYING.map(|text| ("functions in functions", format!("{text}\nrm -rf x"))));
    for &size in sizes {
        inputs.extend([
            ("commands", filled("rm -rf x; ", size)),
            ("words", "rm -rf ".to_owned() + &filled("a ", size)),
            ("coarse words", "rm -rf ".to_owned() + &filled("rm ", size) + "'"),
            ("pipes", filled("rm -rf x | ", size) + "ls"),
            ("conditions in a row", filled("rm -rf x && ", size) + "ls"),
            ("assignments", filled("x=$x$x; ", size) + "rm -rf $x"),
            ("doubling", format!("x=aaaaaaaa; {} rm -rf $x", filled("x=$x$x; ", size))),
            (
                "many variables",
                (0..size / 12).map(|n| format!("v{n}=1; ")).collect::<String>() + &filled("(rm -rf x); ", size / 4),
            ),
            ("shells", filled("sh -c 'rm -rf x'; ", size)),
            ("branches", filled("if a; then x=1; else x=2; fi; ", size) + "rm -rf $x"),
            (
                "alternatives",
                (0..size / 40).map(|n| format!("[ a ] && a{n}=1 || a{n}=2; ")).collect::<String>()
                    + "rm -rf $a1 $a2 $a3 $a4 $a5 $a6 $a7",
            ),
            ("loops", nested("for x in a b c d e f g h; do ", "rm -rf $x", "; done", 6)),
            (
                "a loop that fills the answer",
                format!("for x in {{1..64}}; do echo $x; {} done; rm -rf x", filled("a; ", size / 8)),
            ),
            ("a long loop", format!("for x in {}; do rm -rf $x; done", filled("a ", size))),
            (
                "functions that call",
                (0..size / 30).map(|n| format!("f{n}() {{ f{}; f{}; }}; ", n + 1, n + 1)).collect::<String>() + "f0; rm -rf x",
            ),
            ("words in a function that calls itself", format!("f() {{ f; f; f; rm {}; }}; f", filled("a ", size / 8))),
            ("words in a loop", format!("for x in {{1..64}}; do rm {}; done", filled("a ", size / 8))),
            ("itself", "f() { f; f; f; }; f; rm -rf x".to_owned()),
            ("eval itself", "x='eval \"$x\"; eval \"$x\"'; eval \"$x\"; rm -rf x".to_owned()),
            ("here-documents", filled("cat <<E\nx\nE\n", size) + "rm -rf x"),
            ("a here-document", format!("cat > f <<E\n{}\nE\nrm -rf x", filled("it's \"rm -rf\" $(", size))),
            ("a here-document with substitutions", format!("cat > f <<E\n{}\nE\nrm -rf x", filled("$(rm -rf x) ", size))),
            ("backslashes", "rm -rf x; echo ".to_owned() + &filled("\\", size)),
            ("backquotes", filled("`rm -rf x` ", size)),
            ("quotes", "rm -rf x; echo ".to_owned() + &filled("'a'\"b\"", size)),
            ("braces in a row", "rm -rf ".to_owned() + &filled("{a,b}", size)),
            ("a sequence", "rm -rf {1..999999999}".to_owned()),
            ("open braces", "rm -rf ".to_owned() + &filled("{", size)),
            ("globs", format!("x={}; rm -rf ${{x##*{}}}", filled("a", size), filled("*a", size))),
            ("echoes", format!("{} rm -rf x", filled("echo $(echo $(echo a)); ", size))),
            ("pipes into shells", filled("echo 'rm -rf x' | sh; ", size)),
            ("newlines", filled("\n", size) + "rm -rf x"),
            ("comments", filled("# it's\n", size) + "rm -rf x"),
            ("redirections", "rm -rf x".to_owned() + &filled(" > a", size)),
            ("arithmetic in a row", filled("((1)); ", size) + "rm -rf x"),
            ("files of substitutions", filled("cat <(rm -rf x); ", size)),
            ("git aliases", filled("git -c alias.x='!rm -rf x' x; ", size)),
            ("long words", format!("rm -rf {}", filled("é\u{F0001}\0", size))),
            ("printf", format!("printf '%s' {} | sh; rm -rf x", filled("a ", size))),
            ("arrays", format!("a=({}); rm -rf \"${{a[@]}}\"", filled("a ", size))),
            ("array growth", format!("a=(a a a a); {} rm -rf x", filled("a=(\"${a[@]}\" \"${a[@]}\"); ", size))),
            ("exported", filled("export A=b; sh -c 'rm -rf $A'; ", size)),
            ("written scripts", filled("echo 'rm -rf x' > s; sh s; ", size)),
        ]);
    }
    inputs
}
