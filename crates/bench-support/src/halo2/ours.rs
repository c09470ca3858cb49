//! Makes keys and proofs by proofwarp.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, ProvingKey, VerifyingKey};
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};
use halo2_axiom::transcript::Challenge255;
use proofwarp::Accelerator;
use proofwarp::backend::{BackendKind, Device};
use proofwarp_halo2::create_proof_with;
use rand::rngs::OsRng;

use super::measure::{Prover, Transcript, written};
use super::outcome::Step;
use super::task::Setup;
use super::work::Opening;
use crate::Failure;

type Kzg = KZGCommitmentScheme<Bn256>;

/// Prefix of the operations that key generation reports.
const KEYGEN: &str = "halo2 keygen: ";

/// proofwarp.
pub struct Ours<'a> {
    setup: &'a Setup,
    opening: Opening,
    options: proofwarp_halo2::Options,
    seen: Arc<Mutex<Seen>>,
}

/// Collects proofwarp's reports.
#[derive(Default)]
struct Seen {
    /// Backends and devices that its operations ran on.
    places: BTreeSet<String>,
    /// Steps of key generation.
    steps: Vec<Step>,
}

impl<'a> Ours<'a> {
    /// Creates a prover with `setup` and `opening` that collects proofwarp's reports from now on.
    pub fn new(setup: &'a Setup, opening: Opening) -> Self {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let all = seen.clone();
        proofwarp::report::observe(move |report| {
            let mut seen = lock(&all);
            if let Some(name) = report.operation.strip_prefix(KEYGEN) {
                seen.steps.push(Step { name: name.to_owned(), ms: report.total.as_secs_f64() * 1e3 });
            } else {
                seen.places.insert(place(report.backend, &report.device));
            }
        });
        Self { setup, opening, options: proofwarp_halo2::Options::default(), seen }
    }

    /// Sets the maximum number of devices of a proof. `None` sets no limit.
    #[must_use]
    pub fn on_devices(mut self, devices: Option<u32>) -> Self {
        self.options.devices = devices.map(|devices| devices as usize);
        self
    }
}

fn place(backend: BackendKind, device: &str) -> String {
    format!("{backend} ({device})")
}

/// Returns the devices whose memory has been used.
fn used() -> Vec<Arc<Device>> {
    let devices = Accelerator::global().map_or(&[][..], Accelerator::devices);
    devices.iter().filter(|device| device.peak_memory() > 0).cloned().collect()
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prover for Ours<'_> {
    fn name(&self) -> &'static str {
        "proofwarp"
    }

    fn keygen_vk<C: Circuit<Fr>>(&self, circuit: &C) -> Result<VerifyingKey<G1Affine>, Failure> {
        Ok(proofwarp_halo2::keygen_vk(self.setup, circuit)?)
    }

    fn keygen_pk<C: Circuit<Fr>>(
        &self,
        vk: VerifyingKey<G1Affine>,
        circuit: &C,
    ) -> Result<ProvingKey<G1Affine>, Failure> {
        Ok(proofwarp_halo2::keygen_pk(self.setup, vk, circuit)?)
    }

    fn prove<C: Circuit<Fr>>(
        &self,
        key: &ProvingKey<G1Affine>,
        circuit: &[C; 1],
        instances: &[&[Fr]],
    ) -> Result<Transcript, Failure> {
        let (setup, instances) = (self.setup, &[instances]);
        written(|out| match self.opening {
            Opening::Shplonk => create_proof_with::<Kzg, ProverSHPLONK<'_, Bn256>, Challenge255<_>, _, _, _>(
                &self.options,
                setup,
                key,
                circuit,
                instances,
                OsRng,
                out,
            ),
            Opening::Gwc => create_proof_with::<Kzg, ProverGWC<'_, Bn256>, Challenge255<_>, _, _, _>(
                &self.options,
                setup,
                key,
                circuit,
                instances,
                OsRng,
                out,
            ),
        })
    }

    fn key_steps(&self) -> Vec<Step> {
        std::mem::take(&mut lock(&self.seen).steps)
    }

    fn memory_bound(&self, key: &ProvingKey<G1Affine>) -> Option<String> {
        let device = Accelerator::global().ok()?.devices().first()?;
        let bound = |free| proofwarp_halo2::memory(key, 1).bound::<G1Affine>(device, free);
        Some(match device.unreserved_memory().and_then(bound) {
            Ok(bound) => bound.to_string(),
            Err(error) => format!("too much memory: {error}"),
        })
    }

    fn device_bytes(&self) -> Option<u64> {
        used().iter().map(|device| device.peak_memory()).max()
    }

    fn ran_on(&self) -> Vec<String> {
        let used: Vec<_> = used().iter().map(|device| place(device.info().backend, &device.info().name)).collect();
        let text = |name: &String| match used.iter().filter(|other| *other == name).count() {
            several @ 2.. => format!("{several} × {name}"),
            _ => name.clone(),
        };
        lock(&self.seen).places.iter().map(text).collect()
    }
}
