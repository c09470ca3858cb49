//! Holds the witness of a proof.

use std::fmt;

use super::Circuit;
use super::expect_length::{ERROR_CONTEXT, check_length};
use crate::field::NttField;
use crate::{Error, Result};

/// Borrows the assignment of a circuit's variables, optionally with the evaluated constraints.
#[derive(Clone, Copy)]
pub struct Witness<'a, F> {
    /// Values of the inputs; the first is the constant one.
    pub inputs: &'a [F],
    /// Values of the auxiliary variables.
    pub aux: &'a [F],
    /// The products A·z, B·z and C·z for the assignment z. If `None`, the prover computes them from the circuit's
    /// matrices.
    pub evaluations: Option<[&'a [F]; 3]>,
}

impl<F> fmt::Debug for Witness<'_, F> {
    /// Writes only the lengths, because the values are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inputs, aux, evaluations } = self;
        let mut fields = f.debug_struct("Witness");
        fields.field("inputs", &inputs.len()).field("aux", &aux.len());
        fields.field("evaluations", &evaluations.map(|vectors| vectors.map(<[F]>::len))).finish()
    }
}

impl<F: NttField> Witness<'_, F> {
    /// Checks that the witness has the lengths that `circuit` needs. `number` is its index in the batch, for error
    /// messages.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a length of the witness differs from the circuit's.
    /// - [`Error::Invalid`]: the witness has no evaluations, and the circuit no matrices.
    pub(crate) fn check_lengths(&self, number: usize, circuit: &Circuit<F>) -> Result<()> {
        let of = |what: &str| format!("{what} of witness {number}");
        check_length(of("inputs"), circuit.inputs, self.inputs.len())?;
        check_length(of("auxiliary values"), circuit.aux, self.aux.len())?;
        match (&self.evaluations, circuit.matrices()) {
            (Some(vectors), _) => ["a", "b", "c"]
                .iter()
                .zip(vectors)
                .try_for_each(|(name, vector)| check_length(of(name), circuit.constraints, vector.len())),
            (None, Some(_)) => Ok(()),
            (None, None) => Err(missing_evaluations_error(of("evaluations"))),
        }
    }
}

/// Returns the error for a witness without evaluations whose circuit has no matrices.
pub(super) fn missing_matrices_error() -> Error {
    missing_evaluations_error("evaluations")
}

fn missing_evaluations_error(what: impl Into<String>) -> Error {
    Error::invalid(ERROR_CONTEXT, what, "some, or a circuit with its matrices", "neither")
}
