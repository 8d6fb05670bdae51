//! The contracts that an artifact can declare, embedded: what an artifact must hold is not the project's to change.

use serde_json::Value;

macro_rules! contracts {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../contracts/", $id, ".json")))),*]
    };
}

/// Id and JSON schema of each, sorted by id.
pub const ALL: &[(&str, &str)] = contracts![
    "adr.v1",
    "compliance-check.v1",
    "estimate.v1",
    "fact.v1",
    "finding.v1",
    "handoff.v1",
    "plan.v1",
    "requirement.v1",
    "review.v1",
    "risk.v1",
    "tracker-item.v1",
];

/// The contract called `id`.
pub fn named(id: &str) -> Option<Value> {
    let (_, text) = ALL.iter().find(|(name, _)| *name == id)?;
    Some(serde_json::from_str(text).expect("a shipped contract is JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn each_says_its_own_id_and_uses_no_keyword_that_is_not_checked() {
        assert!(ALL.is_sorted());
        for (id, _) in ALL {
            let contract = named(id).unwrap();
            assert_eq!(contract["$id"], format!("urn:foundry:contract:{id}"));
            assert_eq!(contract["properties"]["schema"]["const"], *id);
            assert_eq!(contract["additionalProperties"], false, "{id}");
            assert_eq!(schema::refusals(&contract), [""; 0], "{id}");
        }
        assert_eq!(named("../adr.v1"), None);
    }
}
