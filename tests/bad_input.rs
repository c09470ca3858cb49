//! Input that no call can take and devices without memory: a clear error or a loud fallback, and inputs
//! as they were.

mod common;

use common::{accelerators_and_cpu, alone, rng};
use ff::Field;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::Fr;
use pasta_curves::{EpAffine, Fp};
use proofwarp::field::NttField;
use proofwarp::msm::msm;
use proofwarp::ntt::{NttDomain, NttOptions, Transform, transform_many};
use proofwarp::{Accelerator, BackendKind, Error, Report};

const LOG_N: u32 = 12;

fn random(log_n: u32) -> Vec<Fr> {
    let mut rng = rng(1);
    (0..1 << log_n).map(|_| Fr::random(&mut rng)).collect()
}

fn domain<F: NttField>(log_n: u32) -> proofwarp::Result<NttDomain<F>> {
    NttDomain::new(&Accelerator::with_backend(BackendKind::Cpu)?, log_n)
}

fn omega(log_n: u32) -> Fr {
    domain::<Fr>(log_n).expect("domain").omega()
}

/// Refused for its argument `what`, with the first of two vectors in order and both left as they were.
fn refused(transform: &Transform<Fr>, length: usize, what: &str) {
    for accelerator in accelerators_and_cpu() {
        let mut good = random(5);
        let mut bad = random(LOG_N)[..length].to_vec();
        let before = (good.clone(), bad.clone());
        let transforms = [Transform::new(5, omega(5)), *transform];
        match transform_many(&accelerator, &mut [&mut good, &mut bad], &transforms, None) {
            Err(Error::Invalid { what: argument, .. }) => assert_eq!(argument, what),
            other => panic!("{accelerator:?}: {other:?}"),
        }
        assert!((good, bad) == before, "{accelerator:?}");
    }
}

#[test]
fn transforms_that_do_not_fit_their_vectors() {
    for length in [0, 1, 127, 129, 255, 257] {
        refused(&Transform::new(8, omega(8)), length, "length of the slice");
    }
    refused(&Transform::new(0, Fr::ONE), 0, "length of the slice");
}

#[test]
fn lengths_above_the_two_adicity() {
    for log_n in [29, 31, 32, 63, 64, u32::MAX] {
        refused(&Transform::new(log_n, Fr::ONE), 256, "log_n");
        assert!(matches!(domain::<Fr>(log_n), Err(Error::Invalid { .. })));
    }
    assert!(domain::<Fr>(28).is_ok() && domain::<Fp>(32).is_ok());
}

#[test]
fn roots_of_another_order() {
    for wrong in [Fr::ZERO, Fr::ONE, -Fr::ONE, omega(7), omega(9), Fr::from(5)] {
        refused(&Transform::new(8, wrong), 256, "omega");
    }
    refused(&Transform::new(0, -Fr::ONE), 1, "omega");
    refused(&Transform::new(1, Fr::ONE), 2, "omega");
}

#[test]
fn numbers_of_transforms_that_differ() {
    for accelerator in accelerators_and_cpu() {
        let (mut a, mut b) = (random(5), random(5));
        let result = transform_many(&accelerator, &mut [&mut a, &mut b], &[Transform::new(5, omega(5))], None);
        assert!(matches!(result, Err(Error::Invalid { .. })), "{result:?}");
        assert!(a == random(5) && b == a);
    }
}

#[test]
fn cosets_of_zero() {
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let options = NttOptions { coset: Some(Fr::ZERO), ..NttOptions::default() };
    let error = NttDomain::with_options(&accelerator, 3, options).expect_err("zero").to_string();
    assert!(error.contains("generator") && error.contains("zero"), "{error}");
}

#[test]
fn lengths_of_sums_that_differ() {
    let g = EpAffine::generator();
    for (accelerator, (bases, scalars)) in
        accelerators_and_cpu().iter().flat_map(|a| [(0, 1), (1, 0), (3, 2), (2, 3)].map(|lengths| (a.clone(), lengths)))
    {
        let error = msm(&accelerator, &vec![g; bases], &vec![[1; 32]; scalars], None).expect_err("lengths differ");
        let text = error.to_string();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(text.contains(&format!("expected {bases}, got {scalars}")), "{text}");
    }
}

#[test]
fn backends_that_do_not_exist() {
    let error = "cudda".parse::<BackendKind>().expect_err("no such backend").to_string();
    assert!(error.contains("cuda, opencl or cpu") && error.contains("cudda"), "{error}");
}

/// Too little for two columns of a vector of 2^12 or for any sum.
const TOO_LITTLE: u64 = 8 << 10;

fn transform(accelerator: &Accelerator, values: &mut [Fr]) -> Result<Report, Error> {
    transform_many(accelerator, &mut [values], &[Transform::new(LOG_N, omega(LOG_N))], None)
}

/// The sum of 2·G four times.
fn sum(accelerator: &Accelerator) -> Result<Report, Error> {
    let mut two = [0; 32];
    two[0] = 2;
    let (sum, report) = msm(accelerator, &[EpAffine::generator(); 4], &[two; 4], None)?;
    assert!(sum == EpAffine::generator() * pasta_curves::Fq::from(8), "{report}");
    Ok(report)
}

/// A forced backend without memory is an error.
fn forced_fails(accelerator: &Accelerator) {
    let mut values = random(LOG_N);
    for error in [transform(accelerator, &mut values), sum(accelerator)].map(|result| result.expect_err("no memory")) {
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        assert!(error.to_string().contains("out of device memory"), "{error}");
    }
    assert!(values == random(LOG_N));
}

/// Without force the CPU takes over and the report says why.
fn unforced_falls_back(accelerator: &Accelerator) {
    let mut values = random(LOG_N);
    let reports = [transform(accelerator, &mut values), sum(accelerator)].map(|result| result.expect("fallback"));
    for report in reports {
        assert_eq!(report.backend, BackendKind::Cpu, "{report}");
        assert!(report.fallbacks.iter().any(|reason| reason.contains("out of device memory")), "{report}");
        assert!(report.to_string().contains("fell back: "), "{report}");
    }
    let mut expected = random(LOG_N);
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU is always there");
    transform(&cpu, &mut expected).expect("transform");
    assert!(values == expected);
}

#[test]
fn devices_without_memory() {
    for forced in alone(Some(TOO_LITTLE)) {
        forced_fails(&forced);
        unforced_falls_back(&Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec()));
        // What failed gave back what it had.
        assert_eq!(forced.devices()[0].free_memory().expect("free memory"), TOO_LITTLE);
    }
}

/// `PROOFWARP_MEMORY_LIMIT` is read once per process: the test runs itself in processes of their own.
#[test]
fn memory_limits_of_the_environment() {
    const CHILD: &str = "PROOFWARP_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return under_the_limit_of_the_environment();
    }
    for limit in ["8192", "8K", " 8k ", "8 parsecs"] {
        let child = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "memory_limits_of_the_environment", "--nocapture"])
            .envs([(CHILD, "1"), ("PROOFWARP_MEMORY_LIMIT", limit)])
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&[child.stderr, child.stdout].concat()).into_owned();
        assert!(child.status.success() && text.contains("1 passed"), "{limit}: {text}");
    }
}

fn under_the_limit_of_the_environment() {
    let malformed = std::env::var("PROOFWARP_MEMORY_LIMIT").is_ok_and(|limit| limit.contains("parsecs"));
    for backend in [BackendKind::Cuda, BackendKind::OpenCl] {
        match Accelerator::with_backend(backend) {
            Ok(accelerator) => {
                assert!(!malformed);
                forced_fails(&accelerator);
                unforced_falls_back(
                    &Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec()),
                );
            }
            Err(error @ Error::Invalid { .. }) => {
                assert!(malformed && error.to_string().contains("8 parsecs"), "{error}");
            }
            Err(error) => eprintln!("left out: {error}"),
        }
    }
}
