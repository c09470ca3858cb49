//! Stores constraints as matrices, with coefficients in a dictionary so that a term takes 16 bytes.

use std::collections::HashMap;
use std::sync::Arc;

use bellperson::{Index, LinearCombination};
use ff::PrimeField;
use proofwarp::field::NttField;
use proofwarp::groth16::Circuit;
use proofwarp::matrix::Csr;

use crate::recorder::{ConstraintSink, Values};

/// Holds the matrices A, B and C of a circuit's constraints.
#[derive(Debug)]
pub struct Matrices<F> {
    rows: [TermRows; 3],
    dictionary: Dictionary<F>,
}

/// Holds the terms of one matrix row by row, each as a variable and the index of its coefficient in the dictionary.
/// Input i is stored as variable 2·i, auxiliary variable i as 2·i + 1, because the number of inputs is not known yet.
#[derive(Debug, Default)]
struct TermRows {
    ends: Vec<usize>,
    terms: Vec<(u64, u32)>,
}

/// Holds the distinct coefficients of all matrices, 1 first, and finds a coefficient's index by its bytes.
#[derive(Debug)]
struct Dictionary<F> {
    values: Vec<F>,
    places: HashMap<Vec<u8>, u32>,
}

impl<F: NttField> Matrices<F> {
    /// Creates a circuit with these matrices, `inputs` inputs and `aux` auxiliary variables.
    ///
    /// # Errors
    /// - [`proofwarp::Error::Invalid`]: the circuit is too large.
    pub fn circuit(&self, inputs: usize, aux: usize) -> proofwarp::Result<Circuit<F>> {
        let matrix =
            |rows: &TermRows| Csr::from_rows(inputs + aux, rows.iter(inputs, &self.dictionary.values)).map(Arc::new);
        let [a, b, c] = &self.rows;
        Circuit::from_matrices(inputs, [matrix(a)?, matrix(b)?, matrix(c)?])
    }
}

impl TermRows {
    /// Iterates over the rows, and in each row over the columns and coefficients of its terms. There are `inputs`
    /// inputs, and `values` has the coefficients of the dictionary.
    fn iter<'a, F: NttField>(
        &'a self,
        inputs: usize,
        values: &'a [F],
    ) -> impl Iterator<Item = impl Iterator<Item = (usize, F)> + 'a> + 'a {
        let column = move |variable: u64| (variable >> 1) as usize + if variable & 1 == 1 { inputs } else { 0 };
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(move |(start, end)| {
            let terms = self.terms[start..*end].iter();
            terms.map(move |(variable, place)| (column(*variable), values[*place as usize]))
        })
    }

    /// Appends the rows of `other`, whose variables are renumbered to follow `inputs` inputs and `aux` auxiliary
    /// variables. The first input of both is the constant one. Coefficient k of `other` is `places[k]` in this
    /// dictionary.
    fn extend(&mut self, other: &Self, inputs: u64, aux: u64, places: &[u32]) {
        let start = self.terms.len();
        let shifted = |variable: u64| match variable {
            0 => 0,
            _ if variable & 1 == 1 => variable + 2 * aux,
            _ => variable + 2 * inputs.saturating_sub(1),
        };
        self.terms.extend(other.terms.iter().map(|(variable, place)| (shifted(*variable), places[*place as usize])));
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }
}

impl<F: PrimeField> Dictionary<F> {
    fn intern_coefficient(&mut self, value: F) -> u32 {
        if value == F::ONE {
            return 0;
        }
        let next = self.values.len() as u32;
        let place = *self.places.entry(value.to_repr().as_ref().to_vec()).or_insert(next);
        if place == next {
            self.values.push(value);
        }
        place
    }
}

impl<F: PrimeField> Default for Matrices<F> {
    fn default() -> Self {
        let dictionary = Dictionary { values: vec![F::ONE], places: HashMap::new() };
        Self { rows: Default::default(), dictionary }
    }
}

impl<F: PrimeField> ConstraintSink<F> for Matrices<F> {
    const TERMS: bool = true;

    fn constrain(&mut self, _: Values<'_, F>, terms: [&LinearCombination<F>; 3]) {
        for (rows, terms) in self.rows.iter_mut().zip(terms) {
            for (variable, coefficient) in terms.iter().filter(|(_, value)| !value.is_zero_vartime()) {
                let number = match variable.get_unchecked() {
                    Index::Input(i) => 2 * i as u64,
                    Index::Aux(i) => 2 * i as u64 + 1,
                };
                rows.terms.push((number, self.dictionary.intern_coefficient(*coefficient)));
            }
            rows.ends.push(rows.terms.len());
        }
    }

    fn extend(&mut self, values: Values<'_, F>, other: &Self) {
        let places: Vec<u32> =
            other.dictionary.values.iter().map(|value| self.dictionary.intern_coefficient(*value)).collect();
        let (inputs, aux) = (values.inputs.len() as u64, values.aux.len() as u64);
        self.rows.iter_mut().zip(&other.rows).for_each(|(rows, other)| rows.extend(other, inputs, aux, &places));
    }
}
