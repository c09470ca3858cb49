//! Places labels beside the ends of lines, where they cover nothing.

use std::ops::Range;

use plotters::prelude::*;

use super::{Area, FONT, LETTERS};
use crate::Failure;

/// Width of the labels beside a plot, and the height of one of their rows, in pixels.
pub(super) const SPACE: i32 = 184;
const ROW: i32 = 15;
/// Distance between labels, in pixels.
const GAP: i32 = 5;
/// Length of the stroke before a label, in pixels.
const STROKE: i32 = 10;
/// A row has at most this number of letters.
const LONGEST: usize = 22;

/// Holds the rows of a label, its colour, and the end of its line in pixels of the whole figure.
pub(super) struct Label {
    pub rows: Vec<String>,
    pub colour: RGBColor,
    pub end: (i32, i32),
}

impl Label {
    fn height(&self) -> i32 {
        height(self.rows.len())
    }
}

fn height(rows: usize) -> i32 {
    (rows as u32).cast_signed() * ROW + GAP
}

/// Returns the height of labels that have `rows` rows each.
pub(super) fn total_height(rows: impl Iterator<Item = usize>) -> u32 {
    rows.map(height).sum::<i32>().cast_unsigned()
}

/// Joins `parts` by `separator` to rows that are not too long. A part that is too long alone has a row of its own.
pub(super) fn rows<'a>(parts: impl Iterator<Item = &'a str>, separator: &str) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let mut rows: Vec<String> = Vec::new();
    for part in parts {
        match rows.last_mut() {
            Some(row) if length(row) + length(separator) + length(part) <= LONGEST => {
                *row += &(separator.to_owned() + part);
            }
            _ => rows.push(part.to_owned()),
        }
    }
    rows
}

/// Draws `labels` at the right end of `area`, between the heights `range`.
pub(super) fn draw(area: &Area<'_>, mut labels: Vec<Label>, range: Range<i32>) -> Result<(), Failure> {
    let base = area.get_base_pixel();
    let x = area.dim_in_pixel().0.cast_signed() - SPACE + STROKE + 6;
    labels.sort_by_key(|label| label.end.1);
    let wanted: Vec<(i32, i32)> =
        labels.iter().map(|label| (label.end.1 - base.1 - label.height() / 2, label.height())).collect();
    for (label, top) in labels.iter().zip(spread(&wanted, range)) {
        let (end, y) = ((label.end.0 - base.0, label.end.1 - base.1), top + ROW / 2);
        area.draw(&PathElement::new([(end.0 + 5, end.1), (x - STROKE - 4, y)], label.colour.mix(0.6)))?;
        area.draw(&PathElement::new([(x - STROKE - 4, y), (x - 4, y)], label.colour.stroke_width(4)))?;
        for (y, row) in (top..).step_by(ROW as usize).zip(&label.rows) {
            area.draw(&Text::new(row.clone(), (x, y), (FONT, LETTERS)))?;
        }
    }
    Ok(())
}

/// Moves labels apart, so that they stay in order within `range`. `wanted` has their tops and heights, sorted by tops.
fn spread(wanted: &[(i32, i32)], range: Range<i32>) -> Vec<i32> {
    let mut free = range.start;
    let mut tops: Vec<i32> = Vec::new();
    for (top, height) in wanted {
        tops.push(free.max(*top));
        free = free.max(*top) + height;
    }
    let mut limit = range.end;
    for (top, (_, height)) in tops.iter_mut().zip(wanted).rev() {
        *top = (*top).min(limit - height);
        limit = *top;
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap_and_stay_inside() {
        assert_eq!(spread(&[(10, 20), (12, 20), (15, 20)], 0..100), [10, 30, 50]);
        assert_eq!(spread(&[(70, 20), (85, 20), (90, 20)], 0..100), [40, 60, 80]);
        assert_eq!(spread(&[(-10, 20)], 0..100), [0]);
    }

    #[test]
    fn names_are_broken_between_words() {
        let name = "stock ec-gpu-gen, by its CUDA kernels";
        assert_eq!(rows(name.split(' '), " "), ["stock ec-gpu-gen, by", "its CUDA kernels"]);
        assert_eq!(rows(["965 ms", "22 × faster"].into_iter(), ", "), ["965 ms, 22 × faster"]);
    }
}
