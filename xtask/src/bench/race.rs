//! Runs many processes in turns, so that a busy moment of the machine hits all alike.

use std::process::Command;

use anyhow::{Result, bail};

use crate::measure::{Cost, measure};

/// Milliseconds that one subject may take in all; who is slow runs less often, but never less than [`FEWEST`] times.
const SHARE: f64 = 6_000.0;
const FEWEST: usize = 5;

/// Something that is measured: processes that start together, made anew each time.
pub struct Subject<'a> {
    pub name: String,
    pub commands: Box<dyn Fn() -> Result<Vec<Command>> + 'a>,
}

/// Measures every subject up to `rounds` times.
pub fn race(subjects: &[Subject], rounds: usize) -> Result<Vec<Vec<Cost>>> {
    let mut plans = Vec::with_capacity(subjects.len());
    for subject in subjects {
        // The first time only warms up, and shows how it ends and how long it takes.
        let (cost, codes) = measure(&mut (subject.commands)()?)?;
        let turns = ((SHARE / cost.wall) as usize).clamp(FEWEST.min(rounds), rounds);
        plans.push((turns, codes));
    }
    let mut costs = vec![Vec::new(); subjects.len()];
    for round in 0..rounds {
        for ((subject, (turns, expected)), costs) in subjects.iter().zip(&plans).zip(&mut costs) {
            if !is_due(round, *turns, rounds) {
                continue;
            }
            let (cost, codes) = measure(&mut (subject.commands)()?)?;
            // A crash would look fast.
            if codes != *expected {
                bail!("{} ended with the exit codes {codes:?} instead of {expected:?}", subject.name);
            }
            costs.push(cost);
        }
    }
    Ok(costs)
}

/// Spreads `turns` evenly over the rounds.
const fn is_due(round: usize, turns: usize, rounds: usize) -> bool {
    (round + 1) * turns / rounds > round * turns / rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_spread_over_the_rounds() {
        for (turns, rounds) in [(5, 30), (30, 30), (7, 30), (1, 1), (3, 4)] {
            assert_eq!((0..rounds).filter(|round| is_due(*round, turns, rounds)).count(), turns);
        }
        assert_eq!((0..9).filter(|round| is_due(*round, 3, 9)).collect::<Vec<_>>(), [2, 5, 8]);
    }

    #[test]
    fn a_subject_that_ends_otherwise_than_at_first_is_refused() {
        let count = std::cell::Cell::new(0);
        let commands = || {
            count.set(count.get() + 1);
            Ok(vec![Command::new(if count.get() == 3 { "false" } else { "true" })])
        };
        let subject = Subject { name: "moody".to_owned(), commands: Box::new(commands) };
        let error = race(&[subject], 4).unwrap_err().to_string();
        assert!(error.contains("moody"), "{error}");
    }
}
