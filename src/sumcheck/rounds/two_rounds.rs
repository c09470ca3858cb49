//! Computes two rounds from one pass over the columns: both messages follow from the polynomial's values in two
//! variables.

use super::round_poly::{Interpolation, evaluate};
use crate::sumcheck::field::ComputeField;

/// Returns the number of values that a pass for two rounds computes, for a product of `degree` factors. It evaluates at
/// all pairs of `degree` + 1 points for each of two variables, except the pair (1, 1).
pub(crate) const fn pair_value_count(degree: usize) -> usize {
    (degree + 1) * (degree + 1) - 1
}

/// Holds the values and the challenge that are needed between the two rounds of a pass.
#[derive(Debug)]
pub(crate) struct TwoRoundState<W> {
    degree: usize,
    /// Values of the last pass, until there is a challenge for the first of its variables.
    values: Option<Vec<W>>,
    /// Challenge for the first variable, until the columns are folded by it.
    first: Option<W>,
}

impl<W: ComputeField> TwoRoundState<W> {
    pub(crate) fn new(degree: usize) -> Self {
        Self { degree, values: None, first: None }
    }

    /// Stores the `values` of a pass, by point of the first variable, then by point of the second. Returns the first
    /// round's values at all points except 1.
    pub(crate) fn begin_first_round(&mut self, values: Vec<W>) -> Vec<W> {
        let sum = |first: usize| {
            let of_first = &values[first * (self.degree + 1)..];
            of_first[0] + of_first[self.degree]
        };
        let round = (0..self.degree).map(sum).collect();
        self.values = Some(values);
        round
    }

    /// Returns the second round's values at all points except 1, where `challenge` is that of the first round. Returns
    /// `None` if no values are stored or there is no challenge.
    pub(crate) fn second_round_values(
        &mut self,
        interpolation: &Interpolation<W>,
        challenge: Option<W>,
    ) -> Option<Vec<W>> {
        let values = self.values.take_if(|_| challenge.is_some())?;
        let challenge = challenge?;
        let at = |second: usize| {
            let of_second: Vec<W> = values.iter().skip(second).step_by(self.degree + 1).copied().collect();
            evaluate(&interpolation.coefficients(&of_second), challenge)
        };
        self.first = Some(challenge);
        Some((0..self.degree).map(at).collect())
    }

    /// Takes the challenge for the first variable if the columns are not folded by it yet, and discards stored values.
    /// Returns `None` otherwise.
    pub(crate) fn take_first_challenge(&mut self) -> Option<W> {
        self.values = None;
        self.first.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::ghash::Ghash;
    use crate::sumcheck::rounds::round_poly::{Point, points};

    /// Returns the value at (`x`, `y`) of a product of `degree` factors that are linear in x and in y, computed as a
    /// kernel does.
    fn value<W: ComputeField>(degree: usize, x: Point, y: Point) -> W {
        let number = |number: u32| W::from_number(number.into());
        let factor = |first: [W; 2], second: [W; 2]| {
            let at = |[low, high]: [W; 2], point| match point {
                Point::At(place) => low + number(place) * (high - low),
                Point::Infinity => high - low,
            };
            at([at(first, x), at(second, x)], y)
        };
        let (zero, one, two) = (W::ZERO, W::ONE, W::ONE + W::ONE);
        let sum = factor([zero, one], [one, two]);
        (1..degree).fold(factor([one, two], [one, two]), |product, _| product * sum)
    }

    fn check_two_rounds<W: ComputeField>() {
        for degree in 2..5 {
            let all = points(degree, true);
            let grid: Vec<W> = all.iter().flat_map(|x| all.iter().map(|y| value(degree, *x, *y))).collect();
            let (mut pairs, interpolation) = (TwoRoundState::new(degree), Interpolation::new(degree));
            let first = pairs.begin_first_round(grid[..pair_value_count(degree)].to_vec());
            let sum_at = |x| value::<W>(degree, x, Point::At(0)) + value::<W>(degree, x, Point::At(1));
            assert_eq!(first, points(degree, false).into_iter().map(sum_at).collect::<Vec<_>>());
            assert!(pairs.second_round_values(&interpolation, None).is_none());
            let second = pairs.second_round_values(&interpolation, Some(W::from_number(5))).expect("values of a pass");
            let at = |y| value::<W>(degree, Point::At(5), y);
            assert_eq!(second, points(degree, false).into_iter().map(at).collect::<Vec<_>>());
            assert!(pairs.second_round_values(&interpolation, Some(W::ONE)).is_none());
            assert_eq!(pairs.take_first_challenge(), Some(W::from_number(5)));
            assert_eq!(pairs.take_first_challenge(), None);
        }
    }

    #[test]
    fn both_rounds_follow_from_the_values_of_a_pass() {
        check_two_rounds::<Ghash>();
        check_two_rounds::<blstrs::Scalar>();
    }
}
