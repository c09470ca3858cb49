//! Draws time against size: one line for each implementation, with its name and its last value beside its end.

use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::prelude::*;

use super::labels::{self, Label};
use super::{Area, FONT, LETTERS, gains, palette, ticks};
use crate::Failure;
use crate::table::milliseconds;

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<ticks::Sizes, WithKeyPoints<LogCoord<f64>>>>;

/// Heights beside the area of points: of the axis of sizes, and of the margins.
const AXIS: u32 = 38;
const MARGIN: u32 = 8;
/// Minimum height of the area of points.
const LEAST: u32 = 250;

/// Holds a name, and times in ms by the binary logarithm of the size.
pub struct Line<'a> {
    /// The name.
    pub name: &'a str,
    /// Logarithms and times, in the order of logarithms.
    pub points: Vec<(f64, f64)>,
    /// Whether the last time is less exact than its digits.
    pub is_approximate: bool,
}

impl Line<'_> {
    /// Returns the time at the size 2^`log`, or `None` if there is none.
    pub(super) fn at(&self, log: f64) -> Option<f64> {
        self.points.iter().find(|point| (point.0 - log).abs() < 0.5).map(|point| point.1)
    }

    /// Returns the last time with its unit.
    pub(super) fn last_time(&self) -> String {
        let about = if self.is_approximate { "≈ " } else { "" };
        self.points.last().map_or_else(String::new, |end| format!("{about}{} ms", milliseconds(end.1)))
    }

    /// Returns the last time with its unit, and the size.
    pub(super) fn last_time_and_size(&self) -> String {
        let size = self.points.last().map_or_else(String::new, |end| format!(" at 2^{}", end.0));
        self.last_time() + &size
    }
}

/// Returns the height of the plot of `lines`.
pub(super) fn height(lines: &[Line<'_>]) -> u32 {
    let labels = labels::total_height(rows(lines).iter().map(Vec::len));
    labels.max(LEAST) + AXIS + 2 * MARGIN
}

/// Draws `lines` on `area`, which are not empty. `size` names what the size counts.
pub(super) fn draw(area: &Area<'_>, size: &str, lines: &[Line<'_>]) -> Result<(), Failure> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let (first, last) = ends(points().map(|point| point.0));
    let (least, most) = ends(points().map(|point| point.1));
    let (range, time_ticks) = ticks::times(least, most);
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .margin_right(labels::SPACE)
        .x_label_area_size(AXIS)
        .y_label_area_size(52)
        .build_cartesian_2d(ticks::sizes(first as u32, last as u32), range.log_scale().with_key_points(time_ticks))?;
    axes(&mut chart, size)?;
    let mut ends = Vec::new();
    for ((line, rows), colour) in lines.iter().zip(rows(lines)).zip(palette()) {
        draw_line(&mut chart, &line.points, colour)?;
        let end = line.points.last().map(|end| chart.plotting_area().map_coordinate(end));
        ends.extend(end.map(|end| Label { rows, colour, end }));
    }
    labels::draw(area, ends, MARGIN.cast_signed()..area.dim_in_pixel().1.cast_signed())
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, 0.0), |(least, most), value| (value.min(least), value.max(most)))
}

/// Returns the rows of each line's label: its name, its last time and the gain.
fn rows(lines: &[Line<'_>]) -> Vec<Vec<String>> {
    let last = lines.iter().filter_map(|line| line.points.last()).fold(0.0, |last: f64, end| last.max(end.0));
    let label = |(line, gain): (&Line<'_>, Option<String>)| {
        let time = if line.at(last).is_some() { line.last_time() } else { line.last_time_and_size() };
        let values = labels::rows([Some(time.as_str()), gain.as_deref()].into_iter().flatten(), ", ");
        [labels::rows(line.name.split(' '), " "), values].concat()
    };
    lines.iter().zip(gains::beside(lines)).map(label).collect()
}

fn axes(chart: &mut Chart<'_, '_>, size: &str) -> Result<(), Failure> {
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.15)).x_desc(size).y_desc("time, ms");
    mesh.label_style((FONT, LETTERS)).axis_desc_style((FONT, LETTERS));
    mesh.x_label_formatter(&|log| format!("2^{log:.0}")).y_label_formatter(&|time| ticks::text(*time)).draw()?;
    Ok(())
}

/// Draws a line through `points`, with a dot at each.
fn draw_line(chart: &mut Chart<'_, '_>, points: &[(f64, f64)], colour: RGBColor) -> Result<(), Failure> {
    chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
    chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
    Ok(())
}
