//! What is claimed: the sum of a polynomial in columns over all rows.

use ff::Field;

use super::field::SumcheckField;
use super::frame::{Frame, MAX_NUMBER, number};
use super::transcript::Transcript;
use crate::{Error, Result};

/// Where errors of this module come from.
pub(super) const PLACE: &str = "sumcheck";
/// Most variables.
pub const MOST_VARIABLES: u32 = 32;
/// Highest degree of a term.
pub const MOST_FACTORS: usize = 6;
/// Maximum number of columns, 2^24 − 1, and of terms: a transcript takes in their numbers as elements, which are to be different.
pub const MAX_COLUMNS: usize = MAX_NUMBER;

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
    columns: usize,
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
        let columns = columns_of(&terms);
        Self { variables, terms, columns, eq: None, sum: F::ZERO }
    }

    /// Over `columns` columns, the last of which may be in no term: they are folded too, and have finals.
    ///
    /// The verifier's sum does not depend on the finals of such columns, so only their openings show them to be right.
    #[must_use]
    pub fn with_columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
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

    /// Number of columns, and of finals: one more than the highest number of a column, or what [`Self::with_columns`] says.
    pub fn columns(&self) -> usize {
        self.columns
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
    /// There are too many variables or columns, no or too many terms, a term of no or too many factors, fewer columns than in
    /// terms, or eq has another number of variables.
    pub(super) fn check(&self) -> Result<()> {
        let refuse = |what: String, expected: String, actual: usize| Err(Error::invalid(PLACE, what, expected, actual));
        if self.variables > MOST_VARIABLES {
            return refuse("variables".into(), format!("at most {MOST_VARIABLES}"), self.variables as usize);
        }
        if self.terms.is_empty() {
            return refuse("number of terms".into(), "at least 1".into(), 0);
        }
        let of_terms = columns_of(&self.terms);
        for (what, number) in [("terms", self.terms.len()), ("columns", self.columns), ("columns", of_terms)] {
            if number > MAX_COLUMNS {
                return refuse(format!("number of {what}"), format!("at most {MAX_COLUMNS}"), number);
            }
        }
        if self.columns < of_terms {
            let expected = format!("at least {of_terms}, which terms have");
            return refuse("number of columns".into(), expected, self.columns);
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

/// Returns one more than the highest number of a column in `terms`.
fn columns_of<F>(terms: &[Term<F>]) -> usize {
    terms.iter().flat_map(|term| &term.columns).max().map_or(0, |column| column.saturating_add(1))
}

impl<F: SumcheckField> Claim<F> {
    /// Tells `transcript` all that [`super::verify`] depends on, in frames: the numbers of variables, of terms and of columns, the
    /// degree of a round, whether there is a factor eq; each term's coefficient and columns; eq's point; the sum.
    ///
    /// [`super::prove`] and [`super::verify`] call it. Protocols of one's own around [`super::Prover`] do it themselves, after they
    /// took in a commitment to the columns and before the first challenge.
    pub fn observe(&self, transcript: &mut impl Transcript<F>) {
        let eq = self.eq.as_deref();
        let shape =
            [self.variables as usize, self.round_degree(), self.terms.len(), self.columns(), usize::from(eq.is_some())];
        Frame::Claim.observe(transcript, &shape.map(number));
        for term in &self.terms {
            let columns = term.columns.iter().map(|column| number(*column));
            let elements: Vec<F> = [term.coefficient].into_iter().chain(columns).collect();
            Frame::Term.observe(transcript, &elements);
        }
        Frame::Eq.observe(transcript, eq.unwrap_or_default());
        Frame::Sum.observe(transcript, &[self.sum]);
    }

    /// In the field of the computation.
    pub(super) fn to_work(&self) -> Claim<F::Work> {
        let term = |term: &Term<F>| Term { coefficient: term.coefficient.to_work(), columns: term.columns.clone() };
        Claim {
            variables: self.variables,
            terms: self.terms.iter().map(term).collect(),
            columns: self.columns,
            eq: self.eq.as_ref().map(|point| point.iter().map(|w| w.to_work()).collect()),
            sum: self.sum.to_work(),
        }
    }
}
