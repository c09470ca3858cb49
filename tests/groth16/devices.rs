//! Proofs over several devices, which are views of one, against the CPU's.

use std::sync::Arc;

use ff::Field;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::{Bn256, Fr};
use proofwarp::backend::Device;
use proofwarp::groth16::{Circuit, Parameters, Proof, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::{abort_after, accelerators_with_devices, fresh_driver, rng};
use crate::random_parameters::random_parameters;

const SEED: u64 = 416;
const CONSTRAINTS: usize = 45;
const VARIABLES: usize = 50;
const INPUTS: usize = 2;
/// Most proofs of a batch.
const MAX_PROOFS: usize = 10;

/// A circuit, a key of its shape, and what proofs are made of: nothing satisfies anything, sums are sums all the same.
struct Setup {
    circuit: Circuit<Fr>,
    parameters: Parameters<Bn256>,
    assignments: Vec<Vec<Fr>>,
    /// A·z, B·z and C·z of each.
    evaluations: Vec<[Vec<Fr>; 3]>,
    r: Vec<Fr>,
    s: Vec<Fr>,
}

impl Setup {
    fn new() -> Self {
        let mut rng = rng(SEED);
        // B has three variables of four.
        let column = |matrix: usize, row: usize| if matrix == 1 && row % 4 == 3 { row + 1 } else { row % VARIABLES };
        let row = |matrix, row| vec![(column(matrix, row), Fr::from(row as u64 + 2)), (0, Fr::ONE)];
        let matrix = |matrix| Csr::from_rows(VARIABLES, (0..CONSTRAINTS).map(move |i| row(matrix, i)));
        let matrices = [0, 1, 2].map(|number| Arc::new(matrix(number).expect("matrix")));
        let mut random = |count: usize| -> Vec<Fr> { (0..count).map(|_| Fr::random(&mut rng)).collect() };
        let assignments: Vec<_> = (0..MAX_PROOFS).map(|_| random(VARIABLES)).collect();
        let product = |z: &[Fr], matrix: &Csr<Fr>| -> Vec<Fr> {
            (0..CONSTRAINTS).map(|row| matrix.row(row).map(|(column, value)| value * z[column]).sum()).collect()
        };
        let evaluations = assignments.iter().map(|z| matrices.each_ref().map(|matrix| product(z, matrix))).collect();
        let (r, s) = (random(MAX_PROOFS), random(MAX_PROOFS));
        let circuit = Circuit::from_matrices(INPUTS, matrices).expect("circuit");
        let parameters = random_parameters(&circuit, [CONSTRAINTS, VARIABLES - INPUTS], &mut rng);
        Self { circuit, parameters, assignments, evaluations, r, s }
    }

    fn key(&self, accelerator: &Accelerator) -> ProvingKeyOnDevice<Bn256> {
        ProvingKeyOnDevice::new(accelerator, self.parameters.clone()).expect("key")
    }

    /// The first witnesses, every other one with its evaluations.
    fn witnesses(&self, count: usize) -> Vec<Witness<'_, Fr>> {
        let witness = |number: usize| {
            let (inputs, aux) = self.assignments[number].split_at(INPUTS);
            let evaluations = self.evaluations[number].each_ref().map(Vec::as_slice);
            Witness { inputs, aux: aux.into(), evaluations: (number % 2 == 1).then_some(evaluations) }
        };
        (0..count).map(witness).collect()
    }

    /// Proofs of the first witnesses, and who made them.
    fn prove(
        &self,
        key: &ProvingKeyOnDevice<Bn256>,
        count: usize,
        abort: proofwarp::backend::Abort<'_>,
    ) -> Result<(Vec<Proof<Bn256>>, proofwarp::Report), Error> {
        let (r, s) = (&self.r[..count], &self.s[..count]);
        prove(key, &self.circuit, &self.witnesses(count), r, s, abort)
    }

    fn on_cpu(&self) -> Vec<Proof<Bn256>> {
        let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
        self.prove(&self.key(&cpu), MAX_PROOFS, None).expect("proofs").0
    }

    /// Bytes of the whole key on a device.
    fn bytes(&self) -> u64 {
        let Parameters { h, l, a, b_g1, b_g2, .. } = &self.parameters;
        (64 * (h.len() + l.len() + a.len() + b_g1.len()) + 128 * b_g2.len()) as u64
    }
}

/// Each backend's accelerator on so many devices, which are views of its first.
fn on(count: usize) -> Vec<Accelerator> {
    let device = |like: &Device| Device::new(fresh_driver(like), None);
    let devices = |accelerator: &Accelerator| (0..count).map(|_| device(&accelerator.devices()[0])).collect();
    accelerators_with_devices().iter().map(|accelerator| accelerator.with_devices(devices(accelerator))).collect()
}

/// Every size of a batch on every number of devices gives the CPU's proofs.
#[test]
fn batches_over_devices() {
    let setup = Setup::new();
    let expected = setup.on_cpu();
    assert!(expected[0] != expected[1] && !bool::from(expected[0].b.is_identity()));
    for four in on(4) {
        for devices in 1..=4 {
            let accelerator = four.with_devices(four.devices()[..devices].to_vec());
            let key = setup.key(&accelerator);
            for count in [1, 2, 3, 8, 10] {
                let never = || false;
                let abort: proofwarp::backend::Abort<'_> = if count == 3 { Some(&never) } else { None };
                let (proofs, report) = setup.prove(&key, count, abort).expect("proofs");
                assert!(proofs == expected[..count], "{count} on {devices}: {report}");
                assert_eq!(Some(report.backend), accelerator.forced(), "{report}");
            }
            assert_eq!(key.device_bytes(), devices as u64 * setup.bytes(), "batches take the whole key to all");
            assert_eq!(key.parameters().device_bytes(), setup.bytes());
        }
    }
}

/// One proof takes to further devices only the queries that they sum.
#[test]
fn helpers_hold_a_part_of_the_key() {
    let setup = Setup::new();
    let expected = setup.on_cpu();
    let (all, b_g2) = (setup.bytes(), 128 * setup.parameters.b_g2.len() as u64);
    for accelerator in on(4) {
        for devices in [1, 2, 4] {
            let some = accelerator.with_devices(accelerator.devices()[..devices].to_vec());
            let key = setup.key(&some);
            for _ in 0..2 {
                assert!(setup.prove(&key, 1, None).expect("proof").0 == expected[..1]);
            }
            // The dearest sum is the first device's, which has all.
            let (bytes, most) = (key.device_bytes(), if devices == 1 { all } else { 2 * all - b_g2 });
            assert!(bytes <= most && (devices == 1 || bytes > all), "{bytes} on {devices}: {all} is the whole key");
        }
    }
}

/// A device that fails in the middle, whichever it is: an error where a backend is forced, and the next proofs are right;
/// else the CPU makes what is missing.
#[test]
fn a_device_fails() {
    let setup = Setup::new();
    let expected = setup.on_cpu();
    for forced in on(3) {
        let free = Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec());
        let (key, free_key) = (setup.key(&forced), setup.key(&free));
        for count in [1, 5] {
            setup.prove(&key, count, None).expect("all tables are there");
            for (number, device) in forced.devices().iter().enumerate() {
                for fuse in [0, 5, 12] {
                    device.inject_launch_fault(fuse);
                    let result = setup.prove(&key, count, None).map(|(_, report)| report);
                    assert!(matches!(result, Err(Error::Device { .. })), "launch {fuse} of {number}: {result:?}");
                    assert!(setup.prove(&key, count, None).expect("proofs").0 == expected[..count]);
                    device.inject_launch_fault(fuse);
                    let (proofs, report) = setup.prove(&free_key, count, None).expect("proofs");
                    assert!(proofs == expected[..count], "launch {fuse} of {number}: {report}");
                    assert_eq!(report.backend, BackendKind::Cpu, "{report}");
                    assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
                }
            }
        }
    }
}

/// An abort ends all devices' work, and the next proofs are right.
#[test]
fn aborts() {
    let setup = Setup::new();
    let expected = setup.on_cpu();
    for accelerator in on(2) {
        let key = setup.key(&accelerator);
        for (count, questions) in [(1, 0), (1, 3), (1, 9), (5, 0), (5, 12)] {
            let result = setup.prove(&key, count, Some(&abort_after(questions)));
            assert!(matches!(result, Err(Error::Aborted)), "{count} proofs, after {questions}");
            assert!(setup.prove(&key, count, None).expect("proofs").0 == expected[..count]);
        }
    }
}
