//! Constraint systems that record what a proof needs of a circuit: its assignment, and its constraints' matrices,
//! values or number.

use std::fmt;

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use ff::{Field, PrimeField};
use proofwarp::secret_vec::zeroize;

/// Records a circuit's constraints.
pub trait ConstraintSink<F: PrimeField>: Default + Send {
    /// Whether the terms of constraints are needed. If not, circuits are not asked for them.
    const TERMS: bool;

    /// Records a constraint A·B = C, with the linear combinations A, B and C in `terms`. They are empty unless `TERMS`
    /// is set. `values` holds the values of all variables so far.
    fn constrain(&mut self, values: Values<'_, F>, terms: [&LinearCombination<F>; 3]);

    /// Appends the constraints of `other`, a part of the circuit that was recorded separately. Its variables follow
    /// those in `values`, but it has the same constant one as its first input.
    fn extend(&mut self, values: Values<'_, F>, other: &Self);

    /// Records that an input was allocated.
    fn allocated_input(&mut self) {}

    /// Records that an auxiliary variable was allocated.
    fn allocated_aux(&mut self) {}
}

/// Borrows the values of all variables that are allocated so far.
#[derive(Clone, Copy)]
pub struct Values<'a, F> {
    /// Values of the inputs; the first is one.
    pub inputs: &'a [F],
    /// Values of the auxiliary variables.
    pub aux: &'a [F],
}

impl<F> fmt::Debug for Values<'_, F> {
    /// Writes only the lengths, because the values are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("inputs", &self.inputs.len()).field("aux", &self.aux.len()).finish()
    }
}

/// Holds a circuit's assignment and a record of its constraints. The values are cleared on drop.
#[derive(Default)]
pub struct SynthesisRecorder<F: Field, R> {
    /// Values of the inputs; the first is one.
    pub inputs: Vec<F>,
    /// Values of the auxiliary variables.
    pub aux: Vec<F>,
    /// Record of the constraints.
    pub record: R,
}

impl<F: Field, R> fmt::Debug for SynthesisRecorder<F, R> {
    /// Writes only the lengths, because the values are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Capture");
        fields.field("inputs", &self.inputs.len()).field("aux", &self.aux.len()).finish_non_exhaustive()
    }
}

impl<F: Field, R> Drop for SynthesisRecorder<F, R> {
    fn drop(&mut self) {
        zeroize(&mut self.inputs);
        zeroize(&mut self.aux);
    }
}

impl<F: PrimeField, R: ConstraintSink<F>> SynthesisRecorder<F, R> {
    /// Synthesises `circuit` as provers do. The constant one is allocated first, and each input gets a constraint
    /// input·0 = 0 at the end. These constraints make the inputs' polynomials independent.
    ///
    /// # Errors
    /// Returns the circuit's error.
    pub fn from_circuit(circuit: impl Circuit<F>) -> Result<Self, SynthesisError> {
        let mut capture = Self::new();
        capture.alloc_input(|| "", || Ok(F::ONE))?;
        circuit.synthesize(&mut capture)?;
        for i in 0..capture.inputs.len() {
            capture.enforce(|| "", |lc| lc + Variable::new_unchecked(Index::Input(i)), |lc| lc, |lc| lc);
        }
        Ok(capture)
    }
}

impl<F: PrimeField, R: ConstraintSink<F>> ConstraintSystem<F> for SynthesisRecorder<F, R> {
    type Root = Self;

    fn new() -> Self {
        Self { inputs: Vec::new(), aux: Vec::new(), record: R::default() }
    }

    fn alloc<V, A, AR>(&mut self, _: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<F, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        self.record.allocated_aux();
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<V, A, AR>(&mut self, _: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<F, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        self.record.allocated_input();
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
        LB: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
        LC: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
    {
        let values = Values { inputs: &self.inputs, aux: &self.aux };
        let zero = LinearCombination::zero;
        if R::TERMS {
            self.record.constrain(values, [&a(zero()), &b(zero()), &c(zero())]);
        } else {
            self.record.constrain(values, [&zero(), &zero(), &zero()]);
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        self.record.extend(Values { inputs: &self.inputs, aux: &self.aux }, &other.record);
        // The first input of `other` is the constant one again.
        self.inputs.extend(other.inputs.iter().skip(1));
        self.aux.extend(&other.aux);
    }
}

/// Counts a circuit's constraints and records nothing else.
#[derive(Debug, Default)]
pub struct ConstraintCount(pub usize);

impl<F: PrimeField> ConstraintSink<F> for ConstraintCount {
    const TERMS: bool = false;

    fn constrain(&mut self, _: Values<'_, F>, _: [&LinearCombination<F>; 3]) {
        self.0 += 1;
    }

    fn extend(&mut self, _: Values<'_, F>, other: &Self) {
        self.0 += other.0;
    }
}
