//! What is claimed: the sum of a polynomial in columns over all rows.

use ff::Field;

use super::field::SumcheckField;
use super::transcript::Transcript;
use crate::{Error, Result};

/// Where errors of this module come from.
pub(super) const PLACE: &str = "sumcheck";
/// Most variables.
pub const MOST_VARIABLES: u32 = 32;
/// Highest degree of a term.
pub const MOST_FACTORS: usize = 6;

/// A coefficient times the product of some columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<F> {
    /// The coefficient.
    pub coefficient: F,
    /// Numbers of the columns, which may occur more than once: 1 to [`MOST_FACTORS`].
    pub columns: Vec<usize>,
}

/// That the values of a polynomial in columns add up to a sum: Σ_x eq(point, x)·Σ_t coefficient_t·Π_j column_tj(x), x over
/// {0, 1}^n. The factor eq is optional.
///
/// Row x of a column is its element number Σ_i x_i·2^(n−1−i): the first variable, which the first round binds, is the highest bit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim<F> {
    variables: u32,
    terms: Vec<Term<F>>,
    eq: Option<Vec<F>>,
    sum: F,
}

impl<F: Field> Claim<F> {
    /// On the product of columns, over 2^variables rows. The sum is zero until [`Self::sum`] says something else.
    pub fn product(variables: u32, columns: &[usize]) -> Self {
        Self::of_terms(variables, vec![Term { coefficient: F::ONE, columns: columns.to_vec() }])
    }

    /// On a sum of products.
    pub fn of_terms(variables: u32, terms: Vec<Term<F>>) -> Self {
        Self { variables, terms, eq: None, sum: F::ZERO }
    }

    /// With the factor eq(point, x) = Π_i (point_i·x_i + (1 − point_i)·(1 − x_i)), which is no column in memory.
    #[must_use]
    pub fn with_eq(mut self, point: Vec<F>) -> Self {
        self.eq = Some(point);
        self
    }

    /// What the values add up to.
    #[must_use]
    pub fn sum(mut self, sum: F) -> Self {
        self.sum = sum;
        self
    }

    /// How many variables there are, and rounds.
    pub fn variables(&self) -> u32 {
        self.variables
    }

    /// The products.
    pub fn terms(&self) -> &[Term<F>] {
        &self.terms
    }

    /// The point of the factor eq.
    pub fn eq(&self) -> Option<&[F]> {
        self.eq.as_deref()
    }

    /// The sum that is claimed.
    pub fn claimed(&self) -> F {
        self.sum
    }

    /// One more than the highest number of a column.
    pub fn columns(&self) -> usize {
        self.terms.iter().flat_map(|term| &term.columns).max().map_or(0, |column| column + 1)
    }

    /// The highest number of factors, but for eq.
    pub fn degree(&self) -> usize {
        self.terms.iter().map(|term| term.columns.len()).max().unwrap_or(0)
    }

    /// The degree of a round's polynomial.
    pub fn round_degree(&self) -> usize {
        self.degree() + usize::from(self.eq.is_some())
    }

    /// The polynomial's value for values of the columns, without eq.
    pub(super) fn value(&self, columns: &[F]) -> F {
        let product = |term: &Term<F>| term.columns.iter().map(|column| columns[*column]).product::<F>();
        self.terms.iter().map(|term| term.coefficient * product(term)).sum()
    }

    /// The value of eq at a point; 1 where there is none.
    pub(super) fn eq_at(&self, at: &[F]) -> F {
        let factor = |(w, r): (&F, &F)| *w * r + (F::ONE - w) * (F::ONE - r);
        self.eq.iter().flat_map(|point| point.iter().zip(at).map(factor)).product()
    }

    /// # Errors
    /// There are too many variables, no term, a term of no or too many factors, or eq has another number of variables.
    pub(super) fn check(&self) -> Result<()> {
        let refuse = |what: String, expected: String, actual: usize| Err(Error::invalid(PLACE, what, expected, actual));
        if self.variables > MOST_VARIABLES {
            return refuse("variables".into(), format!("at most {MOST_VARIABLES}"), self.variables as usize);
        }
        if self.terms.is_empty() {
            return refuse("number of terms".into(), "at least 1".into(), 0);
        }
        let of_another_degree = |term: &Term<F>| !(1..=MOST_FACTORS).contains(&term.columns.len());
        if let Some(number) = self.terms.iter().position(of_another_degree) {
            let (what, expected) = (format!("degree of term {number}"), format!("1 to {MOST_FACTORS}"));
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

impl<F: SumcheckField> Claim<F> {
    /// Tells a transcript all of it: numbers of variables and terms, each term's factors and coefficient, eq's point, the sum.
    pub(super) fn observe(&self, transcript: &mut impl Transcript<F>) {
        let number = |number: usize| F::from_number(number as u64);
        let eq = self.eq.as_deref();
        let shape = [self.variables as usize, self.terms.len(), usize::from(eq.is_some())].map(number);
        transcript.observe("claim", &shape);
        for term in &self.terms {
            let columns: Vec<F> = term.columns.iter().map(|column| number(*column)).collect();
            transcript.observe("columns", &columns);
            transcript.observe("coefficient", &[term.coefficient]);
        }
        transcript.observe("eq", eq.unwrap_or_default());
        transcript.observe("sum", &[self.sum]);
    }

    /// In the field of the computation.
    pub(super) fn to_work(&self) -> Claim<F::Work> {
        let term = |term: &Term<F>| Term { coefficient: term.coefficient.to_work(), columns: term.columns.clone() };
        Claim {
            variables: self.variables,
            terms: self.terms.iter().map(term).collect(),
            eq: self.eq.as_ref().map(|point| point.iter().map(|w| w.to_work()).collect()),
            sum: self.sum.to_work(),
        }
    }
}
