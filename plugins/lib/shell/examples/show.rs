//! Prints the analysis of its argument, or of each line of standard input.
#![allow(missing_docs)]

use portcullis_shell::{Context, analyze};

fn main() {
    let context = Context { cwd: "/work/project".into(), project_root: "/work/project".into(), home: Some("/home/dev".into()) };
    let text = std::env::args().nth(1).unwrap_or_default();
    let analysis = analyze(&text, &context);
    println!("parsed: {}", analysis.parsed);
    for (index, command) in analysis.commands.iter().enumerate() {
        let words: Vec<String> = command
            .words
            .iter()
            .map(|w| match &w.value {
                Some(v) => format!("{v:?}"),
                None => format!("?{}", w.raw),
            })
            .collect();
        let stages: Vec<String> = command.stages.iter().map(|s| format!("{}.{}", s.pipeline, s.position)).collect();
        let reached: Vec<String> = command.reached.iter().map(|r| format!("{:?}<{:?}", r.route, r.by)).collect();
        println!(
            "{index} {} [{}] {:?} stages {} reached {} dir {:?} launchers {:?}{}{} assign {:?} redir {:?}",
            command.program,
            words.join(" "),
            command.certainty,
            stages.join(","),
            reached.join(","),
            command.directory,
            command.launchers,
            if command.program_from_input { " FROM-INPUT" } else { "" },
            if command.background { " &" } else { "" },
            command.assignments.iter().map(|a| format!("{}={:?}", a.name, a.value.value)).collect::<Vec<_>>(),
            command.redirections.iter().map(|r| format!("{:?} {:?}", r.kind, r.target.value)).collect::<Vec<_>>()
        );
    }
    for effect in &analysis.effects {
        println!("effect {:?} {:?} {:?} by {}", effect.kind, effect.path, effect.content, effect.command);
    }
    for unknown in &analysis.unknowns {
        println!("unknown: {unknown}");
    }
}
