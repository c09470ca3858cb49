//! Chooses the ticks of logarithmic axes.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

/// Maximum number of decades whose ticks at 2 and 5 are drawn too.
const FINE: f64 = 3.0;
/// An axis of sizes has at most this number of ticks.
const SIZES: usize = 6;

/// An axis of sizes, which are binary logarithms, with its ticks.
pub(super) struct Sizes(pub Range<f64>, pub Vec<f64>);

impl Ranged for Sizes {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.0.clone()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light lines would stand between the ticks.
        if hint.weight().allow_light_points() { Vec::new() } else { self.1.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.0.clone()
    }
}

/// Returns the ends and the ticks of an axis of times that holds `least` to `most`. The ends are 1, 2 or 5 times a power
/// of ten. So are the ticks, which are powers of ten alone if the axis is long.
pub(super) fn times(least: f64, most: f64) -> (Range<f64>, Vec<f64>) {
    let (least, most) = (least * 0.98, most * 1.02);
    let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
    let steps: Vec<f64> = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(decade))).collect();
    let start = steps.iter().copied().filter(|step| *step <= least).fold(0.0, f64::max);
    let end = steps.iter().copied().find(|step| *step >= most).unwrap_or(most);
    let is_fine = (end / start).log10() <= FINE;
    let is_power = |step: f64| (step.log10() - step.log10().round()).abs() < 1e-9;
    let ticks = steps.into_iter().filter(|step| (start..=end).contains(step) && (is_fine || is_power(*step)));
    (start..end, ticks.collect())
}

/// Returns the axis of the sizes 2^`first` to 2^`last`, with a tick at each, or at every second, and so on.
pub(super) fn sizes(first: u32, last: u32) -> Sizes {
    let step = ((last - first) as usize + 1).div_ceil(SIZES);
    let ticks = (first..=last).rev().step_by(step).map(f64::from).collect();
    Sizes(f64::from(first) - 0.4..f64::from(last) + 0.4, ticks)
}

/// Formats the tick `time` with as many decimals as it needs.
pub(super) fn text(time: f64) -> String {
    let decimals = (-(time.log10() + 1e-9).floor()).max(0.0) as usize;
    format!("{time:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_powers_of_ten_with_2_and_5_between_them_if_there_is_room() {
        assert_eq!(times(3.0, 15.0), (2.0..20.0, vec![2.0, 5.0, 10.0, 20.0]));
        assert_eq!(times(0.03, 130.0), (0.02..200.0, vec![0.1, 1.0, 10.0, 100.0]));
        let (ends, ticks) = times(7.0, 7.0);
        assert_eq!((ends, ticks.len()), (5.0..10.0, 2));
        assert_eq!([0.02, 0.5, 1.0, 200.0].map(text), ["0.02", "0.5", "1", "200"]);
    }

    #[test]
    fn ticks_of_sizes_include_the_largest() {
        assert_eq!(sizes(10, 24).1, [24.0, 21.0, 18.0, 15.0, 12.0]);
        assert_eq!(sizes(8, 8).1, [8.0]);
    }
}
