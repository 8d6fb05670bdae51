//! Charts as inline SVG. Colours are classes of the page's style sheet, so that they follow its light and dark.

use jiff::ToSpan;
use jiff::civil::Date;
use maud::{Markup, html};

use super::histogram::Histogram;
use crate::log::summary::Counts;
use crate::log::visible;

/// Width of every chart, in its own units.
const WIDTH: f64 = 540.0;
/// Room for the numbers on the left.
const LEFT: f64 = 44.0;
/// Most bars over time; longer times are shown by the week, then by four weeks.
const BARS: i64 = 62;

/// The kinds of outcome that charts stack: class, word and how many.
fn stack(counts: &Counts) -> [(&'static str, u64); 4] {
    [("stopped", counts.stopped), ("asked", counts.asked), ("overridden", counts.overridden), ("failed", counts.failed)]
}

fn sum(counts: &Counts) -> u64 {
    stack(counts).iter().map(|(_, count)| count).sum()
}

/// What the colours mean.
pub fn legend() -> Markup {
    html! {
        p.legend { @for (class, _) in stack(&Counts::default()) { span { i class=(class) {} (class) } } }
    }
}

/// Stacked bars, one per day, or per week where there are many.
pub fn over_time(days: impl Iterator<Item = (Date, Counts)> + Clone) -> Markup {
    let (height, bottom) = (190.0, 150.0);
    let (Some((first, _)), Some((last, _))) = (days.clone().next(), days.clone().last()) else { return html! {} };
    let span = i64::from((last - first).get_days()) + 1;
    let step = [1, 7, 28, 364].into_iter().find(|step| span <= step * BARS).unwrap_or(span / BARS + 1);
    let mut bars = vec![Counts::default(); (span / step + 1).min(BARS + 1) as usize];
    for (day, counts) in days {
        let at = (i64::from((day - first).get_days()) / step) as usize;
        bars[at].merge(&counts);
    }
    bars.truncate(((span + step - 1) / step) as usize);
    let top = nice(bars.iter().map(sum).max().unwrap_or(0));
    let width = (WIDTH - LEFT) / bars.len() as f64;
    let y = |count: u64| bottom - (bottom - 10.0) * count as f64 / top as f64;
    let date = |at: usize| first.checked_add((at as i64 * step).days()).unwrap_or(last);
    let labelled = bars.len().div_ceil(7);
    let form = if step < 28 { "%-d %b" } else { "%b %Y" };
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="what was in the way over time" {
            (lines([0, top / 2, top].into_iter().map(|count| (y(count), count.to_string()))))
            @for (at, counts) in bars.iter().enumerate() {
                @let x = LEFT + width * at as f64;
                @for (class, from, to) in pieces(counts) {
                    rect.(class) x=(short(x + width * 0.1)) width=(short((width * 0.8).min(60.0))) y=(short(y(to))) height=(short(y(from) - y(to))) {
                        title { (date(at)) ": " (to - from) " " (class) }
                    }
                }
                @if at % labelled == 0 {
                    text.middle x=(short(x + (width * 0.5).min(36.0))) y=(bottom + 18.0) { (date(at).strftime(form)) }
                }
            }
            @if step > 1 { text x=(LEFT) y=(height - 4.0) { "one bar is " (step) " days" } }
        }
    }
}

/// Horizontal stacked bars with their names.
pub fn ranking(rows: &[(&str, Counts)], label: &str) -> Markup {
    let (names, line) = (190.0, 22.0);
    let most = rows.iter().map(|(_, counts)| sum(counts)).max().unwrap_or(1).max(1);
    let x = |count: u64| names + (WIDTH - names - 50.0) * count as f64 / most as f64;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", line * rows.len() as f64 + 4.0)) role="img" aria-label=(label) {
            @for (at, (name, counts)) in rows.iter().enumerate() {
                @let y = line * at as f64;
                text.end x=(names - 8.0) y=(short(y + 15.0)) { (shortened(name)) title { (visible(name)) } }
                @for (class, from, to) in pieces(counts) {
                    rect.(class) x=(short(x(from))) width=(short(x(to) - x(from))) y=(short(y + 3.0)) height="16" {
                        title { (to - from) " " (class) }
                    }
                }
                text x=(short(x(sum(counts)) + 6.0)) y=(short(y + 15.0)) { (sum(counts)) }
            }
        }
    }
}

/// How long decisions took: bars over a logarithmic scale, and three percentiles.
pub fn latency(time: &Histogram) -> Markup {
    let (height, bottom) = (200.0, 160.0);
    let bars = time.bars();
    let (Some((start, ..)), Some((_, end, _))) = (bars.first(), bars.last()) else { return html! {} };
    // Some room at both ends, so that one bar does not fill the chart.
    let (start, end) = (start / 2.0, end * 2.0);
    let x = |ms: f64| LEFT + (WIDTH - LEFT - 24.0) * (ms / start).ln() / (end / start).ln();
    let top = nice(bars.iter().map(|(.., count)| *count).max().unwrap_or(0));
    let y = |count: u64| bottom - (bottom - 46.0) * count as f64 / top as f64;
    let ticks = (-2..6).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    let ticks: Vec<f64> = ticks.filter(|ms| *ms >= start && *ms <= end).collect();
    let every = ticks.len().div_ceil(9).max(1);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="how long decisions took" {
            (lines([0, top / 2, top].into_iter().map(|count| (y(count), count.to_string()))))
            @for (from, to, count) in &bars {
                rect.time x=(short(x(*from) + 0.5)) width=(short((x(*to) - x(*from) - 1.0).max(0.5))) y=(short(y(*count))) height=(short(bottom - y(*count))) {
                    title { (milliseconds(*from)) " to " (milliseconds(*to)) ": " (count) }
                }
            }
            @for ms in ticks.iter().step_by(every) { text.middle x=(short(x(*ms))) y=(bottom + 18.0) { (milliseconds(*ms)) } }
            @for (at, percent) in [50.0, 95.0, 99.0].into_iter().enumerate() {
                @if let Some(ms) = time.percentile(percent) {
                    line.mark x1=(short(x(ms))) x2=(short(x(ms))) y1=(13.0 * at as f64 + 4.0) y2=(bottom) {}
                    text x=(short(x(ms) + 4.0)) y=(13.0 * at as f64 + 14.0) { "p" (percent) " " (milliseconds(ms)) }
                }
            }
        }
    }
}

/// A duration for people.
pub fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms >= 1000.0 => format!("{:.1} s", ms / 1000.0),
        ms if ms >= 10.0 => format!("{ms:.0} ms"),
        ms if ms >= 0.1 => format!("{} ms", (ms * 10.0).round() / 10.0),
        ms => format!("{} ms", (ms * 100.0).round() / 100.0),
    }
}

/// Each kind's piece of a stacked bar, from and to; empty ones are left out.
fn pieces(counts: &Counts) -> Vec<(&'static str, u64, u64)> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for (class, count) in stack(counts) {
        pieces.extend((count > 0).then_some((class, from, from + count)));
        from += count;
    }
    pieces
}

/// Thin lines across, with their number on the left.
fn lines(at: impl Iterator<Item = (f64, String)>) -> Markup {
    html! {
        @for (y, number) in at {
            line.grid x1=(LEFT) x2=(WIDTH) y1=(short(y)) y2=(short(y)) {}
            text.end x=(LEFT - 6.0) y=(short(y + 4.0)) { (number) }
        }
    }
}

/// The next even number whose first digits are easy to read.
fn nice(count: u64) -> u64 {
    let mut unit = 1_u64;
    loop {
        for factor in [2, 4, 6, 10, 20] {
            if let Some(top) = unit.checked_mul(factor).filter(|top| *top >= count) {
                return top;
            }
        }
        match unit.checked_mul(10) {
            Some(next) => unit = next,
            None => return u64::MAX,
        }
    }
}

fn short(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// A name that fits its column.
fn shortened(name: &str) -> String {
    let shown = visible(name);
    match shown.char_indices().nth(28) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_easy_numbers() {
        for (count, top) in [(0, 2), (1, 2), (3, 4), (7, 10), (11, 20), (21, 40), (150, 200), (1001, 2000)] {
            assert_eq!(nice(count), top, "{count}");
        }
        assert_eq!(nice(u64::MAX), u64::MAX);
    }

    #[test]
    fn years_and_single_days_are_drawn_with_few_bars() {
        let day = |text: &str| (text.parse::<Date>().unwrap(), Counts { stopped: 3, asked: 1, ..Counts::default() });
        for (first, last, bars) in
            [("2026-01-01", "2026-01-01", 1), ("2026-01-01", "2026-03-03", 2), ("2000-01-01", "2026-03-03", 2)]
        {
            let days = if first == last { vec![day(first)] } else { vec![day(first), day(last)] };
            let svg = over_time(days.into_iter()).into_string();
            assert_eq!(svg.matches("class=\"stopped\"").count(), bars, "{svg}");
            assert!(svg.matches("<text").count() < 20, "{svg}");
        }
        assert!(over_time(std::iter::empty()).into_string().is_empty());
    }

    #[test]
    fn names_are_escaped() {
        let svg = ranking(&[("<script>alert(1)</script>", Counts { stopped: 1, ..Counts::default() })], "by rule").into_string();
        assert!(!svg.contains("<script"), "{svg}");
    }
}
