//! Tests every kernel family that proofs are made with, by known answers. These are derived on paper, without any code
//! of the engine.
//!
//! Families that only the project's own tests use are left out. Those of Poseidon2 are tested with the feature `plonky3`.

mod circom;
mod columns;
mod dense;
mod groth16;
#[cfg(feature = "plonky3")]
mod hash;
mod msm;
mod plonk;
mod rows;
mod sumcheck;
mod transform;

use std::time::{Duration, Instant};

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use halo2curves::bn256;
use proofwarp::field::NttField;
use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::{Accelerator, BackendKind, Error, Report, Result, StreamStats};
use serde::Serialize;

use crate::progress::Progress;

/// Binary logarithm of a test's size on processors, 12, unless the caller chooses one.
const LOG_ON_CPU: u32 = 12;
/// Binary logarithm of an MSM's size on GPUs, 16. The host computes the points one after the other: 2^20 points
/// of each curve would take longer than everything else.
const POINTS: u32 = 16;
/// Binary logarithm of an NTT's size on GPUs, 20, for which an NTT takes several passes.
const COEFFICIENTS: u32 = 20;
/// Binary logarithm of other sizes on GPUs, 18, so that the host makes and checks the data in a part of a second.
const ROWS: u32 = 18;
/// Binary logarithm of the size of an NTT that has kernels of its own.
const SMALL_NTT: u32 = 17;

/// Holds a self-test and its result.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tested {
    pub family: &'static str,
    /// The field, or the curve.
    pub of: &'static str,
    pub elements: usize,
    pub ran_on: String,
    /// Description of the fault, if there is one.
    pub fault: Option<String>,
    /// Time of one call after the first, with its data resident where possible.
    pub milliseconds: f64,
    pub per_second: f64,
}

impl Tested {
    pub fn is_right(&self) -> bool {
        self.fault.is_none()
    }
}

/// Holds a test's result: where it ran, how long a call took, and whether the answer is right.
struct Answer {
    report: Report,
    time: Duration,
    is_right: bool,
}

type Test = fn(&Accelerator, u32) -> Result<Answer>;

/// Describes a test: its family, its field or curve, its function, and whether its size may be chosen.
struct Case(&'static str, &'static str, Test, Size);

/// Holds the binary logarithm of a test's size.
#[derive(Clone, Copy)]
enum Size {
    /// The caller's choice, or else this on GPUs and [`LOG_ON_CPU`] on processors.
    Chosen(u32),
    Log(u32),
}

impl Size {
    fn log(self, chosen: Option<u32>, is_gpu: bool) -> u32 {
        match self {
            Self::Log(log) => log,
            Self::Chosen(log) => chosen.unwrap_or(if is_gpu { log } else { LOG_ON_CPU }),
        }
    }
}

fn cases() -> Vec<Case> {
    proof_cases().into_iter().chain(hash_cases()).collect()
}

#[cfg(not(feature = "plonky3"))]
fn hash_cases() -> Vec<Case> {
    Vec::new()
}

#[cfg(feature = "plonky3")]
fn hash_cases() -> Vec<Case> {
    let size = Size::Chosen(ROWS);
    vec![
        Case("poseidon2_8", "goldilocks", hash::goldilocks_8, size),
        Case("poseidon2_12", "goldilocks", hash::goldilocks_12, size),
        Case("poseidon2_16", "koala_bear", hash::koala_bear_16, size),
        Case("poseidon2_24", "baby_bear", hash::baby_bear_24, size),
    ]
}

fn proof_cases() -> Vec<Case> {
    use Size::{Chosen, Log};
    vec![
        Case("msm", "bls12_381_g1", msm::test::<G1Affine>, Chosen(POINTS)),
        Case("msm", "bls12_381_g2", msm::test::<G2Affine>, Chosen(POINTS)),
        Case("msm", "bn254_g1", msm::test::<bn256::G1Affine>, Chosen(POINTS)),
        Case("msm", "bn254_g2", msm::test::<bn256::G2Affine>, Chosen(POINTS)),
        Case("msm", "pallas", msm::test::<halo2curves::pasta::EpAffine>, Chosen(POINTS)),
        Case("msm", "vesta", msm::test::<halo2curves::pasta::EqAffine>, Chosen(POINTS)),
        Case("ntt", "bls12_381_fr", transform::test::<Scalar>, Chosen(COEFFICIENTS)),
        Case("ntt", "bn254_fr", transform::test::<bn256::Fr>, Chosen(COEFFICIENTS)),
        Case("ntt", "pasta_fp", transform::test::<halo2curves::pasta::Fp>, Chosen(COEFFICIENTS)),
        Case("ntt", "pasta_fq", transform::test::<halo2curves::pasta::Fq>, Chosen(COEFFICIENTS)),
        Case("ntt_small", "bls12_381_fr", transform::test::<Scalar>, Log(SMALL_NTT)),
        Case("ntt_small", "bn254_fr", transform::test::<bn256::Fr>, Log(SMALL_NTT)),
        Case("csr", "bls12_381_fr", rows::csr::<Scalar>, Chosen(ROWS)),
        Case("csr", "bn254_fr", rows::csr::<bn256::Fr>, Chosen(ROWS)),
        Case("csr", "bn254_fr, changed", rows::changed::<bn256::Fr>, Chosen(ROWS)),
        Case("gemm", "bls12_381_fr", dense::chosen::<Scalar>, Chosen(ROWS)),
        Case("gemm", "bn254_fr", dense::chosen::<bn256::Fr>, Chosen(ROWS)),
        Case("expression", "bls12_381_fr", rows::expression::<Scalar>, Chosen(ROWS)),
        Case("expression", "bn254_fr", rows::expression::<bn256::Fr>, Chosen(ROWS)),
        Case("groth16", "bls12_381", groth16::test::<Bls12>, Log(2)),
        Case("groth16", "bn254", groth16::test::<bn256::Bn256>, Log(2)),
        Case("plonk", "bls12_381_fr", plonk::test::<Scalar>, Chosen(ROWS)),
        Case("plonk", "bn254_fr", plonk::test::<bn256::Fr>, Chosen(ROWS)),
        Case("columns", "bn254_fr", columns::test::<bn256::Fr>, Chosen(ROWS)),
        Case("sumcheck", "bls12_381_fr", sumcheck::test::<Scalar>, Chosen(ROWS)),
        Case("sumcheck", "bn254_fr", sumcheck::test::<bn256::Fr>, Chosen(ROWS)),
        Case("sumcheck", "ghash", sumcheck::test::<Ghash>, Chosen(ROWS)),
        Case("sumcheck_sliced", "tower", sumcheck::test::<Tower>, Chosen(ROWS)),
    ]
}

/// Proves a circuit of circom's. It runs on several backends, and never falls back.
const CIRCOM: Case = Case("circom", "bn254", circom::test, Size::Log(circom::LOG_DOMAIN));

/// Returns an accelerator for the backend that `accelerator` was forced to. If it was not forced, returns one for the CPU and
/// for each available backend: all of them if `all` is set, or else that of the first device.
fn backends(accelerator: &Accelerator, all: bool) -> Vec<Accelerator> {
    let in_use = accelerator.devices().first().map(|device| device.info().backend);
    let kinds = match accelerator.forced() {
        Some(forced) => vec![forced],
        None if all => vec![BackendKind::Cuda, BackendKind::OpenCl, BackendKind::Cpu],
        None => in_use.into_iter().chain([BackendKind::Cpu]).collect(),
    };
    kinds.into_iter().filter_map(|kind| Accelerator::with_backend(kind).ok()).collect()
}

/// Runs all self-tests on `accelerator`, at size 2^`log` where the size may be chosen. `None` selects a default for each
/// test. With `all_backends` the circuit is also proved on backends that are not in use.
pub fn run(accelerator: &Accelerator, log: Option<u32>, all_backends: bool) -> Vec<Tested> {
    let (mut cases, backends) = (cases(), backends(accelerator, all_backends));
    if dense::has_residues::<bn256::Fr>(accelerator) {
        cases.push(Case("gemm_int8", "bn254_fr", dense::by_residues::<bn256::Fr>, Size::Chosen(ROWS)));
    }
    let cases = cases.iter().map(|case| (case, accelerator));
    let cases: Vec<_> = cases.chain(backends.iter().map(|backend| (&CIRCOM, backend))).collect();
    let progress = Progress::new(cases.len() as u64);
    let run = |(case, accelerator): &(&Case, &Accelerator)| {
        progress.step(&format!("{} {}", case.0, case.1), || case.run(accelerator, log))
    };
    cases.iter().map(run).collect()
}

impl Case {
    fn run(&self, accelerator: &Accelerator, log: Option<u32>) -> Tested {
        let Self(family, of, test, size) = *self;
        let log = size.log(log, accelerator.devices().first().is_some_and(|device| !device.info().is_cpu));
        let tested = Tested { family, of, elements: 1 << log, ..Tested::default() };
        match test(accelerator, log) {
            Err(error) => Tested { fault: Some(error.to_string()), ran_on: "–".to_owned(), ..tested },
            Ok(Answer { report, time, is_right }) => Tested {
                ran_on: format!("{} ({})", report.backend, report.device),
                fault: (!is_right).then(|| "the answer is another than the known one".to_owned()),
                milliseconds: time.as_secs_f64() * 1e3,
                per_second: (1_u64 << log) as f64 / time.as_secs_f64().max(1e-9),
                ..tested
            },
        }
    }
}

/// Returns the report of work on `elements` elements that took `time` on the first device of `accelerator`, for calls
/// that make no report.
fn report(accelerator: &Accelerator, elements: usize, time: Duration) -> Report {
    let info = accelerator.devices().first().map(|device| device.info());
    Report {
        operation: "self-test".to_owned(),
        elements,
        backend: info.map_or(BackendKind::Cpu, |info| info.backend),
        device: info.map_or_else(|| "host".to_owned(), |info| info.name.clone()),
        total: time,
        traffic: StreamStats::default(),
        fallbacks: Vec::new(),
    }
}

/// Calls `work`, and returns its result and the time that it took.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// Returns the numbers 0, 1, …, `count` − 1 as field elements.
fn counted<F: NttField>(count: usize) -> Vec<F> {
    (0..count as u64).map(F::from).collect()
}

/// Returns the inverse of `element`, or an error if it is zero.
fn inverse<F: ff::Field>(element: F) -> Result<F> {
    let inverse: Option<F> = element.invert().into();
    inverse.ok_or_else(|| Error::invalid("self-test", "element", "one with an inverse", "zero"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_answers_are_right() {
        for accelerator in [Accelerator::with_backend(BackendKind::Cpu), Accelerator::from_env()] {
            let accelerator = accelerator.expect("an accelerator");
            let tested = run(&accelerator, Some(8), true);
            let on_tensor_cores = usize::from(dense::has_residues::<bn256::Fr>(&accelerator));
            assert_eq!(tested.len(), cases().len() + on_tensor_cores + backends(&accelerator, true).len());
            for test in tested {
                assert!(test.is_right() && test.per_second > 0.0, "{test:?}");
            }
        }
    }

    /// Checks that each kernel family of the build has a test, but those for tests, and Poseidon2 without its feature.
    #[test]
    fn every_family_has_a_test() {
        let tested: HashSet<&str> = cases().iter().map(|case| case.0).chain(["gemm_int8"]).collect();
        let modules = proofwarp::kernels::all_modules().into_iter().filter(|module| !module.family.is_for_tests);
        let families: HashSet<&str> = modules.map(|module| module.family.name).collect();
        let is_left_out = |family: &str| !cfg!(feature = "plonky3") && family.starts_with("poseidon2");
        let missing: Vec<_> = families.iter().filter(|name| !tested.contains(*name) && !is_left_out(name)).collect();
        assert!(families.len() > 10 && missing.is_empty(), "{missing:?}");
    }

    /// Checks that a wrong answer is reported.
    #[test]
    fn a_wrong_answer_is_a_fault() {
        let wrong: Test =
            |accelerator, log| Ok(Answer { is_right: false, ..transform::test::<Scalar>(accelerator, log)? });
        let host = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
        assert!(!Case("ntt", "bls12_381_fr", wrong, Size::Chosen(4)).run(&host, Some(4)).is_right());
    }
}
