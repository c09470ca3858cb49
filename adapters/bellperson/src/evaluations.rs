//! Stores constraints by their values at an assignment, as bellperson's own prover does.

use std::fmt;

use bellperson::{LinearCombination, SynthesisError};
use ff::{Field, PrimeField};
use proofwarp::field::NttField;
use proofwarp::groth16::{Circuit, Densities, Witness};
use proofwarp::secret_vec::zeroize;
use rayon::prelude::*;

use crate::recorder::{ConstraintSink, SynthesisRecorder, Values};

/// Holds a circuit's assignment z, with A·z, B·z and C·z.
pub(crate) type EvaluatedAssignment<F> = SynthesisRecorder<F, Evaluations<F>>;

/// Holds A·z, B·z and C·z for the assignment z, and which variables occur in A and B. The values are cleared on drop.
#[derive(Default)]
pub struct Evaluations<F: Field> {
    /// A·z, B·z and C·z.
    pub vectors: [Vec<F>; 3],
    a_aux: Vec<bool>,
    b_inputs: Vec<bool>,
    b_aux: Vec<bool>,
}

impl<F: Field> fmt::Debug for Evaluations<F> {
    /// Writes only the lengths, because the values reveal the witness.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluations").field("vectors", &self.vectors.each_ref().map(Vec::len)).finish_non_exhaustive()
    }
}

impl<F: Field> Drop for Evaluations<F> {
    fn drop(&mut self) {
        self.vectors.iter_mut().for_each(zeroize);
    }
}

impl<F: NttField> Evaluations<F> {
    /// Borrows A·z, B·z and C·z, in this order, as [`Witness`] takes them.
    pub fn slices(&self) -> [&[F]; 3] {
        self.vectors.each_ref().map(Vec::as_slice)
    }

    /// Creates the circuit, without matrices, from the number of constraints and the variables in A and B.
    ///
    /// # Errors
    /// - [`proofwarp::Error::Invalid`]: the circuit is too large.
    pub fn circuit(&self) -> proofwarp::Result<Circuit<F>> {
        let densities = Densities { a_aux: &self.a_aux, b_inputs: &self.b_inputs, b_aux: &self.b_aux };
        Circuit::new(self.vectors[0].len(), densities)
    }

    /// Returns whether the variables in A and in B are those of `other`.
    pub(crate) fn has_variables_of(&self, other: &Self) -> bool {
        self.a_aux == other.a_aux && self.b_inputs == other.b_inputs && self.b_aux == other.b_aux
    }
}

/// Synthesises each of `circuits`, which must have assignments, and evaluates its constraints. The results are in the
/// same order.
///
/// # Errors
/// Returns a circuit's error.
pub(crate) fn evaluate_circuits<F, C>(circuits: Vec<C>) -> Result<Vec<EvaluatedAssignment<F>>, SynthesisError>
where
    F: NttField,
    C: bellperson::Circuit<F> + Send,
{
    circuits.into_par_iter().map(SynthesisRecorder::from_circuit).collect()
}

impl<F: NttField> EvaluatedAssignment<F> {
    /// Borrows the assignment as a witness with its evaluations.
    pub(crate) fn witness(&self) -> Witness<'_, F> {
        Witness { inputs: &self.inputs, aux: (&self.aux).into(), evaluations: Some(self.record.slices()) }
    }
}

impl<F: PrimeField> ConstraintSink<F> for Evaluations<F> {
    const TERMS: bool = true;

    fn constrain(&mut self, values: Values<'_, F>, terms: [&LinearCombination<F>; 3]) {
        let vectors = self.vectors.iter_mut();
        vectors.zip(terms).for_each(|(vector, terms)| vector.push(terms.eval(values.inputs, values.aux)));
        mark_nonzero_variables(terms[0].iter_aux(), &mut self.a_aux);
        mark_nonzero_variables(terms[1].iter_inputs(), &mut self.b_inputs);
        mark_nonzero_variables(terms[1].iter_aux(), &mut self.b_aux);
    }

    fn extend(&mut self, _: Values<'_, F>, other: &Self) {
        self.vectors.iter_mut().zip(&other.vectors).for_each(|(vector, other)| vector.extend(other));
        self.a_aux.extend(&other.a_aux);
        self.b_aux.extend(&other.b_aux);
        // The constant one is the first input of both.
        if let (Some(one), Some(other)) = (self.b_inputs.first_mut(), other.b_inputs.first()) {
            *one |= other;
        }
        self.b_inputs.extend(other.b_inputs.iter().skip(1));
    }

    fn allocated_input(&mut self) {
        self.b_inputs.push(false);
    }

    fn allocated_aux(&mut self) {
        self.a_aux.push(false);
        self.b_aux.push(false);
    }
}

/// Sets `density[i]` to true for each variable i of `terms` whose coefficient is not zero.
fn mark_nonzero_variables<'a, F: Field>(terms: impl Iterator<Item = (&'a usize, &'a F)>, density: &mut [bool]) {
    terms.filter(|(_, coefficient)| !coefficient.is_zero_vartime()).for_each(|(variable, _)| density[*variable] = true);
}
