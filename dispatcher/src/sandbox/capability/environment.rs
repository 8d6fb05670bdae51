//! `environment`: variables that the stanza names.

use crate::sandbox::bindings::gate::portcullis::gate::environment;
use crate::sandbox::bindings::types::HostError;
use crate::sandbox::instance::Call;

impl environment::Host for Call {
    fn env(&mut self, name: String) -> Result<Option<String>, HostError> {
        self.note("env", &name);
        match self.stanza.capabilities.env_allow.contains(&name) {
            true => Ok(self.shared.environment.get(&name).map(|value| value.to_string_lossy().into_owned())),
            false => Err(self.denied("env", "env_not_on_allow_list", "variable", &name)),
        }
    }
}
