//! Draws plots: the figures of benches as files, and those of a page as text.

mod figure;
mod page;

use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::Failure;

pub use figure::write;
pub use page::{Bar, Line, Plot, phases, sizes};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;

const FONT: &str = "sans-serif";

/// Returns Okabe and Ito's colours, which the colour-blind can tell apart, and a dark grey, again and again.
fn palette() -> impl Iterator<Item = RGBColor> {
    let colours = [
        RGBColor(0, 114, 178),
        RGBColor(213, 94, 0),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(230, 159, 0),
        RGBColor(86, 180, 233),
        RGBColor(60, 60, 60),
    ];
    colours.into_iter().cycle()
}

/// Holds the name and the colour of a line or of a kind of bars.
struct Series {
    name: String,
    colour: RGBColor,
}

/// Draws a line through `points`, with a dot of `radius` pixels at each. A `label` is for the legend of the chart.
fn draw_line(
    chart: &mut Chart<'_, '_>,
    points: &[(f64, f64)],
    colour: RGBColor,
    (radius, label): (i32, Option<&str>),
) -> Result<(), Failure> {
    let line = chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
    if let Some(label) = label {
        line.label(label).legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    }
    chart.draw_series(points.iter().map(|at| Circle::new(*at, radius, colour.filled())))?;
    Ok(())
}
