//! `dispatcher explain`: why an event is answered as it is.

mod render;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::dispatch::Place;
use crate::explain::Explanation;
use crate::protocol::event::Event;

pub use render::{analysis, of_derived, whole};

/// Shows how one event is judged: gates, commands, host calls and the answer; nothing is journalled
///
/// The event is read from standard input, or made from --bash or --write.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A command for the Bash tool instead of an event on standard input
    #[arg(long, value_name = "COMMAND", conflicts_with = "write")]
    bash: Option<String>,
    /// A file for the Write tool instead of an event; its content is read from standard input
    #[arg(long, value_name = "PATH")]
    write: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// What `explain` and `check` share.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// The registry [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    pub registry: Option<PathBuf>,
    /// Run only the gates of this name, wherever they are required or not
    #[arg(long, value_name = "GATE")]
    pub only: Vec<String>,
    /// The date that gates see
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub today: Option<jiff::civil::Date>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

impl Common {
    /// Judges an event the way `hook` would.
    pub fn explain(&self, event: Event) -> Result<Explanation> {
        let place = Place::of(&event);
        let layered = super::registry(self.registry.as_ref())?.with_project(&place.root)?;
        Ok(Explanation::of(&layered, event, &place, &self.only, self.today.map(|date| date.to_string())))
    }

    /// The PreToolUse event of a tool call in the current directory.
    pub fn tool_call(&self, tool: &str, input: Value) -> Result<Event> {
        let cwd = std::env::current_dir().context("the current directory")?;
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "cwd": cwd, "tool_input": input});
        Ok(Event::parse(event.to_string().as_bytes(), None)?)
    }
}

/// Runs the verb; exit code 0 whatever the answer is.
pub fn run(args: &Args) -> Result<ExitCode> {
    let event = match (&args.bash, &args.write) {
        (Some(command), _) => args.common.tool_call("Bash", json!({"command": command}))?,
        (None, Some(path)) => args.common.tool_call("Write", json!({"file_path": path, "content": stdin()?}))?,
        (None, None) => {
            let input = stdin()?;
            if input.trim().is_empty() {
                bail!("there is no event on standard input; give one, or use --bash or --write");
            }
            Event::parse(input.as_bytes(), None)?
        }
    };
    let explanation = args.common.explain(event)?;
    match args.common.json {
        true => println!("{}", serde_json::to_string_pretty(&explanation)?),
        false => print!("{}", whole(&explanation)),
    }
    Ok(ExitCode::SUCCESS)
}

/// All of standard input, invalid UTF-8 replaced.
pub fn stdin() -> Result<String> {
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input).context("standard input")?;
    Ok(String::from_utf8_lossy(&input).into_owned())
}
