//! Which files are tests and which are source code, by their path below the project's root.

use portcullis_sdk::{GateError, Host};

/// The key of the stanza's configuration that replaces [`SOURCE`].
const KEY: &str = "source_extensions";
/// Extensions of source code.
const SOURCE: [&str; 23] = [
    "rs", "ts", "tsx", "js", "jsx", "py", "go", "java", "kt", "swift", "mjs", "cjs", "mts", "cts", "c", "h", "cc", "cpp", "hpp",
    "cs", "rb", "php", "scala",
];
/// Directories of tests.
const TEST_DIRECTORIES: [&str; 4] = ["test", "tests", "__tests__", "spec"];
/// What ends the stem of a test file, before any extension.
const TEST_STEMS: [&str; 3] = [".test", ".spec", "_test"];
/// What ends a test file's name in languages that write it in capitals.
const TEST_NAMES: [&str; 3] = ["Test.java", "Test.kt", "Tests.swift"];

/// A file that holds tests.
pub fn is_test(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    if directories.split('/').any(|directory| TEST_DIRECTORIES.contains(&directory)) {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let lower_case = !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_lowercase());
    (lower_case && TEST_STEMS.iter().any(|suffix| stem.ends_with(suffix)))
        || (extension == "py" && stem.starts_with("test_"))
        || TEST_NAMES.iter().any(|suffix| name.ends_with(suffix))
}

/// A file of source code.
pub fn is_source(path: &str, extensions: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.iter().any(|known| known == extension))
}

/// The extensions that count as source code.
pub fn configured(host: &impl Host) -> Result<Vec<String>, GateError> {
    let Some(value) = host.config(KEY) else { return Ok(SOURCE.map(str::to_owned).to_vec()) };
    let texts = value.as_array().and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    texts.ok_or_else(|| GateError::Config(format!("{KEY}: not a list of extensions such as \"rs\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_by_place_and_name() {
        for path in [
            "tests/a.rs",
            "a/test/b.rs",
            "a/__tests__/b/c.ts",
            "spec/a.rb",
            "a.test.ts",
            "src/a.spec.jsx",
            "a_test.rs",
            "a_test.go",
            "a_test.cc",
            "test_a.py",
            "src/ParserTest.java",
            "ParserTest.kt",
            "ParserTests.swift",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "src/tests.rs",
            "testing/a.rs",
            "latest.ts",
            "contest/a.py",
            "a.test",
            "test_a.rs",
            "a.test.TS",
            "specs/a.rs",
            "Tests.java",
            "Makefile",
            "test",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn source_by_extension() {
        let known = SOURCE.map(str::to_owned);
        let extensions = "rs ts tsx js jsx py go java kt swift mjs cjs mts cts c h cc cpp hpp cs rb php scala";
        for extension in extensions.split(' ') {
            assert!(is_source(&format!("a.{extension}"), &known), "{extension}");
        }
        for path in ["a.b.py", "src/.x.ts"] {
            assert!(is_source(path, &known), "{path}");
        }
        for path in ["a.md", "rs", "a.rs/b", "Makefile", "a.RS", "a."] {
            assert!(!is_source(path, &known), "{path}");
        }
    }
}
