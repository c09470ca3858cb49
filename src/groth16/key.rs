//! Proving keys, on the host and on the devices.

use std::sync::Arc;

use group::prime::PrimeCurveAffine;

use super::Engine;
use super::per_device::PerDevice;
use super::spread::{Costs, Query, Share};
use crate::backend::{Abort, Device};
use crate::curve::MsmCurve;
use crate::msm::{Msm, Options, Points};
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
    pub h: Points<E::G1Affine>,
    /// (β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ for auxiliary variables.
    pub l: Points<E::G1Affine>,
    /// uᵢ(τ) of all inputs, then of those auxiliary variables that occur in A.
    pub a: Points<E::G1Affine>,
    /// vᵢ(τ) of those inputs, then of those auxiliary variables that occur in B.
    pub b_g1: Points<E::G1Affine>,
    /// The same in G2.
    pub b_g2: Points<E::G2Affine>,
}

/// A proving key whose bases are uploaded once to each device that proves, for any number of proofs. A device that only
/// helps with a proof gets the queries that it sums, no others.
///
/// Bases that leave too little memory for proofs stay on the host and are streamed by every proof, with a warning in
/// the log.
#[derive(Debug)]
pub struct ProvingKeyOnDevice<E: Engine> {
    accelerator: Accelerator,
    parameters: Parameters<E>,
    tables: Tables<E>,
    /// Memory that is left to proofs on each device.
    reserves: PerDevice<u64>,
}

/// Queries on the devices.
#[derive(Debug)]
struct Tables<E: Engine> {
    g1: [PerDevice<Table<E::G1Affine>>; 4],
    b_g2: PerDevice<Table<E::G2Affine>>,
}

type Table<C> = Msm<'static, C>;

/// The queries on one device, those that it was asked for at least.
pub(super) struct Held<E: Engine> {
    pub b_g2: Option<Arc<Table<E::G2Affine>>>,
    pub h: Option<Arc<Table<E::G1Affine>>>,
    pub l: Option<Arc<Table<E::G1Affine>>>,
    pub a: Option<Arc<Table<E::G1Affine>>>,
    pub b_g1: Option<Arc<Table<E::G1Affine>>>,
}

impl<E: Engine> ProvingKeyOnDevice<E> {
    /// Checks a key's lengths and uploads it to the first device; others get what they need of it with their first proof.
    ///
    /// Points are trusted, but for a δ of zero and encoded ones.
    ///
    /// # Errors
    /// Lengths do not match, δ is zero, an encoded point is not what is expected, or a forced backend failed.
    pub fn new(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        let key = Self::on_host(accelerator, parameters)?;
        key.upload(accelerator, None)?;
        Ok(key)
    }

    /// As [`Self::new`], without the upload: the first device too gets what it needs with [`Self::upload`], or with its
    /// first proof.
    ///
    /// # Errors
    /// Lengths do not match, or δ is zero.
    pub fn on_host(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        parameters.check()?;
        let tables = Tables { g1: Default::default(), b_g2: PerDevice::default() };
        Ok(Self { accelerator: accelerator.clone(), parameters, tables, reserves: PerDevice::default() })
    }

    /// Uploads what the first of an accelerator's devices lacks of it; encoded points are decoded there, or here if there is
    /// no device. A query that is there stays when the next one's upload is aborted.
    ///
    /// # Errors
    /// An encoded point is not what is expected, the hook aborted, or a forced backend failed.
    pub fn upload(&self, accelerator: &Accelerator, abort: Abort<'_>) -> Result<()> {
        let Some(device) = accelerator.devices().first() else { return self.parameters.decode() };
        match self.on_device(device, Share::ALL, abort) {
            Err(error @ (Error::Invalid { .. } | Error::Aborted)) => Err(error),
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("groth16: the key stays on the host: {error}");
                self.parameters.decode()
            }
            result => result.map(drop),
        }
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
        let g1 = self.tables.g1.iter().flat_map(PerDevice::all).map(|table| table.table_bytes());
        let g2 = self.tables.b_g2.all().into_iter().map(|table| table.table_bytes());
        g1.chain(g2).sum()
    }

    /// The queries of a share on a device, uploaded now if it has them not, those first that streaming would cost most.
    pub(super) fn on_device(&self, device: &Arc<Device>, share: Share, abort: Abort<'_>) -> Result<Held<E>> {
        let Parameters { h, l, a, b_g1, b_g2, .. } = &self.parameters;
        let [h_tables, l_tables, a_tables, b_tables] = &self.tables.g1;
        Ok(Held {
            b_g2: self.query(device, share.has(Query::BG2), &self.tables.b_g2, b_g2, abort)?,
            h: self.query(device, share.has(Query::H), h_tables, h, abort)?,
            l: self.query(device, share.has(Query::L), l_tables, l, abort)?,
            a: self.query(device, share.has(Query::A), a_tables, a, abort)?,
            b_g1: self.query(device, share.has(Query::BG1), b_tables, b_g1, abort)?,
        })
    }

    fn query<C: MsmCurve>(
        &self,
        device: &Arc<Device>,
        wanted: bool,
        tables: &PerDevice<Table<C>>,
        bases: &Points<C>,
        abort: Abort<'_>,
    ) -> Result<Option<Arc<Table<C>>>> {
        let make = || table(&self.accelerator.on_devices(vec![device.clone()]), bases, *self.reserve(device)?, abort);
        wanted.then(|| tables.get(device, make)).transpose()
    }

    /// What a device's first table was to leave, so that later ones leave as much.
    fn reserve(&self, device: &Arc<Device>) -> Result<Arc<u64>> {
        self.reserves.get(device, || {
            let longest = self.domain().max(self.parameters.l.len()) as u64;
            Ok(device.free_memory()? / WORKSPACE_SHARE + VECTORS * 32 * longest + LEAST)
        })
    }

    /// What the sums take.
    pub(super) fn costs(&self) -> Costs {
        let Parameters { h, l, a, b_g1, b_g2, .. } = &self.parameters;
        Costs::new(|query| match query {
            Query::BG2 => b_g2.len(),
            Query::H => h.len(),
            Query::L => l.len(),
            Query::A => a.len(),
            Query::BG1 => b_g1.len(),
        })
    }
}

impl<E: Engine> Parameters<E> {
    /// Decodes on the host what is encoded, so that it goes to devices as they have it.
    ///
    /// # Errors
    /// A point is not what is expected.
    pub fn decode(&self) -> Result<()> {
        [&self.h, &self.l, &self.a, &self.b_g1].into_iter().try_for_each(|query| query.on_host().map(drop))?;
        self.b_g2.on_host().map(drop)
    }

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

/// Bases on the device if they leave `reserve` bytes there, unless somebody aborts their upload.
fn table<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &Points<C>,
    reserve: u64,
    abort: Abort<'_>,
) -> Result<Table<C>> {
    let bytes = (bases.len() * C::AFFINE_BYTES) as u64;
    let free = accelerator.devices().first().map_or(Ok(u64::MAX), |device| device.free_memory())?;
    if bytes.saturating_add(reserve) > free {
        let name = C::NAME;
        log::warn!("groth16 {name}: {bytes} bytes of bases stay on the host: {free} free, {reserve} kept for proofs");
        return Msm::streamed(accelerator, bases.clone());
    }
    Msm::shared_unless(accelerator, bases.clone(), Options::default(), abort)
}
