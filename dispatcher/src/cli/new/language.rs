//! The languages that a gate can be begun in. What another one takes: a variant here, and its templates beside the others.

use super::example::About;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// A crate, on the SDK.
    Rust,
}

/// What a gate is built with beside its own files.
pub enum Needs {
    /// The crate `portcullis-sdk`, in `sdk/`.
    Crate,
    /// The contract alone, in `wit/deps/`.
    #[allow(dead_code, reason = "for languages whose tools make bindings themselves")]
    Contract,
}

/// A file of a scaffold: where, and what. Both may have names in braces.
pub type File = (&'static str, &'static str);

/// A template.
macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../../../templates/gate/", $path))
    };
}
pub(super) use template;

impl Language {
    /// The component that a build leaves.
    pub fn component(self) -> &'static str {
        match self {
            Self::Rust => "target/wasm32-wasip2/release/{{module}}.wasm",
        }
    }

    /// What it is built with.
    pub fn needs(self) -> Needs {
        match self {
            Self::Rust => Needs::Crate,
        }
    }

    /// What is done first in a new folder.
    pub fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &[
                "cargo build --release --target wasm32-wasip2",
                "cargo test",
                "dispatcher test cases.toml --registry registry.toml",
            ],
        }
    }

    /// The files that are its own.
    pub fn files(self, about: About) -> Vec<File> {
        match self {
            Self::Rust => vec![
                (".gitignore", template!("rust/gitignore")),
                ("Cargo.toml", template!("rust/Cargo.toml")),
                ("README.md", concat!(template!("rust/README.md"), template!("register.md"))),
                (
                    "src/lib.rs",
                    match about {
                        About::Command => template!("rust/command.rs"),
                        About::File => template!("rust/file.rs"),
                        About::Text => template!("rust/text.rs"),
                        About::Advice => template!("rust/advice.rs"),
                    },
                ),
            ],
        }
    }
}
