//! The plot for the README: what each scenario costs each contender, and how the cost grows.
//!
//! It brings its own light ground, so that it reads the same on a light and on a dark page.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::contenders::Contender;
use super::report::{BASH, NODE, Report, Row, TRUE};
use super::scenarios::Series;

const WIDTH: u32 = 960;
const HEADER: u32 = 84;
/// Height of a scenario's bars, one below the other.
const ROW: u32 = 40;
const FOOTER: u32 = 48;
const PANEL: u32 = 240;

const INK: RGBColor = RGBColor(31, 35, 40);
const FAINT: RGBColor = RGBColor(101, 109, 118);
const GRID: RGBColor = RGBColor(222, 226, 230);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const fn colour(contender: Contender) -> RGBColor {
    match contender {
        Contender::Portcullis => RGBColor(9, 105, 218),
        Contender::BashJq => RGBColor(217, 119, 6),
        Contender::Node => RGBColor(45, 145, 90),
    }
}

/// Draws the report to the SVG file `place`.
pub fn draw(report: &Report, place: &Path) -> Result<()> {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| !row.aside && row.growth.is_none_or(|(_, _, extra)| !extra)).collect();
    let bars = HEADER + ROW * rows.len() as u32 + FOOTER;
    let root = SVGBackend::new(place, (WIDTH, bars + 2 * PANEL)).into_drawing_area();
    let draw = || -> Result<(), Box<dyn std::error::Error + '_>> {
        root.fill(&WHITE)?;
        let (top, bottom) = root.split_vertically(bars);
        scenarios(&top, report, &rows)?;
        let panels = bottom.split_evenly((2, 2));
        for (panel, growth) in panels.iter().zip(&GROWTHS) {
            growth.draw(panel, report)?;
        }
        root.present()?;
        Ok(())
    };
    draw().map_err(|error| anyhow!("{error}")).with_context(|| format!("cannot draw {}", place.display()))
}

fn text(size: i32, colour: RGBColor, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour).pos(Pos::new(horizontal, vertical))
}

/// Horizontal bars on a logarithmic axis, which the floors cross as dashed lines.
fn scenarios<'a>(area: &Area<'a>, report: &Report, rows: &[&Row]) -> Result<(), Box<dyn std::error::Error + 'a>> {
    let heading = text(21, INK, HPos::Left, VPos::Center);
    area.draw(&Text::new("CPU time of one event, all its processes", (16, 22), heading))?;
    legend(area, (16, 50))?;

    let costs = || rows.iter().flat_map(|row| &row.figures).map(|(_, figures)| figures.median.cpu);
    let lowest = report.floor(TRUE).map_or(0.5, |floor| floor.cpu).min(0.5) * 0.8;
    let highest = costs().fold(100.0, f64::max) * 2.0;
    let ticks = ticks_within(lowest, highest, &[1.0, 3.0]);
    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_top(HEADER)
        .margin_right(20)
        .margin_bottom(4)
        .set_label_area_size(LabelAreaPosition::Left, 250)
        .set_label_area_size(LabelAreaPosition::Bottom, FOOTER - 4)
        .build_cartesian_2d((lowest..highest).log_scale().with_key_points(ticks), count..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .x_labels(20)
        .x_label_formatter(&|ms| format!("{ms}"))
        .x_label_style(text(14, FAINT, HPos::Center, VPos::Top))
        .x_desc("milliseconds, logarithmic")
        .axis_desc_style(("sans-serif", 15).into_font().color(&FAINT))
        .draw()?;

    for (name, place) in [(TRUE, HPos::Right), (BASH, HPos::Left), (NODE, HPos::Center)] {
        let Some(floor) = report.floor(name) else { continue };
        let ends = [(floor.cpu, 0.0), (floor.cpu, count)];
        chart.draw_series(DashedLineSeries::new(ends, 4, 4, FAINT.stroke_width(1)))?;
        let above = EmptyElement::at((floor.cpu, 0.0)) + Text::new(name, (0, -4), text(14, FAINT, place, VPos::Bottom));
        chart.draw_series(std::iter::once(above))?;
    }
    let line = |number: usize| number as f64 + 0.12;
    for (number, row) in rows.iter().enumerate() {
        let height = 0.80 / Contender::ALL.len() as f64;
        let (_, middle) = chart.backend_coord(&(lowest, number as f64 + 0.5));
        let name = text(16, INK, HPos::Right, VPos::Center);
        let (_, origin) = area.get_base_pixel();
        area.draw(&Text::new(row.name.clone(), (240, middle - origin), name))?;
        let shown: Vec<_> = row.figures.iter().collect();
        // Where one is missing, the others keep their thickness and stand in the middle.
        let start = line(number) + (Contender::ALL.len() - shown.len()) as f64 * height / 2.0;
        for (place, (contender, figures)) in shown.into_iter().enumerate() {
            let (upper, cpu) = (start + place as f64 * height, figures.median.cpu);
            let bar = Rectangle::new([(lowest, upper), (cpu, upper + height * 0.92)], colour(*contender).filled());
            let (value, size) = (milliseconds(cpu), text(12, INK, HPos::Left, VPos::Center));
            // A floor's line must not cross the figure.
            let ground = Rectangle::new([(2, -4), (5 + 7 * value.len() as i32, 4)], WHITE.filled());
            let label = EmptyElement::at((cpu, upper + height * 0.46)) + ground + Text::new(value, (4, 0), size);
            chart.draw_series(std::iter::once(bar))?;
            chart.draw_series(std::iter::once(label))?;
        }
    }
    Ok(())
}

fn legend<'a>(area: &Area<'a>, (mut x, y): (i32, i32)) -> Result<(), Box<dyn std::error::Error + 'a>> {
    for contender in Contender::ALL {
        area.draw(&Rectangle::new([(x, y - 6), (x + 12, y + 6)], colour(contender).filled()))?;
        area.draw(&Text::new(contender.name(), (x + 18, y), text(16, INK, HPos::Left, VPos::Center)))?;
        x += 140;
    }
    Ok(())
}

/// One of the small plots.
struct Growth {
    series: Series,
    title: &'static str,
    ticks: &'static [f64],
    format: fn(&f64) -> String,
}

const GROWTHS: [Growth; 4] = [
    Growth {
        series: Series::CommandBytes,
        title: "ms by size of a command (heredoc)",
        ticks: &[1e3, 20e3, 60e3, 240e3],
        format: bytes,
    },
    Growth { series: Series::FileBytes, title: "ms by size of a file (Write)", ticks: &[1e3, 10e3, 100e3, 1e6], format: bytes },
    Growth {
        series: Series::RegistryEntries,
        title: "ms by entries of the registry (git status)",
        ticks: &[10.0, 50.0, 200.0, 1000.0],
        format: f64::to_string,
    },
    Growth {
        series: Series::EventsAtOnce,
        title: "ms per event, by events at once (git status)",
        ticks: &[1.0, 8.0, 64.0],
        format: f64::to_string,
    },
];

impl Growth {
    fn draw<'a>(&self, area: &Area<'a>, report: &Report) -> Result<(), Box<dyn std::error::Error + 'a>> {
        let points = |contender: Contender| -> Vec<(f64, f64)> {
            let rows = report.rows.iter().filter_map(|row| Some((row.growth?, row.of(contender)?.cpu)));
            rows.filter(|((series, ..), _)| *series == self.series).map(|((_, x, _), cpu)| (x, cpu)).collect()
        };
        let highest =
            Contender::ALL.iter().flat_map(|contender| points(*contender)).map(|(_, cpu)| cpu).fold(10.0, f64::max) * 1.3;
        let lowest = 1.0;
        let (left, right) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        let mut chart = ChartBuilder::on(area)
            .margin_top(10)
            .margin_right(28)
            .margin_bottom(10)
            .margin_left(10)
            .caption(self.title, ("sans-serif", 17).into_font().color(&INK))
            .set_label_area_size(LabelAreaPosition::Left, 46)
            .set_label_area_size(LabelAreaPosition::Bottom, 30)
            .build_cartesian_2d(
                (left / 1.15..right * 1.15).log_scale().with_key_points(self.ticks.to_vec()),
                (lowest..highest).log_scale().with_key_points(ticks_within(lowest, highest, &[1.0, 3.0])),
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .x_labels(12)
            .y_labels(12)
            .x_label_formatter(&self.format)
            .y_label_formatter(&|ms| format!("{ms}"))
            .label_style(("sans-serif", 14).into_font().color(&FAINT))
            .draw()?;
        for contender in Contender::ALL {
            let points = points(contender);
            chart.draw_series(LineSeries::new(points.iter().copied(), colour(contender).stroke_width(2)))?;
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour(contender).filled())))?;
        }
        Ok(())
    }
}

/// Round figures, `steps` for each power of ten.
fn ticks_within(lowest: f64, highest: f64, steps: &[f64]) -> Vec<f64> {
    let powers = (-1..=6).map(|power| 10_f64.powi(power));
    let all = powers.flat_map(|power| steps.iter().map(move |step| power * step));
    all.map(|tick| (tick * 10.0).round() / 10.0).filter(|tick| (lowest..=highest).contains(tick)).collect()
}

fn milliseconds(cpu: f64) -> String {
    if cpu < 10.0 { format!("{cpu:.1}") } else { format!("{cpu:.0}") }
}

fn bytes(count: &f64) -> String {
    if *count < 1e6 { format!("{} kB", count / 1e3) } else { format!("{} MB", count / 1e6) }
}
