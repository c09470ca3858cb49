//! Draws the figures of a bench as files, each of one operation in one place: time against size, and time against the
//! distribution of scalars.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use super::{Area, FONT, LETTERS, Line, WIDTH, distributions, gains, lines, theme, words};
use crate::Failure;
use crate::inputs::RANDOM;
use crate::results::{Measurement, Results, unique};

/// Titles have this font size.
const TITLE: u32 = 20;
/// The three lines over a plot take this height, in pixels.
const HEAD: u32 = 66;
/// Start of the note of a number that is less exact than its digits.
const ABOUT: &str = "about";

/// Holds the lines over a plot, and the name of its file.
struct Head {
    file: String,
    title: String,
    message: String,
    machine: String,
}

/// Writes a file to `folder` for each operation and place with several sizes, and for each with several distributions
/// of scalars. Returns the paths of the written files.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let timed: Vec<&Measurement> =
        results.measurements.iter().filter(|cell| cell.outcome.milliseconds().is_some()).collect();
    let mut written = Vec::new();
    for (operation, place) in unique(timed.iter().map(|cell| (cell.operation.as_str(), cell.place.as_str()))) {
        let cells = timed.iter().filter(|cell| (cell.operation.as_str(), cell.place.as_str()) == (operation, place));
        let cells: Vec<&Measurement> = cells.copied().collect();
        for (head, svg) in [sizes(results, &cells)?, by_distribution(results, &cells)?].into_iter().flatten() {
            let path = folder.join(head.file);
            std::fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Draws the times of random scalars by size. Returns `None` if no implementation has several sizes.
fn sizes(results: &Results, cells: &[&Measurement]) -> Result<Option<(Head, String)>, Failure> {
    let Some(first) = cells.first() else { return Ok(None) };
    let lines = lines_of(cells);
    if lines.is_empty() {
        return Ok(None);
    }
    let (title, size) = words::operation(&first.operation);
    let head = Head {
        file: format!("{}_{}.svg", first.operation, file_part(&first.place)),
        title: titled(&title, &first.place),
        message: gains::sentence(&lines).or_else(|| our_time(&lines)).unwrap_or_default(),
        machine: words::machine(&results.machine),
    };
    let svg = drawn(&head, lines::height(&lines), |area| lines::draw(area, size, &lines))?;
    Ok(Some((head, svg)))
}

/// Returns a line for each implementation that ran at several sizes.
fn lines_of<'a>(cells: &[&'a Measurement]) -> Vec<Line<'a>> {
    let cells: Vec<&'a Measurement> = cells.iter().copied().filter(|cell| cell.distribution == RANDOM).collect();
    let names = unique(cells.iter().map(|cell| cell.implementation.as_str()));
    let lines =
        names.into_iter().map(|name| line(name, cells.iter().copied().filter(|cell| cell.implementation == name)));
    let mut lines: Vec<Line<'_>> = lines.filter(|line| line.points.len() > 1).collect();
    // The first colours are those of proofwarp in every figure.
    lines.sort_by_key(|line| !gains::is_ours(line.name));
    lines
}

fn line<'a>(name: &'a str, cells: impl Iterator<Item = &'a Measurement>) -> Line<'a> {
    let mut cells: Vec<&Measurement> = cells.collect();
    cells.sort_by_key(|cell| cell.log_n);
    let points = cells.iter().filter_map(|cell| Some((f64::from(cell.log_n), cell.outcome.milliseconds()?))).collect();
    Line { name, points, is_approximate: cells.last().is_some_and(|cell| cell.outcome.note().starts_with(ABOUT)) }
}

/// Returns a sentence on the time of the first implementation at its largest size.
fn our_time(lines: &[Line<'_>]) -> Option<String> {
    let line = lines.iter().find(|line| gains::is_ours(line.name))?;
    Some(format!("{}: {}", line.name, line.last_time_and_size()))
}

/// Draws the times at one size by the distribution of scalars. Returns `None` if there is one distribution only.
fn by_distribution(results: &Results, cells: &[&Measurement]) -> Result<Option<(Head, String)>, Failure> {
    let Some(other) = cells.iter().find(|cell| cell.distribution != RANDOM) else { return Ok(None) };
    let cells: Vec<&Measurement> = cells.iter().copied().filter(|cell| cell.log_n == other.log_n).collect();
    let rows = distributions::DistributionPlot::new(&cells);
    let place = file_part(&other.place);
    let head = Head {
        file: format!("{}_{place}_distributions.svg", other.operation),
        title: titled(&format!("{}, 2^{}", words::operation(&other.operation).0, other.log_n), &other.place),
        message: rows.message(),
        machine: words::machine(&results.machine),
    };
    let svg = drawn(&head, rows.height(), |area| rows.draw(area))?;
    Ok(Some((head, svg)))
}

fn titled(operation: &str, place: &str) -> String {
    if place == "a proof" { operation.to_owned() } else { format!("{operation}, {}", words::plain(place)) }
}

fn file_part(place: &str) -> String {
    place.replace([',', ' '], "_")
}

/// Draws `head`, and under it a plot of `height` pixels by `draw`.
fn drawn(head: &Head, height: u32, draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, HEAD + height)).into_drawing_area();
        let (over, under) = root.split_vertically(HEAD);
        over.draw(&Text::new(head.title.clone(), (12, 8), (FONT, TITLE, FontStyle::Bold)))?;
        over.draw(&Text::new(head.message.clone(), (12, 29), (FONT, LETTERS)))?;
        over.draw(&Text::new(head.machine.clone(), (12, 46), (FONT, LETTERS)))?;
        draw(&under)?;
        root.present()?;
    }
    Ok(theme::for_file(&text, &format!("{}: {} ({})", head.title, head.message, head.machine)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;

    fn cell(implementation: &str, distribution: &str, log_n: u32, milliseconds: f64) -> Measurement {
        let [operation, place] = ["msm_bn254_g1", "host"].map(str::to_owned);
        let [implementation, distribution] = [implementation, distribution].map(str::to_owned);
        let outcome = Outcome::single(milliseconds, "");
        Measurement { operation, implementation, place, distribution, log_n, outcome }
    }

    fn results() -> Results {
        let measurements = vec![
            cell("stock", RANDOM, 10, 8.0),
            cell("stock", RANDOM, 12, 24.0),
            cell("proofwarp CUDA", RANDOM, 10, 1.0),
            cell("proofwarp CUDA", RANDOM, 12, 2.0),
            cell("proofwarp CUDA", "all equal", 12, 3.0),
            cell("a lone dot", RANDOM, 12, 2.0),
        ];
        Results { bench: "msm".to_owned(), machine: vec!["CUDA: NVIDIA H200".to_owned()], measurements }
    }

    #[test]
    fn figures_say_what_ran_where_and_the_gain() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = write(&results(), folder.path()).expect("figures");
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a figure");
        let [sizes, distributions] = &written.iter().map(read).collect::<Vec<_>>()[..] else { panic!("{written:?}") };
        for part in ["MSM, BN254 G1, from the host", "NVIDIA H200", "points", "time, ms", "2.00 ms, 12 × faster"] {
            assert!(sizes.contains(part), "{part}");
        }
        assert!(!sizes.contains("a lone dot") && !sizes.contains("#000000"));
        assert!(distributions.contains("slowest over random: proofwarp CUDA 1.5 ×"));
        assert!(written[1].ends_with("msm_bn254_g1_host_distributions.svg"));
    }
}
