//! The device contract, on every backend present.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod copies;
mod memory;
mod soundness;
mod streams;
#[cfg(feature = "opencl")]
mod text_kernels;

use std::sync::Arc;

use proofwarp::backend::{Buffer, Device, Driver, Stream};

/// Larger than one slot of the staging ring, and not a multiple of anything.
const OVER_A_SLOT: usize = (5 << 20) + 7;
const MIB: usize = 1 << 20;

/// A device of each backend, shared with the other tests of this process.
fn devices() -> Vec<Arc<Device>> {
    let backends = common::accelerators();
    let devices: Vec<_> = backends.iter().filter_map(|accelerator| accelerator.devices().first().cloned()).collect();
    if devices.is_empty() {
        common::skip("the CPU that PROOFWARP_BACKEND names has no device");
    }
    devices
}

/// A driver of each backend, for tests that change or count what a device does.
fn drivers() -> Vec<Box<dyn Driver>> {
    devices().iter().map(|device| common::fresh_driver(device)).collect()
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index.wrapping_mul(2_654_435_761) >> 7) as u8 | 1).collect()
}

fn uploaded(stream: &mut Stream, bytes: &[u8]) -> Buffer {
    let buffer = stream.allocate(bytes.len()).unwrap();
    stream.upload(&buffer, bytes).unwrap();
    buffer
}

fn downloaded(stream: &mut Stream, buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0xee; buffer.bytes()];
    stream.download(&mut bytes, buffer).unwrap();
    bytes
}
