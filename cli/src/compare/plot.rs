//! Plots as SVG text that takes the page's colours.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::results::{Comparison, Measurement};
use crate::table::milliseconds;

const SIZE: (u32, u32) = (720, 400);
/// Height of a bar of phases, and of what surrounds them.
const BAR: u32 = 44;
const FRAME: u32 = 90;
const FONT: &str = "sans-serif";
/// Okabe and Ito's colours, which the colour-blind can tell apart.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Time against size, a line for each implementation, both axes logarithmic.
pub fn sizes(comparison: &Comparison, operation: &str) -> Result<String> {
    let times: Vec<f64> = comparison.of(operation).map(|one| one.milliseconds).collect();
    let (least, most) = times.iter().fold((f64::MAX, 0.0), |(least, most), time| (time.min(least), time.max(most)));
    let logs = comparison.logs(operation);
    let (Some(first), Some(last)) = (logs.first(), logs.last()) else { return Ok(String::new()) };
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let x = f64::from(*first) - 0.5..f64::from(*last) + 0.5;
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(64)
            .build_cartesian_2d(x, (least / 1.5..most * 1.5).log_scale())
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(BLACK.mix(0.05))
            .x_desc("elements")
            .y_desc("ms")
            .x_labels(logs.len() + 1)
            .x_label_formatter(&|log| if log.fract() == 0.0 { format!("2^{log}") } else { String::new() })
            .y_label_formatter(&|time| milliseconds(*time))
            .draw()
            .map_err(failed)?;
        for (implementation, colour) in
            comparison.implementations(operation).into_iter().zip(COLOURS.into_iter().cycle())
        {
            let of_it = comparison.of(operation).filter(|one| one.implementation == implementation);
            let mut points: Vec<_> = of_it.map(|one| (f64::from(one.log), one.milliseconds)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let line = chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2))).map_err(failed)?;
            line.label(implementation)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
            chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled()))).map_err(failed)?;
        }
        let position = SeriesLabelPosition::UpperLeft;
        chart.configure_series_labels().position(position).label_font((FONT, 13)).draw().map_err(failed)?;
        root.present().map_err(failed)?;
    }
    Ok(themed(&text))
}

/// The phases of our calls at the largest size, a bar for each implementation that has some; none without a device.
pub fn phases(comparison: &Comparison, operation: &str) -> Result<Option<String>> {
    let largest = comparison.logs(operation).last().copied();
    let of_largest = comparison.of(operation).filter(|one| Some(one.log) == largest && one.phases.is_some());
    let bars: Vec<&Measurement> = of_largest.collect();
    let longest = bars.iter().map(|one| segments(one).iter().map(|(_, ms)| ms).sum::<f64>()).fold(0.0, f64::max);
    if bars.is_empty() || longest <= 0.0 {
        return Ok(None);
    }
    let mut text = String::new();
    {
        let height = BAR * bars.len() as u32 + FRAME;
        let root = SVGBackend::with_string(&mut text, (SIZE.0, height)).into_drawing_area();
        let scale = f64::from(SIZE.0 - 220) / longest;
        for (number, bar) in bars.iter().enumerate() {
            let top = 10 + BAR as i32 * number as i32;
            root.draw(&Text::new(bar.implementation.clone(), (4, top + 8), (FONT, 13))).map_err(failed)?;
            let mut x = 180.0;
            for ((_, ms), colour) in segments(bar).into_iter().zip(COLOURS) {
                let corners = [(x as i32, top), ((x + ms * scale) as i32, top + 28)];
                root.draw(&Rectangle::new(corners, colour.filled())).map_err(failed)?;
                x += ms * scale;
            }
        }
        let below = 20 + (BAR as usize * bars.len()) as i32;
        for (number, ((name, _), colour)) in segments(bars[0]).into_iter().zip(COLOURS).enumerate() {
            let x = 4 + 175 * number as i32;
            root.draw(&Rectangle::new([(x, below), (x + 12, below + 12)], colour.filled())).map_err(failed)?;
            root.draw(&Text::new(name, (x + 18, below), (FONT, 13))).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(Some(themed(&text)))
}

/// Phases and what is left of the call. Uploads run beside kernels, so that the phases together may be longer.
fn segments(one: &Measurement) -> [(&'static str, f64); 4] {
    let phases = one.phases.unwrap_or_default();
    let rest = one.milliseconds - phases.upload - phases.kernels - phases.download;
    [("upload", phases.upload), ("kernels", phases.kernels), ("download", phases.download), ("the rest", rest.max(0.0))]
}

/// As wide as the page, and black is the colour of its text.
fn themed(svg: &str) -> String {
    let svg = svg.replace("#000000", "currentColor");
    match svg.split_once(" width=\"") {
        Some((head, rest)) => {
            let rest =
                rest.split_once("height=\"").and_then(|(_, rest)| rest.split_once('"')).map_or(rest, |(_, rest)| rest);
            format!("{head} role=\"img\"{rest}")
        }
        None => svg,
    }
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("plot: {error}")
}
