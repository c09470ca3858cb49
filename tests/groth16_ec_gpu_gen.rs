//! bellperson's own prover on a device through the drop-in for ec-gpu-gen, by constraint systems drawn at random: the
//! proofs that it makes on the CPU, to which those of the resident pipeline on the CPU are equal (`groth16_resident`).

mod common;
#[path = "common/random_r1cs.rs"]
mod random_r1cs;
#[path = "common/stderr.rs"]
mod stderr;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use bellperson::groth16::{create_proof_batch, generate_random_parameters, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use common::rng;
use ff::Field;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::prove_evaluated;
use rand::Rng;
use random_r1cs::Recipe;

/// bellperson's proofs of a random system by the process's accelerator are those of the CPU.
fn equals_cpu(seed: u64, count: usize) {
    let mut rng = rng(seed);
    let (inputs, secrets, constraints) = (rng.gen_range(0..6), rng.gen_range(0..12), rng.gen_range(0..300));
    let [constants, inputs_in_rows] = [(); 2].map(|()| rng.gen_bool(0.5));
    let recipe = Recipe { inputs, secrets, constraints, constants, inputs_in_rows, seed };
    let circuits = recipe.circuits(count, true);
    let key = generate_random_parameters::<Bls12, _, _>(circuits[0].clone(), &mut rng).expect("key");
    let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>());
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let (expected, _) = prove_evaluated(&cpu, circuits.clone(), &&key, &r, &s).expect("proofs on the CPU");
    let proofs = create_proof_batch(circuits.clone(), &key, r, s).expect("proofs");
    assert_eq!(proofs, expected, "{recipe:?}, {count}");
    let verifying_key = prepare_verifying_key(&key.vk);
    for (circuit, proof) in circuits.iter().zip(&proofs) {
        assert!(verify_proof(&verifying_key, proof, &circuit.inputs()).expect("inputs"), "{recipe:?}, {count}");
    }
}

#[test]
fn random_systems() {
    static ON_DEVICE: AtomicUsize = AtomicUsize::new(0);
    proofwarp::report::observe(|report| {
        let on_device = report.backend != BackendKind::Cpu;
        ON_DEVICE.fetch_add(usize::from(on_device), Ordering::Relaxed);
    });
    for (seed, count) in [1, 2, 3, 10, 1, 1, 2, 3, 1, 1].into_iter().enumerate() {
        equals_cpu(seed as u64, count);
    }
    if common::accelerators()[0].devices().is_empty() {
        return eprintln!("left out: bellperson on a device, since PROOFWARP_BACKEND names the CPU");
    }
    let operations = ON_DEVICE.load(Ordering::Relaxed);
    assert!(operations > 20, "only {operations} operations on a device");
}

/// Proves in a process of its own, for which no backend is forced unless a variable does; whether it ended well, and what
/// it said.
fn child(variables: &[(&str, &str)]) -> (bool, String) {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", "proves", "--ignored", "--nocapture"]).env_remove("PROOFWARP_BACKEND");
    let output = child.envs(variables.iter().copied()).output().expect("started");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Part of the tests below.
#[test]
#[ignore = "started by other tests"]
fn proves() {
    stderr::install();
    (100..103).for_each(|seed| equals_cpu(seed, 2));
}

#[test]
fn proofs_whatever_memory_there_is() {
    for limit in ["1", "1K", "32K", "256K", "1M", "2M", "4M", "8M", "16M", "32M", "64M"] {
        let (well, text) = child(&[("PROOFWARP_MEMORY_LIMIT", limit)]);
        assert!(well, "{limit} bytes: {text}");
    }
}

/// Nothing that OpenCL or CUDA could find.
const NO_DEVICE: [(&str, &str); 3] =
    [("OCL_ICD_VENDORS", "/nowhere"), ("PROOFWARP_OPENCL_CPU", "0"), ("CUDA_VISIBLE_DEVICES", "")];

/// bellperson takes errors of kernels, and a list without devices, for a reason to prove on the CPU.
#[test]
fn a_forced_backend_is_not_missed() {
    let [nowhere, no_processors, no_cards] = NO_DEVICE;
    let present = common::accelerators()[0].devices().first().map(|device| device.info().backend.to_string());
    let mut cases = vec![
        (vec![("PROOFWARP_BACKEND", "cudda")], vec!["PROOFWARP_BACKEND", "cudda"]),
        (vec![("PROOFWARP_MEMORY_LIMIT", "much")], vec!["PROOFWARP_MEMORY_LIMIT", "much"]),
        (
            vec![("PROOFWARP_BACKEND", "opencl"), nowhere, no_processors, no_cards],
            vec!["the opencl backend is not available"],
        ),
        (vec![("PROOFWARP_BACKEND", "cuda"), no_cards], vec!["the cuda backend is not available"]),
    ];
    if let Some(backend) = &present {
        // The device is there, and fails at its first operation.
        let variables = vec![("PROOFWARP_BACKEND", backend.as_str()), ("PROOFWARP_MEMORY_LIMIT", "1")];
        cases.push((variables, vec!["is forced, and", "out of device memory"]));
    }
    for (variables, said) in cases {
        let (well, text) = child(&variables);
        assert!(!well, "{variables:?}: proved on another backend: {text}");
        for part in said {
            assert!(text.contains(part), "{variables:?}: does not say {part}: {text}");
        }
    }
}

#[test]
fn without_devices_the_reason_is_given_once() {
    let (well, text) = child(&NO_DEVICE);
    assert!(well, "{text}");
    let lines: Vec<_> = text.lines().filter(|line| line.contains("the opencl backend is not available: ")).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("WARN: No working GPUs found! "), "{text}");
}
