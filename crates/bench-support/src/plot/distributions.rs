//! Draws times at one size by the distribution of scalars: a row for each distribution, a dot for each implementation.

use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, FONT, LETTERS, gains, palette, ticks};
use crate::Failure;
use crate::inputs::RANDOM;
use crate::results::{Measurement, unique};

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<WithKeyPoints<LogCoord<f64>>, RangedCoordf64>>;

/// Height of a row, of the axis and its name, and of a line of the legend, in pixels.
const ROW: u32 = 30;
const AXIS: u32 = 46;
const KEY: i32 = 18;
/// Width of the names of distributions, in pixels.
const NAMES: i32 = 138;

/// Holds the measurements of one operation in one place at one size.
pub(super) struct DistributionPlot<'a> {
    cells: &'a [&'a Measurement],
    distributions: Vec<&'a str>,
    implementations: Vec<&'a str>,
}

impl<'a> DistributionPlot<'a> {
    pub(super) fn new(cells: &'a [&'a Measurement]) -> Self {
        let mut implementations = unique(cells.iter().map(|cell| cell.implementation.as_str()));
        // The first colours are those of proofwarp in every figure.
        implementations.sort_by_key(|name| !gains::is_ours(name));
        Self { cells, distributions: unique(cells.iter().map(|cell| cell.distribution.as_str())), implementations }
    }

    /// Returns the height of the plot.
    pub(super) fn height(&self) -> u32 {
        self.legend_height() + ROW * self.distributions.len() as u32 + AXIS
    }

    fn legend_height(&self) -> u32 {
        KEY.cast_unsigned() * self.implementations.len().div_ceil(2) as u32 + 8
    }

    /// Returns a sentence on the slowest distribution of the first implementation, and of that which it slows most.
    pub(super) fn message(&self) -> String {
        let slowest = |name: &&'a str| self.slowest(name).map(|ratio| (ratio, *name));
        let first = self.implementations.iter().find_map(slowest);
        let worst = self.implementations.iter().filter_map(slowest).max_by(|one, other| one.0.total_cmp(&other.0));
        let told = first.into_iter().chain(worst.filter(|worst| Some(*worst) != first));
        let told: Vec<_> = told.map(|(ratio, name)| format!("{name} {}", gains::format_ratio(ratio))).collect();
        format!("slowest over random: {}", told.join(", "))
    }

    /// Returns the time of the slowest distribution over that of random scalars.
    fn slowest(&self, implementation: &str) -> Option<f64> {
        let times = self.of(implementation).map(|(_, time)| time).fold(0.0, f64::max);
        let random = self.of(implementation).find(|(row, _)| self.distributions[*row] == RANDOM)?;
        Some(times / random.1)
    }

    /// Returns the rows and the times of `implementation`.
    fn of(&self, implementation: &str) -> impl Iterator<Item = (usize, f64)> {
        let cells = self.cells.iter().filter(move |cell| cell.implementation == implementation);
        cells.filter_map(|cell| {
            let row = self.distributions.iter().position(|name| *name == cell.distribution)?;
            Some((row, cell.outcome.milliseconds()?))
        })
    }

    /// Draws the legend, the rows and the axis on `area`.
    pub(super) fn draw(&self, area: &Area<'_>) -> Result<(), Failure> {
        let (legend, plot) = area.split_vertically(self.legend_height());
        self.draw_legend(&legend)?;
        let times = self.implementations.iter().flat_map(|name| self.of(name)).map(|(_, time)| time);
        let (least, most) =
            times.fold((f64::MAX, 0.0), |(least, most): (f64, f64), time| (least.min(time), most.max(time)));
        let (range, time_ticks) = ticks::times(least, most);
        let mut chart = ChartBuilder::on(&plot)
            .margin_right(20)
            .margin_left(NAMES)
            .x_label_area_size(AXIS)
            .build_cartesian_2d(range.log_scale().with_key_points(time_ticks), self.distributions.len() as f64..0.0)?;
        axes(&mut chart)?;
        for (name, colour) in self.implementations.iter().zip(palette()) {
            let dot = |(row, time)| Circle::new((time, row as f64 + 0.5), 5, colour.filled());
            chart.draw_series(self.of(name).map(dot))?;
        }
        self.draw_names(&plot)
    }

    fn draw_legend(&self, area: &Area<'_>) -> Result<(), Failure> {
        let half = area.dim_in_pixel().0.cast_signed() / 2;
        for (place, (name, colour)) in (0..).zip(self.implementations.iter().zip(palette())) {
            let (x, y) = (12 + place % 2 * half, 2 + place / 2 * KEY);
            area.draw(&Circle::new((x + 5, y + 6), 5, colour.filled()))?;
            area.draw(&Text::new((*name).to_owned(), (x + 16, y), (FONT, LETTERS)))?;
        }
        Ok(())
    }

    fn draw_names(&self, area: &Area<'_>) -> Result<(), Failure> {
        let style = TextStyle::from((FONT, LETTERS)).pos(Pos::new(HPos::Right, VPos::Center));
        for (y, name) in (ROW.cast_signed() / 2..).step_by(ROW as usize).zip(&self.distributions) {
            area.draw(&Text::new((*name).to_owned(), (NAMES - 8, y), style.clone()))?;
        }
        let below = (ROW * self.distributions.len() as u32 + 16).cast_signed();
        area.draw(&Text::new("scalars", (NAMES - 8, below), style))?;
        Ok(())
    }
}

fn axes(chart: &mut Chart<'_, '_>) -> Result<(), Failure> {
    let mut mesh = chart.configure_mesh();
    mesh.disable_y_mesh().disable_y_axis().light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.15));
    mesh.x_desc("time, ms").label_style((FONT, LETTERS)).axis_desc_style((FONT, LETTERS));
    mesh.x_label_formatter(&|time| ticks::text(*time)).draw()?;
    Ok(())
}
