//! One file: what the gates object to, and where it stands.

use std::ops::Range;

use portcullis_shell::{Outline, Piece, outline};

use super::allow::{self, Allowed};
use super::extract::{self, Extracted};
use super::judge::{Judge, Objection, Said};
use super::narrow::window;
use super::script::Script;
use super::{File, Finding, MAX_FINDINGS, Report, Skipped, Why};
use crate::journal::masked;
use crate::registry::lint::place::line_and_column;

/// Bytes of a script that are judged at once. The analyser parses 64 KiB; longer scripts are cut between commands.
const CHUNK: usize = 48 << 10;

/// Lines of a finding that are shown.
const SHOWN_LINES: usize = 6;

/// Builtins whose effect later commands need, so that they stay while others are taken out.
const SETTINGS: [&str; 15] = [
    "cd", "pushd", "popd", "set", "shopt", "export", "declare", "typeset", "local", "readonly", "alias", "unset", "shift",
    "read", "exec",
];

/// Something found in a text: its bytes there, and whether the text itself is what must not be shown.
struct Hit {
    span: Range<usize>,
    objection: Objection,
    secret: bool,
}

/// Looks at one file.
pub fn file(file: &File, judge: &Judge) -> Report {
    let mut search = Search { judge, report: Report { files: 1, ..Report::default() }, hits: Vec::new() };
    let Extracted { scripts, skipped } = extract::of(&file.path, &file.text);
    for script in &scripts {
        search.script(script);
    }
    search.text(file);
    let Search { mut report, mut hits, .. } = search;
    report.scripts = scripts.len();
    report.skipped.extend(skipped.into_iter().map(|why| Skipped { path: file.path.clone(), why }));
    hits.sort_by_key(|hit| (hit.span.start, hit.span.end));
    let lines: Vec<&str> = file.text.lines().collect();
    let found = hits.into_iter().map(|hit| finding(file, &lines, hit));
    report.findings = found.filter(|finding| is_new(finding, file)).collect();
    if report.findings.len() >= MAX_FINDINGS {
        report.skipped.push(Skipped { path: file.path.clone(), why: Why::More });
    }
    for failure in &mut report.troubles {
        *failure = format!("{}: {failure}", file.path);
    }
    report.troubles.dedup();
    report
}

/// Whether the change that is looked at brought it.
fn is_new(finding: &Finding, file: &File) -> bool {
    let Some(added) = &file.added else { return true };
    added.iter().any(|lines| lines.start <= finding.end.0 && finding.start.0 < lines.end)
}

fn finding(file: &File, lines: &[&str], hit: Hit) -> Finding {
    let start = line_and_column(&file.text, hit.span.start);
    let end = line_and_column(&file.text, hit.span.end);
    let (allowed, note) = match allow::on(lines, start.0, &hit.objection.rule) {
        Allowed::No => (None, None),
        Allowed::Because(reason) => (Some(reason), None),
        Allowed::WithoutReason => {
            (None, Some("the comment beside it allows this without saying why, so it does not count".to_owned()))
        }
    };
    let shown = || masked(&lines[start.0 - 1..lines.len().min(end.0).min(start.0 - 1 + SHOWN_LINES)].join("\n"));
    let shown = (!hit.secret && start.0 <= lines.len()).then(shown);
    Finding { path: file.path.clone(), span: hit.span, start, end, objection: hit.objection, lines: shown, allowed, note }
}

struct Search<'a> {
    judge: &'a Judge<'a>,
    report: Report,
    hits: Vec<Hit>,
}

impl Search<'_> {
    /// What is said against a text, noting what else was said.
    fn heard(&mut self, said: Said) -> Vec<Objection> {
        self.report.troubles.extend(said.failures);
        self.report.overridden.extend(said.overridden);
        said.objections
    }

    fn is_full(&self) -> bool {
        self.hits.len() >= MAX_FINDINGS
    }

    /// A script, piece by piece if it is long.
    fn script(&mut self, script: &Script) {
        let Outline { pieces, starts, failed_at, .. } = outline(&script.text);
        let mut cuts = vec![0];
        for start in starts {
            if start - cuts.last().copied().unwrap_or(0) > CHUNK {
                cuts.push(start);
            }
        }
        cuts.push(script.text.len());
        for pair in cuts.windows(2) {
            let part = pair[0]..pair[1];
            let within = |piece: &&Piece| part.contains(&piece.span.start);
            let mut parts: Vec<Part> = pieces.iter().filter(within).map(Part::of).collect();
            // What is no syntax is looked at by lines.
            let mut at = failed_at.unwrap_or(part.end).max(part.start);
            for line in script.text[at.min(part.end)..part.end].split_inclusive('\n') {
                parts.push(Part { span: at..at + line.trim_end().len(), stays: false, here: vec![] });
                at += line.len();
            }
            self.commands(script, part, parts);
        }
    }

    /// The commands in a part of a script.
    fn commands(&mut self, script: &Script, part: Range<usize>, parts: Vec<Part>) {
        let mut text = Pieces { text: &script.text, part, gone: vec![false; parts.len()], parts };
        while !self.is_full() {
            let said = self.judge.commands(&text.without(|_| false), None);
            let mut gone = Vec::new();
            for objection in self.heard(said) {
                let pieces = text.objectionable(self.judge, &objection);
                let span = script.span(text.place(&pieces));
                let known = self.hits.iter().any(|hit| hit.span == span && hit.objection.is_like(&objection));
                if !known {
                    self.hits.push(Hit { span, objection, secret: false });
                }
                gone.extend(pieces);
            }
            let before = text.gone.iter().filter(|gone| **gone).count();
            gone.into_iter().for_each(|piece| text.gone[piece] = true);
            // Nothing more can be taken out, or nothing was found.
            if text.gone.iter().filter(|gone| **gone).count() == before {
                return;
            }
        }
    }

    /// The text of a file, by lines, and where it is one line, by characters.
    fn text(&mut self, file: &File) {
        let starts: Vec<usize> =
            std::iter::once(0).chain(file.text.match_indices('\n').map(|(at, _)| at + 1)).chain([file.text.len()]).collect();
        let line = |index: usize| starts[index]..starts[index + 1];
        let mut gone = vec![false; starts.len() - 1];
        let mut about_the_path = Vec::new();
        while !self.is_full() {
            let keep = |lines: Range<usize>, gone: &[bool]| -> String {
                lines.filter(|index| !gone[*index]).map(|index| &file.text[line(index)]).collect()
            };
            let said = self.judge.text(&file.place, &keep(0..gone.len(), &gone), None);
            let mut found = Vec::new();
            for objection in self.heard(said) {
                if about_the_path.iter().any(|other: &Objection| other.is_like(&objection)) {
                    continue;
                }
                let objects = |text: &str| {
                    let said = self.judge.text(&file.place, text, Some(&objection));
                    said.objections.iter().any(|other| other.is_like(&objection))
                };
                // Whatever the text is: once is enough.
                if objects("") {
                    about_the_path.push(objection.clone());
                    self.hits.push(Hit { span: 0..0, objection, secret: true });
                    continue;
                }
                let lines = window(gone.len(), |lines| objects(&keep(lines, &gone)));
                let whole = starts[lines.start]..starts[lines.end];
                found.extend(lines);
                let text = &file.text[whole.clone()];
                let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.trim_end().len()]).collect();
                let count = ends.len() - 1;
                let part =
                    window(count.max(1), |chars| objects(&text[ends[chars.start]..ends[chars.end].max(ends[chars.start])]));
                let span = whole.start + ends[part.start]..whole.start + ends[part.end.min(count)];
                self.hits.push(Hit { span, objection, secret: true });
            }
            if found.is_empty() {
                return;
            }
            found.into_iter().for_each(|line| gone[line] = true);
        }
    }
}

/// A command that can be taken out.
struct Part {
    span: Range<usize>,
    /// What comes later may depend on it.
    stays: bool,
    here: Vec<Range<usize>>,
}

impl Part {
    fn of(piece: &Piece) -> Self {
        let stays = !piece.words || SETTINGS.contains(&piece.program.as_str());
        Self { span: piece.span.clone(), stays, here: piece.here.clone() }
    }
}

/// A part of a script with some of its commands taken out.
struct Pieces<'a> {
    text: &'a str,
    part: Range<usize>,
    parts: Vec<Part>,
    gone: Vec<bool>,
}

impl Pieces<'_> {
    /// The text without the commands that `out` chooses, and without those that are gone. In the place of each stands a command
    /// that does nothing, with its here-documents: their bodies would be commands otherwise.
    fn without(&self, out: impl Fn(usize) -> bool) -> String {
        let mut text = String::with_capacity(self.part.len());
        let mut at = self.part.start;
        for (index, part) in self.parts.iter().enumerate() {
            if self.gone[index] || out(index) {
                text.push_str(&self.text[at..part.span.start]);
                text.push(':');
                for here in &part.here {
                    text.push(' ');
                    text.push_str(&self.text[here.clone()]);
                }
                at = part.span.end;
            }
        }
        text.push_str(&self.text[at..self.part.end]);
        text
    }

    /// The commands that earn an objection: few, and as near to each other as can be.
    fn objectionable(&self, judge: &Judge, objection: &Objection) -> Vec<usize> {
        let objects = |text: &str| judge.commands(text, Some(objection)).objections.iter().any(|other| other.is_like(objection));
        let movable: Vec<usize> = (0..self.parts.len()).filter(|index| !self.parts[*index].stays && !self.gone[*index]).collect();
        let all: Vec<usize> = (0..self.parts.len()).filter(|index| !self.gone[*index]).collect();
        // An objection to what usually stays is one to that.
        let settled = objects(&self.without(|index| !self.parts[index].stays));
        let chosen = if settled || movable.is_empty() { all } else { movable };
        if chosen.is_empty() {
            return vec![];
        }
        let kept = |run: Range<usize>| {
            let kept = &chosen[run];
            self.without(|index| chosen.binary_search(&index).is_ok() && kept.binary_search(&index).is_err())
        };
        let run = window(chosen.len(), |run| objects(&kept(run)));
        chosen[run].to_vec()
    }

    /// Where commands stand: from the first to the last, or where they are far from each other, the last, which is the one that
    /// does it.
    fn place(&self, pieces: &[usize]) -> Range<usize> {
        let span = |index: &usize| self.parts[*index].span.clone();
        match (pieces.first().map(span), pieces.last().map(span)) {
            (Some(first), Some(last)) => {
                let between = self.text.get(first.end..last.start).unwrap_or_default();
                let near = !between.replace("\\\n", "").replace("|\n", "").contains('\n');
                if near { first.start..last.end } else { last }
            }
            _ => self.part.clone(),
        }
    }
}
