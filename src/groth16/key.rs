//! Proving keys, on the host and on the devices.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use group::prime::PrimeCurveAffine;

use super::Engine;
use super::per_device::PerDevice;
use super::spread::{Costs, Query, Share};
use crate::backend::{Abort, Device, guarded, lock};
use crate::curve::MsmCurve;
use crate::msm::{self, Msm, Options, Points};
use crate::{Accelerator, Error, Result};

/// Of a device's free memory, one part in so many is left to the sums of proofs.
const WORKSPACE_SHARE: u64 = 8;
/// Vectors of the domain's length that a proof has on a device: a, b, c, the assignment and its two selections, and
/// three that transforms and their tables may take beside.
const VECTORS: u64 = 9;
/// Bytes that a proof takes whatever its length, such as tables of short transforms.
const LEAST: u64 = 16 << 20;

/// Binary digits of the free memory that count.
const DIGITS: u32 = 4;

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
    /// How many proofs each device had under way last, and the situation that this was found for: finding it takes as long as a
    /// small proof.
    at_once: PerDevice<Mutex<Option<(Situation, usize)>>>,
}

/// What the number of proofs under way depends on: the sums, how many of their tables are there, the free memory without its
/// lower digits, and the most proofs.
type Situation = (Share, usize, u64, usize);

/// Queries on the devices.
#[derive(Debug)]
struct Tables<E: Engine> {
    g1: [PerDevice<Table<E::G1Affine>>; 4],
    b_g2: PerDevice<Table<E::G2Affine>>,
}

type Table<C> = Msm<'static, C>;

/// The queries of a share on one device: each is uploaded when it is asked for first.
pub(super) struct Held<'k, E: Engine> {
    key: &'k ProvingKeyOnDevice<E>,
    device: &'k Arc<Device>,
    share: Share,
    abort: Abort<'k>,
    g1: [OnceLock<Arc<Table<E::G1Affine>>>; 4],
    b_g2: OnceLock<Arc<Table<E::G2Affine>>>,
}

impl<E: Engine> Held<'_, E> {
    /// The bases of a query in G1, if the device sums it.
    pub fn g1(&self, query: Query) -> Result<Option<&Arc<Table<E::G1Affine>>>> {
        let Parameters { h, l, a, b_g1, .. } = &self.key.parameters;
        let (number, bases) = match query {
            Query::H => (0, h),
            Query::L => (1, l),
            Query::A => (2, a),
            Query::BG1 => (3, b_g1),
            Query::BG2 => return Ok(None),
        };
        let get = || self.key.query(self.device, &self.key.tables.g1[number], bases, self.abort);
        self.share.has(query).then(|| once(&self.g1[number], get)).transpose()
    }

    /// The bases of B in G2, if the device sums it.
    pub fn b_g2(&self) -> Result<Option<&Arc<Table<E::G2Affine>>>> {
        let get = || self.key.query(self.device, &self.key.tables.b_g2, &self.key.parameters.b_g2, self.abort);
        self.share.has(Query::BG2).then(|| once(&self.b_g2, get)).transpose()
    }

    /// Uploads what is not there. What would cost most to stream comes first.
    fn upload(&self) -> Result<()> {
        self.b_g2()?;
        [Query::H, Query::L, Query::A, Query::BG1].into_iter().try_for_each(|query| self.g1(query).map(drop))
    }

    /// How many proofs are under way at once, at most so many, as found last with about as much free memory, or now.
    pub fn at_once(&self, free: u64, most: usize, find: impl FnOnce() -> usize) -> Result<usize> {
        let there =
            self.g1.iter().filter(|table| table.get().is_some()).count() + usize::from(self.b_g2.get().is_some());
        let digits = free.checked_ilog2().unwrap_or(0).saturating_sub(DIGITS);
        let situation = (self.share, there, free >> digits << digits, most);
        let last = self.key.at_once.get(self.device, || Ok(Mutex::default()))?;
        let mut last = lock(&last);
        match &*last {
            Some((before, found)) if *before == situation => Ok(*found),
            _ => Ok(last.insert((situation, find())).1),
        }
    }

    /// What the sums over the queries that are there take together by the model, each with so many bytes beside so many others;
    /// nothing where that is too little for one of them.
    pub fn time_within(&self, bytes: u64, at_once: usize) -> Option<Duration> {
        let g1 = self.g1.iter().filter_map(OnceLock::get).map(|table| table.time_within(bytes, at_once, self.abort));
        let g2 = self.b_g2.get().into_iter().map(|table| table.time_within(bytes, at_once, self.abort));
        g1.chain(g2).sum()
    }

    /// Whether any of those that are there is streamed.
    pub fn is_streamed(&self) -> bool {
        let g1 = self.g1.iter().filter_map(OnceLock::get).any(|table| table.is_streamed());
        g1 || self.b_g2.get().is_some_and(|table| table.is_streamed())
    }
}

/// What a place holds, or gets now.
fn once<T>(place: &OnceLock<T>, get: impl FnOnce() -> Result<T>) -> Result<&T> {
    match place.get() {
        Some(held) => Ok(held),
        None => get().map(|new| place.get_or_init(|| new)),
    }
}

impl<E: Engine> ProvingKeyOnDevice<E> {
    /// Checks a key's lengths and uploads it to the first device; others get what they need of it with their first proof.
    ///
    /// Points are trusted, but for a δ of zero and encoded ones: see [`crate::curve`] for what they have to be, and
    /// [`Self::checked`].
    ///
    /// # Errors
    /// Lengths do not match, δ is zero, an encoded point is not what is expected, or a forced backend failed.
    pub fn new(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        let key = Self::on_host(accelerator, parameters)?;
        key.upload(accelerator, None)?;
        Ok(key)
    }

    /// As [`Self::new`], for a key that nobody vouches for: the points of all queries, decoded on the host, have to be
    /// infinity or of the subgroups of prime order, their coordinates reduced. [`Msm::checked`] says what that costs.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the first point that is not, by its query; else as [`Self::new`].
    pub fn checked(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        parameters.check()?;
        parameters.check_points(accelerator)?;
        Self::new(accelerator, parameters)
    }

    /// As [`Self::new`], without the upload: the first device too gets what it needs with [`Self::upload`], or with its
    /// first proof.
    ///
    /// # Errors
    /// Lengths do not match, or δ is zero.
    pub fn on_host(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        parameters.check()?;
        let tables = Tables { g1: Default::default(), b_g2: PerDevice::default() };
        Ok(Self {
            accelerator: accelerator.clone(),
            parameters,
            tables,
            reserves: PerDevice::default(),
            at_once: PerDevice::default(),
        })
    }

    /// Uploads what the first of an accelerator's devices lacks of it; encoded points are decoded there, or here if there is
    /// no device. A query that is there stays when the next one's upload is aborted.
    ///
    /// # Errors
    /// An encoded point is not what is expected, the hook aborted, or a forced backend failed.
    pub fn upload(&self, accelerator: &Accelerator, abort: Abort<'_>) -> Result<()> {
        let Some(device) = accelerator.devices().first() else { return self.parameters.decode() };
        match guarded(abort, |abort| self.held(device, Share::ALL, abort).upload()) {
            Err(error @ (Error::Invalid { .. } | Error::Aborted)) => Err(error),
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("groth16: the key stays on the host: {error}");
                self.parameters.decode()
            }
            result => result,
        }
    }

    /// Whether [`Self::upload`] can be left to the first proof, which uploads each query beside its other work: the first of an
    /// accelerator's devices has nothing of the key yet, and much room.
    ///
    /// # Errors
    /// The device does not say how much memory it has free.
    pub fn goes_up_with_first_proof(&self, accelerator: &Accelerator) -> Result<bool> {
        accelerator.devices().first().map_or(Ok(false), |device| self.has_much_room(device))
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

    /// The queries of a share on a device. They are there already, unless the device had none and has much room: then each is
    /// uploaded beside the first proof's other work, when its sum comes.
    pub(super) fn on_device<'k>(
        &'k self,
        device: &'k Arc<Device>,
        share: Share,
        abort: Abort<'k>,
    ) -> Result<Held<'k, E>> {
        let held = self.held(device, share, abort);
        if !self.has_much_room(device)? {
            held.upload()?;
        }
        Ok(held)
    }

    fn held<'k>(&'k self, device: &'k Arc<Device>, share: Share, abort: Abort<'k>) -> Held<'k, E> {
        Held { key: self, device, share, abort, g1: Default::default(), b_g2: OnceLock::new() }
    }

    /// Whether a device has no query yet, and so much room that all of them fit whatever sums take first.
    fn has_much_room(&self, device: &Arc<Device>) -> Result<bool> {
        if self.tables.b_g2.has(device) || self.tables.g1.iter().any(|tables| tables.has(device)) {
            return Ok(false);
        }
        let all = self.reserve(device)?.saturating_mul(2).saturating_add(self.parameters.bytes());
        Ok(all <= device.free_memory()? / 2)
    }

    fn query<C: MsmCurve>(
        &self,
        device: &Arc<Device>,
        tables: &PerDevice<Table<C>>,
        bases: &Points<C>,
        abort: Abort<'_>,
    ) -> Result<Arc<Table<C>>> {
        tables.get(device, || {
            table(&self.accelerator.on_devices(vec![device.clone()]), bases, *self.reserve(device)?, abort)
        })
    }

    /// What a device's first table had to leave. Later ones leave as much.
    fn reserve(&self, device: &Arc<Device>) -> Result<Arc<u64>> {
        self.reserves.get(device, || {
            let longest = self.domain().max(self.parameters.l.len()) as u64;
            let vectors = (VECTORS * 32).saturating_mul(longest).saturating_add(LEAST);
            Ok(vectors.saturating_add(device.free_memory()? / WORKSPACE_SHARE))
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
    /// Bytes that all queries take on a device.
    pub fn bytes(&self) -> u64 {
        let g1 = [&self.h, &self.l, &self.a, &self.b_g1].map(|query| bytes_of::<E::G1Affine>(query.len()));
        g1.into_iter().fold(bytes_of::<E::G2Affine>(self.b_g2.len()), u64::saturating_add)
    }

    /// Decodes on the host what is encoded, so that it goes to devices as they have it.
    ///
    /// # Errors
    /// A point is not what is expected.
    pub fn decode(&self) -> Result<()> {
        [&self.h, &self.l, &self.a, &self.b_g1].into_iter().try_for_each(|query| query.on_host().map(drop))?;
        self.b_g2.on_host().map(drop)
    }

    /// Refuses points that are not of the subgroups.
    fn check_points(&self, accelerator: &Accelerator) -> Result<()> {
        let Self { alpha_g1, beta_g1, beta_g2, delta_g1, delta_g2, .. } = self;
        check_query(accelerator, "α, β and δ in G1", &[*alpha_g1, *beta_g1, *delta_g1])?;
        check_query(accelerator, "β and δ in G2", &[*beta_g2, *delta_g2])?;
        for (name, query) in [("h", &self.h), ("l", &self.l), ("a", &self.a), ("b_g1", &self.b_g1)] {
            check_query(accelerator, name, query.on_host()?)?;
        }
        check_query(accelerator, "b_g2", self.b_g2.on_host()?)
    }

    fn check(&self) -> Result<()> {
        const PLACE: &str = "groth16 key";
        if !self.h.len().checked_add(1).is_some_and(usize::is_power_of_two) {
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

/// Refuses points that are not of the subgroup, with the query's name.
fn check_query<C: MsmCurve>(accelerator: &Accelerator, name: &str, points: &[C]) -> Result<()> {
    msm::check(accelerator, points).map_err(|error| match error {
        Error::Invalid { place, what, expected, actual } => {
            Error::Invalid { place, what: format!("{what} of {name}"), expected, actual }
        }
        other => other,
    })
}

/// Bytes of points on a device; `u64::MAX` where that is no number.
fn bytes_of<C: MsmCurve>(points: usize) -> u64 {
    (points as u64).saturating_mul(C::AFFINE_BYTES as u64)
}

/// Bases on the device if they leave `reserve` bytes there, unless somebody aborts their upload.
fn table<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &Points<C>,
    reserve: u64,
    abort: Abort<'_>,
) -> Result<Table<C>> {
    let bytes = bytes_of::<C>(bases.len());
    let free = accelerator.devices().first().map_or(Ok(u64::MAX), |device| device.free_memory())?;
    if bytes.saturating_add(reserve) > free {
        let name = C::NAME;
        log::warn!("groth16 {name}: {bytes} bytes of bases stay on the host: {free} free, {reserve} kept for proofs");
        return Msm::streamed(accelerator, bases.clone());
    }
    Msm::shared_unless(accelerator, bases.clone(), Options::default(), abort)
}
