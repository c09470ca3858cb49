//! Defines the points at which a round's polynomial is evaluated, and the message that is sent of it.

use ff::Field;

use crate::sumcheck::field::{ComputeField, SumcheckField};

/// Names a point at which a round's polynomial is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// The element of this number ([`SumcheckField::from_number`]).
    At(u32),
    /// Infinity, where the value is the coefficient of the highest degree.
    Infinity,
}

/// Returns the points that determine a polynomial of `degree`, in the order 0, ∞, 2, 3, …, 1. Point ∞ is left out for
/// degree 1. Point 1 is left out unless `with_one` is true, since the value there follows from the claim.
pub(crate) fn points(degree: usize, with_one: bool) -> Vec<Point> {
    let infinity = (degree > 1).then_some(Point::Infinity);
    let others = (2..degree as u32).map(Point::At);
    let one = with_one.then_some(Point::At(1));
    [Point::At(0)].into_iter().chain(infinity).chain(others).chain(one).collect()
}

/// Converts a polynomial's values at the points of [`points`] to its coefficients.
#[derive(Debug)]
pub(crate) struct Interpolation<W> {
    /// Matrix that takes values to coefficients, with one row for each coefficient.
    inverse: Vec<Vec<W>>,
}

impl<W: ComputeField> Interpolation<W> {
    pub(crate) fn new(degree: usize) -> Self {
        Self::with_points(degree, |number| W::from_number(number.into()))
    }

    /// Creates the interpolation for polynomials of `degree`, in which `element(k)` is the point of number k.
    pub(crate) fn with_points(degree: usize, element: impl Fn(u32) -> W) -> Self {
        let row = |point: Point| -> Vec<W> {
            match point {
                Point::Infinity => (0..=degree).map(|k| if k == degree { W::ONE } else { W::ZERO }).collect(),
                Point::At(number) => powers(element(number)).take(degree + 1).collect(),
            }
        };
        Self { inverse: invert_matrix(points(degree, true).into_iter().map(row).collect()) }
    }

    /// Returns the coefficients in ascending order of degree, from `values` in the order of [`points`].
    pub(crate) fn coefficients(&self, values: &[W]) -> Vec<W> {
        let product = |row: &Vec<W>| row.iter().zip(values).map(|(a, b)| *a * b).sum();
        self.inverse.iter().map(product).collect()
    }
}

fn powers<F: Field>(base: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(F::ONE), move |power| Some(*power * base))
}

/// Returns the inverse of the square matrix `rows`, which must be invertible, by elimination.
fn invert_matrix<F: Field>(mut rows: Vec<Vec<F>>) -> Vec<Vec<F>> {
    let size = rows.len();
    for (number, row) in rows.iter_mut().enumerate() {
        row.extend((0..size).map(|column| if column == number { F::ONE } else { F::ZERO }));
    }
    for column in 0..size {
        let has = |accepts: fn(F) -> bool| (column..size).find(|row| accepts(rows[*row][column]));
        // Inversions take longest, so a pivot of 1 is preferred.
        let pivot = has(|entry| entry == F::ONE).or_else(|| has(|entry| entry != F::ZERO)).unwrap_or(column);
        rows.swap(column, pivot);
        if rows[column][column] != F::ONE {
            let factor = rows[column][column].invert().unwrap_or(F::ZERO);
            rows[column].iter_mut().for_each(|entry| *entry *= factor);
        }
        let pivot = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(number, _)| *number != column) {
            let factor = row[column];
            row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    rows.into_iter().map(|row| row[size..].to_vec()).collect()
}

/// Evaluates a polynomial at the point `at`, from all its `coefficients` in ascending order of degree.
pub(crate) fn evaluate<F: Field>(coefficients: &[F], at: F) -> F {
    coefficients.iter().rfold(F::ZERO, |sum, coefficient| sum * at + coefficient)
}

/// Holds the message of a round whose polynomial is c_0 + c_1·X + … + c_d·X^d: the coefficients c_0, c_2, …, c_d, in
/// this order. The message omits c_1, since the claim is the sum of the values at 0 and 1. So c_1 = claim − 2·c_0 − c_2
/// − … − c_d.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundPolynomial<F> {
    coefficients: Vec<F>,
}

impl<F: SumcheckField> RoundPolynomial<F> {
    /// Creates a message from `coefficients`, which are c_0, c_2, …, c_d.
    pub fn new(coefficients: Vec<F>) -> Self {
        Self { coefficients }
    }

    /// Creates a message from all coefficients c_0, …, c_d of `polynomial`.
    pub(crate) fn of_polynomial(polynomial: &[F]) -> Self {
        let sent = |(number, coefficient): (usize, &F)| (number != 1).then_some(*coefficient);
        Self { coefficients: polynomial.iter().enumerate().filter_map(sent).collect() }
    }

    /// Returns the coefficients of the message, c_0, c_2, …, c_d.
    pub fn coefficients(&self) -> &[F] {
        &self.coefficients
    }

    /// Returns all coefficients c_0, …, c_d of the polynomial, whose values at 0 and 1 have the sum `claim`.
    pub fn all_coefficients(&self, claim: F) -> Vec<F> {
        let Some((first, others)) = self.coefficients.split_first() else { return vec![F::ZERO, claim] };
        let second = claim - first.double() - others.iter().sum::<F>();
        [*first, second].into_iter().chain(others.iter().copied()).collect()
    }

    /// Returns the next round's claim: the value at `challenge` of the polynomial that has the sum `claim`.
    pub fn next_claim(&self, claim: F, challenge: F) -> F {
        evaluate(&self.all_coefficients(claim), challenge)
    }

    /// Returns the polynomial's values at the elements of numbers 0 to d. The values at 0 and 1 have the sum `claim`.
    /// The library binius-gpu sends messages in this form.
    pub fn values(&self, claim: F) -> Vec<F> {
        let polynomial = self.all_coefficients(claim);
        (0..polynomial.len() as u64).map(|number| evaluate(&polynomial, F::from_number(number))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::ghash::Ghash;

    fn check_interpolation<W: ComputeField>() {
        for degree in 1..8 {
            let polynomial: Vec<W> = powers(W::from_number(5)).take(degree + 1).collect();
            let value = |point: Point| match point {
                Point::Infinity => polynomial[degree],
                Point::At(number) => evaluate(&polynomial, W::from_number(number.into())),
            };
            let values: Vec<W> = points(degree, true).into_iter().map(value).collect();
            assert_eq!(values.len(), degree + 1);
            assert_eq!(Interpolation::new(degree).coefficients(&values), polynomial);
            let claim = evaluate(&polynomial, W::ZERO) + evaluate(&polynomial, W::ONE);
            let message = RoundPolynomial::of_polynomial(&polynomial);
            assert_eq!(message.all_coefficients(claim), polynomial);
            assert_eq!(message.values(claim)[1], evaluate(&polynomial, W::ONE));
        }
    }

    #[test]
    fn coefficients_follow_from_values() {
        check_interpolation::<Ghash>();
        check_interpolation::<blstrs::Scalar>();
    }
}
