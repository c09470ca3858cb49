//! Draws plots: the figures of benches as files, and those of a page as text.

mod distributions;
mod figure;
mod gains;
mod labels;
mod lines;
mod page;
mod theme;
mod ticks;
mod words;

use plotters::coord::Shift;
use plotters::prelude::*;

pub use figure::write;
pub use gains::format_ratio;
pub use lines::Line;
pub use page::{Bar, Plot, phases, sizes};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Fonts of about one width, so that no label is cut off.
const FONT: &str = "Arial, Helvetica, sans-serif";
/// Font size of letters, which the SVG output shrinks to four fifths.
const LETTERS: u32 = 16;
/// Width of a plot. It is small, so that letters are large enough on a phone, where a plot is as wide as the page.
const WIDTH: u32 = 460;

/// Returns six of Okabe and Ito's colours, which the colour-blind can tell apart, and then always grey.
fn palette() -> impl Iterator<Item = RGBColor> {
    let colours = [
        RGBColor(0, 114, 178),
        RGBColor(213, 94, 0),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(230, 159, 0),
        RGBColor(86, 180, 233),
    ];
    colours.into_iter().chain(std::iter::repeat(RGBColor(128, 128, 128)))
}
