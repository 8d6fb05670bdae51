//! The files of behavioural contracts: in one folder, or in folders one level below it.

use portcullis_sdk::Host;

/// Where they lie, below the directory of the artifacts.
const FOLDER: &str = "specs/behavioral-contracts";

/// All files of contracts.
pub struct Contracts {
    paths: Vec<String>,
}

impl Contracts {
    /// Lists them; absent where there is no such folder.
    pub fn below(factory: &str, host: &impl Host) -> Option<Self> {
        let folder = format!("{factory}/{FOLDER}");
        let mut paths = Vec::new();
        for name in host.list_dir(&folder).ok()? {
            let path = format!("{folder}/{name}");
            match name.ends_with(".md") {
                true => paths.push(path),
                false => {
                    let names = host.list_dir(&path).unwrap_or_default();
                    paths.extend(names.iter().map(|name| format!("{path}/{name}")));
                }
            }
        }
        Some(Self { paths })
    }

    /// The text of the contract with exactly this id, its file being `<id>.md` or `<id>-<title>.md`.
    pub fn read(&self, id: &str, host: &impl Host) -> Option<String> {
        let is_meant = |path: &&String| {
            let name = path.rsplit('/').next().and_then(|name| name.strip_suffix(".md"));
            let rest = name.and_then(|name| name.strip_prefix(id));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        host.read_text(self.paths.iter().find(is_meant)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;

    use super::*;

    #[test]
    fn an_id_is_one_file() {
        let host = ["BC-1.01.010.md", "ss-01/BC-1.01.001-retry.md", "ss-01/deep/BC-1.01.003.md", "BC-1.01.002.txt"]
            .iter()
            .fold(FakeHost::default(), |host, name| host.file(&format!("/f/{FOLDER}/{name}"), *name));
        let contracts = Contracts::below("/f", &host).unwrap();
        assert_eq!(contracts.read("BC-1.01.001", &host).as_deref(), Some("ss-01/BC-1.01.001-retry.md"));
        assert_eq!(contracts.read("BC-1.01.010", &host).as_deref(), Some("BC-1.01.010.md"));
        for id in ["BC-1.01.01", "BC-1.01.002", "BC-1.01.003", "BC-1"] {
            assert_eq!(contracts.read(id, &host), None, "{id}");
        }
        assert!(Contracts::below("/g", &host).is_none());
    }
}
