//! Devices that no other test uses, and a proof to make on them.

use std::sync::Arc;

use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey};
use proofwarp::Accelerator;
use proofwarp::backend::{BackendKind, Device, Driver};
use proofwarp_halo2::{Kind, Options};

use crate::described::{Described, Shape, instances_of, keys, prove_with, verify};

/// What always has to come out.
pub struct Expected {
    pub k: u32,
    pub key: ProvingKey<G1Affine>,
    pub circuits: Vec<Described>,
    pub instances: Vec<Vec<Vec<Fr>>>,
    pub proof: Vec<u8>,
}

impl Expected {
    pub fn new(shape: &Shape, k: u32, circuits: u64) -> Self {
        let key = keys(shape, k);
        let circuits: Vec<_> = (1..=circuits).map(|seed| Described::new(shape, seed)).collect();
        let instances = instances_of(&circuits);
        let mut expected = Self { k, key, circuits, instances, proof: Vec::new() };
        expected.proof = expected.prove(&Options::default()).expect("a proof");
        let Self { key, instances, proof, .. } = &expected;
        assert!(verify(Kind::Shplonk, k, key.get_vk(), instances, proof));
        expected
    }

    pub fn prove(&self, options: &Options) -> Result<Vec<u8>, Error> {
        prove_with(options, Kind::Shplonk, self.k, &self.key, &self.circuits, &self.instances, 7)
    }
}

/// What proofwarp said went wrong.
pub fn reason(error: &Error) -> &proofwarp::Error {
    match error {
        Error::Transcript(error) => error.get_ref().and_then(|error| error.downcast_ref()).expect("proofwarp's error"),
        other => panic!("{other}"),
    }
}

/// A device of the environment's backend that nobody else has, which may take so much memory; `None`, and a word of it,
/// where the environment has none.
pub fn alone(test: &str, memory_limit: Option<u64>) -> Option<Arc<Device>> {
    let device = Accelerator::global().expect("an accelerator").devices().first();
    if device.is_none() {
        eprintln!("left out: {test}, since there is no device");
    }
    device.map(|like| Device::new(fresh_driver(like), memory_limit))
}

/// Only the device, or the host as well.
pub fn only(device: &Arc<Device>) -> Options {
    let forced = Accelerator::with_backend(device.info().backend).expect("it was there");
    Options { accelerator: Some(forced.on_devices(vec![device.clone()])), ..Options::default() }
}

pub fn or_the_host(device: &Arc<Device>) -> Options {
    let accelerator = Accelerator::automatic().expect("an accelerator");
    Options { accelerator: Some(accelerator.on_devices(vec![device.clone()])), ..Options::default() }
}

fn fresh_driver(like: &Device) -> Box<dyn Driver> {
    match like.info().backend {
        #[cfg(feature = "opencl")]
        BackendKind::OpenCl => Box::new(proofwarp::backend::opencl::drivers().expect("it was there").remove(0)),
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => Box::new(proofwarp::backend::cuda::drivers().expect("it was there").remove(0)),
        other => panic!("{other} has no devices"),
    }
}
