//! The languages that a gate can be begun in. What another one takes: a variant here, and its templates beside the others.

use super::example::About;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// A crate, on the SDK.
    Rust,
    /// CPython inside the component, by componentize-py.
    Python,
    /// QuickJS inside the component, by componentize-qjs.
    Js,
}

/// What a gate is built with beside its own files.
pub enum Needs {
    /// The crate `portcullis-sdk`, in `sdk/`.
    Crate,
    /// The contract alone, in `wit/deps/`.
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
            Self::Python | Self::Js => "{{module}}.wasm",
        }
    }

    /// What it is built with.
    pub fn needs(self) -> Needs {
        match self {
            Self::Rust => Needs::Crate,
            Self::Python | Self::Js => Needs::Contract,
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
            Self::Python => &[
                "sh build.sh",
                "dispatcher compile --registry registry.toml",
                "dispatcher test cases.toml --registry registry.toml",
            ],
            Self::Js => &[
                "npm ci",
                "npm run build",
                "dispatcher compile --registry registry.toml",
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
            Self::Python => vec![
                (".gitignore", template!("python/gitignore")),
                ("README.md", concat!(template!("python/README.md"), template!("register.md"))),
                ("build.sh", template!("python/build.sh")),
                ("requirements.txt", template!("python/requirements.txt")),
                ("wit/world.wit", template!("world.wit")),
                (
                    "gate.py",
                    match about {
                        About::Command => template!("python/command.py"),
                        About::File => template!("python/file.py"),
                        About::Text => template!("python/text.py"),
                        About::Advice => template!("python/advice.py"),
                    },
                ),
            ],
            Self::Js => vec![
                (".gitignore", template!("javascript/gitignore")),
                ("README.md", concat!(template!("javascript/README.md"), template!("register.md"))),
                ("build.mjs", template!("javascript/build.mjs")),
                ("package.json", template!("javascript/package.json")),
                ("package-lock.json", template!("javascript/package-lock.json")),
                ("wit/world.wit", template!("world.wit")),
                (
                    "gate.js",
                    match about {
                        About::Command => template!("javascript/command.js"),
                        About::File => template!("javascript/file.js"),
                        About::Text => template!("javascript/text.js"),
                        About::Advice => template!("javascript/advice.js"),
                    },
                ),
            ],
        }
    }
}
