//! Tests every kernel family that proofs are made with, by known answers. These are derived on paper, without any code
//! of the engine.
//!
//! The families `vector` and `points` are left out, because only the project's own tests use them.

mod circom;
mod groth16;
mod msm;
mod plonk;
mod rows;
mod transform;

use std::time::{Duration, Instant};

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use halo2curves::bn256;
use proofwarp::field::NttField;
use proofwarp::{Accelerator, BackendKind, Error, Report, Result};
use serde::Serialize;

use crate::progress::Progress;

/// Default binary logarithm of a test's size on GPUs. `LOG_ON_CPU` is the default on processors.
const LOG_ON_GPU: u32 = 20;
const LOG_ON_CPU: u32 = 12;
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
    /// Time that one H200 takes, if the device is one and the size is that of the figure.
    pub expected: Option<f64>,
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

#[derive(Clone, Copy)]
enum Size {
    Chosen,
    Log(u32),
}

fn cases() -> Vec<Case> {
    use Size::{Chosen, Log};
    vec![
        Case("msm", "bls12_381_g1", msm::test::<G1Affine>, Chosen),
        Case("msm", "bls12_381_g2", msm::test::<G2Affine>, Chosen),
        Case("msm", "bn254_g1", msm::test::<bn256::G1Affine>, Chosen),
        Case("msm", "bn254_g2", msm::test::<bn256::G2Affine>, Chosen),
        Case("msm", "pallas", msm::test::<halo2curves::pasta::EpAffine>, Chosen),
        Case("msm", "vesta", msm::test::<halo2curves::pasta::EqAffine>, Chosen),
        Case("ntt", "bls12_381_fr", transform::test::<Scalar>, Chosen),
        Case("ntt", "bn254_fr", transform::test::<bn256::Fr>, Chosen),
        Case("ntt", "pasta_fp", transform::test::<halo2curves::pasta::Fp>, Chosen),
        Case("ntt", "pasta_fq", transform::test::<halo2curves::pasta::Fq>, Chosen),
        Case("ntt_small", "bls12_381_fr", transform::test::<Scalar>, Log(SMALL_NTT)),
        Case("ntt_small", "bn254_fr", transform::test::<bn256::Fr>, Log(SMALL_NTT)),
        Case("csr", "bls12_381_fr", rows::csr::<Scalar>, Chosen),
        Case("csr", "bn254_fr", rows::csr::<bn256::Fr>, Chosen),
        Case("expression", "bls12_381_fr", rows::expression::<Scalar>, Chosen),
        Case("expression", "bn254_fr", rows::expression::<bn256::Fr>, Chosen),
        Case("groth16", "bls12_381", groth16::test::<Bls12>, Log(2)),
        Case("groth16", "bn254", groth16::test::<bn256::Bn256>, Log(2)),
        Case("plonk", "bls12_381_fr", plonk::test::<Scalar>, Chosen),
        Case("plonk", "bn254_fr", plonk::test::<bn256::Fr>, Chosen),
    ]
}

/// Proves a circuit of circom's. It runs on each backend, and never falls back.
const CIRCOM: Case = Case("circom", "bn254", circom::test, Size::Log(circom::LOG_DOMAIN));

/// Returns an accelerator for each backend that is available, or for the one that `accelerator` was forced to.
fn backends(accelerator: &Accelerator) -> Vec<Accelerator> {
    let all = [BackendKind::Cuda, BackendKind::OpenCl, BackendKind::Cpu];
    let kinds = accelerator.forced().map_or(all.to_vec(), |forced| vec![forced]);
    kinds.into_iter().filter_map(|kind| Accelerator::with_backend(kind).ok()).collect()
}

/// Runs all self-tests on `accelerator`, at size 2^`log` where the size may be chosen. `None` selects a default for the
/// device.
pub fn run(accelerator: &Accelerator, log: Option<u32>) -> Vec<Tested> {
    let gpu = accelerator.devices().first().is_some_and(|device| !device.info().is_cpu);
    let log = log.unwrap_or(if gpu { LOG_ON_GPU } else { LOG_ON_CPU });
    let (cases, backends) = (cases(), backends(accelerator));
    let cases = cases.iter().map(|case| (case, accelerator));
    let cases: Vec<_> = cases.chain(backends.iter().map(|backend| (&CIRCOM, backend))).collect();
    let progress = Progress::new(cases.len() as u64);
    let run = |(case, accelerator): &(&Case, &Accelerator)| {
        progress.step(&format!("{} {}", case.0, case.1), || case.run(accelerator, log))
    };
    cases.iter().map(run).collect()
}

impl Case {
    fn run(&self, accelerator: &Accelerator, log: u32) -> Tested {
        let Self(family, of, test, size) = *self;
        let log = if let Size::Log(log) = size { log } else { log };
        let tested = Tested { family, of, elements: 1 << log, ..Tested::default() };
        match test(accelerator, log) {
            Err(error) => Tested { fault: Some(error.to_string()), ran_on: "–".to_owned(), ..tested },
            Ok(Answer { report, time, is_right }) => Tested {
                ran_on: format!("{} ({})", report.backend, report.device),
                fault: (!is_right).then(|| "the answer is another than the known one".to_owned()),
                milliseconds: time.as_secs_f64() * 1e3,
                per_second: (1_u64 << log) as f64 / time.as_secs_f64().max(1e-9),
                expected: expected(family, of, log, &report),
                ..tested
            },
        }
    }
}

/// Times in ms that one H200 takes at size 2^20, from docs/performance.md: family, field or curve, time on CUDA, time
/// on OpenCL.
const FIGURES: [(&str, &str, f64, f64); 4] = [
    ("msm", "bls12_381_g1", 6.08, 7.73),
    ("msm", "bls12_381_g2", 15.6, 22.1),
    ("msm", "bn254_g1", 3.68, 4.24),
    ("ntt", "bls12_381_fr", 0.183, 0.193),
];

fn expected(family: &str, of: &str, log: u32, report: &Report) -> Option<f64> {
    if log != LOG_ON_GPU || !report.device.contains("H200") {
        return None;
    }
    let (_, _, cuda, opencl) = FIGURES.into_iter().find(|figure| (figure.0, figure.1) == (family, of))?;
    match report.backend {
        BackendKind::Cuda => Some(cuda),
        BackendKind::OpenCl => Some(opencl),
        BackendKind::Cpu => None,
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
    use super::*;

    #[test]
    fn all_answers_are_right() {
        for accelerator in [Accelerator::with_backend(BackendKind::Cpu), Accelerator::from_env()] {
            let accelerator = accelerator.expect("an accelerator");
            let tested = run(&accelerator, Some(8));
            assert_eq!(tested.len(), cases().len() + backends(&accelerator).len());
            for test in tested {
                assert!(test.is_right() && test.per_second > 0.0, "{test:?}");
            }
        }
    }

    /// Checks that a wrong answer is reported.
    #[test]
    fn a_wrong_answer_is_a_fault() {
        let wrong: Test =
            |accelerator, log| Ok(Answer { is_right: false, ..transform::test::<Scalar>(accelerator, log)? });
        let host = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
        assert!(!Case("ntt", "bls12_381_fr", wrong, Size::Chosen).run(&host, 4).is_right());
    }
}
