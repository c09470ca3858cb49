//! Circuits, parameters and randomness that are the same in bellperson's own prover and on the drop-in.

#[path = "../../../../../tests/common/random_r1cs.rs"]
pub mod random_r1cs;

use std::path::{Path, PathBuf};

use bellperson::groth16::{Parameters, Proof, generate_random_parameters};
use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use random_r1cs::{Random, Recipe};

/// A chain of x³ + x + constant from a secret.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    pub links: usize,
    pub secret: Scalar,
    pub constant: u64,
    pub kind: Kind,
    /// Added to the result, so that a number other than zero makes the witness a wrong one.
    pub error: u64,
}

/// What makes densities differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Products only.
    Plain,
    /// Also constraints without terms, and with coefficients of zero.
    Empty,
    /// Every variable in A and in B.
    Dense,
    /// As `Plain`, with squares in A where that has them in B.
    Swapped,
    /// Factors of B are inputs, and there are more of them than fit a word of 64 bits.
    Inputs,
    /// No inputs but the constant one.
    Secret,
}

/// Circuits that are proved, by kind and links.
pub const CASES: [(Kind, usize); 7] = [
    (Kind::Plain, 1),
    (Kind::Plain, 40),
    (Kind::Empty, 21),
    (Kind::Dense, 40),
    (Kind::Inputs, 70),
    (Kind::Secret, 64),
    (Kind::Plain, 700),
];
/// Circuits in a batch.
pub const BATCHES: [usize; 4] = [1, 2, 3, 10];
/// Systems drawn at random.
pub const RANDOM: usize = 20;

impl Chain {
    pub fn new(kind: Kind, links: usize) -> Self {
        Self { links, secret: Scalar::from(3), constant: 5, kind, error: 0 }
    }

    /// The inputs behind the constant one.
    pub fn inputs(&self) -> Vec<Scalar> {
        if self.kind == Kind::Secret {
            return Vec::new();
        }
        let step = |x: Scalar| x.square() * x + x + Scalar::from(self.constant);
        let result = (0..self.links).fold(self.secret, |x, _| step(x)) + Scalar::from(self.error);
        let factors = if self.kind == Kind::Inputs { self.links } else { 0 };
        (0..factors).map(|link| Scalar::from(link as u64)).chain([result]).collect()
    }
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (mut value, mut x) = (self.secret, cs.alloc(|| "secret", || Ok(self.secret))?);
        let constant = Scalar::from(self.constant);
        for link in 0..self.links {
            let square = cs.alloc(|| "square", || Ok(value.square()))?;
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            let next = value.square() * value + value + constant;
            let y = cs.alloc(|| "next", || Ok(next))?;
            let (a, b) = if self.kind == Kind::Swapped { (x, square) } else { (square, x) };
            cs.enforce(|| "next", |lc| lc + a, |lc| lc + b, |lc| lc + y - x - (constant, CS::one()));
            match self.kind {
                Kind::Empty if link % 2 == 0 => {
                    cs.enforce(|| "empty", |lc| lc, |lc| lc, |lc| lc);
                    cs.enforce(|| "zero", |lc| lc + (Scalar::ZERO, y), |lc| lc + (Scalar::ZERO, x), |lc| lc);
                }
                Kind::Dense => {
                    let all = |lc: LinearCombination<Scalar>| lc + square + y + CS::one();
                    cs.enforce(|| "in A", all, |lc| lc, |lc| lc);
                    cs.enforce(|| "in B", |lc| lc, all, |lc| lc);
                }
                Kind::Inputs => {
                    let number = Scalar::from(link as u64);
                    let factor = cs.alloc_input(|| "factor", || Ok(number))?;
                    let product = cs.alloc(|| "product", || Ok(next * number))?;
                    cs.enforce(|| "product", |lc| lc + y, |lc| lc + factor, |lc| lc + product);
                }
                _ => {}
            }
            (value, x) = (next, y);
        }
        let result = value + Scalar::from(self.error);
        let result = match self.kind {
            Kind::Secret => cs.alloc(|| "result", || Ok(result)),
            _ => cs.alloc_input(|| "result", || Ok(result)),
        }?;
        cs.enforce(|| "result", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + result);
        Ok(())
    }
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Circuits of a random system with r and s: in the first a witness of zeros.
pub fn random_batch(number: usize) -> (Vec<Random>, Vec<Scalar>, Vec<Scalar>) {
    let seed = number as u64;
    let mut rng = rng(seed);
    let (inputs, secrets, constraints) =
        (rng.gen_range(0..6), rng.gen_range(0..12), rng.gen_range(0..300) >> (number % 5));
    let (constants, inputs_in_rows) = (number % 2 == 0, number % 3 != 0);
    let recipe = Recipe { inputs, secrets, constraints, constants, inputs_in_rows, seed };
    let count = BATCHES[number % BATCHES.len()];
    let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect());
    (recipe.circuits(count, true), r, s)
}

/// The number by which the files of a random system are named.
pub fn random_case(number: usize) -> usize {
    CASES.len() + number
}

/// The parameters of a random system.
pub fn random_parameters(circuit: Random, number: usize) -> Parameters<Bls12> {
    generate_random_parameters(circuit, &mut rng(number as u64)).expect("parameters")
}

/// The parameters of a circuit, always the same.
pub fn parameters(circuit: Chain) -> Parameters<Bls12> {
    generate_random_parameters(circuit, &mut rng(circuit.links as u64)).expect("parameters")
}

/// Circuits that differ in their secrets, with r and s.
pub fn batch(circuit: Chain, count: usize) -> (Vec<Chain>, Vec<Scalar>, Vec<Scalar>) {
    let mut rng = rng(7 + count as u64);
    // The second witness is one of small numbers, the third of zeros where the circuit allows it.
    let secret = |number: usize, random: Scalar| match number {
        1 => Scalar::ONE,
        2 => Scalar::ZERO,
        _ => random,
    };
    let circuits =
        (0..count).map(|number| Chain { secret: secret(number, Scalar::random(&mut rng)), ..circuit }).collect();
    let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect());
    (circuits, r, s)
}

pub fn bytes(proofs: &[Proof<Bls12>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    proofs.iter().for_each(|proof| proof.write(&mut bytes).expect("memory"));
    bytes
}

/// Where a case's parameters are.
pub fn parameter_file(folder: &Path, case: usize) -> PathBuf {
    folder.join(format!("{case}.params"))
}

/// Where bellperson's own proofs of a batch are.
pub fn proof_file(folder: &Path, case: usize, count: usize, error: u64) -> PathBuf {
    folder.join(format!("{case}-{count}-{error}.proofs"))
}

/// What the tests read from where `reference` wrote it.
pub fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("SUPRASEAL_REFERENCE").expect("tests/supraseal.sh sets SUPRASEAL_REFERENCE"))
}
