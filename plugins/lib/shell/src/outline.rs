//! Where the commands of a script stand in its text.
//!
//! The analysis says what a script would run, not where that is written. Who wants to show the place takes commands out of the
//! script and sees what is left; this says what there is to take out.

use std::ops::Range;

/// A simple command in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes, from its first word, assignment or redirection to its last.
    pub span: Range<usize>,
    /// The first word, where it is written plainly; empty otherwise.
    pub program: String,
    /// Whether there are words besides assignments and redirections.
    pub words: bool,
    /// Its here-document operators with their tags. The bodies come later in the text, and without these they would be commands.
    pub here: Vec<Range<usize>>,
}

/// The commands of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Outermost simple commands, in the order of the text: what stands in a `$(…)` belongs to the command around it.
    pub pieces: Vec<Piece>,
    /// Where each complete command begins: between two of them, a text can be cut.
    pub starts: Vec<usize>,
    /// Where the first line that is no shell syntax begins.
    pub failed_at: Option<usize>,
    /// Shells differ in how they read some of it.
    pub ambiguous: bool,
}

/// The commands of a text. Its depth is bounded, so that it can be called outside of a sandbox too.
pub fn outline(text: &str) -> Outline {
    let mut outline = crate::syntax::outline(text);
    outline.pieces.sort_by_key(|piece| (piece.span.start, std::cmp::Reverse(piece.span.end)));
    let mut end = 0;
    outline.pieces.retain(|piece| {
        let outermost = piece.span.start >= end;
        end = end.max(piece.span.end);
        outermost
    });
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        outline(text).pieces.iter().map(|piece| &text[piece.span.clone()]).collect()
    }

    #[test]
    fn commands_are_found_where_they_stand() {
        let script =
            "#!/bin/sh\nset -e # x\nif a b; then\n  c | d \\\n  e &\nfi\nf() { g; }\nx=1 h >out\ny=$(i j)\n(( 1 ))\n( k ) | l\n";
        assert_eq!(texts(script), ["set -e", "a b", "c", "d \\\n  e", "g", "x=1 h >out", "y=$(i j)", "k", "l"]);
        assert_eq!(outline(script).failed_at, None);
    }

    #[test]
    fn what_is_nested_in_a_word_belongs_to_its_command() {
        assert_eq!(texts("a \"$(b; c `d`)\" <(e)\nf"), ["a \"$(b; c `d`)\" <(e)", "f"]);
    }

    #[test]
    fn a_here_document_is_known_by_its_operator() {
        let text = "a <<E b\nrm x\nE\nc\n";
        let outline = outline(text);
        assert_eq!(texts(text), ["a <<E b", "c"]);
        assert_eq!(&text[outline.pieces[0].here[0].clone()], "<<E");
        assert_eq!(outline.starts.len(), 2);
    }

    #[test]
    fn what_is_no_syntax_ends_it() {
        let found = outline("a\nb )\nc\n");
        assert_eq!((found.pieces.len(), found.failed_at), (1, Some(2)));
    }

    #[test]
    fn depth_is_bounded() {
        outline(&"$( ".repeat(100_000));
        outline(&"{ ".repeat(100_000));
    }
}
