//! What several targets share: a small circuit, its parameter file, and damage to files.

pub mod circom;
pub mod halo2;
pub mod sumcheck;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use bellperson::groth16::{Parameters, generate_random_parameters};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use supraseal_c2::{Assignment, SRS, generate_groth16_proofs};
use tempfile::TempDir;

/// x⁵ of a secret x.
#[derive(Clone, Copy)]
pub struct Power(pub Scalar);

impl Circuit<Scalar> for Power {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let [square, fourth] = [self.0.square(), self.0.square().square()];
        let x = cs.alloc(|| "x", || Ok(self.0))?;
        let x2 = cs.alloc(|| "x2", || Ok(square))?;
        let x4 = cs.alloc(|| "x4", || Ok(fourth))?;
        let x5 = cs.alloc_input(|| "x5", || Ok(fourth * self.0))?;
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + x2);
        cs.enforce(|| "fourth", |lc| lc + x2, |lc| lc + x2, |lc| lc + x4);
        cs.enforce(|| "fifth", |lc| lc + x4, |lc| lc + x, |lc| lc + x5);
        Ok(())
    }
}

/// The bytes of the circuit's parameters.
pub static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let key: Parameters<Bls12> = generate_random_parameters(Power(Scalar::ONE), &mut rng).expect("parameters");
    let mut bytes = Vec::new();
    key.write(&mut bytes).expect("memory");
    bytes
});

/// What happened to a file.
#[derive(Debug, Arbitrary)]
pub enum Damage {
    /// None.
    Whole,
    /// Bytes at places were changed.
    Changed(Vec<(u16, u8)>),
    /// It was cut.
    Cut(u16),
    /// A range of it is missing.
    Hole(u16, u16),
    /// It is something else.
    Other(Vec<u8>),
}

impl Damage {
    /// The file's bytes after it.
    pub fn of(&self, file: &[u8]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        let length = bytes.len();
        let place = |at: u16| usize::from(at) % length;
        match self {
            Self::Whole => {}
            Self::Changed(changes) => changes.iter().for_each(|(at, byte)| bytes[place(*at)] ^= byte),
            Self::Cut(at) => bytes.truncate(place(*at)),
            Self::Hole(one, other) => drop(bytes.drain(place(*one).min(place(*other))..place(*one).max(place(*other)))),
            Self::Other(other) => bytes.clone_from(other),
        }
        bytes
    }
}

/// The same file with the lengths of its lists as they were, or nothing where it was cut: bellperson's mapping panics where
/// a list ends behind the file.
pub fn with_lengths(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    const LISTS: [usize; 6] = [96, 96, 96, 96, 96, 192];
    const FIRST: usize = 3 * 96 + 3 * 192;
    if bytes.len() != FILE.len() {
        return None;
    }
    let mut at = FIRST;
    for point in LISTS {
        let length: [u8; 4] = FILE[at..at + 4].try_into().expect("four bytes");
        bytes[at..at + 4].copy_from_slice(&length);
        at += 4 + point * u32::from_be_bytes(length) as usize;
    }
    assert_eq!(at, FILE.len(), "the lists are all of the file");
    Some(bytes)
}

/// A file of these bytes, which nobody else has.
pub fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("parameters");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).expect("a file");
    (folder, path)
}

/// The circuit's assignment, as bellperson hands it to supraseal-c2.
#[derive(Debug)]
pub struct Evaluated {
    constraints: [Vec<Scalar>; 3],
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
    /// Auxiliary variables in A, inputs in B, auxiliary variables in B.
    pub densities: [[usize; 1]; 3],
}

impl Evaluated {
    /// That of a secret x, whose constraints are those of [`Power`] and one for each input.
    pub fn new(x: Scalar) -> Self {
        let ([x2, x4], zero) = ([x.square(), x.square().square()], Scalar::ZERO);
        let x5 = x4 * x;
        let constraints = [vec![x, x2, x4, Scalar::ONE, x5], vec![x, x2, x, zero, zero], vec![x2, x4, x5, zero, zero]];
        Self { constraints, inputs: vec![Scalar::ONE, x5], aux: vec![x, x2, x4], densities: [[0b111], [0], [0b11]] }
    }

    /// Returns one of its values, `at` modulo their number.
    pub fn value(&mut self, at: usize) -> &mut Scalar {
        let all: usize = self.constraints.iter().map(Vec::len).sum::<usize>() + self.inputs.len() + self.aux.len();
        let mut values = self.constraints.iter_mut().flatten().chain(&mut self.inputs).chain(&mut self.aux);
        values.nth(at % all).expect("one of them")
    }

    /// Makes pointers to the vectors. They are valid until this is dropped or changed.
    pub fn assignment(&self) -> Assignment<Scalar> {
        let [a_aux, b_inp, b_aux] = &self.densities;
        let [a, b, c] = &self.constraints;
        Assignment {
            a_aux_density: a_aux.as_ptr(),
            a_aux_bit_len: self.aux.len(),
            a_aux_popcount: 3,
            b_inp_density: b_inp.as_ptr(),
            b_inp_bit_len: self.inputs.len(),
            b_inp_popcount: 0,
            b_aux_density: b_aux.as_ptr(),
            b_aux_bit_len: self.aux.len(),
            b_aux_popcount: 2,
            a: a.as_ptr(),
            b: b.as_ptr(),
            c: c.as_ptr(),
            abc_size: a.len(),
            inp_assignment_data: self.inputs.as_ptr(),
            inp_assignment_size: self.inputs.len(),
            aux_assignment_data: self.aux.as_ptr(),
            aux_assignment_size: self.aux.len(),
        }
    }
}

/// A proof in memory.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub struct Proof {
    a: G1Affine,
    b: G2Affine,
    c: G1Affine,
}

/// Proves assignments with `numbers` of r, of s and of places for proofs; an error is the text of the panic.
pub fn generate(assignments: &[Assignment<Scalar>], numbers: [usize; 3], srs: &SRS) -> Result<Vec<Proof>, String> {
    let [r, s] = [0, 1].map(|at| vec![Scalar::from(5); numbers[at]]);
    let mut proofs = vec![Proof::default(); numbers[2]];
    let made = catch_unwind(AssertUnwindSafe(|| generate_groth16_proofs(assignments, &r, &s, &mut proofs, srs)));
    let text = |panic: Box<dyn std::any::Any + Send>| panic.downcast_ref::<String>().cloned().unwrap_or_default();
    made.map(|()| proofs).map_err(text)
}

/// Proves the circuit by these parameters; an error is the text of the panic.
pub fn prove_by(srs: &SRS) -> Result<Vec<Proof>, String> {
    let evaluated = Evaluated::new(Scalar::from(3));
    generate(&[evaluated.assignment()], [1; 3], srs)
}
