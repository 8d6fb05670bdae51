//! Before and after, as structure: what of it is looser. Comments, layout and order are none of it.

use crate::places::What;

pub mod overrides;
pub mod registry;
pub mod settings;

/// What the change loosens, if it does.
pub fn loosened(what: What, before: &str, after: &str) -> Option<String> {
    match what {
        What::FoundrySettings => {
            let keys = portcullis_foundry::Settings::parse(after).looser_than(&portcullis_foundry::Settings::parse(before));
            (!keys.is_empty()).then(|| format!("the gates' settings would be looser: {}", keys.join(", ")))
        }
        What::Overrides => overrides::loosened(before, after),
        What::Registry => registry::loosened(before, after),
        What::Settings => settings::loosened(before, after),
        _ => None,
    }
}
