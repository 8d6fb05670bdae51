//! Durations, counted in buckets that grow with them: percentiles of any number of values in little memory.

/// Where the first bucket ends, in milliseconds.
const FIRST: f64 = 0.01;
/// Each bucket's end over that of the one before; percentiles are exact to half of that.
const GROWTH: f64 = 1.15;
/// Enough for a hundred seconds.
const BUCKETS: usize = 116;

/// Counts of durations in milliseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    /// The longest.
    pub longest: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, longest: 0.0 }
    }
}

impl Histogram {
    /// Counts one; what is no duration does not count.
    pub fn add(&mut self, ms: f64) {
        if !ms.is_finite() || ms < 0.0 {
            return;
        }
        let bucket = ((ms / FIRST).ln() / GROWTH.ln()).ceil().clamp(0.0, (BUCKETS - 1) as f64);
        self.counts[bucket as usize] += 1;
        self.total += 1;
        self.longest = self.longest.max(ms);
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The duration that so many per cent do not go beyond; None of nothing.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let rank = ((percent / 100.0 * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some((Self::end(bucket) / GROWTH.sqrt()).min(self.longest))
    }

    /// The buckets from the first to the last that hold any, as start, end and count.
    pub fn bars(&self) -> Vec<(f64, f64, u64)> {
        let holds = |count: &u64| *count > 0;
        let Some(first) = self.counts.iter().position(holds) else { return Vec::new() };
        let last = self.counts.iter().rposition(holds).unwrap_or(first);
        (first..=last).map(|bucket| (Self::end(bucket) / GROWTH, Self::end(bucket), self.counts[bucket])).collect()
    }

    fn end(bucket: usize) -> f64 {
        FIRST * GROWTH.powi(bucket as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_half_a_bucket() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|ms| histogram.add(f64::from(ms)));
        for (percent, expected) in [(50.0, 500.0), (95.0, 950.0), (99.0, 990.0), (100.0, 1000.0), (0.0, 1.0)] {
            let found = histogram.percentile(percent).unwrap();
            assert!((found / expected - 1.0).abs() < GROWTH.sqrt() - 1.0 + 1e-9, "{percent}: {found}");
        }
        assert_eq!(histogram.bars().iter().map(|(.., count)| count).sum::<u64>(), 1000);
    }

    #[test]
    fn anything_is_taken() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50.0), None);
        [f64::NAN, -1.0, f64::INFINITY, 0.0, 1e300].into_iter().for_each(|ms| histogram.add(ms));
        assert_eq!((histogram.total(), histogram.bars().len()), (2, BUCKETS));
    }
}
