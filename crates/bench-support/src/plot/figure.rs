//! Draws the figures of a bench: time against size, and time against the distribution of scalars.

use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, FONT, Series, draw_line, palette};
use crate::Failure;
use crate::inputs::RANDOM;
use crate::results::{Measurement, Results, unique};

type Panel<'a, 'b> = (&'a Area<'b>, &'a str, &'a [&'a Measurement], &'a [Series]);

/// Width and height of a panel, in pixels. A figure has one panel for each operation.
const PANEL: (u32, u32) = (960, 440);
/// Width of the legend that stands beside bars, in pixels.
const LEGEND: i32 = 200;

/// Returns the series of `cells`. Each implementation has its own colour. All its places but the first have a lighter
/// tone of that.
fn series(cells: &[&Measurement]) -> Vec<Series> {
    let implementations = unique(cells.iter().map(|cell| &cell.implementation));
    let mut series = Vec::new();
    for (implementation, colour) in implementations.into_iter().zip(palette()) {
        let of_it = cells.iter().filter(|cell| cell.implementation == *implementation);
        for (place, name) in unique(of_it.map(|cell| cell.series())).into_iter().enumerate() {
            series.push(Series { name, colour: if place == 0 { colour } else { lighter(colour) } });
        }
    }
    series
}

fn lighter(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let half = |part: u8| part / 2 + 127;
    RGBColor(half(red), half(green), half(blue))
}

/// Writes `BENCH_sizes.svg` and, if distributions were compared, `BENCH_distributions.svg` to `folder`. Returns the
/// paths of the written files.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let timed: Vec<&Measurement> =
        results.measurements.iter().filter(|cell| cell.outcome.milliseconds().is_some()).collect();
    let random = timed.iter().filter(|cell| cell.distribution == RANDOM).copied().collect();
    let compared = timed.iter().find(|cell| cell.distribution != RANDOM).map(|cell| cell.log_n);
    let at_size = timed.iter().filter(|cell| Some(cell.log_n) == compared).copied().collect();
    let plots: [(&str, Vec<&Measurement>, Draw); 2] = [("sizes", random, sizes), ("distributions", at_size, bars)];
    let mut written = Vec::new();
    for (name, cells, draw) in plots.into_iter().filter(|(_, cells, _)| !cells.is_empty()) {
        let path = folder.join(format!("{}_{name}.svg", results.bench));
        figure(&path, results, &cells, draw)?;
        written.push(path);
    }
    Ok(written)
}

/// Draws one panel.
type Draw = for<'a, 'b> fn(Panel<'a, 'b>) -> Result<(), Failure>;

/// Draws a panel for every operation, one below the other.
fn figure(path: &Path, results: &Results, cells: &[&Measurement], draw: Draw) -> Result<(), Failure> {
    let series = series(cells);
    let operations = unique(cells.iter().map(|cell| cell.operation.as_str()));
    let footer = 16 * (results.machine.len() as u32 + 1);
    let root = SVGBackend::new(path, (PANEL.0, PANEL.1 * operations.len() as u32 + footer)).into_drawing_area();
    root.fill(&WHITE)?;
    let (panels, below) = root.split_vertically(PANEL.1 * operations.len() as u32);
    for (area, operation) in panels.split_evenly((operations.len(), 1)).iter().zip(operations) {
        let cells: Vec<&Measurement> = cells.iter().filter(|cell| cell.operation == operation).copied().collect();
        draw((area, operation, &cells, &series))?;
    }
    for (y, line) in (0..).step_by(16).zip(&results.machine) {
        below.draw(&Text::new(line.clone(), (12, y), (FONT, 12)))?;
    }
    Ok(root.present()?)
}

/// Draws a line for every series. Both axes are logarithmic.
fn sizes((area, operation, cells, series): Panel<'_, '_>) -> Result<(), Failure> {
    let logs = cells.iter().map(|cell| f64::from(cell.log_n));
    let (first, last) = (logs.clone().fold(f64::MAX, f64::min), logs.fold(0.0, f64::max));
    let mut chart = ChartBuilder::on(area)
        .caption(operation, (FONT, 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(first - 0.5..last + 0.5, times(cells).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(BLACK.mix(0.04))
        .x_desc("elements")
        .y_desc("ms")
        .x_labels((last - first) as usize + 1)
        .x_label_formatter(&|log_n| format!("2^{log_n:.0}"))
        .y_label_formatter(&|time| milliseconds(*time))
        .draw()?;
    for Series { name, colour } in series {
        let points = points(cells, name);
        if !points.is_empty() {
            draw_line(&mut chart, &points, *colour, (3, Some(name)))?;
        }
    }
    chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).draw()?;
    Ok(())
}

/// Returns the binary logarithms of sizes and the times of `series`, sorted by size.
fn points(cells: &[&Measurement], series: &str) -> Vec<(f64, f64)> {
    let of_series = cells.iter().filter(|cell| cell.series() == series);
    let mut points: Vec<(f64, f64)> =
        of_series.filter_map(|cell| Some((f64::from(cell.log_n), cell.outcome.milliseconds()?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Draws a group of bars for every distribution. The axis of times is logarithmic.
fn bars((area, operation, cells, series): Panel<'_, '_>) -> Result<(), Failure> {
    let groups = unique(cells.iter().map(|cell| cell.distribution.as_str()));
    let series: Vec<&Series> =
        series.iter().filter(|series| cells.iter().any(|cell| cell.series() == series.name)).collect();
    let (times, size) = (times(cells), cells.first().map_or(0, |cell| cell.log_n));
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{operation} of 2^{size} by the distribution of scalars"), (FONT, 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .margin_right(LEGEND)
        .build_cartesian_2d(0.0..groups.len() as f64, times.clone().log_scale())?;
    let time = |time: &f64| milliseconds(*time);
    chart.configure_mesh().disable_x_mesh().disable_x_axis().y_desc("ms").y_label_formatter(&time).draw()?;
    let width = 0.86 / series.len() as f64;
    for (place, Series { name, colour }) in series.iter().enumerate() {
        let bar = |cell: &&Measurement| {
            let group = groups.iter().position(|group| *group == cell.distribution)? as f64;
            let left = group + 0.07 + width * place as f64;
            let corners = [(left, times.start), (left + 0.9 * width, cell.outcome.milliseconds()?)];
            Some(Rectangle::new(corners, colour.filled()))
        };
        chart.draw_series(cells.iter().filter(|cell| cell.series() == *name).filter_map(bar))?;
    }
    legend(area, &series)?;
    for (group, name) in groups.iter().enumerate() {
        let below = chart.plotting_area().map_coordinate(&(group as f64 + 0.5, times.start));
        centred(area, name, below)?;
    }
    Ok(())
}

/// Draws a distribution's `name` under its bars, one line for each part between commas. The bars end at (`x`, `y`), a
/// pixel of the whole figure.
fn centred(area: &Area<'_>, name: &str, (x, y): (i32, i32)) -> Result<(), Failure> {
    let style = TextStyle::from((FONT, 11)).pos(Pos::new(HPos::Center, VPos::Top));
    let (left, top) = area.get_base_pixel();
    for (below, line) in (8..).step_by(14).zip(name.split_inclusive(", ")) {
        area.draw(&Text::new(line.trim(), (x - left, y - top + below), style.clone()))?;
    }
    Ok(())
}

/// Draws the colours and names of `series` beside the bars.
fn legend(area: &Area<'_>, series: &[&Series]) -> Result<(), Failure> {
    let left = area.dim_in_pixel().0.cast_signed() - LEGEND + 10;
    for (y, Series { name, colour }) in (40..).step_by(18).zip(series) {
        area.draw(&Rectangle::new([(left, y), (left + 12, y + 12)], colour.filled()))?;
        area.draw(&Text::new(name.clone(), (left + 18, y), (FONT, 12)))?;
    }
    Ok(())
}

/// Returns the range of the axis of times: from 0.6 of the least time to twice the greatest.
fn times(cells: &[&Measurement]) -> Range<f64> {
    let times = cells.iter().filter_map(|cell| cell.outcome.milliseconds());
    times.clone().fold(f64::MAX, f64::min) * 0.6..times.fold(0.0, f64::max) * 2.0
}

fn milliseconds(time: f64) -> String {
    if time < 1.0 { format!("{time:.2}") } else { format!("{time:.0}") }
}
