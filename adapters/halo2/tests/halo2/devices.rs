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

    /// A proof by either opening.
    pub fn prove_by(&self, kind: Kind, options: &Options) -> Vec<u8> {
        prove_with(options, kind, self.k, &self.key, &self.circuits, &self.instances, 7).expect("a proof")
    }
}

/// Steps from one fault to the next: more where there is no device but the processor, on which a proof takes seconds.
pub fn stride(on_processor: usize, elsewhere: usize) -> usize {
    let devices = Accelerator::global().map_or(&[][..], |accelerator| accelerator.devices());
    if devices.iter().all(|device| device.info().is_cpu) { on_processor } else { elsewhere }
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
    numbered(0, test, memory_limit)
}

/// Two of them, of different cards where there are two; the second one may take so much memory.
pub fn two(test: &str, memory_limit: Option<u64>) -> Option<[Arc<Device>; 2]> {
    Some([numbered(0, test, None)?, numbered(1, test, memory_limit)?])
}

fn numbered(number: usize, test: &str, memory_limit: Option<u64>) -> Option<Arc<Device>> {
    let device = Accelerator::global().expect("an accelerator").devices().iter().cycle().nth(number);
    if device.is_none() {
        eprintln!("skipped: {test}, since there is no device");
    }
    device.map(|like| Device::new(fresh_driver(like), memory_limit))
}

/// Only the device, or the host as well.
pub fn only(device: &Arc<Device>) -> Options {
    only_these(std::slice::from_ref(device))
}

pub fn or_the_host(device: &Arc<Device>) -> Options {
    these_or_the_host(std::slice::from_ref(device))
}

/// The same of several devices.
pub fn only_these(devices: &[Arc<Device>]) -> Options {
    let forced = Accelerator::with_backend(devices[0].info().backend).expect("it was there");
    Options { accelerator: Some(forced.with_devices(devices.to_vec())), ..Options::default() }
}

pub fn these_or_the_host(devices: &[Arc<Device>]) -> Options {
    let accelerator = Accelerator::automatic().expect("an accelerator");
    Options { accelerator: Some(accelerator.with_devices(devices.to_vec())), ..Options::default() }
}

/// Both devices share a proof evenly.
pub fn even(options: Options) -> Options {
    Options { devices: Some(2), ..options }
}

/// The second device fails at one launch after the other, until a proof has none left: how many did fail.
pub fn fail_the_second(expected: &Expected, options: &Options, second: &Arc<Device>) -> usize {
    let mut failures = 0;
    for launch in (0_u32..).step_by(stride(19, 7)) {
        second.inject_launch_fault(launch);
        assert!(expected.prove(options).expect("the first one goes on") == expected.proof, "launch {launch}");
        // The next proof's first launch fails if this one's did not.
        if expected.prove(&only(second)).is_err() {
            break;
        }
        failures += 1;
    }
    failures
}

pub fn fresh_driver(like: &Device) -> Box<dyn Driver> {
    let ordinal = like.info().ordinal;
    match like.info().backend {
        #[cfg(feature = "opencl")]
        BackendKind::OpenCl => of_number(proofwarp::backend::opencl::drivers().expect("they were there"), ordinal),
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => of_number(proofwarp::backend::cuda::drivers().expect("they were there"), ordinal),
        other => panic!("{other} has no devices"),
    }
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
fn of_number<D: Driver + 'static>(drivers: Vec<D>, ordinal: usize) -> Box<dyn Driver> {
    Box::new(drivers.into_iter().find(|driver| driver.info().ordinal == ordinal).expect("it was there"))
}
