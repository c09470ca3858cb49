//! Holds the values of a circuit's variables until they are converted.

use proofwarp::secret_vec::SecretVec;
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use super::montgomery_form::{MontgomeryForm, to_scalar};
use crate::error::{FileSection, Result};
use crate::groth16::Groth16Engine;
use crate::prover::secret_scalars::try_collect;

/// Names a circuit in errors.
pub(crate) const CIRCUIT: &str = "circuit";

/// Values of a circuit's variables in arkworks's types. Their memory is cleared on drop.
pub(crate) struct Assignment<F: Zeroize> {
    /// Values of the inputs, the constant one first.
    pub inputs: Zeroizing<Vec<F>>,
    /// Values of the witness variables.
    pub witnesses: Zeroizing<Vec<F>>,
}

impl<F: Zeroize + MontgomeryForm> Assignment<F> {
    /// Converts the values for a key of `inputs` inputs and `witnesses` witness variables.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): other numbers of values, or limbs that are at least r.
    pub(crate) fn to_scalars<E: Groth16Engine>(&self, inputs: usize, witnesses: usize) -> Result<SecretVec<E::Fr>> {
        expect_count("inputs, with the constant one", inputs, self.inputs.len())?;
        expect_count("witness variables", witnesses, self.witnesses.len())?;
        to_scalars::<E, F>("assignment", self.inputs.par_iter().chain(self.witnesses.par_iter()).copied())
    }
}

/// Converts `values`, which errors name `name`. All threads of rayon's pool take part.
///
/// # Errors
/// - [`Error::Malformed`](crate::Error::Malformed): limbs are at least r.
pub(crate) fn to_scalars<E: Groth16Engine, F: MontgomeryForm>(
    name: &str,
    values: impl IndexedParallelIterator<Item = F>,
) -> Result<SecretVec<E::Fr>> {
    let place = FileSection { file: CIRCUIT, section: name };
    let too_large = || place.malformed("value", "limbs below r", "limbs that are not");
    try_collect(values.map(|value| to_scalar::<E, F>(&value))).ok_or_else(too_large)
}

/// Checks the number of a circuit's `variables`, such as its inputs.
///
/// # Errors
/// - [`Error::Malformed`](crate::Error::Malformed): it is not that of the key.
pub(crate) fn expect_count(variables: &str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    let place = FileSection { file: CIRCUIT, section: variables };
    Err(place.malformed("number", format!("{expected}, as the key has"), actual))
}
