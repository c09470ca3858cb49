//! What several targets share: a small circuit, its parameter file, and damage to files.

pub mod halo2;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use bellperson::groth16::{Parameters, generate_random_parameters};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
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
