//! Runs a bash hook that was written for the agent itself as a gate, unchanged.
//!
//! The stanza names the script and grants what it runs:
//!
//! ```toml
//! [hooks.config]
//! script_path = "hooks/validate-bc-title.sh"      # relative to the registry's directory
//! [hooks.capabilities.exec_subprocess]
//! binary_allow = ["bash"]
//! shell_bypass_acknowledged = "runs a bash hook that is not ported yet"
//! env_allow = ["PATH", "HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"]
//! ```
//!
//! The script finds the original event on standard input and runs in the project root. Its exit code *and* what it prints
//! count: 2 blocks with standard error as the reason, any JSON answer on standard output is honoured (see [`answer`]), and
//! an exit code that says neither yes nor no is an error, so that the stanza's `on_error` decides. What always holds: the
//! adapter never approves, whatever the script says; it passes on objections only.

pub mod answer;
mod script;
#[cfg(test)]
mod tests;

use portcullis_sdk::{Event, GateError, Host, Level, Output, Verdict, input};

use answer::Answer;
use script::Script;

/// Events whose plain standard output the agent hands to the model (PreCompact: to the one that compacts).
const PLAIN_TEXT_REACHES_MODEL: [&str; 5] =
    ["SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch", "PreCompact"];

/// Runs the script of the stanza and reads its answer.
///
/// Generic over the host, so that the component imports what is called here and no more: a `dyn Host` would import it all.
pub fn judge<H: Host>(event: &Event, host: &H) -> Result<Vec<Verdict>, GateError> {
    let script = Script::configured(host)?;
    let path = input::normalize(script.path(), &host.base_directory());
    let output = host.exec("bash", &[path], host.payload().as_bytes(), None).map_err(|error| script.error(&error.describe()))?;
    verdicts(event, host, &script, &output)
}

/// The exit code decides how much weight standard output and standard error have.
fn verdicts<H: Host>(event: &Event, host: &H, script: &Script, output: &Output) -> Result<Vec<Verdict>, GateError> {
    let stderr = script::shorten(&String::from_utf8_lossy(&output.stderr));
    let answer = Answer::read(&String::from_utf8_lossy(&output.stdout), script, &stderr);
    journal(host, script, &answer, &stderr);

    match output.code {
        Some(2) => Ok(answer.blocking(script, &stderr)),
        None => Err(script.error("ended by a signal")),
        Some(_) if output.truncated => Err(script.error("printed more than the host keeps, so its answer is not known")),
        Some(0) => {
            let advice = PLAIN_TEXT_REACHES_MODEL.contains(&event.name.as_str()) && !answer.plain.is_empty();
            let advice = advice.then(|| Verdict::Advise(answer.plain.clone()));
            answer.result(script).map(|verdicts| verdicts.into_iter().chain(advice).collect())
        }
        Some(_) if answer.given => answer.result(script),
        Some(code) => Err(script.error(&match stderr.as_str() {
            "" => format!("exited with {code} (no stderr)"),
            stderr => format!("exited with {code}: {stderr}"),
        })),
    }
}

/// Nothing that the script said is lost: what reaches neither model nor human stands in the journal.
fn journal(host: &impl Host, script: &Script, answer: &Answer, stderr: &str) {
    let log = |level, what: &str, text: &str| {
        if !text.is_empty() {
            host.log(level, &format!("{} {what}: {text}", script.path()));
        }
    };
    log(Level::Info, "stdout", &script::shorten(&answer.plain));
    log(Level::Info, "not passed on", &script::shorten(&answer.dropped.join(", ")));
    log(Level::Warn, "stderr", stderr);
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
