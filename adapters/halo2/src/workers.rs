//! Sets up an engine and a key on each device of a proof.

use std::sync::Arc;

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use proofwarp::plonk::{Circuit, Engine, Key, KeyOnDevice, Link, Lowered, Memory, Plan};

use crate::constraints;
use crate::error::outer;
use crate::options::Options;
use crate::setup;
use crate::turn::Turn;

/// Minimum rows for several devices, 2^16: below, one device is faster alone.
const SHARED_FROM: u64 = 1 << 16;

/// Holds the proof's own worker, then those that take shares.
pub struct Workers {
    pub all: Vec<Worker>,
    _turn: Turn,
}

pub struct Worker {
    pub engine: Engine<G1Affine>,
    key: Option<Arc<KeyOnDevice<Fr>>>,
    plan: Plan,
    /// Path of columns from the proof's own device; `None`: shares are even.
    pub link: Option<Link>,
}

impl Workers {
    /// Creates workers on the devices that `options` name. A device that falls short of `memory` takes no share.
    pub fn new(
        options: &Options,
        (params, pk): (&ParamsKZG<Bn256>, &ProvingKey<G1Affine>),
        memory: &Memory,
    ) -> Result<Self, Error> {
        let many = memory.column >= SHARED_FROM * size_of::<Fr>() as u64;
        let most = options.devices.unwrap_or(if many { usize::MAX } else { 1 });
        let turn = match &options.accelerator {
            Some(accelerator) => Turn::new(accelerator, most),
            None => Turn::new(Accelerator::global().map_err(outer)?, most),
        };
        let worker = |accelerator| Worker::new(options, accelerator, (params, pk), memory);
        let mut accelerators = turn.accelerators.iter();
        let mut all = accelerators.by_ref().take(1).map(worker).collect::<Result<Vec<_>, _>>()?;
        // A worker that needs groups of columns has no memory for others' shares.
        if all.iter().all(|own| own.plan == Plan::ALL) {
            for accelerator in accelerators {
                match worker(accelerator) {
                    Ok(other) if other.plan == Plan::ALL => all.push(other.for_share(&all[0], options)),
                    Ok(_) => log::info!("halo2: a device has too little memory for a share of the proof"),
                    Err(error) => log::warn!("halo2: a device takes no share of the proof: {error}"),
                }
            }
        }
        Ok(Self { all, _turn: turn })
    }

    /// Returns the circuit, lowered for the plan of the proof's own worker.
    pub fn lowered(&self, circuit: Arc<Lowered<Fr>>) -> Result<Arc<Lowered<Fr>>, Error> {
        match self.all[0].plan {
            Plan::ALL => Ok(circuit),
            plan => Lowered::new(Circuit::clone(&circuit), plan).map(Arc::new).map_err(outer),
        }
    }
}

impl Worker {
    /// Creates a worker within the options' plan, or within one for the device's free memory.
    fn new(
        options: &Options,
        accelerator: &Accelerator,
        (params, pk): (&ParamsKZG<Bn256>, &ProvingKey<G1Affine>),
        memory: &Memory,
    ) -> Result<Self, Error> {
        let engine = setup::engine(accelerator, params)?;
        let keeps_key = options.plan.is_none_or(|plan| plan.keeps_own);
        let key = if keeps_key { setup::key(accelerator, &engine, pk, memory)? } else { None };
        let free = engine.free_memory().map_err(outer)?;
        let plan = options.plan.unwrap_or_else(|| free.map_or(Plan::ALL, |free| memory.plan(free, key.is_some())));
        if plan != Plan::ALL {
            log::info!(
                "halo2: the device has {free:?} bytes free, which asks for groups of columns: {plan:?}\n{memory}"
            );
        }
        let engine = if plan == Plan::ALL { engine.sparing(memory) } else { engine };
        let engine = options.abort.iter().cloned().fold(engine.within(plan), Engine::stopped_by);
        Ok(Self { engine, key, plan, link: None })
    }

    /// Turns the worker into one for shares of the proof of `own`. Shares are even if the options set a number of
    /// devices.
    fn for_share(self, own: &Self, options: &Options) -> Self {
        let engine = self.engine.without_host();
        let link = options.devices.is_none().then(|| engine.link_from(&own.engine));
        Self { engine, link, ..self }
    }

    /// Returns the key's columns, on the device if it keeps them, else in host memory.
    pub fn key<'a>(&'a self, pk: &'a ProvingKey<G1Affine>) -> Key<'a, Fr> {
        self.key.as_ref().map_or_else(|| constraints::key(pk), |key| key.key())
    }
}
