//! Holds proving keys on the host and, per device, made at first use, on the devices.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::parameters::affine_bytes;
use super::schedule::{Costs, QueryId, QuerySet};
use super::{Engine, Parameters, QuotientForm};
use crate::backend::{Abort, Device, catch_hook_panic, lock};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::msm::{BasePoints, Msm, MsmOptions};
use crate::ntt::NttDomain;
use crate::rayon_waits::{get_or_try_init, try_get};
use crate::{Accelerator, Error, Result};

/// Divisor of a device's free memory: uploads of queries leave 1/WORKSPACE_FRACTION of it as workspace for the MSMs of
/// proofs.
const WORKSPACE_FRACTION: u64 = 8;
/// Number of vectors of the domain's length that one proof takes on a device. They are a, b, c, the assignment, and its
/// values selected for the queries of A and B. Transforms and their tables take up to three more.
const VECTORS: u64 = 9;
/// Bytes that a proof takes on a device beside its vectors, 16 MiB, such as for tables of short transforms.
const MIN_PROOF_BYTES: u64 = 16 << 20;

/// Number of bits below the leading one of the free memory that a [`ConcurrencyKey`] keeps. Lower bits are cleared.
const MEMO_PRECISION_BITS: u32 = 4;

/// Holds a proving key. Its bases are uploaded once to each device that makes whole proofs, for any number of proofs. A
/// device that computes only some MSMs of a proof gets only the bases of those MSMs.
///
/// Bases stay on the host if they would leave too little device memory for proofs. The log then has a warning, and
/// every proof streams them.
#[derive(Debug)]
pub struct ProvingKeyOnDevice<E: Engine> {
    accelerator: Accelerator,
    parameters: Parameters<E>,
    domain: NttDomain<E::Fr>,
    quotient_form: QuotientForm<E::Fr>,
    tables: QueryMsms<E>,
    /// Bytes of each device's memory that uploads of bases leave free for proofs.
    reserves: PerDevice<u64>,
    /// Number of concurrent proofs last chosen for each device, and the inputs of that choice. Choosing takes as long
    /// as a small proof.
    at_once: PerDevice<Mutex<Option<(ConcurrencyKey, usize)>>>,
}

/// Holds the inputs that determine the number of concurrent proofs on a device. They are the MSMs that the device
/// computes, the number of their queries fetched so far, the free bytes, and the maximum number of proofs. The bytes
/// are rounded down.
type ConcurrencyKey = (QuerySet, usize, u64, usize);

/// Holds the queries of a key on the devices, one MSM per query and device. `g1` has the queries of h, l, a and b_g1,
/// in this order.
#[derive(Debug)]
struct QueryMsms<E: Engine> {
    g1: [PerDevice<QueryMsm<E::G1Affine>>; 4],
    b_g2: PerDevice<QueryMsm<E::G2Affine>>,
}

type QueryMsm<C> = Msm<'static, C>;

/// Holds the queries of a proving key that one device needs, namely those in `share`. Each is uploaded at its first
/// use.
pub(super) struct DeviceKey<'k, E: Engine> {
    key: &'k ProvingKeyOnDevice<E>,
    device: &'k Arc<Device>,
    share: QuerySet,
    ctx: ExecCtx<'k>,
    g1: [OnceLock<Arc<QueryMsm<E::G1Affine>>>; 4],
    b_g2: OnceLock<Arc<QueryMsm<E::G2Affine>>>,
}

impl<E: Engine> DeviceKey<'_, E> {
    /// Returns the MSM over the G1 bases of `query`, which are uploaded at the first call. Returns `None` if this
    /// device does not compute that MSM, or if `query` is in G2.
    pub(super) fn get_or_upload_g1(&self, query: QueryId) -> Result<Option<&Arc<QueryMsm<E::G1Affine>>>> {
        let Parameters { h, l, a, b_g1, .. } = &self.key.parameters;
        let (number, bases) = match query {
            QueryId::H => (0, h),
            QueryId::L => (1, l),
            QueryId::A => (2, a),
            QueryId::BG1 => (3, b_g1),
            QueryId::BG2 => return Ok(None),
        };
        let get = || self.key.get_or_upload_query(self.device, &self.key.tables.g1[number], bases, self.ctx);
        self.share.has(query).then(|| get_or_try_set(&self.g1[number], get)).transpose()
    }

    /// Returns the MSM over the G2 bases of B, which are uploaded at the first call. Returns `None` if this device does
    /// not compute that MSM.
    pub(super) fn get_or_upload_b_g2(&self) -> Result<Option<&Arc<QueryMsm<E::G2Affine>>>> {
        let get =
            || self.key.get_or_upload_query(self.device, &self.key.tables.b_g2, &self.key.parameters.b_g2, self.ctx);
        self.share.has(QueryId::BG2).then(|| get_or_try_set(&self.b_g2, get)).transpose()
    }

    /// Uploads the queries that this device needs and lacks. The queries that would be most expensive to stream come
    /// first.
    fn upload(&self) -> Result<()> {
        self.get_or_upload_b_g2()?;
        [QueryId::H, QueryId::L, QueryId::A, QueryId::BG1]
            .into_iter()
            .try_for_each(|query| self.get_or_upload_g1(query).map(drop))
    }

    /// Returns the number of proofs to run concurrently on this device, at most `most`. Reuses the last result if the
    /// MSMs and `most` are the same and about as many bytes as `free` were free. Otherwise calls `find` for the number.
    pub(super) fn get_or_choose_concurrency(
        &self,
        free: u64,
        most: usize,
        find: impl FnOnce() -> usize,
    ) -> Result<usize> {
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

    /// Estimates the total time of the MSMs over the queries fetched so far. Each MSM has `bytes` bytes of workspace
    /// and runs beside `at_once` − 1 others. Returns `None` if one does not fit.
    pub(super) fn estimate_msm_time(&self, bytes: u64, at_once: usize) -> Option<Duration> {
        let g1 = self.g1.iter().filter_map(OnceLock::get).map(|table| table.estimate_time(bytes, at_once, self.ctx));
        let g2 = self.b_g2.get().into_iter().map(|table| table.estimate_time(bytes, at_once, self.ctx));
        g1.chain(g2).sum()
    }

    /// Returns whether any query fetched so far stays on the host, so that each MSM streams it to the device.
    pub(super) fn is_streamed(&self) -> bool {
        let g1 = self.g1.iter().filter_map(OnceLock::get).any(|table| table.is_streamed());
        g1 || self.b_g2.get().is_some_and(|table| table.is_streamed())
    }
}

/// Returns the value in `place`. If `place` is empty, first fills it with the result of `get`.
fn get_or_try_set<T>(place: &OnceLock<T>, get: impl FnOnce() -> Result<T>) -> Result<&T> {
    match place.get() {
        Some(held) => Ok(held),
        None => get().map(|new| place.get_or_init(|| new)),
    }
}

impl<E: Engine> ProvingKeyOnDevice<E> {
    /// Creates a key: checks the lengths of `parameters`, and uploads them to the first device of `accelerator`. Any
    /// other device gets the queries that it needs with its first proof.
    ///
    /// Points are trusted, except that encoded points are checked when decoded, and that δ must not be zero.
    /// [`crate::curve`] states the requirements. [`Self::new_checked`] checks all points.
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

    /// Creates a key from untrusted `parameters`: checks all points, then does the work of [`Self::new`]. The host
    /// decodes encoded points. Every point must be infinity or in the subgroup of prime order, with reduced
    /// coordinates. [`Msm::checked`] states the cost.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a point is invalid. The error names the first one by its query.
    /// - [`Error::Forked`]: the process was forked from one that had used the engine.
    /// - [`Self::new`] lists the other errors.
    pub fn new_checked(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        parameters.check(&QuotientForm::default())?;
        parameters.check_points(accelerator)?;
        Self::new(accelerator, parameters)
    }

    /// Creates a key and checks the lengths of `parameters`, without the upload of [`Self::new`]. The first device gets
    /// its queries with [`Self::upload`] or with its first proof, any other device with its first proof.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `h` is no power of two, less one.
    /// - [`Error::Invalid`]: `b_g1` and `b_g2` differ in length.
    /// - [`Error::Invalid`]: δ is zero.
    pub fn new_lazy(accelerator: &Accelerator, parameters: Parameters<E>) -> Result<Self> {
        Self::with_quotient_form(accelerator, parameters, QuotientForm::default())
    }

    /// Creates a key whose query of h has the bases of `quotient_form`, without an upload. [`Self::new_lazy`] is the
    /// case [`QuotientForm::default`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `h` does not suit the form.
    /// - [`Error::Invalid`]: the form's ω does not generate the domain, or its shift is an element of the domain.
    /// - [`Error::Invalid`]: `b_g1` and `b_g2` differ in length.
    /// - [`Error::Invalid`]: δ is zero.
    pub fn with_quotient_form(
        accelerator: &Accelerator,
        parameters: Parameters<E>,
        quotient_form: QuotientForm<E::Fr>,
    ) -> Result<Self> {
        let size = parameters.check(&quotient_form)?;
        let domain = quotient_form.domain(accelerator, size.trailing_zeros())?;
        let tables = QueryMsms { g1: Default::default(), b_g2: PerDevice::default() };
        Ok(Self {
            accelerator: accelerator.clone(),
            parameters,
            domain,
            quotient_form,
            tables,
            reserves: PerDevice::default(),
            at_once: PerDevice::default(),
        })
    }

    /// Uploads the queries that the first device of `accelerator` lacks. Encoded points are decoded on that device, or
    /// on the host if there is no device. If `abort` stops the upload, the queries uploaded so far stay on the device.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an encoded point is invalid. Its source gives the point's name.
    /// - The bytes of encoded points have changed: the error of their source.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn upload(&self, accelerator: &Accelerator, abort: Abort<'_>) -> Result<()> {
        let Some(device) = accelerator.devices().first() else { return self.parameters.decode() };
        match catch_hook_panic(abort, |abort| {
            self.lazy_device_key(device, QuerySet::ALL, ExecCtx::unreported(abort)).upload()
        }) {
            Err(error @ (Error::Invalid { .. } | Error::Aborted)) => Err(error),
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("groth16: the key stays on the host: {error}");
                self.parameters.decode()
            }
            result => result,
        }
    }

    /// Returns whether the caller may skip [`Self::upload`] and let the first proof upload each query beside its other
    /// work. True if the first device of `accelerator` has no query of this key yet, and more than twice the free
    /// memory that the key needs. False if there is no device.
    ///
    /// # Errors
    /// - [`Error::Device`]: the device does not report its free memory.
    pub fn upload_is_deferred(&self, accelerator: &Accelerator) -> Result<bool> {
        accelerator.devices().first().map_or(Ok(false), |device| self.has_headroom(device))
    }

    /// Returns the parameters of the key, in host memory or encoded in a file.
    pub fn parameters(&self) -> &Parameters<E> {
        &self.parameters
    }

    /// Returns the accelerator, which has the devices that make the proofs.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Returns the order m of the evaluation domain, a power of two.
    pub fn domain_size(&self) -> usize {
        1 << self.domain.log_n()
    }

    /// Returns the evaluation domain and its coset.
    pub fn domain(&self) -> &NttDomain<E::Fr> {
        &self.domain
    }

    /// Returns the form of the quotient that the query of h has bases for.
    pub fn quotient_form(&self) -> QuotientForm<E::Fr> {
        self.quotient_form
    }

    /// Returns the number of bytes that the key's bases take on all devices together.
    pub fn device_bytes(&self) -> u64 {
        let g1 = self.tables.g1.iter().flat_map(PerDevice::all).map(|table| table.table_bytes());
        let g2 = self.tables.b_g2.all().into_iter().map(|table| table.table_bytes());
        g1.chain(g2).sum()
    }

    /// Returns the queries in `share` on `device`, and uploads those that it lacks. If `device` has no query of the key
    /// yet and much free memory, the first proof uploads each query instead, just before its MSM.
    pub(super) fn prepare_device_key<'k>(
        &'k self,
        device: &'k Arc<Device>,
        share: QuerySet,
        ctx: ExecCtx<'k>,
    ) -> Result<DeviceKey<'k, E>> {
        let held = self.lazy_device_key(device, share, ctx);
        if !self.has_headroom(device)? {
            held.upload()?;
        }
        Ok(held)
    }

    fn lazy_device_key<'k>(&'k self, device: &'k Arc<Device>, share: QuerySet, ctx: ExecCtx<'k>) -> DeviceKey<'k, E> {
        DeviceKey { key: self, device, share, ctx, g1: Default::default(), b_g2: OnceLock::new() }
    }

    /// Returns whether `device` has no query of the key yet, and has room for all. All queries plus twice the reserve
    /// for proofs must fit in half of its free memory.
    fn has_headroom(&self, device: &Arc<Device>) -> Result<bool> {
        if self.tables.b_g2.has(device) || self.tables.g1.iter().any(|tables| tables.has(device)) {
            return Ok(false);
        }
        let all = self.reserved_bytes(device)?.saturating_mul(2).saturating_add(self.parameters.device_bytes());
        Ok(all <= device.free_memory()? / 2)
    }

    fn get_or_upload_query<C: MsmCurve>(
        &self,
        device: &Arc<Device>,
        tables: &PerDevice<QueryMsm<C>>,
        bases: &BasePoints<C>,
        ctx: ExecCtx<'_>,
    ) -> Result<Arc<QueryMsm<C>>> {
        tables.get(device, || {
            upload_or_stream(
                &self.accelerator.with_devices(vec![device.clone()]),
                bases,
                *self.reserved_bytes(device)?,
                ctx,
            )
        })
    }

    /// Returns the number of bytes that uploads of queries leave free on `device` for proofs. It is computed before the
    /// first upload and then stays the same.
    fn reserved_bytes(&self, device: &Arc<Device>) -> Result<Arc<u64>> {
        self.reserves.get(device, || {
            let longest = self.domain_size().max(self.parameters.l.len()) as u64;
            let vectors = (VECTORS * 32).saturating_mul(longest).saturating_add(MIN_PROOF_BYTES);
            Ok(vectors.saturating_add(device.free_memory()? / WORKSPACE_FRACTION))
        })
    }

    /// Estimates the relative costs of a proof's MSMs from the lengths of the queries.
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

/// Creates the MSM over `bases`. They are uploaded if at least `reserve` bytes stay free on the first device of
/// `accelerator`. Otherwise they stay on the host and are streamed. The abort hook may stop the upload.
fn upload_or_stream<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &BasePoints<C>,
    reserve: u64,
    ctx: ExecCtx<'_>,
) -> Result<QueryMsm<C>> {
    let bytes = affine_bytes::<C>(bases.len());
    let free = accelerator.devices().first().map_or(Ok(u64::MAX), |device| device.free_memory())?;
    if bytes.saturating_add(reserve) > free {
        let name = C::NAME;
        log::warn!("groth16 {name}: {bytes} bytes of bases stay on the host: {free} free, {reserve} kept for proofs");
        return Msm::with_streamed_bases(accelerator, bases.clone());
    }
    Msm::shared_abortable(accelerator, bases.clone(), MsmOptions::default(), ctx)
}

/// Pairs a device with its value, which is `None` until it is made. The mutex is locked while it is made.
type DeviceCell<T> = (Arc<Device>, Arc<Mutex<Option<Arc<T>>>>);

/// Holds at most one value per device, each made at its first use.
pub(super) struct PerDevice<T>(Mutex<Vec<DeviceCell<T>>>);

impl<T> Default for PerDevice<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for PerDevice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PerDevice of {}", lock(&self.0).len())
    }
}

impl<T> PerDevice<T> {
    /// Returns the value of `device`, made by `make` if there is none. Values of different devices can be made
    /// concurrently.
    pub(super) fn get(&self, device: &Arc<Device>, make: impl FnOnce() -> Result<T> + Send) -> Result<Arc<T>>
    where
        T: Send + Sync,
    {
        get_or_try_init(&self.slot(device), make)
    }

    /// Returns the values of all devices, in the order in which they were first requested. Skips values that are being
    /// made.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        let slots: Vec<_> = lock(&self.0).iter().map(|(_, slot)| slot.clone()).collect();
        slots.iter().filter_map(|slot| try_get(slot)).collect()
    }

    /// Returns whether a value for `device` was ever requested. It may still be in the making, or `make` may have
    /// failed.
    pub(super) fn has(&self, device: &Arc<Device>) -> bool {
        lock(&self.0).iter().any(|(owner, _)| Arc::ptr_eq(owner, device))
    }

    fn slot(&self, device: &Arc<Device>) -> Arc<Mutex<Option<Arc<T>>>> {
        let mut slots = lock(&self.0);
        if let Some((_, slot)) = slots.iter().find(|(owner, _)| Arc::ptr_eq(owner, device)) {
            return slot.clone();
        }
        let slot = Arc::new(Mutex::new(None));
        slots.push((device.clone(), slot.clone()));
        slot
    }
}
