//! Command lines made up from a grammar, the same for the same seed.

/// The word that stands only where text is data.
pub const DATA: &str = "evil";

/// Programs of the generated lines.
pub const PROGRAMS: &[&str] = &["rm", "git", "chmod", "mv", "touch", "curl", "make", "npm"];

/// A command line for the oracle.
pub struct Line {
    pub text: String,
    /// Everything in it is unconditional: what the analysis calls certain has to run.
    pub complete: bool,
}

/// `count` lines.
pub fn lines(seed: u64, count: usize) -> Vec<Line> {
    let mut generator = Generator { state: seed, tag: 0, complete: true };
    (0..count)
        .map(|_| {
            generator.complete = true;
            let text = generator.script(3);
            Line { text, complete: generator.complete }
        })
        .collect()
}

struct Generator {
    state: u64,
    /// Tells the arguments of different commands apart.
    tag: usize,
    complete: bool,
}

impl Generator {
    /// xorshift64*.
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn script(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.below(3) {
            let here = ends_in_tag(&text);
            // After the tag of a here-document only a newline may follow.
            let joint =
                if here { "\n" } else { self.pick(&["; ", "\n", " && ", ";", "\n\n  ", " & ", " # evil comment\n", " \\\n&& "]) };
            let next = self.command(depth);
            text = format!("{text}{joint}{next}");
        }
        if self.below(12) == 0 && !ends_in_tag(&text) {
            self.complete = false;
            text = format!("{text} || {}", self.simple());
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.simple();
        }
        let inner = self.script(depth - 1);
        let tag = format!("E{}", self.tag());
        // Bash 5.2 prints a substitution before it parses it again, and loses a `;` that comes after a here-document.
        let printable = !(inner.contains("Et") && inner.contains(';'));
        if self.below(3) == 0 {
            return self.expansion(&inner);
        }
        match self.below(42) {
            0 => format!("{{ {inner}\n}}"),
            1 => format!("( {inner} )"),
            2 => format!("({inner}\n)"),
            3 => format!("if true; then {inner}\nfi"),
            4 => {
                self.complete = false;
                format!("if {inner}\nthen :; else {}; fi", self.simple())
            }
            5 => format!("for x in a; do {inner}\ndone"),
            6 => {
                self.complete = false;
                let program = self.program();
                let tag = self.tag();
                format!("for x in a \"b c\" 'd'; do {program} {tag} $x \"$x\"; done")
            }
            7 => {
                self.complete = false;
                format!("while false; do {inner}\ndone; {}", self.simple())
            }
            8 => format!("case a in b) {DATA};; a) {inner}\n;; esac").replace(&format!("{DATA};;"), ":;;"),
            9 => format!("f() {{ {inner}\n}}; f"),
            10 => format!("function f {{ {inner}\n}}\nf x y"),
            11 => format!("sh -c {}", self.quote(&inner)),
            12 => format!("bash -c {} name one", self.quote(&inner)),
            13 => format!("eval {}", self.quote(&inner)),
            14 => format!("bash <<'{tag}'\n{inner}\n{tag}"),
            15 => format!("sh <<< {}", self.quote(&inner)),
            16 => format!("printf '%s\\n' {} | sh", self.quote(&inner)),
            17 => format!("cat <<'{tag}' | bash\n{inner}\n{tag}"),
            18 if printable => format!("{} \"$( {inner}\n)\"", self.simple()),
            19 if printable => format!("{} $( {inner}\n)", self.simple()),
            20 if !inner.contains(['`', '\\']) => format!("{} \"`{}\n`\"", self.simple(), inner.replace('"', "\\\"")),
            21 if printable => format!("cat <({inner}\n) > out"),
            22 => {
                self.complete = false;
                format!("! {inner}")
            }
            23 => format!("time {inner}"),
            24 => format!("coproc {{ {inner}\n}}; wait"),
            25 => {
                // Of several traps for one signal, the last one counts.
                self.complete = false;
                format!("trap {} EXIT", self.quote(&inner))
            }
            26 if printable => format!("x=$(case a in (a) {inner}\n;; esac)"),
            27 => format!("cat > notes <<'{tag}'\n{DATA} \"it's $( {DATA} `\n{tag}\n{inner}"),
            28 => format!("cat > notes <<{tag}\n{DATA} it's \\$({DATA}) \" )\n{tag}\n{inner}"),
            29 if printable => format!("cat <<-{tag}\n\t$( {inner}\n)\n\t{tag}"),
            30 => {
                let program = self.program();
                let tag = self.tag();
                self.complete = false;
                format!("v=value; w='two words'; {program} {tag} $v \"$w\" $w \"a${{v}}b\"; {inner}")
            }
            31 => {
                let program = self.program();
                let tag = self.tag();
                format!("a=({program} -x 'b c'); a+=({tag}); \"${{a[@]}}\" {tag}; {inner}")
            }
            32 => {
                let program = self.program();
                let tag = self.tag();
                self.complete = false;
                format!("set -- {program} 'one two' {tag}; \"$@\"; $1 $#; shift; {program} \"$1\"; {inner}")
            }
            33 => {
                let program = self.program();
                let tag = self.tag();
                format!("{program} {tag}{{a,b{{c,d}},'e f'}} {{1..3}}; {inner}")
            }
            34 => format!("[[ a < b && ( -n x ) && x =~ ^(x|y)$ ]]; {inner}"),
            35 => format!("(( 1 < 2 )); {inner}"),
            36 => format!("for ((i = 0; i < 1; i++)); do {inner}\ndone"),
            37 if printable => {
                self.complete = false;
                format!("y=${{unset-$({inner}\n)}}; {} \"${{unset:-'it }}'}}\"", self.simple())
            }
            38 => {
                let program = self.program();
                let tag = self.tag();
                self.complete = false;
                format!("read -r p q <<< 'one two three'; {program} {tag} \"$p\" \"$q\"; {inner}")
            }
            39 => {
                let program = self.program();
                let tag = self.tag();
                format!("export E={tag}; sh -c '{program} \"$E\" \"$1\"' _ arg; N=1 sh -c '{program} $N'; {inner}")
            }
            40 => {
                let program = self.program();
                let tag = self.tag();
                format!(
                    "p={tag}.tar.gz; {program} ${{p%.gz}} ${{p%%.*}} ${{p##*.}} ${{p#*.}} ${{p/tar/zip}} ${{#p}} ${{p:0:2}} ${{p^^}}; {inner}"
                )
            }
            _ => {
                let program = self.program();
                let tag = self.tag();
                format!("{program} {tag} | {}", self.simple())
            }
        }
    }

    /// A command whose words take more than quote removal, then `inner`.
    fn expansion(&mut self, inner: &str) -> String {
        self.complete = false;
        let program = self.program();
        let tag = self.tag();
        let quoted = self.quote(inner);
        let command = format!("{program} {tag}");
        let text = match self.below(32) {
            0 => format!("for x in $(printf '%s\\n' a b) {{1..2}}; do {command} $x; done"),
            1 => format!("IFS=,; v=a,b; {command} $v \"$v\"; unset IFS"),
            2 => format!("n=v; v=value; {command} \"${{!n}}\" ${{v:-d}} \"${{nothing:+x}}\""),
            3 => format!("declare -x D=1 E=\"two w\"; {command} \"$E\" $D"),
            4 => format!("printf -v z '%s-%s' a b; {command} $z"),
            5 => format!("mapfile -t m <<< $'l1\\nl2 x'; {command} \"${{m[1]}}\" ${{#m[@]}}"),
            6 => format!("while IFS= read -r l; do {command} \"$l\"; done <<< $'a b\\nc'"),
            7 => format!(". /dev/stdin <<< {quoted}"),
            8 => format!("source <(printf %s {quoted})"),
            9 => format!("printf '%s\\n' {quoted} > s{tag}; sh s{tag}; . ./s{tag}"),
            10 => format!("cat <<A{tag} <<'B{tag}'\n{DATA}\nA{tag}\n$({DATA})\nB{tag}\n{command}"),
            11 => format!("{command} $'multi\\nline' \"a'b\" 'a\"b' \\# \\; \\& a\\ b"),
            12 => format!("exec 3>out; {command} >&3 3>&-"),
            13 => format!("(exec {command})"),
            14 => format!("v=value; case \"$v\" in val*) {command};; *) :;; esac"),
            15 => format!("if ! false; then {command}; fi"),
            16 => format!("{{ {command}; }} 2>&1 | cat"),
            17 => format!("f() ( {command} \"$@\" ); f one 'two three'"),
            18 => format!("{command} {{a..c}} {{3..1}} {{01..03}} x{{,y}} {{a}} {{}} a{{b,c"),
            19 => format!("{command} ~ ~+ a~b \"~\" ~/a/b"),
            20 => format!("{command} $(( 1 )) $[2]"),
            21 => format!("{command} [x] '*' \\* \"a*\""),
            22 => format!("shopt -s expand_aliases\nalias q{tag}='{command} word'\nq{tag} more"),
            23 => format!("printf 'a b\\nc\\n' | while read x y; do {command} $x $y; done"),
            24 => format!("x=1; x+=2; {command} $x; (x=3; {command} $x); {command} $x"),
            25 => format!("{command} \"$(printf '%s' 'a  b')\" $(echo c d) `echo e`"),
            26 => format!("A=1; B=$A$A C=\"$B x\"; {command} \"$C\""),
            27 => format!("a=('x y' z); {command} \"${{a[*]}}\" \"${{a[1]}}\" ${{a[0]}} \"${{#a[0]}}\""),
            28 => format!("f() {{ local v=$1; shift; {command} \"$v\" \"$#\" \"$*\"; }}; f a b 'c d'"),
            29 => format!("env=(A=1); {command} \"${{env[@]}}\" ; set -- p q; for w; do {command} $w; done"),
            30 => format!("{command} <<< \"$(echo {DATA})\" 2>&1 >/dev/null"),
            _ => format!("! {command} && : || {command} else"),
        };
        format!("{text}\n{inner}")
    }

    fn program(&mut self) -> &'static str {
        self.pick(PROGRAMS)
    }

    fn tag(&mut self) -> String {
        self.tag += 1;
        format!("t{}", self.tag)
    }

    /// A program with arguments, some of them hard to read.
    fn simple(&mut self) -> String {
        let program = self.program();
        let mut text = String::new();
        if self.below(6) == 0 {
            text.push_str("A=1 ");
        }
        if self.below(10) == 0 {
            text.push_str("2>/dev/null ");
        }
        if self.below(8) == 0 {
            text.push_str("command ");
        }
        let name = self.disguise(program);
        text.push_str(&name);
        let tag = self.tag();
        text.push_str(&format!(" {tag}"));
        for _ in 0..self.below(4) {
            let argument = match self.below(14) {
                0 => self.quote("a b"),
                1 => self.quote(&format!("; {DATA} -x")),
                2 => self.quote(&format!("$({DATA})`{DATA}`")),
                3 => "\"\"".to_owned(),
                4 => "$'tab\\there \\x41\\''".to_owned(),
                5 => "> out".to_owned(),
                6 => "2>&1".to_owned(),
                7 => "\\\n  more".to_owned(),
                8 => "a#b".to_owned(),
                9 => "$HOME/x ~/y".to_owned(),
                10 => "\"$PWD\"".to_owned(),
                11 => format!("<<< '{DATA}'"),
                12 => "$((2))".to_owned(),
                _ => self.quote("-rf"),
            };
            text.push(' ');
            text.push_str(&argument);
        }
        text
    }

    /// A program's name as bash also reads it.
    fn disguise(&mut self, program: &str) -> String {
        let (head, tail) = program.split_at(1);
        match self.below(8) {
            0 => format!("\\{program}"),
            1 => format!("{head}''{tail}"),
            2 => format!("\"{program}\""),
            3 => format!("{head}\"{tail}\""),
            4 => format!("/bin/{program}"),
            5 => format!("{head}\\\n{tail}"),
            _ => program.to_owned(),
        }
    }

    /// `text` as one literal word.
    fn quote(&mut self, text: &str) -> String {
        let single = format!("'{}'", text.replace('\'', "'\\''"));
        match self.below(4) {
            0 if !text.contains('\n') => {
                text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\{c}") }).collect()
            }
            1 => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`")),
            2 => format!("$'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")),
            _ => single,
        }
    }
}

/// Whether a text ends with a here-document.
fn ends_in_tag(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or("").trim_start();
    last.starts_with("Et") && last[2..].bytes().all(|b| b.is_ascii_digit())
}
