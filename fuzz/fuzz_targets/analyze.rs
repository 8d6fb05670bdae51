//! The shell analyser on any text, on a stack as small as the sandbox's: no panic, no overflow, and what it says of itself holds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_shell::{Context, analyze};

/// The guest's stack in the dispatcher.
const STACK: usize = 1 << 20;

fuzz_target!(|text: &str| {
    let text = text.to_owned();
    let run = move || {
        let context = Context { cwd: "/p/sub".into(), project_root: "/p".into(), home: Some("/home/u".into()) };
        let analysis = analyze(&text, &context);
        let count = analysis.commands.len() as u32;
        for command in &analysis.commands {
            assert!(command.reached.iter().all(|reach| reach.by.is_none_or(|by| by < count)));
        }
        assert!(analysis.effects.iter().all(|effect| effect.command < count));
    };
    std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread").join().expect("no panic");
});
