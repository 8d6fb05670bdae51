//! Contracts and stories name subsystems as the architecture does (policy 6).
//!
//! The Subsystem Registry of `ARCH-INDEX.md` is the source of truth; its ids and its names are both accepted, letter by letter.

use portcullis_artifact::{Document, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// Below the directory that the contracts' and stories' own lie in.
const ARCHITECTURE: &str = "specs/architecture/ARCH-INDEX.md";
/// What the registry's heading contains.
const REGISTRY: &str = "Subsystem Registry";
/// Columns that hold a subsystem's id, and those that hold its name.
const COLUMNS: [&[&str]; 2] = [&["ss id", "id"], &["name", "subsystem name", "subsystem"]];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some((base, key)) = field(&target.path) else { return Ok(vec![]) };
    let (Ok(text), Ok(architecture)) = (host.read_text(&target.path), host.read_text(&format!("{base}/{ARCHITECTURE}"))) else {
        return Ok(vec![]);
    };
    let registry = registry(&Document::parse(&architecture));
    let unknown = unknown(&Document::parse(&text), key, &registry);
    if registry.is_empty() || unknown.is_empty() {
        return Ok(vec![]);
    }
    let valid: Vec<String> = registry.iter().map(|names| names.join(" = ")).collect();
    let stop = Stop {
        gate: "validate-subsystem-names",
        matcher: "Edit|Write",
        code: "policy6_subsystem_name_mismatch",
        reason: format!(
            "POLICY 6: `{key}` of {} names what the Subsystem Registry of ARCH-INDEX.md does not have: {}",
            quoted(target.name()),
            unknown.join("; ")
        ),
        fix: format!("write an id or a name of the registry exactly as it stands there: {}", listed(&valid)),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// Where the specs of an artifact begin, and its field that names subsystems; absent for other files.
fn field(path: &str) -> Option<(&str, &'static str)> {
    if place::is_contract(path) {
        return Some((place::before(path, "specs/behavioral-contracts")?, "subsystem"));
    }
    place::is_story(path).then(|| Some((place::before(path, "stories")?, "subsystems")))?
}

/// Each subsystem with its id and name, as far as it has them.
fn registry(architecture: &Document) -> Vec<Vec<String>> {
    let Some(section) = architecture.section(|heading| heading.text.contains(REGISTRY)) else { return Vec::new() };
    let mut registry = Vec::new();
    for table in section.tables() {
        let columns: Vec<usize> = COLUMNS.iter().filter_map(|names| table.column(names)).collect();
        let rows = table.rows.iter().map(|row| columns.iter().map(|column| row.plain(*column)));
        registry.extend(rows.map(|names| names.filter(|name| !name.is_empty()).collect::<Vec<_>>()));
    }
    registry.retain(|names| !names.is_empty());
    registry
}

/// One phrase for each value that is in no row.
fn unknown(document: &Document, key: &str, registry: &[Vec<String>]) -> Vec<String> {
    let Some(node) = document.front_matter().and_then(|front| front.get(key)) else { return Vec::new() };
    let is_known = |value: &str| registry.iter().flatten().any(|name| name == value);
    let values = node.items().iter().filter_map(|item| Some((item.line, item.text()?.trim())));
    let unknown = values.filter(|(_, value)| !value.is_empty() && !is_known(value));
    unknown.map(|(line, value)| format!("{} (line {line})", quoted(value))).collect()
}

/// The valid names, within what a message can hold.
fn listed(valid: &[String]) -> String {
    const MOST: usize = 40;
    match valid.len() > MOST {
        true => format!("{}, and {} more", valid[..MOST].join(", "), valid.len() - MOST),
        false => valid.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_places() {
        assert_eq!(field("/p/.factory/specs/behavioral-contracts/ss-01/BC-1.md"), Some(("/p/.factory", "subsystem")));
        assert_eq!(field("/p/stories/S-1.02.md"), Some(("/p", "subsystems")));
        for path in ["/p/behavioral-contracts/BC-1.md", "/p/stories/STORY-INDEX.md", "/p/src/main.rs"] {
            assert_eq!(field(path), None, "{path}");
        }
    }

    #[test]
    fn values_against_the_registry() {
        let architecture = Document::parse(
            "The Subsystem Registry follows.\n## 2. Subsystem Registry\n| Name | Doc | SS ID |\n|---|---|---|\n| **Core Engine** | x | `SS-01` |\n| Ü |\n",
        );
        let registry = registry(&architecture);
        assert_eq!(registry, [vec!["SS-01".to_string(), "Core Engine".into()], vec!["Ü".into()]]);
        let unknown = |field: &str| unknown(&Document::parse(&format!("---\n{field}\n---\n")), "subsystems", &registry);
        assert_eq!(unknown("subsystems: [SS-01, Core Engine, Ü]"), Vec::<String>::new());
        assert_eq!(unknown("subsystems:\n- SS-01\n- ss-01 # x\n- \"x\""), ["`ss-01` (line 4)", "`x` (line 5)"]);
        for unset in ["subsystems:", "subsystems: []", "subsystems: null", "subsystem: x", "subsystems: {a: b}"] {
            assert_eq!(unknown(unset), Vec::<String>::new(), "{unset}");
        }
    }

    #[test]
    fn a_long_registry_leaves_room_for_the_finding() {
        let many: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        assert!(listed(&many).ends_with("39, and 10 more"));
    }
}
