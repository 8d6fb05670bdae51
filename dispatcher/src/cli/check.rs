//! `dispatcher check`: would this command be stopped?

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;

use super::explain::{self, Common};
use crate::explain::Explanation;
use crate::registry::layers::State;

/// Judges a shell command: what it would run, and what every gate thinks of it
///
/// Exit code 0: no gate objects. 1: it would be stopped. 3: the human would be asked. 2: it could not be judged.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command
    #[arg(required_unless_present_any = ["stdin", "file"])]
    command: Option<String>,
    /// Read the command from standard input
    #[arg(long, conflicts_with_all = ["command", "file"])]
    stdin: bool,
    /// Read the command, or a whole script, from a file
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    file: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let command = match (&args.command, &args.file) {
        (Some(command), _) => command.clone(),
        (None, Some(path)) => fs::read_to_string(path).with_context(|| path.display().to_string())?,
        (None, None) => explain::stdin()?,
    };
    let explanation = args.common.explain(args.common.tool_call("Bash", json!({"command": command}))?)?;
    match args.common.json {
        true => println!("{}", serde_json::to_string_pretty(&explanation)?),
        false => print!("{}", readable(&explanation)),
    }
    Ok(ExitCode::from(match explanation.decision.as_str() {
        "deny" | "block" => 1,
        "ask" => 3,
        _ => 0,
    }))
}

fn readable(explanation: &Explanation) -> String {
    let mut out = match &explanation.analysis {
        Some(Ok(analysis)) => explain::analysis(analysis),
        Some(Err(error)) => format!("commands    {error}\n"),
        None => String::new(),
    };
    if explanation.gates.is_empty() {
        out.push_str("gates       none is for this command in this project\n");
    }
    for gate in &explanation.gates {
        let rules: Vec<&str> = gate.findings.iter().map(|(rule, _)| rule.as_str()).collect();
        let why = gate.failure.clone().unwrap_or_else(|| rules.join(", "));
        out.push_str(format!("gate        {}: {}{} {why}", gate.gate, gate.verdict, explain::of_derived(gate)).trim_end());
        out.push('\n');
    }
    for layer in explanation.layers.iter().filter(|layer| layer.state != State::InForce) {
        out.push_str(&format!("layer       {}: {}\n", layer.path.display(), layer.standing()));
    }
    for (rule, reason) in &explanation.overridden {
        out.push_str(&format!("override    {rule}: {reason}\n"));
    }
    let by = if explanation.rules.is_empty() { String::new() } else { format!(" by {}", explanation.rules.join(", ")) };
    out.push_str(&format!("decision    {}{by}\n", explanation.decision));
    out
}
