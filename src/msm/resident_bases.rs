//! Holds bases that stay on the devices between calls, and queues MSMs over scalars that are there too.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::bases::{BasePoints, BaseTable, HostBases, check, plan_input};
use super::exec::{self, DeviceBases, MsmRequest, Pipeline, PlanMemos, single_sum};
use super::explain::MsmExplanation;
use super::msm_operation::{MsmOperation, check_lengths, on_cpu, op_scope};
use super::options::MsmOptions;
use super::plan::{DeviceMesh, MsmPlan, PlanInput};
use super::scalars::{DeviceScalars, ScalarForm, Scalars};
use crate::backend::{Abort, Buffer, Device, Stream};
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, Operation, execute};
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

/// Holds bases that are uploaded once, for any number of multiplications.
///
/// All constructors but [`Self::checked`] trust the bases: each must be infinity or a point of the curve's prime-order
/// subgroup with reduced coordinates ([`crate::curve`]). Encoded bases are checked as far as their source expects
/// ([`super::PointChecks`]).
///
/// If the bases do not fit on the devices (and no backend is forced), they stay on the host. Every call then streams
/// them, and the log has a warning.
///
/// ```
/// use group::{Curve, Group};
/// use proofwarp::{Accelerator, msm::{Msm, Scalars}};
///
/// let g = blstrs::G1Projective::generator();
/// let bases = [g.to_affine(), g.double().to_affine()];
/// let msm = Msm::new(&Accelerator::from_env()?, &bases)?;
/// let [a, b] = [[3, 4], [5, 0]].map(|scalars| scalars.map(blstrs::Scalar::from));
/// let (sums, _) = msm.run_batch(&[Scalars::elements(&a), Scalars::elements(&b)], None)?;
/// assert_eq!(sums, [11, 5].map(|n| g * blstrs::Scalar::from(n)));
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug)]
pub struct Msm<'a, C> {
    accelerator: Accelerator,
    options: MsmOptions,
    bases: HostBases<'a, C>,
    /// One table per device, in order of the bases; empty if the bases are on the host only.
    tables: Vec<BaseTable>,
    grid: DeviceMesh,
    memos: PlanMemos,
}

impl<C: MsmCurve> Msm<'static, C> {
    /// Uploads `bases` with `options` and keeps them alive itself, unlike [`Self::with_options`], which borrows them.
    /// The devices decode encoded bases; the host decodes them only once it needs them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an option is out of its range.
    /// - [`Error::Invalid`]: an encoded point fails its checks.
    /// - The bytes of encoded points have changed: the error of their source.
    /// - [`Error::Invalid`]: a device would hold 2^31 or more points, copies included.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn shared(accelerator: &Accelerator, bases: impl Into<BasePoints<C>>, options: MsmOptions) -> Result<Self> {
        Self::shared_abortable(accelerator, bases.into(), options, ExecCtx::unreported(None))
    }

    /// Uploads `bases` with `options` like [`Self::shared`], polling the abort hook of `ctx`.
    pub(crate) fn shared_abortable(
        accelerator: &Accelerator,
        bases: BasePoints<C>,
        options: MsmOptions,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        Self::upload(accelerator, HostBases::Shared(bases), options, ctx)
    }

    /// Creates an `Msm` that keeps `bases` in host memory and streams them to the devices at every call.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an encoded point fails its checks.
    /// - The bytes of encoded points have changed: the error of their source.
    pub(crate) fn with_streamed_bases(accelerator: &Accelerator, bases: BasePoints<C>) -> Result<Self> {
        bases.on_host()?;
        let grid = DeviceMesh::by_points(bases.len(), accelerator.devices().len());
        let (accelerator, options, tables) = (accelerator.clone(), MsmOptions::default(), Vec::new());
        Ok(Self { accelerator, options, bases: HostBases::Shared(bases), tables, grid, memos: PlanMemos::default() })
    }
}

impl<'a, C: MsmCurve> Msm<'a, C> {
    /// Uploads `bases`, an equal share to each of the accelerator's devices. If a cost model says that sharing windows
    /// too is faster, each base goes to several devices ([`field@MsmOptions::window_groups`]).
    ///
    /// The points are trusted: [`crate::curve`] lists the requirements, and [`Self::checked`] verifies them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a device would hold 2^31 or more points, copies included.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn new(accelerator: &Accelerator, bases: &'a [C]) -> Result<Self> {
        Self::with_options(accelerator, bases, MsmOptions::default())
    }

    /// Uploads `bases` like [`Self::new`], with `options` of the caller.
    ///
    /// With `precompute` = k copies a base takes k times its bytes on the device. Making the copies takes some 10 field
    /// multiplications for each bit that they span, once.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an option is out of its range.
    /// - [`Error::Invalid`]: a device would hold 2^31 or more points, copies included.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn with_options(accelerator: &Accelerator, bases: &'a [C], options: MsmOptions) -> Result<Self> {
        Self::upload(accelerator, HostBases::Borrowed(bases), options, ExecCtx::unreported(None))
    }

    fn upload(
        accelerator: &Accelerator,
        bases: HostBases<'a, C>,
        options: MsmOptions,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        options.check()?;
        let devices = accelerator.devices().iter().take(options.max_devices());
        let accelerator = accelerator.with_devices(devices.cloned().collect());
        let held = exec::choose_mesh::<C>(accelerator.devices(), bases.len(), &options).and_then(|grid| {
            let devices = accelerator.devices().iter().take(grid.devices).enumerate();
            let held = devices.map(|(number, device)| (device, grid.device_range(number, bases.len())));
            let tables = held.filter(|(_, range)| !range.is_empty());
            let tables =
                tables.map(|(device, range)| BaseTable::new(device, bases.table_source(range)?, &options, ctx));
            Ok((grid, tables.collect::<Result<Vec<_>>>()?))
        });
        let (grid, tables) = match held {
            Err(error @ (Error::Invalid { .. } | Error::Aborted)) => return Err(error),
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("msm {}: bases stay on the host: {error}", C::NAME);
                (DeviceMesh::by_points(bases.len(), accelerator.devices().len()), Vec::new())
            }
            held => held?,
        };
        if tables.is_empty() {
            bases.on_host()?;
        }
        Ok(Self { accelerator, options, bases, tables, grid, memos: PlanMemos::default() })
    }

    /// Checks untrusted `bases` and uploads them with `options`. Each base must be infinity or a point of the curve's
    /// prime-order subgroup with reduced coordinates.
    ///
    /// The check uploads the bases once more than [`Self::new`] does. A point costs a few field multiplications on
    /// BN254 G1, Pallas and Vesta. On other curves it costs some 70 (BLS12-381 G2), 145 (BLS12-381 G1) or 200 (BN254
    /// G2) point operations.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a base fails the check. The error names the first one and the reason.
    /// - [`Error::Invalid`]: an option is out of its range.
    /// - [`Error::Invalid`]: a device would hold 2^31 or more points, copies included.
    /// - [`Error::Forked`]: the process was forked from one that had used the engine.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn checked(accelerator: &Accelerator, bases: &'a [C], options: MsmOptions) -> Result<Self> {
        check(accelerator, bases)?;
        Self::with_options(accelerator, bases, options)
    }

    /// Uploads `scalars`, one for each base, to the devices that hold their bases. Devices that hold the same bases can
    /// then divide the windows among them. With scalars from [`DeviceScalars::upload`] instead, they divide only the
    /// points.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not as many scalars as bases.
    /// - [`Error::Invalid`]: there is no device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver fails.
    pub fn upload_scalars(&self, scalars: &[[u8; 32]], form: ScalarForm) -> Result<DeviceScalars> {
        check_lengths(self.bases.len(), scalars.len())?;
        DeviceScalars::upload_sharded(self.accelerator.devices(), self.grid, scalars, form)
    }

    /// Returns the bytes that the bases and their copies take on all devices together.
    pub fn table_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.buffer.bytes() as u64).sum()
    }

    /// Computes Σ scalarᵢ · baseᵢ and waits for the sum.
    ///
    /// The abort hook `abort` is polled every few milliseconds; with `None` the call cannot be aborted ([`Abort`]).
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not as many scalars as bases.
    /// - [`Error::Invalid`]: a scalar exceeds its promised bit length ([`Scalars::with_bit_length`]).
    /// - [`Error::Invalid`]: scalars on devices are shared otherwise than the bases.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::Forked`]: the process was forked from one that had used the engine.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the CPU takes over, but cannot read the scalars from their device.
    pub fn run<'s>(&self, scalars: impl Into<Scalars<'s>>, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let (sums, report) = self.run_batch(&[scalars.into()], abort)?;
        Ok((single_sum(sums)?, report))
    }

    /// Computes Σ scalarᵢ · baseᵢ over the same bases for each of several `vectors` of scalars, in their order. This is
    /// cheaper than one call per vector. Neighbouring vectors of the same bit length are multiplied as one sparse
    /// matrix, as far as a cost model says that this is faster ([`field@MsmOptions::joined`]). Several vectors, or
    /// matrices, are in flight at once.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a vector has not as many scalars as there are bases.
    /// - [`Error::Invalid`]: a scalar exceeds its promised bit length ([`Scalars::with_bit_length`]).
    /// - [`Error::Invalid`]: scalars on devices are shared otherwise than the bases.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::Forked`]: the process was forked from one that had used the engine.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the CPU takes over, but cannot read the scalars from their device.
    pub fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Report)> {
        self.run_batch_within(vectors, self.options.memory, abort)
    }

    /// Computes the sums as [`Self::run_batch`] does, in at most `memory` bytes of each device for an MSM; 0 sets no
    /// limit.
    pub(crate) fn run_batch_within(
        &self,
        vectors: &[Scalars<'_>],
        memory: u64,
        abort: Abort<'_>,
    ) -> Result<(Vec<C::Curve>, Report)> {
        vectors.iter().try_for_each(|scalars| check_lengths(self.bases.len(), scalars.len()))?;
        let bases = self.device_bases()?;
        let mut request = self.request(&bases, vectors);
        request.options.memory = memory;
        let mut operation = MsmOperation { request, host_bases: &self.bases };
        execute(&self.accelerator, self.accelerator.devices(), &mut operation, abort)
    }

    /// Queues Σ scalarᵢ · baseᵢ and returns once host memory has been read, without waiting for the sum. A chunk of
    /// points that reuses the buffers of an earlier chunk does wait for it. [`PendingMsm::wait`] returns the errors of
    /// the devices.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not as many scalars as bases.
    pub fn start<'s>(&'s self, scalars: impl Into<Scalars<'s>>) -> Result<PendingMsm<'s, 'a, C>> {
        let scalars = scalars.into();
        check_lengths(self.bases.len(), scalars.len())?;
        let pipelines = self.start_pipelines(&scalars, None, 1, ExecCtx::unreported(None));
        Ok(PendingMsm { msm: self, scalars, pipelines: Some(pipelines) })
    }

    /// Queues Σ scalarᵢ · baseᵢ on the devices, each with 1/`parts` of its free memory. The first device uses `stream`
    /// if it is given. Unlike with [`Self::start`], the CPU does not take over after a failure.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not as many scalars as bases.
    /// - [`Error::Invalid`]: scalars on devices are shared otherwise than the bases.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver fails, even if no
    ///   backend is forced.
    pub(crate) fn queue(
        &self,
        scalars: &DeviceScalars,
        stream: Option<Stream>,
        parts: usize,
        ctx: ExecCtx<'_>,
    ) -> Result<QueuedMsm<'_, C>> {
        check_lengths(self.bases.len(), scalars.len())?;
        Ok(QueuedMsm::new(self.start_pipelines(&scalars.into(), stream, parts, ctx)?, scalars))
    }

    /// Starts the multiplication by `vector` on every device that holds bases, and returns their pipelines in order.
    /// The first device uses `stream` if it is given. Each uses 1/`parts` of its free memory.
    fn start_pipelines(
        &self,
        vector: &Scalars<'_>,
        stream: Option<Stream>,
        parts: usize,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<Pipeline>> {
        let bases = self.device_bases()?;
        exec::start(&self.request(&bases, std::slice::from_ref(vector)), stream, parts as u32, ctx)
    }

    fn request<'r>(&'r self, bases: &'r [DeviceBases<'r, C>], vectors: &'r [Scalars<'r>]) -> MsmRequest<'r, C> {
        MsmRequest {
            devices: self.accelerator.devices(),
            bases,
            grid: self.grid,
            points: self.bases.len(),
            vectors,
            options: self.options,
            memos: &self.memos,
        }
    }

    /// Computes Σ scalarᵢ · baseᵢ for each of `vectors` on the devices, in their order. The CPU does not take over
    /// after a failure.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a vector has not as many scalars as there are bases.
    /// - [`Error::Invalid`]: scalars on devices are shared otherwise than the bases.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver fails, even if no
    ///   backend is forced.
    pub(crate) fn run_without_fallback(&self, vectors: &[DeviceScalars], ctx: ExecCtx<'_>) -> Result<Vec<C::Curve>> {
        vectors.iter().try_for_each(|scalars| check_lengths(self.bases.len(), scalars.len()))?;
        let (bases, vectors) = (self.device_bases()?, vectors.iter().map(Scalars::from).collect::<Vec<_>>());
        exec::msm(&self.request(&bases, &vectors), ctx)
    }

    /// Estimates the time of one MSM on the first device by the model, with `bytes` of workspace and `at_once`
    /// concurrent MSMs. Its scalars are on that device. Returns `None` if the memory does not suffice or there is no
    /// device.
    pub(crate) fn estimate_time(&self, bytes: u64, at_once: usize, ctx: ExecCtx<'_>) -> Option<Duration> {
        let (device, points) = (self.accelerator.devices().first()?, self.bases.len());
        let alone = plan_input::<C>(device, self.tables.first(), points, &self.options);
        let input = PlanInput { at_once: at_once as u32, abortable: ctx.is_abortable(), ..alone };
        MsmPlan::fit(input, bytes).ok().map(|plan| plan.estimate_chunk_time(points))
    }

    /// Returns whether every call uploads the bases, since no device holds them.
    pub(crate) fn is_streamed(&self) -> bool {
        self.tables.is_empty() && self.bases.len() > 0
    }

    /// Describes how a multiplication by `scalars` would run: windows, rows, kernels, bytes. The longest row is counted
    /// for scalars in host memory, and otherwise estimated for random ones.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no device or no base.
    /// - [`Error::Invalid`]: there are not as many scalars as bases.
    /// - [`Error::Invalid`]: a scalar in host memory exceeds its promised bit length.
    /// - [`Error::OutOfMemory`]: the memory of a device does not suffice.
    /// - [`Error::Device`]: a device does not report its free memory.
    pub fn explain(&self, scalars: Option<Scalars<'_>>) -> Result<MsmExplanation> {
        scalars.map_or(Ok(()), |scalars| check_lengths(self.bases.len(), scalars.len()))?;
        let bases = self.device_bases()?;
        MsmExplanation::new(&self.request(&bases, &[]), scalars)
    }

    fn device_bases(&self) -> Result<Vec<DeviceBases<'_, C>>> {
        Ok(match self.tables.is_empty() {
            true => self.bases.on_host()?.chunks(self.grid.points_per_piece()).map(DeviceBases::Host).collect(),
            false => self.tables.iter().map(DeviceBases::Device).collect(),
        })
    }
}

/// Holds a multiplication whose kernels are queued. Dropping it waits for them.
pub struct PendingMsm<'s, 'a, C> {
    msm: &'s Msm<'a, C>,
    scalars: Scalars<'s>,
    /// The pipelines, or the error of their start. `None` once they are finished.
    pipelines: Option<Result<Vec<Pipeline>>>,
}

impl<C: MsmCurve> Operation for PendingMsm<'_, '_, C> {
    type Output = C::Curve;

    fn scope(&self) -> OpScope {
        op_scope::<C>(self.scalars.len())
    }

    fn on_devices(&mut self, _: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<C::Curve> {
        let pipelines = self.pipelines.take().ok_or_else(|| Error::internal("msm"))??;
        exec::finish::<C>(pipelines, ctx)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<C::Curve> {
        on_cpu(self.msm.bases.on_host()?, &self.scalars, ctx)
    }
}

impl<C: MsmCurve> PendingMsm<'_, '_, C> {
    /// Waits for the sum, polling `abort`, and returns it with a report. The CPU takes over if a device fails and no
    /// backend is forced.
    ///
    /// # Errors
    /// [`Msm::run`] lists the errors.
    pub fn wait(mut self, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let accelerator = &self.msm.accelerator;
        execute(accelerator, accelerator.devices(), &mut self, abort)
    }

    /// Waits for the sum, polling `abort`, and writes it to `buffer` of `device` at byte `offset`. It is an affine
    /// point in device form ([`crate::curve`]). The host still computes the last step, a chain of doublings: it is
    /// several times as fast there, including both transfers.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `buffer` ends before the point does.
    /// - [`Error::Invalid`]: `buffer` is of another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: `device` has too little memory, or its driver fails, even if no
    ///   backend is forced.
    /// - [`Self::wait`] lists the other errors.
    pub fn wait_into(self, device: &Arc<Device>, buffer: &Buffer, offset: usize, abort: Abort<'_>) -> Result<Report>
    where
        C::Curve: group::Curve<AffineRepr = C>,
    {
        use group::Curve as _;
        let (sum, report) = self.wait(abort)?;
        let mut stream = device.stream()?;
        stream.upload_at(buffer, offset, &C::to_device(&[sum.to_affine()]))?;
        stream.synchronize(None)?;
        Ok(report)
    }
}

/// Holds a multiplication whose kernels are queued, and the scalars that they read. It borrows the bases of a
/// [`super::Msm`]. Dropping it waits for the kernels, since the pipelines drop before the scalars.
pub(crate) struct QueuedMsm<'a, C> {
    pipelines: Vec<Pipeline>,
    _scalars: Vec<Arc<Buffer>>,
    bases: PhantomData<&'a C>,
}

impl<C: MsmCurve> QueuedMsm<'_, C> {
    pub(super) fn new(pipelines: Vec<Pipeline>, scalars: &DeviceScalars) -> Self {
        let kept = scalars.shards.iter().map(|(_, buffer)| buffer.clone()).collect();
        Self { pipelines, _scalars: kept, bases: PhantomData }
    }

    /// Waits for the sum, polling the abort hook, and returns it.
    ///
    /// # Errors
    /// - [`crate::Error::Aborted`]: the hook aborted.
    /// - [`crate::Error::Device`]: a driver fails, or a thread has panicked.
    pub(crate) fn finish(self, ctx: ExecCtx<'_>) -> Result<C::Curve> {
        exec::finish::<C>(self.pipelines, ctx)
    }
}
