//! What bellperson's prover relies on when an operation is aborted or fails: inputs as they were, an abort
//! told from a failure, and a proof that verifies whether the operation is retried or falls to the CPU.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use bellperson::groth16::{Parameters, PreparedVerifyingKey, create_random_proof, verify_proof};
use bellperson::groth16::{generate_random_parameters, prepare_verifying_key};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::{Field, PrimeField};
use proofwarp::ntt::{Transform, transform_many};
use proofwarp::{Accelerator, BackendKind, Error};

/// A chain of squarings, from a secret to a public output.
#[derive(Clone)]
struct Squares(usize);

impl Squares {
    fn output(&self) -> Scalar {
        (0..self.0).fold(Scalar::from(3), |x, _| x.square())
    }
}

impl Circuit<Scalar> for Squares {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = Scalar::from(3);
        let mut x = cs.alloc(|| "x", || Ok(value))?;
        for _ in 0..self.0 {
            value = value.square();
            let square = cs.alloc(|| "square", || Ok(value))?;
            cs.enforce(|| "", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            x = square;
        }
        let output = cs.alloc_input(|| "output", || Ok(value))?;
        cs.enforce(|| "", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + output);
        Ok(())
    }
}

/// A circuit with its keys.
struct Prover {
    circuit: Squares,
    parameters: Parameters<Bls12>,
    key: PreparedVerifyingKey<Bls12>,
}

impl Prover {
    fn new() -> Self {
        let circuit = Squares(200);
        let parameters = generate_random_parameters::<Bls12, _, _>(circuit.clone(), &mut common::rng(1)).unwrap();
        let key = prepare_verifying_key(&parameters.vk);
        Self { circuit, parameters, key }
    }

    /// Proves at low priority, where bellperson gives the engine an abort hook.
    fn prove(&self) -> bool {
        let proof = create_random_proof(self.circuit.clone(), &self.parameters, &mut common::rng(2)).unwrap();
        verify_proof(&self.key, &proof, &[self.circuit.output()]).unwrap()
    }
}

/// What happened in this process, and how bellperson is made to abort.
#[derive(Default)]
struct Events {
    /// Operations that gave a result, and the backend that did.
    operations: Vec<(String, BackendKind)>,
    /// Kernels that bellperson gave up because an operation was aborted.
    aborted: Vec<String>,
    /// Aborts each kind of kernel before its first operation and after it.
    abort: bool,
    /// Messages by which bellperson said that it made a kernel.
    made: Vec<String>,
    /// Held while bellperson is to believe that a proof of high priority waits.
    priority: Option<File>,
}

static EVENTS: Mutex<Events> =
    Mutex::new(Events { operations: Vec::new(), aborted: Vec::new(), abort: false, made: Vec::new(), priority: None });

fn events() -> MutexGuard<'static, Events> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Events {
    fn take_priority(&mut self) {
        let file = File::create(std::env::temp_dir().join("bellman.priority.lock")).unwrap();
        file.lock().unwrap();
        self.priority = Some(file);
    }

    fn operation_ended(&mut self, operation: &str, backend: BackendKind) {
        let first = !self.operations.iter().any(|(other, _)| other == operation);
        self.operations.push((operation.to_owned(), backend));
        if self.abort && first && backend != BackendKind::Cpu {
            self.take_priority();
        }
    }

    fn said(&mut self, message: String) {
        if message.starts_with("GPU acquired by a high priority process!") {
            self.priority = None;
            self.aborted.push(message);
        } else if message.ends_with("kernel instantiated!") {
            // Each kernel is made three times: at first, and after each of its two aborts.
            if self.abort && self.made.iter().filter(|other| **other == message).count() % 3 == 0 {
                self.take_priority();
            }
            self.made.push(message);
        }
    }
}

/// Listens to bellperson's log, the only place where it tells of an abort.
struct Listener;

impl log::Log for Listener {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("bellperson")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            events().said(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Starts to listen, and lets one test at a time make the devices fail or abort. `None`, and that is
/// printed, where there is no device.
fn exclusive() -> Option<(MutexGuard<'static, ()>, &'static Accelerator)> {
    static DEVICES: Mutex<()> = Mutex::new(());
    static START: Once = Once::new();
    let guard = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    let accelerator = Accelerator::global().unwrap();
    if common::accelerators()[0].devices().is_empty() {
        eprintln!("left out: retries after failures of a device, on the CPU, which has none");
        return None;
    }
    START.call_once(|| {
        // The priority lock of another process, which may run this very test, is no business of this one.
        let folder = tempfile::tempdir().unwrap().keep();
        // SAFETY: nobody reads the environment now: tests wait for this one, but for the one that reads no variable.
        unsafe { std::env::set_var("TMPDIR", folder) };
        log::set_logger(&Listener).unwrap();
        log::set_max_level(log::LevelFilter::Info);
        proofwarp::report::observe(|report| events().operation_ended(&report.operation, report.backend));
    });
    *events() = Events::default();
    Some((guard, accelerator))
}

/// bellperson goes on on the CPU, or, where a backend is forced, ends: with an error, or a panic where it has no error.
#[test]
fn a_failure_anywhere_still_gives_a_valid_proof() {
    let Some((_guard, accelerator)) = exclusive() else { return };
    let prover = Prover::new();
    let device = &accelerator.devices()[0];
    if accelerator.forced().is_some() {
        for launches in [0, 13] {
            device.inject_launch_fault(launches);
            let proved = catch_unwind(AssertUnwindSafe(|| prover.prove()));
            assert!(proved.is_err(), "launch {launches}: a proof by another backend than the one that is forced");
        }
        return device.inject_launch_fault(u32::MAX);
    }
    for failures in 0.. {
        events().operations.clear();
        // A prime number of launches, to meet each kernel at one operation or another.
        device.inject_launch_fault(13 * failures);
        assert!(prover.prove(), "launch {}", 13 * failures);
        let on_cpu = events().operations.iter().filter(|(_, backend)| *backend == BackendKind::Cpu).count();
        if on_cpu == 0 {
            device.inject_launch_fault(u32::MAX);
            assert!(failures > 5, "only {failures} failures");
            return;
        }
        assert!(failures < 1000, "every proof fails");
    }
}

#[test]
fn an_abort_of_each_kernel_still_gives_a_valid_proof() {
    let Some(_guard) = exclusive() else { return };
    let prover = Prover::new();
    events().operations.clear();
    events().made.clear();
    events().abort = true;
    assert!(prover.prove());
    let mut events = events();
    events.abort = false;
    let aborts = |kernel: &str| events.aborted.iter().filter(|message| message.contains(kernel)).count();
    assert_eq!([aborts(" FFT "), aborts(" Multiexp ")], [2, 4], "{:?}", events.aborted);
    let fell_back = events.operations.iter().find(|(_, backend)| *backend == BackendKind::Cpu);
    assert!(fell_back.is_none(), "{fell_back:?}");
}

/// A part that stops because another device failed must not pass for an abort, which callers retry for ever.
#[test]
fn a_failure_of_one_device_of_two_is_no_abort() {
    for (first, second) in common::alone(None).iter().zip(common::alone(None)) {
        let devices = [first.devices(), second.devices()].concat();
        let both = first.with_devices(devices.clone());
        let transform = Transform::new(10, root(10));
        let original: Vec<Scalar> = (0..1024).map(Scalar::from).collect();
        for (failing, device) in devices.iter().enumerate() {
            let mut values = vec![original.clone(); 16];
            let mut slices: Vec<&mut [Scalar]> = values.iter_mut().map(Vec::as_mut_slice).collect();
            device.inject_launch_fault(3);
            let error = transform_many(&both, &mut slices, &[transform; 16], None).unwrap_err();
            assert!(matches!(error, Error::Device { .. }), "device {failing}: {error}");
            assert!(values.iter().all(|values| *values == original), "device {failing}");
        }
    }
}

fn root(log_n: u32) -> Scalar {
    (log_n..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}
