//! Circuits, with bellperson's own parameters and proofs of them.

#![allow(dead_code, reason = "tests of several crates use what they need")]

use std::sync::Once;

use bellperson::groth16::{Parameters, Proof, create_proof_batch, generate_random_parameters};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::{Accelerator, Error};
use proofwarp_bellperson::Prover;

use crate::common::rng;

/// A chain of x³ + x + 5 from a secret, with what makes queries sparse between its links.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    pub links: usize,
    pub secret: Scalar,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Products only.
    Plain,
    /// Constraints without terms, and with coefficients of zero.
    Empty,
    /// Auxiliary variables in A alone: all factors of B are inputs.
    NoAuxInB,
    /// Every variable in A and in B.
    Dense,
    /// Parts that are put together by `extend`.
    Parts,
}

pub const KINDS: [Kind; 5] = [Kind::Plain, Kind::Empty, Kind::NoAuxInB, Kind::Dense, Kind::Parts];

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let factor = cs.alloc_input(|| "factor", || Ok(Scalar::from(3)))?;
        let (mut value, mut x) = (self.secret, cs.alloc(|| "secret", || Ok(self.secret))?);
        for link in 0..self.links {
            if self.kind == Kind::NoAuxInB {
                let next = value * Scalar::from(3);
                let y = cs.alloc(|| "product", || Ok(next))?;
                cs.enforce(|| "product", |lc| lc + x, |lc| lc + factor, |lc| lc + y);
                (value, x) = (next, y);
                continue;
            }
            let square = cs.alloc(|| "square", || Ok(value.square()))?;
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            let next = value.square() * value + value + Scalar::from(5);
            let y = cs.alloc(|| "next", || Ok(next))?;
            let five = Scalar::from(5);
            cs.enforce(|| "next", |lc| lc + square, |lc| lc + x, |lc| lc + y - x - (five, CS::one()));
            if self.kind == Kind::Empty && link % 2 == 0 {
                cs.enforce(|| "empty", |lc| lc, |lc| lc, |lc| lc);
                cs.enforce(|| "zero", |lc| lc + (Scalar::ZERO, y), |lc| lc + (Scalar::ZERO, x), |lc| lc);
            }
            if self.kind == Kind::Dense {
                let all = |lc: bellperson::LinearCombination<Scalar>| lc + x + square + y + factor + CS::one();
                cs.enforce(|| "all in A", all, |lc| lc + CS::one(), all);
                cs.enforce(|| "all in B", |lc| lc + CS::one(), all, all);
            }
            (value, x) = (next, y);
        }
        if self.kind == Kind::Parts && CS::is_extensible() {
            let mut part = CS::new();
            part.alloc_input(|| "one", || Ok(Scalar::ONE))?;
            Self { kind: Kind::Plain, ..self }.synthesize(&mut part)?;
            cs.extend(&part);
        } else if self.kind == Kind::Parts {
            Self { kind: Kind::Plain, ..self }.synthesize(&mut cs.namespace(|| "part"))?;
        }
        let result = cs.alloc_input(|| "result", || Ok(value))?;
        cs.enforce(|| "result", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + result);
        Ok(())
    }
}

/// bellperson itself computes on the CPU here.
pub fn stock_on_cpu() {
    static ONCE: Once = Once::new();
    // SAFETY: every test calls this first, before a device or bellperson has been touched.
    ONCE.call_once(|| unsafe { std::env::set_var("BELLMAN_NO_GPU", "1") });
}

pub fn setup(links: usize, kind: Kind) -> Parameters<Bls12> {
    stock_on_cpu();
    let circuit = Chain { links, secret: Scalar::ONE, kind };
    generate_random_parameters(circuit, &mut rng(links as u64)).expect("parameters")
}

/// Circuits of one shape with r and s; the first of several has a witness of zeros where it can.
pub fn batch(count: usize, links: usize, kind: Kind) -> (Vec<Chain>, Vec<Scalar>, Vec<Scalar>) {
    let mut rng = rng(7 + count as u64);
    let secret = |number: usize, random: Scalar| if number == 1 { Scalar::ZERO } else { random };
    let circuits =
        (0..count).map(|number| Chain { links, secret: secret(number, Scalar::random(&mut rng)), kind }).collect();
    let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect());
    (circuits, r, s)
}

pub fn stock<C: Circuit<Scalar> + Clone + Send>(
    circuits: &[C],
    key: &Parameters<Bls12>,
    r: &[Scalar],
    s: &[Scalar],
) -> Vec<Proof<Bls12>> {
    create_proof_batch(circuits.to_vec(), key, r.to_vec(), s.to_vec()).expect("stock proofs")
}

pub fn bytes(proofs: &[Proof<Bls12>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for proof in proofs {
        proof.write(&mut bytes).expect("memory");
    }
    bytes
}

/// A key, its circuit by matrices, and an assignment.
pub fn prover(accelerator: &Accelerator, key: &Parameters<Bls12>) -> (Prover<Bls12>, Vec<Scalar>, Vec<Scalar>) {
    let circuit = Chain { links: 5, secret: Scalar::from(2), kind: Kind::Plain };
    let (prover, assignment) = Prover::<Bls12>::new(accelerator, circuit, &key).expect("prover");
    (prover, assignment.inputs.clone(), assignment.aux.clone())
}

/// The engine's error behind one of bellperson's.
pub fn engine_error(error: &SynthesisError) -> Option<&Error> {
    let SynthesisError::IoError(error) = error else { return None };
    error.get_ref()?.downcast_ref()
}
