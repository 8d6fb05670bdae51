//! The page: no script, nothing loaded from anywhere, and every text of a journal escaped by the template.

use jiff::ZonedDateTime;
use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::chart;
use super::figures::Figures;
use crate::log::entry::timestamp;
use crate::log::summary::Counts;
use crate::log::{Entry, visible};

/// Rows of a ranking.
const RANKED: usize = 12;
/// Examples of false-alarm candidates.
const EXAMPLES: usize = 8;

/// What the page says about itself.
pub struct About<'a> {
    /// The project's name.
    pub project: &'a str,
    /// When it was made.
    pub now: &'a ZonedDateTime,
    /// Minutes that stops are watched.
    pub window: u32,
    /// Lines that were no events.
    pub malformed: u64,
}

/// The whole page.
pub fn page(figures: &Figures, about: &About) -> String {
    let title = format!("Portcullis: {}", visible(about.project));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Should a text ever get past the escaping, it still loads and runs nothing.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body { main {
                h1 { (title) }
                p.sub { (span(figures)) }
                @if figures.span.is_some() { (body(figures, about)) }
                footer {
                    "Made by dispatcher report on " (about.now.strftime("%-d %B %Y, %H:%M")) "."
                    @if about.malformed > 0 { " " (about.malformed) " lines of the journals were no events (torn, or no JSON)." }
                }
            } }
        }
    };
    markup.into_string()
}

fn span(figures: &Figures) -> String {
    let Some((first, last)) = figures.span else { return "The journals hold nothing of this time.".into() };
    let day = |at| timestamp(at).to_zoned_datetime(TimeZone::system()).strftime("%-d %B %Y").to_string();
    match (day(first), day(last)) {
        (first, last) if first == last => first,
        (first, last) => format!("{first} to {last}"),
    }
}

fn body(figures: &Figures, about: &About) -> Markup {
    let rules = figures.summary.by_rule();
    let gates = gates_in_the_way(figures);
    html! {
        (tiles(figures))
        div.charts {
            section { h2 { "In the way, over time" } (chart::legend()) (chart::over_time(figures.days.iter().map(|(day, counts)| (*day, *counts)))) }
            section { h2 { "How long decisions took" } (chart::latency(&figures.time)) }
            section { h2 { "By rule" } (chart::ranking(top(&rules), "by rule")) (more(rules.len(), "rules")) }
            section { h2 { "By gate" } (chart::ranking(top(&gates), "by gate")) (more(gates.len(), "gates")) }
        }
        (candidates(figures, about, &rules))
        (overrides(figures))
        (latest("The latest stops and questions", &figures.latest))
        @if !figures.failures.is_empty() { (latest("The latest failures of gates", &figures.failures)) }
        (slowest(figures))
    }
}

/// What is shown of a ranking; [`more`] says what is not.
fn top<T>(rows: &[T]) -> &[T] {
    &rows[..rows.len().min(RANKED)]
}

fn more(count: usize, what: &str) -> Markup {
    html! { @if count > RANKED { p.note { (count - RANKED) " more " (what) } } }
}

fn tiles(figures: &Figures) -> Markup {
    let time = |percent| figures.time.percentile(percent).map_or("-".into(), chart::milliseconds);
    let tiles = [
        ("events judged", figures.decisions.to_string()),
        ("sessions", figures.sessions().to_string()),
        ("stopped", figures.counts.stopped.to_string()),
        ("asked", figures.counts.asked.to_string()),
        ("overridden", figures.counts.overridden.to_string()),
        ("gate failures", figures.counts.failed.to_string()),
        ("median", time(50.0)),
        ("95th percentile", time(95.0)),
    ];
    html! { div.tiles { @for (name, value) in tiles { div { b { (value) } span { (name) } } } } }
}

/// Gates with their stops, questions and failures, the most frequent first.
fn gates_in_the_way(figures: &Figures) -> Vec<(&str, Counts)> {
    let mut gates: Vec<(&str, Counts)> = figures.gates.iter().map(|(name, gate)| (name.as_str(), gate.counts)).collect();
    gates.retain(|(_, counts)| counts.total() > 0);
    gates.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.total()));
    gates
}

fn candidates(figures: &Figures, about: &About, rules: &[(&str, Counts)]) -> Markup {
    let rules: Vec<_> = rules.iter().filter(|(rule, _)| figures.summary.candidates_of(rule) > 0).collect();
    html! {
        section {
            h2 { "False-alarm candidates" }
            @if rules.is_empty() { p.note { "None: nothing that was stopped was done all the same within " (about.window) " minutes." } }
            @else {
                table {
                    tr { th { "Rule" } th.number { "Stopped or asked" } th.number { "Candidates" } th.number { "Share" } th { "How it was done all the same" } }
                    @for (rule, counts) in rules.iter().take(RANKED) {
                        @let (in_way, found) = (counts.stopped + counts.asked, figures.summary.candidates_of(rule));
                        @let hows = figures.summary.candidates[*rule].iter().map(|(how, count)| format!("{count} {}", how.words()));
                        tr {
                            td { code { (visible(rule)) } }
                            td.number { (in_way) }
                            td.number { (found) }
                            td.number { @if in_way > 0 { (format!("{:.0}%", 100.0 * found as f64 / in_way as f64)) } @else { "-" } }
                            td { (hows.collect::<Vec<_>>().join(", ")) }
                        }
                    }
                }
                p.note {
                    "Stopped or asked about, and in the same session within " (about.window) " minutes done all the same. No proof: following a gate's advice looks like this, too. "
                    "A share far above other rules' is worth a look."
                }
                table {
                    tr { th { "When" } th { "Rule" } th { "Stopped" } th { "Then" } }
                    @for candidate in figures.summary.examples.iter().rev().take(EXAMPLES) {
                        tr {
                            td.when { (when(candidate.stopped.at)) }
                            td { code { (visible(&candidate.stopped.rules.join(", "))) } }
                            td { (subject(&candidate.stopped)) }
                            td {
                                (candidate.how.words()) " after " (candidate.after / 1000) " s"
                                @if let Some(then) = &candidate.then { br; code { (visible(then)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn overrides(figures: &Figures) -> Markup {
    let mut rows: Vec<_> = figures.overrides.iter().collect();
    rows.sort_by_key(|(_, used)| std::cmp::Reverse(used.count));
    html! {
        section {
            h2 { "Overrides used" }
            @if rows.is_empty() { p.note { "None." } }
            @else {
                table {
                    tr { th { "Rule" } th.number { "Times" } th { "Last" } th { "Why" } }
                    @for (rule, used) in rows.iter().take(RANKED) {
                        tr {
                            td { code { (visible(rule)) } }
                            td.number { (used.count) }
                            td.when { (when(used.last)) }
                            td { (visible(used.reason.as_deref().unwrap_or("-"))) }
                        }
                    }
                }
                (more(rows.len(), "rules"))
            }
        }
    }
}

fn latest(title: &str, entries: &std::collections::VecDeque<Entry>) -> Markup {
    html! {
        section {
            h2 { (title) }
            @if entries.is_empty() { p.note { "None." } }
            @else {
                table {
                    tr { th { "When" } th { "Outcome" } th { "Rule" } th { "What" } }
                    @for entry in entries.iter().rev() {
                        tr {
                            td.when { (when(entry.at)) }
                            td { (entry.outcome.word()) }
                            td { code { (visible(&entry.rules.join(", "))) } }
                            td { (subject(entry)) @if let Some(why) = &entry.message { div.why { (visible(why)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn slowest(figures: &Figures) -> Markup {
    let mut rows: Vec<_> =
        figures.gates.iter().filter_map(|(name, gate)| Some((name, gate, gate.time.percentile(95.0)?))).collect();
    rows.sort_by(|one, other| other.2.total_cmp(&one.2));
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "Time per gate, the slowest first" }
                table {
                    tr { th { "Gate" } th.number { "Events" } th.number { "Median" } th.number { "95th percentile" } th.number { "Longest" } th.number { "Failures" } }
                    @for (name, gate, most) in rows.iter().take(RANKED) {
                        tr {
                            td { code { (visible(name)) } }
                            td.number { (gate.time.total()) }
                            td.number { (gate.time.percentile(50.0).map_or("-".into(), chart::milliseconds)) }
                            td.number { (chart::milliseconds(*most)) }
                            td.number { (chart::milliseconds(gate.time.longest)) }
                            td.number { (gate.counts.failed) }
                        }
                    }
                }
                (more(rows.len(), "gates"))
            }
        }
    }
}

fn subject(entry: &Entry) -> Markup {
    html! {
        @match (&entry.subject, &entry.tool) {
            (Some(subject), _) => code { (visible(subject)) },
            (None, Some(tool)) => (visible(tool)),
            (None, None) => (visible(entry.event.as_deref().unwrap_or("-"))),
        }
    }
}

fn when(at: i64) -> String {
    timestamp(at).to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
