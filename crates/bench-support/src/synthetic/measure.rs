//! Times the steps from a system to checked proofs.

use std::time::{Duration, Instant};

use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::groth16::{AuxValues, Circuit, PackedScalars, Proof, ProvingKeyOnDevice, Witness, prove};
use proofwarp::{Accelerator, BackendKind, Report};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::expect;
use super::key::{Logarithms, Sums};
use super::memory::{self, Item};
use super::options::Options;
use super::system::System;
use crate::{Failure, progress};

/// Binary logarithm of the largest domain that is proved on the CPU as well.
const ALSO_ON_CPU: u32 = 14;

/// Holds the measurements of one system.
pub struct Outcome {
    /// Steps in order with their times.
    pub steps: Vec<(&'static str, Duration)>,
    /// Each timed call after the first.
    pub calls: Vec<Duration>,
    /// Proofs that were checked, those on the CPU among them.
    pub verified: usize,
    /// Report of the call with the median time, or of the first call if there is no other.
    pub report: Report,
    /// Bytes of the key and of the circuit on the devices, all together.
    pub key_bytes: u64,
    pub circuit_bytes: u64,
    /// Peak bytes of the host's memory, if known, and of each device's.
    pub host_peak: Option<u64>,
    pub device_peaks: Vec<u64>,
}

/// Makes a key for `circuit`, proves `system` and checks every proof.
///
/// # Errors
/// Returns an error if a proof differs from the expected one, or an error of the engine.
pub fn measure(
    accelerator: &Accelerator,
    options: &Options,
    system: &System,
    circuit: &Circuit<Scalar>,
) -> Result<Outcome, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    rng.set_stream(u64::MAX);
    let logarithms = Logarithms::random(&mut rng);
    let [r, s] = [(); 2].map(|()| (0..options.batch).map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>());
    let mut steps = Vec::new();
    let sums = timed(&mut steps, "what the proofs must be", || expect::sums(system, circuit, &logarithms))?;
    timed(&mut steps, "matrices to the devices", || circuit.upload(accelerator, None).map_err(Failure::from))?;
    let key = timed(&mut steps, "key", || logarithms.key(circuit))?;
    let key =
        timed(&mut steps, "key to the device", || ProvingKeyOnDevice::new(accelerator, key).map_err(Failure::from))?;
    let packed = options.packed.then(|| timed(&mut steps, "packing the witness", || Ok(pack(system)))).transpose()?;
    let prover = Prover { key, circuit, system, packed, expected: expected(&logarithms, &sums, &r, &s), r, s };
    let first = timed(&mut steps, "first call", || prover.prove())?;
    let mut reports = (0..options.proofs).map(|_| prover.prove()).collect::<Result<Vec<_>, _>>()?;
    let calls: Vec<Duration> = reports.iter().map(|report| report.total).collect();
    reports.sort_by_key(|report| report.total);
    let report = if reports.is_empty() { first } else { reports.swap_remove(reports.len() / 2) };
    let also_on_cpu = options.log_constraints <= ALSO_ON_CPU && !accelerator.devices().is_empty();
    if also_on_cpu {
        timed(&mut steps, "the same on the CPU", || prover.on_cpu())?;
    }
    Ok(Outcome {
        steps,
        verified: (1 + calls.len() + usize::from(also_on_cpu)) * prover.r.len(),
        calls,
        report,
        key_bytes: prover.key.device_bytes(),
        circuit_bytes: circuit.device_bytes(),
        host_peak: memory::host_peak(),
        device_peaks: accelerator.devices().iter().map(|device| device.peak_memory()).collect(),
    })
}

fn expected(key: &Logarithms, sums: &Sums, r: &[Scalar], s: &[Scalar]) -> Vec<Proof<Bls12>> {
    r.iter().zip(s).map(|(r, s)| key.proof(sums, *r, *s)).collect()
}

fn pack(system: &System) -> PackedScalars<Scalar> {
    let packed: PackedScalars<_> = system.values[system.inputs..].iter().copied().collect();
    println!("witness of {} bytes, packed {}", size_of_val(&system.values[..]), packed.host_bytes());
    packed
}

fn timed<T>(
    steps: &mut Vec<(&'static str, Duration)>,
    name: &'static str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let start = Instant::now();
    let result = progress::step(name, work)?;
    steps.push((name, start.elapsed()));
    Ok(result)
}

/// A key and a circuit with a witness, and the proofs that they must give.
struct Prover<'a> {
    key: ProvingKeyOnDevice<Bls12>,
    circuit: &'a Circuit<Scalar>,
    system: &'a System,
    /// The auxiliary variables' values, if they are packed.
    packed: Option<PackedScalars<Scalar>>,
    expected: Vec<Proof<Bls12>>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
}

impl Prover<'_> {
    /// Makes the batch's proofs in one call and checks each of them.
    fn prove(&self) -> Result<Report, Failure> {
        self.prove_with(&self.key)
    }

    fn prove_with(&self, key: &ProvingKeyOnDevice<Bls12>) -> Result<Report, Failure> {
        let (inputs, aux) = self.system.values.split_at(self.system.inputs);
        let aux = self.packed.as_ref().map_or(aux.into(), AuxValues::from);
        let witnesses = vec![Witness { inputs, aux, evaluations: None }; self.r.len()];
        let (proofs, report) = prove(key, self.circuit, &witnesses, &self.r, &self.s, None)?;
        for (number, (expected, actual)) in self.expected.iter().zip(&proofs).enumerate() {
            let equal = [expected.a == actual.a, expected.b == actual.b, expected.c == actual.c];
            if let Some(point) = equal.iter().position(|equal| !equal) {
                let texts = |proof: &Proof<Bls12>| [proof.a.to_string(), proof.b.to_string(), proof.c.to_string()];
                let (name, expected, actual) = (["A", "B", "C"][point], &texts(expected)[point], &texts(actual)[point]);
                return Err(format!("proof {number}, {name}: expected {expected}, got {actual}").into());
            }
        }
        Ok(report)
    }

    fn on_cpu(&self) -> Result<Report, Failure> {
        let host = Accelerator::with_backend(BackendKind::Cpu)?;
        self.prove_with(&ProvingKeyOnDevice::new(&host, self.key.parameters().clone())?)
    }
}

impl Outcome {
    /// Returns the results that `--json` writes. Times are in milliseconds.
    pub fn json(&self, options: &Options, plan: Vec<Item>) -> Value {
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        let steps: serde_json::Map<_, _> =
            self.steps.iter().map(|(name, time)| ((*name).to_owned(), ms(time).into())).collect();
        let (report, traffic) = (&self.report, &self.report.traffic);
        json!({
            "log_constraints": options.log_constraints,
            "constraints": report.elements,
            "seed": options.seed,
            "batch": options.batch,
            "backend": report.backend.to_string(),
            "device": report.device,
            "verified": self.verified,
            "fallbacks": report.fallbacks,
            "steps_ms": steps,
            "calls_ms": self.calls.iter().map(ms).collect::<Vec<_>>(),
            "median_ms": ms(&report.total),
            "upload_ms": ms(&traffic.upload),
            "kernels_ms": ms(&traffic.kernels),
            "download_ms": ms(&traffic.download),
            "compile_ms": ms(&traffic.compile),
            "bytes_up": traffic.bytes_up,
            "bytes_down": traffic.bytes_down,
            "plan_bytes": plan,
            "key_bytes": self.key_bytes,
            "circuit_bytes": self.circuit_bytes,
            "host_peak_bytes": self.host_peak,
            "device_peak_bytes": self.device_peaks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a small system from `seed`, with its options and its circuit.
    fn small(seed: &str) -> (Options, System, Circuit<Scalar>) {
        let line = format!("--log-constraints 10 --proofs 1 --seed {seed}");
        let options = crate::output::parse::<Options>(&line).expect("a line");
        let system = options.shape().make().expect("system");
        let circuit = Circuit::from_matrices(system.inputs, system.matrices.clone()).expect("circuit");
        (options, system, circuit)
    }

    #[test]
    fn proofs_are_what_they_must_be() {
        let (mut options, system, circuit) = small("5");
        options.batch = 3;
        let accelerator = Accelerator::from_env().expect("accelerator");
        let outcome = measure(&accelerator, &options, &system, &circuit).expect("proofs");
        assert_eq!((outcome.calls.len(), outcome.report.elements), (1, 992));
        assert_eq!(outcome.device_peaks.len(), accelerator.devices().len());
    }

    #[test]
    fn a_wrong_proof_is_noticed() {
        let (_, system, circuit) = small("6");
        let logarithms = Logarithms::random(ChaCha8Rng::seed_from_u64(6));
        let sums = expect::sums(&system, &circuit, &logarithms).expect("satisfied");
        let (r, s) = (vec![Scalar::from(3)], vec![Scalar::from(5)]);
        let cases = [
            (Sums { a: sums.a.double(), ..sums }, "A"),
            (Sums { b_g2: Scalar::ONE, ..sums }, "B"),
            (Sums { b_g1: Scalar::ONE, ..sums }, "C"),
            (Sums { l: Scalar::ONE, ..sums }, "C"),
            (Sums { h: sums.h + Scalar::ONE, ..sums }, "C"),
        ];
        let host = Accelerator::with_backend(BackendKind::Cpu).expect("host");
        let key = ProvingKeyOnDevice::new(&host, logarithms.key(&circuit).expect("key")).expect("key");
        let mut prover = Prover { key, circuit: &circuit, system: &system, packed: None, expected: Vec::new(), r, s };
        for (sums, name) in cases {
            prover.expected = expected(&logarithms, &sums, &prover.r, &prover.s);
            let error = prover.prove().expect_err("another proof").to_string();
            assert!(error.starts_with(&format!("proof 0, {name}")), "{error}");
        }
    }

    #[test]
    fn a_wrong_assignment_is_noticed() {
        let (_, mut system, circuit) = small("7");
        let logarithms = Logarithms::random(ChaCha8Rng::seed_from_u64(7));
        let last = system.values.len() - 1;
        system.values[last] += Scalar::from(2);
        let error = expect::sums(&system, &circuit, &logarithms).expect_err("not satisfied").to_string();
        assert!(error.starts_with("constraint 991"), "{error}");
    }
}
