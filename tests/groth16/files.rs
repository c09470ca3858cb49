//! Parameters in files, whole and damaged: a clear error or valid proofs.

use std::ops::Range;
use std::panic::catch_unwind;
use std::path::Path;

use bellperson::SynthesisError;
use bellperson::groth16::{MappedParameters, ParameterSource, Parameters, Proof};
use blstrs::{Bls12, Scalar};
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::Prover;
use rand::Rng;

use crate::circuits::{Chain, Kind, batch, setup, stock};
use crate::common::rng;

const G1: usize = 96;
const G2: usize = 192;

/// Parameters in a file, whose points are read anew for each use, prove as those in memory do.
#[test]
fn parameters_in_a_file() {
    let key = setup(6, Kind::Dense);
    let (circuits, r, s) = batch(2, 6, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    let mut file = tempfile::NamedTempFile::new().expect("file");
    key.write(&mut file).expect("written");
    let mapped = Parameters::<Bls12>::build_mapped_parameters(file.path().to_owned(), false).expect("mapped");
    for _ in 0..2 {
        let proofs = proofwarp_bellperson::create_proof_batch(circuits.clone(), &mapped, r.clone(), s.clone());
        assert_eq!(proofs.expect("proofs"), expected);
    }
    let proof = proofwarp_bellperson::create_proof(circuits[1], &key, r[1], s[1]);
    assert_eq!(proof.expect("proof"), expected[1]);
}

/// A file of parameters, and what is proved by it.
struct Sample {
    circuits: Vec<Chain>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
    expected: Vec<Proof<Bls12>>,
    bytes: Vec<u8>,
    /// Where points of ic, h, l, a, b_g1 and b_g2 are; a number of 32 bits is before each.
    parts: Vec<Range<usize>>,
}

impl Sample {
    fn new() -> Self {
        let key = setup(6, Kind::Dense);
        let (circuits, r, s) = batch(2, 6, Kind::Dense);
        let expected = stock(&circuits, &key, &r, &s);
        let mut bytes = Vec::new();
        key.write(&mut bytes).expect("memory");
        let g1 = [key.vk.ic.len(), key.h.len(), key.l.len(), key.a.len(), key.b_g1.len()].map(|count| count * G1);
        let mut parts = Vec::new();
        for length in g1.into_iter().chain([key.b_g2.len() * G2]) {
            let start = parts.last().map_or(3 * G1 + 3 * G2, |part: &Range<usize>| part.end) + 4;
            parts.push(start..start + length);
        }
        assert_eq!(parts[5].end, bytes.len());
        Self { circuits, r, s, expected, bytes, parts }
    }

    /// What becomes of the file of these bytes, on the CPU: it is the adapter that has to do with files.
    fn prove(&self, bytes: &[u8], mapped: bool, checked: bool) -> Result<(), String> {
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), bytes).expect("written");
        let result = if mapped {
            self.prove_by(&&map(file.path(), checked)?)
        } else {
            let key = Parameters::<Bls12>::read(bytes, checked).map_err(|error| error.to_string())?;
            self.prove_by(&&key)
        };
        let proofs = result.map_err(|error| error.to_string())?;
        assert!(proofs == self.expected, "invalid proofs");
        Ok(())
    }

    fn prove_by<P: ParameterSource<Bls12>>(&self, source: &P) -> Result<Vec<Proof<Bls12>>, SynthesisError> {
        let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
        let (prover, _) = Prover::<Bls12>::new(&cpu, self.circuits[0], source)?;
        let prover = prover.verify(true);
        let assignments = prover.assign(self.circuits.clone())?;
        prover.prove(&assignments, &self.r, &self.s, None).map(|(proofs, _)| proofs)
    }
}

/// bellperson itself panics where a file that it maps ends before a number of points.
fn map(path: &Path, checked: bool) -> Result<MappedParameters<Bls12>, String> {
    let map = || Parameters::<Bls12>::build_mapped_parameters(path.to_owned(), checked);
    catch_unwind(map).map_err(|_| "bellperson panicked".to_owned())?.map_err(|error| error.to_string())
}

#[test]
fn truncated_files() {
    let sample = Sample::new();
    for checked in [false, true] {
        for mapped in [false, true] {
            sample.prove(&sample.bytes, mapped, checked).expect("proofs by the whole file");
            let ends = sample.parts.iter().flat_map(|part| [part.start - 4, part.start - 1, part.start, part.end - 1]);
            for length in ends.chain((1..sample.bytes.len()).step_by(331)) {
                sample.prove(&sample.bytes[..length], mapped, checked).expect_err("truncated");
            }
        }
    }
    // Only a point is missing, which is read when it is used.
    let error = sample.prove(&sample.bytes[..sample.bytes.len() - 1], true, false).expect_err("truncated");
    assert!(error.contains("of b_g2: expected 192 bytes within the file"), "{error}");
}

/// Bytes that are others, at random places.
#[test]
fn corrupted_bytes() {
    let sample = Sample::new();
    let mut rng = rng(17);
    for number in 0..400 {
        let (mapped, checked) = (number % 2 == 1, number % 4 > 1);
        let place = rng.gen_range(0..sample.bytes.len());
        // By a number that is too large bellperson's mapping takes all memory.
        let is_number = sample.parts.iter().any(|part| (part.start - 4..part.start).contains(&place));
        if mapped && is_number {
            continue;
        }
        let mut bytes = sample.bytes.clone();
        bytes[place] ^= if number % 3 == 0 { 1 << rng.gen_range(0..8) } else { rng.gen_range(1..=255) };
        sample.prove(&bytes, mapped, checked).expect_err("a byte is another");
    }
}

#[test]
fn numbers_of_points_that_are_wrong() {
    let sample = Sample::new();
    for part in &sample.parts {
        for change in [1_u32, u32::MAX, 1 << 20] {
            let mut bytes = sample.bytes.clone();
            let number = &mut bytes[part.start - 4..part.start];
            let count = u32::from_be_bytes(number.try_into().expect("4 bytes")).wrapping_add(change);
            number.copy_from_slice(&count.to_be_bytes());
            sample.prove(&bytes, false, false).expect_err("another number");
            // Others would make bellperson's mapping take the bytes of points for numbers, and all memory for those.
            if part.end == sample.bytes.len() && count < 1 << 16 {
                // One more, which no proof needs, is not looked for: then proofs are the right ones.
                assert_eq!(sample.prove(&bytes, true, false).is_ok(), change == 1);
            }
        }
    }
}

/// Points that are good ones, in each other's places: only the proof shows it.
#[test]
fn points_that_have_changed_places() {
    let sample = Sample::new();
    for (number, part) in sample.parts.iter().enumerate() {
        let size = if number == 5 { G2 } else { G1 };
        let mut bytes = sample.bytes.clone();
        let (one, other) = bytes[part.start..].split_at_mut(size);
        one.swap_with_slice(&mut other[..size]);
        for mapped in [false, true] {
            let error = sample.prove(&bytes, mapped, true).expect_err("points swapped");
            assert!(error.contains("does not verify"), "part {number}: {error}");
        }
    }
}
