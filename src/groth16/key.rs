//! Proving keys, on the host and on the devices.

use std::sync::Arc;

use group::prime::PrimeCurveAffine;

use super::Engine;
use super::per_device::PerDevice;
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::msm::{Msm, Options};
use crate::{Accelerator, Error, Result};

/// Of a device's free memory, one part in so many is left to the sums of proofs.
const WORKSPACE_SHARE: u64 = 8;
/// Vectors of the domain's length that a proof has on a device: a, b, c, the assignment and its two selections, and
/// three that transforms and their tables may take beside.
const VECTORS: u64 = 9;
/// Bytes that a proof takes whatever its length, such as tables of short transforms.
const LEAST: u64 = 16 << 20;

/// What a setup gives for a circuit, as Groth16 defines it ("On the Size of Pairing-based Non-interactive
/// Arguments", 2016), in bellperson's order.
#[derive(Debug, Clone)]
pub struct Parameters<E: Engine> {
    /// α in G1.
    pub alpha_g1: E::G1Affine,
    /// β in G1.
    pub beta_g1: E::G1Affine,
    /// β in G2.
    pub beta_g2: E::G2Affine,
    /// δ in G1.
    pub delta_g1: E::G1Affine,
    /// δ in G2.
    pub delta_g2: E::G2Affine,
    /// τⁱ·t(τ)/δ for i < m − 1, where m is the domain's order.
    pub h: Arc<Vec<E::G1Affine>>,
    /// (β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ for auxiliary variables.
    pub l: Arc<Vec<E::G1Affine>>,
    /// uᵢ(τ) of all inputs, then of those auxiliary variables that occur in A.
    pub a: Arc<Vec<E::G1Affine>>,
    /// vᵢ(τ) of those inputs, then of those auxiliary variables that occur in B.
    pub b_g1: Arc<Vec<E::G1Affine>>,
    /// The same in G2.
    pub b_g2: Arc<Vec<E::G2Affine>>,
}

/// A proving key whose bases are uploaded once to each device that proves, for any number of proofs.
///
/// Bases that leave too little memory for proofs stay on the host and are streamed by every proof, with a warning in
/// the log.
#[derive(Debug)]
pub struct ProvingKeyOnDevice<E: Engine> {
    accelerator: Accelerator,
    parameters: Parameters<E>,
    tables: PerDevice<Tables<E>>,
}

/// The queries on one device.
#[derive(Debug)]
pub(super) struct Tables<E: Engine> {
    pub h: Msm<'static, E::G1Affine>,
    pub l: Msm<'static, E::G1Affine>,
    pub a: Msm<'static, E::G1Affine>,
    pub b_g1: Msm<'static, E::G1Affine>,
    pub b_g2: Msm<'static, E::G2Affine>,
}

impl<E: Engine> ProvingKeyOnDevice<E> {
    /// Checks a key's lengths and uploads it to the first device; others get it with their first proof.
    ///
    /// Points are trusted, but for a δ of zero.
    ///
    /// # Errors
    /// Lengths do not match, δ is zero, or a forced backend failed.
    pub fn new(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        parameters.check()?;
        let key = Self { accelerator: accelerator.clone(), parameters, tables: PerDevice::default() };
        if let Some(device) = accelerator.devices().first() {
            match key.on_device(device) {
                Err(error) if accelerator.forced().is_none() => {
                    log::warn!("groth16: the key stays on the host: {error}");
                }
                result => drop(result?),
            }
        }
        Ok(key)
    }

    /// The key on the host.
    pub fn parameters(&self) -> &Parameters<E> {
        &self.parameters
    }

    /// The devices and the policy that proofs are made by.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// The domain's order m.
    pub fn domain(&self) -> usize {
        self.parameters.h.len() + 1
    }

    /// Bytes that the key takes on the devices, all together.
    pub fn bytes(&self) -> u64 {
        self.tables.all().iter().map(|tables| tables.bytes()).sum()
    }

    /// The tables on a device, uploaded now if it has none.
    pub(super) fn on_device(&self, device: &Arc<Device>) -> Result<Arc<Tables<E>>> {
        self.tables.get(device, || Tables::new(&self.accelerator.on_devices(vec![device.clone()]), &self.parameters))
    }
}

impl<E: Engine> Parameters<E> {
    fn check(&self) -> Result<()> {
        const PLACE: &str = "groth16 key";
        let domain = self.h.len() + 1;
        if !domain.is_power_of_two() {
            return Err(Error::invalid(PLACE, "length of h", "a power of two, less one", self.h.len()));
        }
        if self.b_g1.len() != self.b_g2.len() {
            return Err(Error::invalid(PLACE, "length of b_g2", self.b_g1.len(), self.b_g2.len()));
        }
        // With δ = 0 whoever made the key could learn the witness.
        if bool::from(self.delta_g1.is_identity() | self.delta_g2.is_identity()) {
            return Err(Error::invalid(PLACE, "δ", "a point other than zero", "zero"));
        }
        Ok(())
    }
}

impl<E: Engine> Tables<E> {
    /// The tables on the accelerator's only device, those first that streaming would cost most.
    fn new(accelerator: &Accelerator, parameters: &Parameters<E>) -> Result<Self> {
        let vectors = VECTORS * 32 * (parameters.h.len() + 1).max(parameters.l.len()) as u64;
        let free = accelerator.devices().first().map_or(Ok(0), |device| device.free_memory())?;
        let reserve = free / WORKSPACE_SHARE + vectors + LEAST;
        Ok(Self {
            b_g2: table(accelerator, &parameters.b_g2, reserve)?,
            h: table(accelerator, &parameters.h, reserve)?,
            l: table(accelerator, &parameters.l, reserve)?,
            a: table(accelerator, &parameters.a, reserve)?,
            b_g1: table(accelerator, &parameters.b_g1, reserve)?,
        })
    }

    fn bytes(&self) -> u64 {
        let g1 = [&self.h, &self.l, &self.a, &self.b_g1].map(Msm::table_bytes);
        g1.iter().sum::<u64>() + self.b_g2.table_bytes()
    }
}

/// Bases on the device if they leave `reserve` bytes there.
fn table<C: MsmCurve>(accelerator: &Accelerator, bases: &Arc<Vec<C>>, reserve: u64) -> Result<Msm<'static, C>> {
    let bytes = (bases.len() * C::AFFINE_BYTES) as u64;
    let free = accelerator.devices().first().map_or(Ok(u64::MAX), |device| device.free_memory())?;
    if bytes.saturating_add(reserve) > free {
        let name = C::NAME;
        log::warn!("groth16 {name}: {bytes} bytes of bases stay on the host: {free} free, {reserve} kept for proofs");
        return Ok(Msm::streamed(accelerator, bases.clone()));
    }
    Msm::shared(accelerator, bases.clone(), Options::default())
}
