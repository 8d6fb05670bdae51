//! Any input ends: in time that grows with its size, on a stack as small as the sandbox's, and never with an empty answer
//! where something could run.
#![cfg(feature = "analyze")]
#![allow(missing_docs)]

use std::time::{Duration, Instant};

use portcullis_shell::{Context, analyze};

#[path = "inputs/mod.rs"]
mod inputs;

/// What a component has for its calls in the sandbox; without optimisation, frames are several times larger.
const STACK: usize = if cfg!(debug_assertions) { 4 * 1024 * 1024 } else { 384 * 1024 };

const CODE: usize = 60 * 1024;
const LARGE: usize = if cfg!(debug_assertions) { 128 * 1024 } else { 1024 * 1024 };

/// Generous: the point is that nothing is quadratic in these sizes.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 3 });

#[test]
fn every_input_ends_and_loses_nothing() {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let context = Context { cwd: "/home/dev/project".into(), project_root: "/home/dev/project".into(), home: None };
        let mut failures = Vec::new();
        for (name, text) in inputs::of(&[CODE, LARGE]) {
            let start = Instant::now();
            let analysis = analyze(&text, &context);
            let took = start.elapsed();
            if std::env::var("SHOW").is_ok() {
                println!(
                    "{:>9.1} ms  {:>8} bytes  {:>6} commands  {name}",
                    took.as_secs_f64() * 1e3,
                    text.len(),
                    analysis.commands.len()
                );
            }
            if took > LIMIT {
                failures.push(format!("{name}, {} bytes: took {took:?}", text.len()));
            }
            if !analysis.commands.iter().any(|command| command.program == "rm") {
                failures.push(format!("{name}, {} bytes: rm is not found", text.len()));
            }
        }
        failures
    });
    let failures = worker.expect("a thread").join().expect("no overflow");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
