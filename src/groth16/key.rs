//! Holds proving keys on the host and on the devices.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use group::prime::PrimeCurveAffine;

use super::Engine;
use super::lazy_per_device::PerDevice;
use super::schedule::{Costs, QueryId, QuerySet};
use crate::backend::{Abort, Device, catch_hook_panic, lock};
use crate::curve::MsmCurve;
use crate::msm::{self, BasePoints, Msm, MsmOptions};
use crate::{Accelerator, Error, Result};

/// Leaves 1/WORKSPACE_SHARE of a device's free memory to the MSMs of proofs.
const WORKSPACE_FRACTION: u64 = 8;
/// Vectors of the domain's length that a proof has on a device: a, b, c, the assignment and its two selections, and up
/// to three more for transforms and their tables.
const VECTORS: u64 = 9;
/// Fixed bytes that a proof of any length takes, such as for tables of short transforms.
const MIN_PROOF_BYTES: u64 = 16 << 20;

/// Leading binary digits of the free memory that count in a [`ConcurrencyKey`].
const MEMO_PRECISION_BITS: u32 = 4;

/// Holds the result of a circuit's setup, as Groth16 defines it ("On the Size of Pairing-based Non-interactive
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
    pub h: BasePoints<E::G1Affine>,
    /// (β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ for auxiliary variables.
    pub l: BasePoints<E::G1Affine>,
    /// uᵢ(τ) of all inputs, then of those auxiliary variables that occur in A.
    pub a: BasePoints<E::G1Affine>,
    /// vᵢ(τ) of those inputs, then of those auxiliary variables that occur in B.
    pub b_g1: BasePoints<E::G1Affine>,
    /// vᵢ(τ) of the variables of `b_g1`, in G2.
    pub b_g2: BasePoints<E::G2Affine>,
}

/// Holds a proving key whose bases are uploaded once to each device that proves, for any number of proofs. A device
/// that only helps with a proof gets no queries but those of its own MSMs.
///
/// Bases that leave too little memory for proofs stay on the host. Every proof then streams them, with a warning in the
/// log.
#[derive(Debug)]
pub struct ProvingKeyOnDevice<E: Engine> {
    accelerator: Accelerator,
    parameters: Parameters<E>,
    tables: Tables<E>,
    /// Memory that is left to proofs on each device.
    reserves: PerDevice<u64>,
    /// Last number of proofs in flight on each device, and the situation that it was found for. Finding it takes as
    /// long as a small proof.
    at_once: PerDevice<Mutex<Option<(ConcurrencyKey, usize)>>>,
}

/// Lists the inputs that decide the number of proofs in flight: the MSMs, how many of their queries were fetched, the
/// free memory without its lower digits, and the maximum number of proofs.
type ConcurrencyKey = (QuerySet, usize, u64, usize);

/// Holds queries on the devices.
#[derive(Debug)]
struct Tables<E: Engine> {
    g1: [PerDevice<Table<E::G1Affine>>; 4],
    b_g2: PerDevice<Table<E::G2Affine>>,
}

type Table<C> = Msm<'static, C>;

/// Holds the queries of a share on one device. Each is uploaded at its first use.
pub(super) struct DeviceKey<'k, E: Engine> {
    key: &'k ProvingKeyOnDevice<E>,
    device: &'k Arc<Device>,
    share: QuerySet,
    abort: Abort<'k>,
    g1: [OnceLock<Arc<Table<E::G1Affine>>>; 4],
    b_g2: OnceLock<Arc<Table<E::G2Affine>>>,
}

impl<E: Engine> DeviceKey<'_, E> {
    /// Returns the G1 bases of `query`, uploading them at their first use. Returns `None` if the device's share lacks
    /// the query, or if the query is in G2.
    pub fn g1(&self, query: QueryId) -> Result<Option<&Arc<Table<E::G1Affine>>>> {
        let Parameters { h, l, a, b_g1, .. } = &self.key.parameters;
        let (number, bases) = match query {
            QueryId::H => (0, h),
            QueryId::L => (1, l),
            QueryId::A => (2, a),
            QueryId::BG1 => (3, b_g1),
            QueryId::BG2 => return Ok(None),
        };
        let get = || self.key.query(self.device, &self.key.tables.g1[number], bases, self.abort);
        self.share.has(query).then(|| get_or_try_init(&self.g1[number], get)).transpose()
    }

    /// Returns the bases of B in G2 if they are in the device's share.
    pub fn b_g2(&self) -> Result<Option<&Arc<Table<E::G2Affine>>>> {
        let get = || self.key.query(self.device, &self.key.tables.b_g2, &self.key.parameters.b_g2, self.abort);
        self.share.has(QueryId::BG2).then(|| get_or_try_init(&self.b_g2, get)).transpose()
    }

    /// Uploads missing queries. Those that would cost most to stream come first.
    fn upload(&self) -> Result<()> {
        self.b_g2()?;
        [QueryId::H, QueryId::L, QueryId::A, QueryId::BG1].into_iter().try_for_each(|query| self.g1(query).map(drop))
    }

    /// Returns how many proofs, at most `most`, are in flight at once: the last result if the situation is the same,
    /// with about as much free memory, or that of `find`.
    pub fn at_once(&self, free: u64, most: usize, find: impl FnOnce() -> usize) -> Result<usize> {
        let there =
            self.g1.iter().filter(|table| table.get().is_some()).count() + usize::from(self.b_g2.get().is_some());
        let digits = free.checked_ilog2().unwrap_or(0).saturating_sub(MEMO_PRECISION_BITS);
        let situation = (self.share, there, free >> digits << digits, most);
        let last = self.key.at_once.get(self.device, || Ok(Mutex::default()))?;
        let mut last = lock(&last);
        match &*last {
            Some((before, found)) if *before == situation => Ok(*found),
            _ => Ok(last.insert((situation, find())).1),
        }
    }

    /// Estimates the total time of the MSMs over the queries that were fetched, each with `bytes` of workspace beside
    /// `at_once` − 1 others. Returns `None` if one does not fit.
    pub fn estimate_time_within(&self, bytes: u64, at_once: usize) -> Option<Duration> {
        let g1 = self.g1.iter().filter_map(OnceLock::get).map(|table| table.estimate_time(bytes, at_once, self.abort));
        let g2 = self.b_g2.get().into_iter().map(|table| table.estimate_time(bytes, at_once, self.abort));
        g1.chain(g2).sum()
    }

    /// Returns whether any query that was fetched is streamed.
    pub fn is_streamed(&self) -> bool {
        let g1 = self.g1.iter().filter_map(OnceLock::get).any(|table| table.is_streamed());
        g1 || self.b_g2.get().is_some_and(|table| table.is_streamed())
    }
}

/// Returns the value in `place`, initialised by `get` if there is none.
fn get_or_try_init<T>(place: &OnceLock<T>, get: impl FnOnce() -> Result<T>) -> Result<&T> {
    match place.get() {
        Some(held) => Ok(held),
        None => get().map(|new| place.get_or_init(|| new)),
    }
}

impl<E: Engine> ProvingKeyOnDevice<E> {
    /// Checks a key's lengths and uploads it to the first device. Other devices get the parts that they need with their
    /// first proof.
    ///
    /// Points are trusted, except for encoded ones and a δ of zero: see [`crate::curve`] for the requirements, and
    /// [`Self::new_checked`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `h` is no power of two, less one.
    /// - [`Error::Invalid`]: `b_g1` and `b_g2` differ in length.
    /// - [`Error::Invalid`]: δ is zero.
    /// - [`Error::Invalid`]: an encoded point is invalid. Its source gives the point's name.
    /// - The bytes of encoded points have changed: the error of their source.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn new(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        let key = Self::new_lazy(accelerator, parameters)?;
        key.upload(accelerator, None)?;
        Ok(key)
    }

    /// Creates a key from untrusted parameters: checks all points, then does the work of [`Self::new`]. Points are
    /// decoded on the host. They have to be infinity or in the subgroups of prime order, with reduced coordinates.
    /// [`Msm::checked`] states the cost.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a point is invalid. The error names the first one by its query.
    /// - [`Error::Forked`]: the process was forked from one that had used the engine.
    /// - [`Self::new`] lists the other errors.
    pub fn new_checked(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        parameters.check()?;
        parameters.check_points(accelerator)?;
        Self::new(accelerator, parameters)
    }

    /// Checks a key's lengths, without the upload of [`Self::new`]. The first device, too, gets the parts that it needs
    /// with [`Self::upload`], or with its first proof.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `h` is no power of two, less one.
    /// - [`Error::Invalid`]: `b_g1` and `b_g2` differ in length.
    /// - [`Error::Invalid`]: δ is zero.
    pub fn new_lazy(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
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

    /// Uploads the queries that the first device of `accelerator` lacks. Encoded points are decoded there, or on the
    /// host if there is no device. Queries that were uploaded stay if the next one's upload is aborted.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an encoded point is invalid. Its source gives the point's name.
    /// - The bytes of encoded points have changed: the error of their source.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn upload(&self, accelerator: &Accelerator, abort: Abort<'_>) -> Result<()> {
        let Some(device) = accelerator.devices().first() else { return self.parameters.decode() };
        match catch_hook_panic(abort, |abort| self.held(device, QuerySet::ALL, abort).upload()) {
            Err(error @ (Error::Invalid { .. } | Error::Aborted)) => Err(error),
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("groth16: the key stays on the host: {error}");
                self.parameters.decode()
            }
            result => result,
        }
    }

    /// Returns whether [`Self::upload`] can be left to the first proof, which uploads each query beside its other work.
    /// It can if the first device of `accelerator` has nothing of the key yet, and much free memory.
    ///
    /// # Errors
    /// - [`Error::Device`]: the device does not report its free memory.
    pub fn upload_is_deferred(&self, accelerator: &Accelerator) -> Result<bool> {
        accelerator.devices().first().map_or(Ok(false), |device| self.has_headroom(device))
    }

    /// Returns the key on the host.
    pub fn parameters(&self) -> &Parameters<E> {
        &self.parameters
    }

    /// Returns the devices and the policy by which proofs are made.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Returns the domain's order m.
    pub fn domain(&self) -> usize {
        self.parameters.h.len() + 1
    }

    /// Returns the bytes that the key takes on all devices together.
    pub fn bytes(&self) -> u64 {
        let g1 = self.tables.g1.iter().flat_map(PerDevice::all).map(|table| table.table_bytes());
        let g2 = self.tables.b_g2.all().into_iter().map(|table| table.table_bytes());
        g1.chain(g2).sum()
    }

    /// Returns the queries of `share` on `device`. They are uploaded here, unless the device had none and has much free
    /// memory: then each is uploaded beside the first proof's other work, when its MSM comes.
    pub(super) fn on_device<'k>(
        &'k self,
        device: &'k Arc<Device>,
        share: QuerySet,
        abort: Abort<'k>,
    ) -> Result<DeviceKey<'k, E>> {
        let held = self.held(device, share, abort);
        if !self.has_headroom(device)? {
            held.upload()?;
        }
        Ok(held)
    }

    fn held<'k>(&'k self, device: &'k Arc<Device>, share: QuerySet, abort: Abort<'k>) -> DeviceKey<'k, E> {
        DeviceKey { key: self, device, share, abort, g1: Default::default(), b_g2: OnceLock::new() }
    }

    /// Returns whether `device` has no query yet, and enough free memory for all of them, whatever MSMs take first.
    fn has_headroom(&self, device: &Arc<Device>) -> Result<bool> {
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
        bases: &BasePoints<C>,
        abort: Abort<'_>,
    ) -> Result<Arc<Table<C>>> {
        tables.get(device, || {
            table(&self.accelerator.with_devices(vec![device.clone()]), bases, *self.reserve(device)?, abort)
        })
    }

    /// Returns the bytes that the first table on `device` had to leave free. Later ones leave as much.
    fn reserve(&self, device: &Arc<Device>) -> Result<Arc<u64>> {
        self.reserves.get(device, || {
            let longest = self.domain().max(self.parameters.l.len()) as u64;
            let vectors = (VECTORS * 32).saturating_mul(longest).saturating_add(MIN_PROOF_BYTES);
            Ok(vectors.saturating_add(device.free_memory()? / WORKSPACE_FRACTION))
        })
    }

    /// Returns the costs of the MSMs.
    pub(super) fn costs(&self) -> Costs {
        let Parameters { h, l, a, b_g1, b_g2, .. } = &self.parameters;
        Costs::new(|query| match query {
            QueryId::BG2 => b_g2.len(),
            QueryId::H => h.len(),
            QueryId::L => l.len(),
            QueryId::A => a.len(),
            QueryId::BG1 => b_g1.len(),
        })
    }
}

impl<E: Engine> Parameters<E> {
    /// Returns the bytes that all queries take on a device.
    pub fn bytes(&self) -> u64 {
        let g1 = [&self.h, &self.l, &self.a, &self.b_g1].map(|query| bytes_of::<E::G1Affine>(query.len()));
        g1.into_iter().fold(bytes_of::<E::G2Affine>(self.b_g2.len()), u64::saturating_add)
    }

    /// Decodes encoded points on the host, so that devices get them in their own form.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an encoded point is invalid. Its source gives the point's name.
    /// - The bytes of encoded points have changed: the error of their source.
    pub fn decode(&self) -> Result<()> {
        [&self.h, &self.l, &self.a, &self.b_g1].into_iter().try_for_each(|query| query.on_host().map(drop))?;
        self.b_g2.on_host().map(drop)
    }

    /// Refuses points that are not in the subgroups.
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
        const ERROR_CONTEXT: &str = "groth16 key";
        if !self.h.len().checked_add(1).is_some_and(usize::is_power_of_two) {
            return Err(Error::invalid(ERROR_CONTEXT, "length of h", "a power of two, less one", self.h.len()));
        }
        if self.b_g1.len() != self.b_g2.len() {
            return Err(Error::invalid(ERROR_CONTEXT, "length of b_g2", self.b_g1.len(), self.b_g2.len()));
        }
        // With δ = 0 the maker of the key could learn the witness.
        if bool::from(self.delta_g1.is_identity() | self.delta_g2.is_identity()) {
            return Err(Error::invalid(ERROR_CONTEXT, "δ", "a point other than zero", "zero"));
        }
        Ok(())
    }
}

/// Refuses `points` that are not in the subgroup. The error has the query's `name`.
fn check_query<C: MsmCurve>(accelerator: &Accelerator, name: &str, points: &[C]) -> Result<()> {
    msm::check(accelerator, points).map_err(|error| match error {
        Error::Invalid { place, what, expected, actual } => {
            Error::Invalid { place, what: format!("{what} of {name}"), expected, actual }
        }
        other => other,
    })
}

/// Returns the bytes of `points` points on a device, or `u64::MAX` if they overflow.
fn bytes_of<C: MsmCurve>(points: usize) -> u64 {
    (points as u64).saturating_mul(C::AFFINE_BYTES as u64)
}

/// Uploads `bases` if they leave `reserve` bytes on the device, or else keeps them on the host for streaming. The hook
/// may abort the upload.
fn table<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &BasePoints<C>,
    reserve: u64,
    abort: Abort<'_>,
) -> Result<Table<C>> {
    let bytes = bytes_of::<C>(bases.len());
    let free = accelerator.devices().first().map_or(Ok(u64::MAX), |device| device.free_memory())?;
    if bytes.saturating_add(reserve) > free {
        let name = C::NAME;
        log::warn!("groth16 {name}: {bytes} bytes of bases stay on the host: {free} free, {reserve} kept for proofs");
        return Msm::with_streamed_bases(accelerator, bases.clone());
    }
    Msm::shared_abortable(accelerator, bases.clone(), MsmOptions::default(), abort)
}
