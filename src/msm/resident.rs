//! Bases that stay on the devices between calls.

use std::sync::Arc;

use super::gpu::{self, Bases};
use super::{call, check, check_lengths, on_cpu};
use crate::backend::{Abort, Buffer, Device};
use crate::curve::MsmCurve;
use crate::{Accelerator, Report, Result};

/// Bases uploaded once, for any number of multiplications.
///
/// Where they do not fit on the devices (and no backend is forced), they stay on the host and are streamed
/// by every call, with a warning in the log.
#[derive(Debug)]
pub struct Msm<'a, C> {
    accelerator: Accelerator,
    bases: &'a [C],
    /// One a device, in order of the bases; empty where they are on the host only.
    shards: Vec<Buffer>,
    share: usize,
}

impl<'a, C: MsmCurve> Msm<'a, C> {
    /// Uploads the bases, an equal share to each of the accelerator's devices.
    ///
    /// The points are trusted: see [`crate::curve`] for what they have to be, and
    /// [`Self::checked`].
    ///
    /// # Errors
    /// A forced backend has too little memory, or failed.
    pub fn new(accelerator: &Accelerator, bases: &'a [C]) -> Result<Self> {
        let devices = accelerator.devices();
        let share = gpu::share(bases.len(), devices.len());
        let uploaded = devices.iter().zip(bases.chunks(share)).map(|(device, bases)| upload(device, bases)).collect();
        let shards = match uploaded {
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("msm {}: bases stay on the host: {error}", C::NAME);
                Vec::new()
            }
            shards => shards?,
        };
        Ok(Self { accelerator: accelerator.clone(), bases, shards, share })
    }

    /// As [`Self::new`], for bases that nobody vouches for: each has to be infinity or a point of the curve's
    /// subgroup of prime order, its coordinates reduced.
    ///
    /// Uploads the bases once more than [`Self::new`] does. A point costs a few field multiplications on BN254 G1,
    /// Pallas and Vesta, and some 70 (BLS12-381 G2), 145 (BLS12-381 G1) or 200 (BN254 G2) point operations else.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] names the first base that is no such point, and why; else as [`Self::new`].
    pub fn checked(accelerator: &Accelerator, bases: &'a [C]) -> Result<Self> {
        check::check(accelerator, bases)?;
        Self::new(accelerator, bases)
    }

    /// Σ scalarᵢ · baseᵢ; scalars are canonical (reduced, 32 bytes little-endian each).
    ///
    /// # Errors
    /// There are not as many scalars as bases, the hook aborted, or a forced backend failed.
    pub fn run(&self, scalars: &[[u8; 32]], abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        check_lengths(self.bases.len(), scalars.len())?;
        self.accelerator.run(
            call::<C>(scalars.len()),
            |devices| gpu::msm(devices, &self.shares(), scalars, self.share, abort),
            || on_cpu(self.bases, scalars, abort),
        )
    }

    fn shares(&self) -> Vec<Bases<'_, C>> {
        match self.shards.is_empty() {
            true => self.bases.chunks(self.share).map(Bases::Host).collect(),
            false => self.shards.iter().map(Bases::Device).collect(),
        }
    }
}

fn upload<C: MsmCurve>(device: &Arc<Device>, bases: &[C]) -> Result<Buffer> {
    let mut stream = device.stream()?;
    let buffer = stream.allocate(bases.len() * C::AFFINE_BYTES)?;
    stream.upload(&buffer, &C::to_device(bases))?;
    stream.wait(None)?;
    Ok(buffer)
}
