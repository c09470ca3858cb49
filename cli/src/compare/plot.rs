//! Draws plots as SVG text that takes the page's colours. Legends belong to the page, so that they wrap on a phone.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::results::{Comparison, Measurement};
use crate::table::milliseconds;

/// Width and height of a plot. They are small, so that letters are large enough on a phone, where a plot is as wide as
/// the page.
const SIZE: (u32, u32) = (460, 320);
/// Height of a bar of phases together with its name. `BAR` is the height of the bar alone.
const ROW: i32 = 48;
const BAR: i32 = 20;
const FONT: &str = "sans-serif";
/// Font size of letters, which the SVG output shrinks to four fifths.
const LETTERS: u32 = 16;
/// Okabe and Ito's colours, which the colour-blind can tell apart.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Holds a plot and the meaning of its colours.
pub struct Plot {
    pub svg: String,
    /// Colour as CSS writes it, and name.
    pub legend: Vec<(String, String)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;

/// Plots the times of `operation` against size, with one line per implementation and logarithmic axes. Returns `None`
/// if there are no measurements.
pub fn sizes(comparison: &Comparison, operation: &str) -> Result<Option<Plot>> {
    let logs = comparison.logs(operation);
    let (Some(first), Some(last)) = (logs.first(), logs.last()) else { return Ok(None) };
    let times: Vec<f64> = comparison.by_operation(operation).map(|one| one.milliseconds).collect();
    let (least, most) = times.iter().fold((f64::MAX, 0.0), |(least, most), time| (time.min(least), time.max(most)));
    let x = f64::from(*first) - 0.5..f64::from(*last) + 0.5;
    let implementations = comparison.implementations(operation);
    let svg = drawn(SIZE, |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(8)
            .margin_right(16)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(x, (least / 1.5..most * 1.5).log_scale())
            .map_err(failed)?;
        axes(&mut chart, logs.len())?;
        for (implementation, colour) in implementations.iter().zip(COLOURS.into_iter().cycle()) {
            line(&mut chart, &points(comparison, operation, implementation), colour)?;
        }
        Ok(())
    })?;
    Ok(Some(Plot { svg, legend: legend(implementations) }))
}

fn axes(chart: &mut Chart<'_, '_>, sizes: usize) -> Result<()> {
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(BLACK.mix(0.05)).bold_line_style(BLACK.mix(0.15)).x_desc("size").y_desc("ms");
    mesh.label_style((FONT, LETTERS)).axis_desc_style((FONT, LETTERS)).x_labels(sizes.max(2) + 1);
    mesh.x_label_formatter(&|log| if log.fract() == 0.0 { format!("2^{log}") } else { String::new() })
        .y_label_formatter(&|time| milliseconds(*time))
        .draw()
        .map_err(failed)
}

fn points(comparison: &Comparison, operation: &str, implementation: &str) -> Vec<(f64, f64)> {
    let of_it = comparison.by_operation(operation).filter(|one| one.implementation == implementation);
    let mut points: Vec<_> = of_it.map(|one| (f64::from(one.log), one.milliseconds)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn line(chart: &mut Chart<'_, '_>, points: &[(f64, f64)], colour: RGBColor) -> Result<()> {
    chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2))).map_err(failed)?;
    chart.draw_series(points.iter().map(|at| Circle::new(*at, 4, colour.filled()))).map_err(failed)?;
    Ok(())
}

/// Plots the phases of `operation` at the largest size, with one bar per implementation that reports phases. Returns
/// `None` if no implementation does.
pub fn phases(comparison: &Comparison, operation: &str) -> Result<Option<Plot>> {
    let largest = comparison.logs(operation).last().copied();
    let of_largest =
        comparison.by_operation(operation).filter(|one| Some(one.log) == largest && !one.phases.is_empty());
    let bars: Vec<&Measurement> = of_largest.collect();
    let longest = bars.iter().map(|one| sum(one)).fold(0.0, f64::max);
    let Some(first) = bars.first().filter(|_| longest > 0.0) else { return Ok(None) };
    let svg = drawn((SIZE.0, (ROW as u32) * bars.len() as u32), |root| {
        let scale = f64::from(SIZE.0) / longest;
        bars.iter().enumerate().try_for_each(|(number, one)| bar(root, one, ROW * number as i32, scale))
    })?;
    Ok(Some(Plot { svg, legend: legend(first.phases.iter().map(|phase| phase.name)) }))
}

fn sum(one: &Measurement) -> f64 {
    one.phases.iter().map(|phase| phase.milliseconds).sum()
}

fn bar(root: &Area<'_>, one: &Measurement, top: i32, scale: f64) -> Result<()> {
    let name = format!("{}: {} ms", one.implementation, milliseconds(one.milliseconds));
    root.draw(&Text::new(name, (0, top + 4), (FONT, LETTERS))).map_err(failed)?;
    let (top, mut x) = (top + ROW - BAR - 6, 0.0);
    for (phase, colour) in one.phases.iter().zip(COLOURS.into_iter().cycle()) {
        let end = x + phase.milliseconds * scale;
        root.draw(&Rectangle::new([(x as i32, top), (end as i32, top + BAR)], colour.filled())).map_err(failed)?;
        x = end;
    }
    Ok(())
}

fn legend(names: impl IntoIterator<Item = impl ToString>) -> Vec<(String, String)> {
    let colour = |RGBColor(r, g, b): RGBColor| format!("rgb({r} {g} {b})");
    names.into_iter().zip(COLOURS.into_iter().cycle()).map(|(name, rgb)| (colour(rgb), name.to_string())).collect()
}

fn drawn(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root)?;
        root.present().map_err(failed)?;
    }
    Ok(themed(&text))
}

/// Makes the plot `svg` as wide as the page, and replaces black by the colour of the page's text.
fn themed(svg: &str) -> String {
    let svg = svg.replace("#000000", "currentColor");
    let Some((head, rest)) = svg.split_once(" width=\"") else { return svg };
    let after = rest.split_once("height=\"").and_then(|(_, rest)| rest.split_once('"'));
    format!("{head} role=\"img\"{}", after.map_or(rest, |(_, rest)| rest))
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("plot: {error}")
}
