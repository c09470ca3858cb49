//! Makes a circuit's parameters by bellperson, and its assignment as Curio's bellperson hands it over.

use bellperson::groth16::{self, Parameters, Proof};
use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use supraseal_c2::{CompressedRows, Matrices, SRS, WitnessValues};

/// Describes a chain of x³ + x + 5 from a secret.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    pub links: usize,
    pub secret: u64,
}

impl Chain {
    pub fn result(&self) -> Scalar {
        (0..self.links).fold(Scalar::from(self.secret), |x, _| x.square() * x + x + Scalar::from(5))
    }
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = Scalar::from(self.secret);
        let mut x = cs.alloc(|| "secret", || Ok(value))?;
        for _ in 0..self.links {
            let square = cs.alloc(|| "square", || Ok(value.square()))?;
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            let next = value.square() * value + value + Scalar::from(5);
            let y = cs.alloc(|| "next", || Ok(next))?;
            let five = (Scalar::from(5), CS::one());
            cs.enforce(|| "next", |lc| lc + square, |lc| lc + x, |lc| lc + y - x - five);
            (value, x) = (next, y);
        }
        let result = cs.alloc_input(|| "result", || Ok(value))?;
        cs.enforce(|| "result", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + result);
        Ok(())
    }
}

/// Holds the evaluated constraints, the variables, and which of them occur where.
#[derive(Default)]
pub struct Assigned {
    pub evaluations: [Vec<Scalar>; 3],
    pub inputs: Vec<Scalar>,
    pub aux: Vec<Scalar>,
    /// Auxiliary variables in A, inputs in B, auxiliary variables in B.
    occurs: [Vec<bool>; 3],
    /// Constraints' combinations of A, B and C.
    rows: [Vec<LinearCombination<Scalar>>; 3],
}

impl Assigned {
    pub fn new(circuit: Chain) -> Self {
        let mut assigned = Self::default();
        assigned.alloc_input(|| "one", || Ok(Scalar::ONE)).expect("the constant");
        circuit.synthesize(&mut assigned).expect("an assignment");
        for number in 0..assigned.inputs.len() {
            let input = Variable::new_unchecked(Index::Input(number));
            assigned.enforce(|| "input", |lc| lc + input, |lc| lc, |lc| lc);
        }
        assigned
    }

    /// Returns the densities in words, and the number of ones in each.
    pub fn densities(&self) -> ([Vec<u64>; 3], [usize; 3]) {
        let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
        let words = self.occurs.each_ref().map(|bits| bits.chunks(64).map(word).collect());
        (words, self.occurs.each_ref().map(|bits| bits.iter().filter(|bit| **bit).count()))
    }

    /// Returns the matrices of the constraints.
    pub fn matrices(&self) -> Matrices {
        let rows = self.rows.each_ref().map(|rows| self.compress(rows));
        Matrices::new(self.inputs.len(), self.aux.len(), rows).expect("matrices")
    }

    /// Returns the values of the variables, packed.
    pub fn values(&self) -> WitnessValues {
        let mut values = WitnessValues::default();
        self.inputs.iter().for_each(|value| _ = values.push_input(*value));
        self.aux.iter().for_each(|value| _ = values.push_aux(*value));
        values
    }

    fn compress(&self, rows: &[LinearCombination<Scalar>]) -> CompressedRows {
        let mut compressed = CompressedRows { row_pointers: vec![0], ..CompressedRows::default() };
        for row in rows {
            for (variable, coefficient) in row.iter() {
                compressed.coefficients.push(*coefficient);
                compressed.columns.push(match variable.get_unchecked() {
                    Index::Input(number) => number as u32,
                    Index::Aux(number) => (self.inputs.len() + number) as u32,
                });
            }
            compressed.row_pointers.push(compressed.columns.len() as u32);
        }
        compressed
    }

    /// Returns the value of `combination`. Marks its variables in the densities `places`, of inputs and of others.
    fn evaluate(&mut self, combination: &LinearCombination<Scalar>, places: [Option<usize>; 2]) -> Scalar {
        let mut sum = Scalar::ZERO;
        for (variable, coefficient) in combination.iter().filter(|(_, coefficient)| !coefficient.is_zero_vartime()) {
            let (number, place, values) = match variable.get_unchecked() {
                Index::Input(number) => (number, places[0], &self.inputs),
                Index::Aux(number) => (number, places[1], &self.aux),
            };
            sum += values[number] * coefficient;
            if let Some(place) = place {
                self.occurs[place][number] = true;
            }
        }
        sum
    }
}

impl ConstraintSystem<Scalar> for Assigned {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        self.occurs[0].push(false);
        self.occurs[2].push(false);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        self.occurs[1].push(false);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let empty = LinearCombination::zero;
        let row = [a(empty()), b(empty()), c(empty())];
        let values = [
            self.evaluate(&row[0], [None, Some(0)]),
            self.evaluate(&row[1], [Some(1), Some(2)]),
            self.evaluate(&row[2], [None, None]),
        ];
        self.evaluations.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
        self.rows.iter_mut().zip(row).for_each(|(rows, row)| rows.push(row));
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Returns the parameters of chains of `links` links, as bellperson has them and as the drop-in reads them.
pub fn parameters(links: usize) -> (Parameters<Bls12>, SRS) {
    let made = groth16::generate_random_parameters(Chain { links, secret: 3 }, &mut rng(1)).expect("parameters");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("parameters");
    made.write(std::fs::File::create(&path).expect("a file")).expect("written");
    let srs = SRS::try_new(path, false).expect("read");
    (made, srs)
}

/// Returns the proof of `circuit` by bellperson's own prover.
pub fn stock_proof(circuit: Chain, parameters: &Parameters<Bls12>, r: Scalar, s: Scalar) -> Proof<Bls12> {
    groth16::create_proof(circuit, parameters, r, s).expect("a proof")
}
