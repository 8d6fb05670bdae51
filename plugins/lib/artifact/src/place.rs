//! Where an artifact lies: by whole components of its path, `/` between them.

/// The directory of the artifacts.
const FACTORY: &str = ".factory";

/// The part of an absolute `path` behind `.factory/`: the first such directory below the project's `root`, or the last of a
/// path elsewhere. Absent outside of it.
pub fn in_factory<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let starts = |text: &str| {
        let mut starts = Vec::new();
        let mut at = 0;
        for component in text.split('/') {
            at += component.len() + 1;
            if component == FACTORY && at < text.len() {
                starts.push(at);
            }
        }
        starts
    };
    match below(path, root) {
        Some(inside) => starts(inside).first().map(|at| &inside[*at..]),
        None => starts(path).last().map(|at| &path[*at..]),
    }
}

/// The path of the `.factory` directory that [`in_factory`] found; `path` must lie in it.
pub fn factory_directory<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let inside = in_factory(path, root)?;
    Some(&path[..path.len() - inside.len() - 1])
}

/// The part of `path` below `root`, both absolute and folded.
pub fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// The file's own name.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The directory it lies in, without a final `/`.
pub fn directory(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..end])
}

/// An index: its name ends in `INDEX.md`.
pub fn is_index(path: &str) -> bool {
    name(path).ends_with("INDEX.md")
}

/// A behavioural contract: `BC-*.md` at any depth below `behavioral-contracts`, no index.
pub fn is_contract(path: &str) -> bool {
    is_below(path, "behavioral-contracts") && is_markdown(path, "BC-") && !is_index(path)
}

/// A story: `STORY-*.md` or `S-<n>.<n>*.md` at any depth below `stories`, no index.
pub fn is_story(path: &str) -> bool {
    let numbered = || {
        let (major, rest) = name(path).strip_prefix("S-").and_then(|rest| rest.split_once('.'))?;
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        Some(digit(major) && major.bytes().all(|byte| byte.is_ascii_digit()) && digit(rest) && is_markdown(path, "S-"))
    };
    is_below(path, "stories") && !is_index(path) && (is_markdown(path, "STORY-") || numbered() == Some(true))
}

/// Whether some directory of the path has that name.
pub fn is_below(path: &str, directory: &str) -> bool {
    self::directory(path).split('/').any(|component| component == directory)
}

/// What precedes the last `directories` (such as `specs/behavioral-contracts`) in the path, without a final `/`; absent if
/// they are not in it.
pub fn before<'a>(path: &'a str, directories: &str) -> Option<&'a str> {
    let at = path.rfind(&format!("/{directories}/"))?;
    Some(&path[..at])
}

fn is_markdown(path: &str, prefix: &str) -> bool {
    let name = name(path);
    name.starts_with(prefix) && name.ends_with(".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factory_is_a_whole_component() {
        for (path, expected) in [
            ("/p/.factory/STATE.md", Some("STATE.md")),
            ("/p/.factory/a/.factory/b", Some("a/.factory/b")),
            ("/p/.worktrees/x/.factory/b", Some("b")),
            ("/q/.factory/a/.factory/b", Some("b")),
            ("/p/my.factory/STATE.md", None),
            ("/p/.factory-project/a", None),
            ("/p/.factory", None),
        ] {
            assert_eq!(in_factory(path, "/p"), expected, "{path}");
        }
        assert_eq!(in_factory("/a/.factory/project/src/x.md", "/a/.factory/project"), None);
        assert_eq!(factory_directory("/p/.factory/a/b", "/p"), Some("/p/.factory"));
    }

    #[test]
    fn kinds_of_artifacts() {
        for path in ["/p/specs/behavioral-contracts/BC-1.md", "/behavioral-contracts/ss-01/x/BC-2.md"] {
            assert!(is_contract(path), "{path}");
        }
        for path in
            ["/behavioral-contracts/BC-INDEX.md", "/x/BC-1.md", "/behavioral-contracts/BC-1.txt", "/behavioral-contracts.md"]
        {
            assert!(!is_contract(path), "{path}");
        }
        for path in ["/stories/STORY-1.md", "/stories/a/S-1.02-x.md", "/stories/S-10.3.md"] {
            assert!(is_story(path), "{path}");
        }
        for path in ["/stories/STORY-INDEX.md", "/stories/S-x.1.md", "/story/STORY-1.md", "/stories/S-1.md", "/stories/S-1.x.md"]
        {
            assert!(!is_story(path), "{path}");
        }
        assert_eq!(before("/p/.factory/specs/x/BC.md", "specs/x"), Some("/p/.factory"));
        assert_eq!(before("/p/specs/x.md", "specs/x"), None);
    }
}
