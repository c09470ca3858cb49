//! Sets up an engine and a key on each device of a proof.

use std::sync::Arc;

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use proofwarp::plonk::{Circuit, CompiledCircuit, Engine, Key, KeyOnDevice, Link, MemoryEstimate, MemoryPlan};

use crate::caches;
use crate::constraints;
use crate::device_pick::DeviceReservation;
use crate::error::to_halo2_error;
use crate::options::Options;

/// Minimum number of rows at which several devices share a proof, 2^16. Below, one device is faster alone.
const SHARED_FROM: u64 = 1 << 16;

/// Holds a prover for each device of a proof. The first runs the proof, and the others compute a part of its
/// commitments and quotient.
pub(crate) struct DeviceProvers {
    pub all: Vec<DeviceProver>,
    _turn: DeviceReservation,
}

pub(crate) struct DeviceProver {
    pub engine: Engine<G1Affine>,
    key: Option<Arc<KeyOnDevice<Fr>>>,
    plan: MemoryPlan,
    /// Path of columns from the proof's first device. `None` means that all devices get equal parts.
    pub link: Option<Link>,
}

impl DeviceProvers {
    /// Creates a prover on each device that `options` allow, for a proof that takes `memory`. A further device is left
    /// out if it has too little memory for all columns.
    pub(crate) fn new(
        options: &Options,
        (params, pk): (&ParamsKZG<Bn256>, &ProvingKey<G1Affine>),
        memory: &MemoryEstimate,
    ) -> Result<Self, Error> {
        let many = memory.column >= SHARED_FROM * size_of::<Fr>() as u64;
        let most = options.devices.unwrap_or(if many { usize::MAX } else { 1 });
        let turn = match &options.accelerator {
            Some(accelerator) => DeviceReservation::new(accelerator, most),
            None => DeviceReservation::new(Accelerator::global().map_err(to_halo2_error)?, most),
        };
        let worker = |waits| move |accelerator| DeviceProver::new(options, accelerator, (params, pk), memory, waits);
        let mut accelerators = turn.accelerators.iter();
        let own = worker(DeviceReservation::may_wait());
        let mut all = accelerators.by_ref().take(1).map(own).collect::<Result<Vec<_>, _>>()?;
        // A worker that needs groups of columns has no memory for others' shares.
        if all.iter().all(|own| own.plan == MemoryPlan::ALL) {
            for accelerator in accelerators {
                match worker(false)(accelerator) {
                    Ok(other) if other.plan == MemoryPlan::ALL => all.push(other.into_peer(&all[0], options)),
                    Ok(_) => log::info!("halo2: a device has too little memory for a share of the proof"),
                    Err(error) => log::warn!("halo2: a device takes no share of the proof: {error}"),
                }
            }
        }
        Ok(Self { all, _turn: turn })
    }

    /// Returns `circuit`, compiled for the memory plan of the first prover.
    pub(crate) fn compile_circuit(&self, circuit: Arc<CompiledCircuit<Fr>>) -> Result<Arc<CompiledCircuit<Fr>>, Error> {
        match self.all[0].plan {
            MemoryPlan::ALL => Ok(circuit),
            plan => CompiledCircuit::new(Circuit::clone(&circuit), plan).map(Arc::new).map_err(to_halo2_error),
        }
    }
}

impl DeviceProver {
    /// Creates a prover on the device of `accelerator`. Its memory plan is that of `options`, or else one for the
    /// device's unreserved memory. If too little is unreserved and `waits` is set, it waits for other proofs to end.
    ///
    /// # Errors
    /// - The backend is forced, and the device is too small for the proof: [`proofwarp::Error::TooLarge`].
    fn new(
        options: &Options,
        accelerator: &Accelerator,
        (params, pk): (&ParamsKZG<Bn256>, &ProvingKey<G1Affine>),
        memory: &MemoryEstimate,
        waits: bool,
    ) -> Result<Self, Error> {
        if let (Some(device), None, Some(_)) = (accelerator.devices().first(), options.plan, accelerator.forced()) {
            memory.check_fits(device, device.memory()).map_err(to_halo2_error)?;
        }
        let engine = caches::engine(accelerator, params)?;
        let engine = options.abort.iter().cloned().fold(engine, Engine::with_abort);
        let keeps_key = options.plan.is_none_or(|plan| plan.columns_resident);
        let held = match options.plan {
            None if waits => engine.wait_for_memory(memory).map_err(to_halo2_error)?,
            _ => None,
        };
        let key = match keeps_key {
            true => caches::find_or_upload_key(accelerator, &engine, pk, memory, held.as_ref())?,
            false => None,
        };
        let engine = engine.reserve_memory(memory, key.is_some(), options.plan, held).map_err(to_halo2_error)?;
        let plan = engine.memory_plan();
        if plan != MemoryPlan::ALL {
            log::info!("halo2: too little of the device's memory is free for all columns: {plan}\n{memory}");
        }
        Ok(Self { engine, key, plan, link: None })
    }

    /// Turns this prover into one that computes a part of the proof of `own`. All devices get equal parts if `options`
    /// set a number of devices.
    fn into_peer(self, own: &Self, options: &Options) -> Self {
        let engine = self.engine.without_cpu_fallback();
        let link = options.devices.is_none().then(|| engine.link_from(&own.engine));
        Self { engine, link, ..self }
    }

    /// Returns views of the columns of `pk`, on the device if they are cached there, else in host memory.
    pub(crate) fn key_column_views<'a>(&'a self, pk: &'a ProvingKey<G1Affine>) -> Key<'a, Fr> {
        self.key.as_ref().map_or_else(|| constraints::key_column_views(pk), |key| key.key())
    }
}
