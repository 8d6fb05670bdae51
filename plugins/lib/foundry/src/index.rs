//! The index of the project's memory: one line per fact, the most binding kinds first.

use crate::memory::Fact;

/// The order of kinds; others follow.
const KINDS: [&str; 7] = ["decision", "constraint", "convention", "risk", "domain", "metric", "glossary"];
/// Tags that an entry shows.
const TAGS: usize = 4;
const HEADER: &str = "# Foundry memory index\n";

/// The index over `facts`, in at most `budget` tokens: entries are left out from the end, and a last line says how many.
pub fn of(facts: &[Fact], budget: u64) -> String {
    let rank = |fact: &Fact| KINDS.iter().position(|kind| *kind == fact.kind).unwrap_or(KINDS.len());
    let mut sorted: Vec<&Fact> = facts.iter().collect();
    sorted.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.id.cmp(&b.id)));
    let entries: Vec<String> = sorted.into_iter().map(entry).collect();

    let complete = whole(&entries, "");
    let mut size = complete.chars().count();
    let fits = |characters: usize| characters.div_ceil(4) as u64 <= budget;
    if fits(size) {
        return complete;
    }
    let kept = (0..entries.len()).rev().find(|kept| {
        size -= entries[*kept].chars().count();
        fits(size + footer(entries.len() - kept, budget).chars().count())
    });
    let kept = kept.unwrap_or(0);
    whole(&entries[..kept], &footer(entries.len() - kept, budget))
}

fn whole(entries: &[String], footer: &str) -> String {
    let blank = if entries.is_empty() { "" } else { "\n" };
    format!("{HEADER}{blank}{}{footer}", entries.concat())
}

fn entry(fact: &Fact) -> String {
    let tags: String = fact.tags.iter().take(TAGS).map(|tag| format!(" `{tag}`")).collect();
    format!("- **{}** · {} · {}{tags}\n", fact.id, fact.kind, fact.title)
}

fn footer(omitted: usize, budget: u64) -> String {
    format!("\n> {omitted} entries omitted (index budget {budget} tokens); run `foundry memory prune`.\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::fact;
    use crate::tokens;

    fn fits(index: &str, budget: u64) -> bool {
        tokens(index) as u64 <= budget
    }

    #[test]
    fn by_kind_then_by_id_with_four_tags() {
        let tags = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        let facts = [
            fact("fact-0001", "glossary", "G"),
            fact("fact-0002", "invented", "I"),
            fact("fact-0004", "decision", "D"),
            Fact { tags, ..fact("fact-0003", "decision", "C") },
        ];
        let expected = "# Foundry memory index\n\n- **fact-0003** · decision · C `a` `b` `c` `d`\n- **fact-0004** · decision · D\n\
                        - **fact-0001** · glossary · G\n- **fact-0002** · invented · I\n";
        assert_eq!(of(&facts, 4000), expected);
        assert_eq!(of(&[], 4000), "# Foundry memory index\n");
    }

    #[test]
    fn entries_are_left_out_from_the_end_until_all_fits() {
        let facts: Vec<Fact> =
            (1..=40).map(|number| fact(&format!("fact-{number:04}"), "domain", "A title of some length")).collect();
        let index = of(&facts, 300);
        assert!(fits(&index, 300), "{index}");
        let kept = index.lines().filter(|line| line.starts_with("- ")).count();
        assert!(
            index.ends_with(&format!(
                "\n\n> {} entries omitted (index budget 300 tokens); run `foundry memory prune`.\n",
                40 - kept
            ))
        );
        let more = facts[..=kept].iter().map(entry).collect::<String>();
        assert!(!fits(&format!("{HEADER}\n{more}{}", footer(39 - kept, 300)), 300), "one more would not fit");

        let none = of(&facts, 1);
        assert!(none.contains("> 40 entries omitted"), "{none}");
        let exact = of(&facts, tokens(&of(&facts, u64::MAX)) as u64);
        assert!(!exact.contains("omitted"));
    }
}
