//! Collects the values of a circuit's variables in little memory.

use std::fmt;

use blstrs::Scalar;
use proofwarp::groth16::{PackedScalars, Witness};

/// Holds the values of a circuit's variables. Of the auxiliary ones, a zero or a one takes two bits, and another value
/// 32 bytes more. Auxiliary values are cleared on drop.
#[derive(Default)]
pub struct WitnessValues {
    inputs: Vec<Scalar>,
    aux: PackedScalars<Scalar>,
}

impl fmt::Debug for WitnessValues {
    /// Writes only the numbers of values, because they are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WitnessValues").field("inputs", &self.inputs.len()).field("aux", &self.aux.len()).finish()
    }
}

impl WitnessValues {
    /// Appends the value of an input, and returns its index. The first input is the constant one.
    pub fn push_input(&mut self, value: Scalar) -> usize {
        self.inputs.push(value);
        self.inputs.len() - 1
    }

    /// Appends the value of an auxiliary variable, and returns its index.
    pub fn push_aux(&mut self, value: Scalar) -> usize {
        self.aux.push(value);
        self.aux.len() - 1
    }

    /// Appends the values of `other`, except its first input, the constant one.
    pub fn append(&mut self, other: &Self) {
        self.inputs.extend(other.inputs.iter().skip(1));
        self.aux.extend_from(&other.aux);
    }

    /// Returns the number of inputs.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the number of auxiliary variables.
    pub fn aux_count(&self) -> usize {
        self.aux.len()
    }

    /// Returns the bytes of host memory that the values take.
    pub fn host_bytes(&self) -> u64 {
        self.aux.host_bytes() + (self.inputs.capacity() * size_of::<Scalar>()) as u64
    }

    pub(crate) fn as_witness(&self) -> Witness<'_, Scalar> {
        Witness { inputs: &self.inputs, aux: (&self.aux).into(), evaluations: None }
    }
}
