//! Defines claims: each states the sum of a polynomial in columns over all rows. Describes a claim as rounds compute
//! with it.

use ff::Field;

use super::field::{ComputeField, SumcheckField};
use super::rounds::{EqTables, Interpolation, Point, points};
use super::transcript::{Frame, MAX_NUMBER, Transcript, encode_number};
use crate::{Error, Result};

/// Names this module in errors.
pub(super) const ERROR_CONTEXT: &str = "sumcheck";
/// Maximum number of variables, which is also the number of rounds.
pub const MAX_VARIABLES: u32 = 32;
/// Maximum number of factors of a term, 6. It is also the term's maximum degree.
pub const MAX_FACTORS: usize = 6;
/// Maximum number of columns, and of terms, 2^24 − 1. A transcript takes in such numbers as field elements. Up to this
/// limit they are different elements of every field.
pub const MAX_COLUMNS: usize = MAX_NUMBER;

/// Holds one term of a claim: a coefficient times the product of some columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductTerm<F> {
    /// Constant factor of the term.
    pub coefficient: F,
    /// Numbers of the columns to multiply, counted from 0. A term has 1 to [`MAX_FACTORS`] of them, and a number may
    /// occur more than once.
    pub columns: Vec<usize>,
}

/// States the sum of a polynomial in columns over all rows x in {0, 1}^n: Σ_x eq(point, x)·Σ_t coefficient_t·Π_j
/// column_tj(x). The factor eq is optional.
///
/// Row x of a column is the element at index Σ_i x_i·2^(n−1−i), with i from 0 to n − 1. The first round binds x_0,
/// which is the highest bit of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim<F> {
    variables: u32,
    terms: Vec<ProductTerm<F>>,
    columns: usize,
    eq: Option<Vec<F>>,
    sum: F,
}

impl<F: Field> Claim<F> {
    /// Creates a claim on the product of the columns with the numbers `columns`, over 2^variables rows. Its sum is zero
    /// until [`Self::with_sum`] sets it.
    pub fn product(variables: u32, columns: &[usize]) -> Self {
        Self::sum_of_products(variables, vec![ProductTerm { coefficient: F::ONE, columns: columns.to_vec() }])
    }

    /// Creates a claim on the sum of `terms`, over 2^variables rows. Its sum is zero until [`Self::with_sum`] sets it.
    pub fn sum_of_products(variables: u32, terms: Vec<ProductTerm<F>>) -> Self {
        let columns = required_column_count(&terms);
        Self { variables, terms, columns, eq: None, sum: F::ZERO }
    }

    /// Sets the number of columns to `columns`. It may exceed the number of columns in terms. The additional columns
    /// are folded too, and have finals.
    ///
    /// The verifier's sum does not depend on the finals of additional columns, so only their openings show them to be
    /// right.
    #[must_use]
    pub fn with_columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// Multiplies the polynomial by eq(point, x) = Π_i (point_i·x_i + (1 − point_i)·(1 − x_i)). This factor takes no
    /// column in memory.
    #[must_use]
    pub fn with_eq(mut self, point: Vec<F>) -> Self {
        self.eq = Some(point);
        self
    }

    /// Sets the claimed sum to `sum`.
    #[must_use]
    pub fn with_sum(mut self, sum: F) -> Self {
        self.sum = sum;
        self
    }

    /// Returns the number of variables, which is also the number of rounds.
    pub fn variables(&self) -> u32 {
        self.variables
    }

    /// Returns the terms.
    pub fn terms(&self) -> &[ProductTerm<F>] {
        &self.terms
    }

    /// Returns the point of the factor eq, or `None` if the claim has no such factor.
    pub fn eq(&self) -> Option<&[F]> {
        self.eq.as_deref()
    }

    /// Returns the claimed sum.
    pub fn claimed(&self) -> F {
        self.sum
    }

    /// Returns the number of columns, which is also the number of finals. It is one more than the highest column number
    /// in a term, unless [`Self::with_columns`] sets it.
    pub fn column_count(&self) -> usize {
        self.columns
    }

    /// Returns the maximum number of factors of a term, not counting eq.
    pub fn degree(&self) -> usize {
        self.terms.iter().map(|term| term.columns.len()).max().unwrap_or(0)
    }

    /// Returns the degree of a round's polynomial: [`Self::degree`], plus 1 if the claim has the factor eq.
    pub fn round_degree(&self) -> usize {
        self.degree() + usize::from(self.eq.is_some())
    }

    /// Evaluates the polynomial without eq, where `columns[i]` is the value of column i.
    pub(super) fn evaluate_terms(&self, columns: &[F]) -> F {
        let product = |term: &ProductTerm<F>| term.columns.iter().map(|column| columns[*column]).product::<F>();
        self.terms.iter().map(|term| term.coefficient * product(term)).sum()
    }

    /// Evaluates the factor eq at the point `at`. Returns 1 if the claim has no eq.
    pub(super) fn eq_at(&self, at: &[F]) -> F {
        let factor = |(w, r): (&F, &F)| *w * r + (F::ONE - w) * (F::ONE - r);
        self.eq.iter().flat_map(|point| point.iter().zip(at).map(factor)).product()
    }

    /// Checks that the claim's numbers of variables, terms, columns and factors are within their limits.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are too many variables.
    /// - [`Error::Invalid`]: there are no terms, or too many.
    /// - [`Error::Invalid`]: there are too many columns, or fewer than the terms use.
    /// - [`Error::Invalid`]: a term has no factors, or too many.
    /// - [`Error::Invalid`]: the point of eq has more or fewer coordinates than the claim has variables.
    pub(super) fn check(&self) -> Result<()> {
        let refuse =
            |what: String, expected: String, actual: usize| Err(Error::invalid(ERROR_CONTEXT, what, expected, actual));
        if self.variables > MAX_VARIABLES {
            return refuse("variables".into(), format!("at most {MAX_VARIABLES}"), self.variables as usize);
        }
        if self.terms.is_empty() {
            return refuse("number of terms".into(), "at least 1".into(), 0);
        }
        let sum_of_products = required_column_count(&self.terms);
        for (what, number) in [("terms", self.terms.len()), ("columns", self.columns), ("columns", sum_of_products)] {
            if number > MAX_COLUMNS {
                return refuse(format!("number of {what}"), format!("at most {MAX_COLUMNS}"), number);
            }
        }
        if self.columns < sum_of_products {
            let expected = format!("at least {sum_of_products}, which terms have");
            return refuse("number of columns".into(), expected, self.columns);
        }
        let of_another_degree = |term: &ProductTerm<F>| !(1..=MAX_FACTORS).contains(&term.columns.len());
        if let Some(number) = self.terms.iter().position(of_another_degree) {
            let (what, expected) = (format!("degree of term {number}"), format!("1 to {MAX_FACTORS}"));
            return refuse(what, expected, self.terms[number].columns.len());
        }
        match &self.eq {
            Some(point) if point.len() != self.variables as usize => {
                refuse("coordinates of eq's point".into(), self.variables.to_string(), point.len())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the number of columns that `terms` need: one more than their highest column number, or 0 without any.
fn required_column_count<F>(terms: &[ProductTerm<F>]) -> usize {
    terms.iter().flat_map(|term| &term.columns).max().map_or(0, |column| column.saturating_add(1))
}

impl<F: SumcheckField> Claim<F> {
    /// Makes `transcript` observe everything that [`super::verify`] depends on, in this order:
    /// - the number of variables, the degree of a round, the numbers of terms and of columns, and whether there is a
    ///   factor eq
    /// - each term's coefficient and column numbers
    /// - eq's point, empty without eq
    /// - the sum
    ///
    /// Each of these begins with a tag and a count. [`super::prove`] and [`super::verify`] call this function. A custom
    /// protocol around [`super::Prover`] calls it itself, after a commitment to the columns and before the first
    /// challenge.
    pub fn observe(&self, transcript: &mut impl Transcript<F>) {
        let eq = self.eq.as_deref();
        let shape = [
            self.variables as usize,
            self.round_degree(),
            self.terms.len(),
            self.column_count(),
            usize::from(eq.is_some()),
        ];
        Frame::Claim.observe(transcript, &shape.map(encode_number));
        for term in &self.terms {
            let columns = term.columns.iter().map(|column| encode_number(*column));
            let elements: Vec<F> = [term.coefficient].into_iter().chain(columns).collect();
            Frame::Term.observe(transcript, &elements);
        }
        Frame::Eq.observe(transcript, eq.unwrap_or_default());
        Frame::Sum.observe(transcript, &[self.sum]);
    }

    /// Converts all elements of the claim to the compute field of F.
    pub(super) fn to_compute_field(&self) -> Claim<F::Compute> {
        let term = |term: &ProductTerm<F>| ProductTerm {
            coefficient: term.coefficient.to_compute_field(),
            columns: term.columns.clone(),
        };
        Claim {
            variables: self.variables,
            terms: self.terms.iter().map(term).collect(),
            columns: self.columns,
            eq: self.eq.as_ref().map(|point| point.iter().map(|w| w.to_compute_field()).collect()),
            sum: self.sum.to_compute_field(),
        }
    }
}

/// Describes a claim for the computation of rounds: the polynomial's terms, the points at which it is evaluated, and
/// the weights of rows.
#[derive(Debug)]
pub(super) struct RoundShape<W> {
    pub variables: u32,
    /// Number of columns, including those that are in no term.
    pub columns: usize,
    pub degree: usize,
    pub terms: Vec<ProductTerm<W>>,
    pub points: Vec<Point>,
    pub weights: Option<EqTables<W>>,
    pub interpolation: Interpolation<W>,
}

impl<W: ComputeField> RoundShape<W> {
    pub(super) fn new(claim: &Claim<W>, columns: usize) -> Self {
        let weights = claim.eq().map(EqTables::new);
        Self {
            variables: claim.variables(),
            columns,
            degree: claim.degree(),
            terms: claim.terms().to_vec(),
            points: points(claim.degree(), weights.is_some()),
            weights,
            interpolation: Interpolation::new(claim.degree()),
        }
    }

    /// Returns whether the claim is on the product of all columns: one term of coefficient 1, in which each column
    /// occurs once, without eq.
    pub(super) fn is_product(&self) -> bool {
        let [term] = &self.terms[..] else { return false };
        let mut factors = term.columns.clone();
        factors.sort_unstable();
        self.weights.is_none() && term.coefficient == W::ONE && factors.into_iter().eq(0..self.columns)
    }

    /// Returns whether `term` adds to the value at `point`. At infinity, only terms of the highest degree do.
    pub(super) fn term_contributes(&self, term: &ProductTerm<W>, point: Point) -> bool {
        point != Point::Infinity || term.columns.len() == self.degree
    }
}
