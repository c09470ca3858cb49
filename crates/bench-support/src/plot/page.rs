//! Draws plots as SVG text that takes the page's colours. Legends belong to the page, so that they wrap on a phone.

use plotters::prelude::*;

use super::{Area, Chart, FONT, draw_line, palette};
use crate::Failure;
use crate::table::milliseconds;

/// Width and height of a plot. They are small, so that letters are large enough on a phone, where a plot is as wide as
/// the page.
const SIZE: (u32, u32) = (460, 320);
/// Height of a bar of phases together with its name. `BAR` is the height of the bar alone.
const ROW: i32 = 48;
const BAR: i32 = 20;
/// Font size of letters, which the SVG output shrinks to four fifths.
const LETTERS: u32 = 16;

/// Holds a plot and the meaning of its colours.
pub struct Plot {
    /// The plot, as text.
    pub svg: String,
    /// Colour as CSS writes it, and name.
    pub legend: Vec<(String, String)>,
}

/// Holds a name, and times in ms by the binary logarithm of the size.
pub struct Line<'a> {
    /// The name.
    pub name: &'a str,
    /// Logarithms and times, in the order of logarithms.
    pub points: Vec<(f64, f64)>,
}

/// Holds a name, and the times of its phases in ms.
pub struct Bar<'a> {
    /// The name.
    pub name: String,
    /// Names and times.
    pub phases: Vec<(&'a str, f64)>,
}

/// Plots times against size, with logarithmic axes. Returns `None` if there are no points.
///
/// # Errors
/// Returns an error if the plot cannot be drawn.
pub fn sizes(lines: &[Line<'_>]) -> Result<Option<Plot>, Failure> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let ends = |values: &[f64]| {
        values.iter().fold((f64::MAX, 0.0), |(least, most): (f64, f64), value| (value.min(least), value.max(most)))
    };
    let mut logs: Vec<f64> = points().map(|point| point.0).collect();
    logs.sort_by(f64::total_cmp);
    logs.dedup();
    if logs.is_empty() {
        return Ok(None);
    }
    let ((first, last), (least, most)) = (ends(&logs), ends(&points().map(|point| point.1).collect::<Vec<_>>()));
    let svg = drawn(SIZE, |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(8)
            .margin_right(16)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(first - 0.5..last + 0.5, (least / 1.5..most * 1.5).log_scale())?;
        axes(&mut chart, logs.len())?;
        for (line, colour) in lines.iter().zip(palette()) {
            draw_line(&mut chart, &line.points, colour, (4, None))?;
        }
        Ok(())
    })?;
    Ok(Some(Plot { svg, legend: legend(lines.iter().map(|line| line.name)) }))
}

fn axes(chart: &mut Chart<'_, '_>, sizes: usize) -> Result<(), Failure> {
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(BLACK.mix(0.05)).bold_line_style(BLACK.mix(0.15)).x_desc("size").y_desc("ms");
    mesh.label_style((FONT, LETTERS)).axis_desc_style((FONT, LETTERS)).x_labels(sizes.max(2) + 1);
    mesh.x_label_formatter(&|log| if log.fract() == 0.0 { format!("2^{log}") } else { String::new() })
        .y_label_formatter(&|time| milliseconds(*time))
        .draw()?;
    Ok(())
}

/// Plots phases, with a bar for each of `bars`. Returns `None` if all take no time.
///
/// # Errors
/// Returns an error if the plot cannot be drawn.
pub fn phases(bars: &[Bar<'_>]) -> Result<Option<Plot>, Failure> {
    let sum = |bar: &Bar<'_>| bar.phases.iter().map(|(_, time)| time).sum();
    let longest = bars.iter().map(sum).fold(0.0, f64::max);
    let Some(first) = bars.first().filter(|_| longest > 0.0) else { return Ok(None) };
    let svg = drawn((SIZE.0, (ROW as u32) * bars.len() as u32), |root| {
        let scale = f64::from(SIZE.0) / longest;
        (0..).step_by(ROW as usize).zip(bars).try_for_each(|(top, one)| bar(root, one, top, scale))
    })?;
    Ok(Some(Plot { svg, legend: legend(first.phases.iter().map(|(name, _)| *name)) }))
}

fn bar(root: &Area<'_>, bar: &Bar<'_>, top: i32, scale: f64) -> Result<(), Failure> {
    root.draw(&Text::new(bar.name.clone(), (0, top + 4), (FONT, LETTERS)))?;
    let (top, mut x) = (top + ROW - BAR - 6, 0.0);
    for ((_, time), colour) in bar.phases.iter().zip(palette()) {
        let end = x + time * scale;
        root.draw(&Rectangle::new([(x as i32, top), (end as i32, top + BAR)], colour.filled()))?;
        x = end;
    }
    Ok(())
}

fn legend<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    let colour = |RGBColor(r, g, b): RGBColor| format!("rgb({r} {g} {b})");
    names.zip(palette()).map(|(name, rgb)| (colour(rgb), name.to_owned())).collect()
}

fn drawn(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root)?;
        root.present()?;
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
