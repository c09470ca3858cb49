//! Draws plots as SVG text that takes the page's colours.

use plotters::prelude::*;

use super::{Area, FONT, LETTERS, Line, WIDTH, lines, palette, theme};
use crate::Failure;

/// Height of a bar of phases together with its name. `BAR` is the height of the bar alone.
const ROW: i32 = 48;
const BAR: i32 = 20;

/// Holds a plot and the meaning of its colours.
pub struct Plot {
    /// The plot, as text.
    pub svg: String,
    /// Colour as CSS writes it, and name. It is empty if the plot itself names what it shows.
    pub legend: Vec<(String, String)>,
}

/// Holds a name, and the times of its phases in ms.
pub struct Bar<'a> {
    /// The name.
    pub name: String,
    /// Names and times.
    pub phases: Vec<(&'a str, f64)>,
}

/// Plots times against size, with logarithmic axes. `size` names what the size counts. Returns `None` if there are no
/// points.
///
/// # Errors
/// Returns an error if the plot cannot be drawn.
pub fn sizes(lines: &[Line<'_>], size: &str) -> Result<Option<Plot>, Failure> {
    if lines.iter().all(|line| line.points.is_empty()) {
        return Ok(None);
    }
    let svg = drawn((WIDTH, lines::height(lines)), |root| lines::draw(root, size, lines))?;
    Ok(Some(Plot { svg, legend: Vec::new() }))
}

/// Plots phases, with a bar for each of `bars`. Returns `None` if all take no time.
///
/// # Errors
/// Returns an error if the plot cannot be drawn.
pub fn phases(bars: &[Bar<'_>]) -> Result<Option<Plot>, Failure> {
    let sum = |bar: &Bar<'_>| bar.phases.iter().map(|(_, time)| time).sum();
    let longest = bars.iter().map(sum).fold(0.0, f64::max);
    let Some(first) = bars.first().filter(|_| longest > 0.0) else { return Ok(None) };
    let svg = drawn((WIDTH, (ROW as u32) * bars.len() as u32), |root| {
        let scale = f64::from(WIDTH) / longest;
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

/// Returns the legend of several `names`. One name needs none.
fn legend<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Vec<(String, String)> {
    let colour = |RGBColor(r, g, b): RGBColor| format!("rgb({r} {g} {b})");
    if names.len() < 2 {
        return Vec::new();
    }
    names.zip(palette()).map(|(name, rgb)| (colour(rgb), name.to_owned())).collect()
}

fn drawn(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root)?;
        root.present()?;
    }
    Ok(theme::for_page(&text))
}
