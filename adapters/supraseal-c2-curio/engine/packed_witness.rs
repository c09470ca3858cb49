//! Synthesizes witnesses alone, packed. The prover takes a, b and c from the circuit's matrices, on the device.

use std::sync::Arc;
use std::time::Instant;

pub use bellperson::groth16::Matrices;
use bellperson::groth16::{CompressedRows, ProvingAssignment, WitnessValues};
use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use cuzk_pce::PreCompiledCircuit;
use ff::Field;
use rayon::prelude::*;

/// Holds assignments as the engine's functions of synthesis return them. Inputs and auxiliary values are in the
/// assignments, so the last two are empty vectors.
pub type Assignments = (Instant, Vec<ProvingAssignment<Scalar>>, Vec<Arc<Vec<Scalar>>>, Vec<Arc<Vec<Scalar>>>);

/// Synthesizes the witness of each of `circuits`, whose constraints are `matrices`.
pub fn synthesize_packed<C: Circuit<Scalar> + Send>(
    circuits: Vec<C>,
    matrices: &Matrices,
) -> Result<Assignments, SynthesisError> {
    let assignment = |circuit| Ok(ProvingAssignment::from_witness(matrices.clone(), PackedWitness::of(circuit)?.0));
    let provers = circuits.into_par_iter().map(assignment).collect::<Result<Vec<_>, SynthesisError>>()?;
    let empty = vec![Arc::default(); provers.len()];
    Ok((Instant::now(), provers, empty.clone(), empty))
}

/// Returns the bytes of the largest packed witness of `provers`, 0 if none is packed.
pub fn witness_bytes(provers: &[ProvingAssignment<Scalar>]) -> u64 {
    let witnesses = provers.iter().filter_map(|prover| prover.witness.as_ref());
    witnesses.map(|(_, values)| values.host_bytes()).max().unwrap_or(0)
}

/// Converts a captured circuit to the prover's matrices, which hold each coefficient once.
pub fn into_matrices(circuit: PreCompiledCircuit<Scalar>) -> anyhow::Result<Matrices> {
    let (inputs, aux) = (circuit.num_inputs as usize, circuit.num_aux as usize);
    let rows = [circuit.a, circuit.b, circuit.c].map(|matrix| CompressedRows {
        row_pointers: matrix.row_ptrs,
        columns: matrix.cols,
        coefficients: matrix.vals,
    });
    Ok(Matrices::new(inputs, aux, rows)?)
}

/// Collects the values of a circuit's variables, and ignores its constraints.
#[derive(Debug, Default)]
struct PackedWitness(WitnessValues);

impl PackedWitness {
    /// Returns the witness of `circuit`. Its first input is the constant one.
    fn of(circuit: impl Circuit<Scalar>) -> Result<Self, SynthesisError> {
        let mut witness = Self::default();
        witness.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut witness)?;
        Ok(witness)
    }
}

impl ConstraintSystem<Scalar> for PackedWitness {
    type Root = Self;

    fn new() -> Self {
        Self::default()
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Aux(self.0.push_aux(value()?))))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Input(self.0.push_input(value()?))))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        self.0.append(&other.0);
    }
}
