//! Names of verification methods, which no two documents write alike.

/// Words at a name's end that do not make another method.
const SUFFIXES: [&str; 9] = ["_proof", "_proofs", "_target", "_targets", "_property", "_properties", "_test", "_tests", "_vp"];

/// The name in a form that can be compared: lower case, words joined by `_`, without what only counts ("proofs", "targets").
pub fn normalized(label: &str) -> String {
    let lower = label.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut name = words.join("_");
    let suffixes = || SUFFIXES.iter().copied().chain(["_vps"]);
    while let Some(rest) = suffixes().find_map(|suffix| name.strip_suffix(suffix)) {
        name = rest.to_owned();
    }
    name
}

/// The row sums up the others.
pub fn is_total(label: &str) -> bool {
    label.to_lowercase().starts_with("total")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_method_one_name() {
        for (label, expected) in [
            ("Kani Proofs", "kani"),
            ("kani", "kani"),
            ("Integration test VPs", "integration"),
            ("Integration Test", "integration"),
            ("fast-check properties", "fast_check"),
            ("Proofs", "proofs"),
            ("Prüfung", "prüfung"),
            ("", ""),
        ] {
            assert_eq!(normalized(label), expected, "{label}");
        }
        assert!(is_total("Total VPs") && is_total("TOTALS") && !is_total("Kani total"));
    }
}
