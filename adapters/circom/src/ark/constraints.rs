//! Converts the matrices of a constraint system of arkworks.

use std::sync::Arc;

use ff::Field;
use proofwarp::matrix::Csr;
use rayon::prelude::*;

use super::montgomery_form::{MontgomeryForm, to_scalar};
use crate::error::{FileSection, Result};
use crate::groth16::Groth16Engine;

/// Minimum rows that a thread converts at a time: some tens of microseconds of work.
const MIN_ROWS: usize = 1 << 10;

/// Lists the entries (coefficient, variable) of a row of a matrix.
pub(crate) type MatrixRow<F> = Vec<(F, usize)>;

/// Lists the entries (variable, coefficient) of a row of the engine's matrix.
type EngineRow<E> = Vec<(usize, <E as pairing::Engine>::Fr)>;

/// Holds the constraints of a circuit: the rows of A and of B. The prover needs no C, because C·z = A·z ∘ B·z.
pub(crate) struct Constraints<M> {
    pub a: M,
    pub b: M,
}

/// Holds the constraints of a circuit, and its numbers of variables.
pub(crate) struct System<F> {
    /// Number of inputs, with the constant one.
    pub inputs: usize,
    /// Number of witness variables.
    pub witnesses: usize,
    pub constraints: Constraints<Vec<MatrixRow<F>>>,
}

impl<M> Constraints<M> {
    /// Returns A and B with the rows of the domain. These are the rows of the constraints, then one for each of
    /// `inputs`, which has the input in A. Each matrix has `variables` columns.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): A and B differ in their numbers of rows, or a coefficient's limbs
    ///   are at least r.
    /// - [`Error::Engine`](crate::Error::Engine): a variable is not below `variables`, or there are more than 2^31 rows
    ///   or non-zeros.
    pub(crate) fn to_sparse_matrices<E: Groth16Engine, F: MontgomeryForm>(
        &self,
        inputs: usize,
        variables: usize,
    ) -> Result<[Arc<Csr<E::Fr>>; 2]>
    where
        M: AsRef<[MatrixRow<F>]>,
    {
        let (a, b) = (self.a.as_ref(), self.b.as_ref());
        if a.len() != b.len() {
            return Err(matrix_place("B").malformed("rows", format!("{}, as A has", a.len()), b.len()));
        }
        let (mut a, mut b) = (to_rows::<E, F>("A", a)?, to_rows::<E, F>("B", b)?);
        a.extend((0..inputs).map(|input| vec![(input, E::Fr::ONE)]));
        b.resize(a.len(), Vec::new());
        Ok([Arc::new(Csr::from_rows(variables, a)?), Arc::new(Csr::from_rows(variables, b)?)])
    }
}

/// Returns the entries (variable, coefficient) of each of `rows`.
fn to_rows<E: Groth16Engine, F: MontgomeryForm>(name: &str, rows: &[MatrixRow<F>]) -> Result<Vec<EngineRow<E>>> {
    let convert = |row: &MatrixRow<F>| {
        let entries = row.iter().map(|(value, variable)| Some((*variable, to_scalar::<E, F>(value)?)));
        entries.collect::<Option<Vec<_>>>()
    };
    let rows: Option<Vec<_>> = rows.par_iter().with_min_len(MIN_ROWS).map(convert).collect();
    rows.ok_or_else(|| matrix_place(name).malformed("coefficient", "limbs below r", "limbs that are not"))
}

fn matrix_place(name: &str) -> FileSection<'_> {
    FileSection { file: "constraints", section: name }
}
