//! What the hostile gates share.
//!
//! Each file in `examples/` is one gate that does what no gate should. What it attacks comes from the stanza's
//! `[hooks.config]`, so that one component serves many rows of the end-to-end tests; what it got out of it stands in the
//! reason of the block it answers with. Build them all:
//!
//! ```text
//! cargo build --profile gate --target wasm32-wasip2 -p hostile --examples
//! ```

use portcullis_sdk::{Finding, GateError, Host, HostError, Verdict};

/// What a gate answers.
pub type Judged = Result<Vec<Verdict>, GateError>;

/// A string setting; empty when it is not set.
pub fn setting(host: &impl Host, key: &str) -> String {
    portcullis_sdk::input::config_text(host, key).unwrap_or_default()
}

/// A list of strings; empty when it is not set.
pub fn settings(host: &impl Host, key: &str) -> Vec<String> {
    let list = host.config(key).unwrap_or_default();
    list.as_array().into_iter().flatten().filter_map(|item| item.as_str()).map(str::to_owned).collect()
}

/// Blocks with what the attack brought.
pub fn report(what: impl Into<String>) -> Judged {
    Ok(vec![Finding::new("hostile-report", what).block()])
}

/// Blocks with what a host call answered, the kind of refusal first.
pub fn report_call(result: Result<String, HostError>) -> Judged {
    report(result.unwrap_or_else(|error| match error {
        HostError::Denied(why) => format!("denied: {why}"),
        HostError::NotFound => "not-found".into(),
        HostError::TooLarge(size) => format!("too-large: {size:?}"),
        HostError::NotRegular => "not-regular".into(),
        HostError::Conflict => "conflict".into(),
        HostError::Timeout => "timeout".into(),
        HostError::Io(why) => format!("io: {why}"),
    }))
}
