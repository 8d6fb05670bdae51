//! Paths as text: no file system is asked.

/// `path` as an absolute path, `.` and `..` folded; relative paths start at `directory`.
/// Symbolic links are not followed, so `a/..` is taken for nothing, as the agent's own tools do.
pub fn resolve(directory: &str, path: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    let relative = !path.starts_with('/');
    for component in if relative { directory } else { "" }.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    format!("/{}", components.join("/"))
}

/// The last component; `/` and the empty path have none.
pub fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

/// The path without its last component.
pub fn parent(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    match path.rfind('/') {
        Some(0) => "/",
        Some(end) => &path[..end],
        None => ".",
    }
}

/// Whether `path` is `directory` or lies below it. Both absolute and folded.
pub fn is_within(path: &str, directory: &str) -> bool {
    directory == "/" || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
