//! Bases that stay on the devices between calls.

use std::sync::Arc;
use std::time::Duration;

use group::Group;

use super::bases::{Held, Points, Table, check, problem};
use super::cpu::on_cpu;
use super::explain::Explanation;
use super::options::Options;
use super::plan::{Grid, Need, Plan};
use super::queued::Queued;
use super::request::{call, check_lengths};
use super::run::{self, Bases, Choices, Pipeline, Work};
use super::scalars::{DeviceScalars, Form, Scalars};
use crate::backend::{Abort, Buffer, Device, Stream, Traffic, guarded};
use crate::curve::MsmCurve;
use crate::{Accelerator, Error, Report, Result};

/// Bases uploaded once, for any number of multiplications.
///
/// All but [`Self::checked`] trust them: each has to be infinity or a point of the curve's subgroup of prime order, its
/// coordinates reduced ([`crate::curve`]); encoded ones are checked as far as their source expects ([`super::Expected`]).
///
/// Where they do not fit on the devices (and no backend is forced), they stay on the host and are streamed
/// by every call, with a warning in the log.
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
    options: Options,
    bases: Held<'a, C>,
    /// One a device, in order of the bases; empty where they are on the host only.
    tables: Vec<Table>,
    grid: Grid,
    choices: Choices,
}

impl<C: MsmCurve> Msm<'static, C> {
    /// As [`Self::with_options`], for bases that it keeps alive itself. Encoded ones are decoded by the devices, and on
    /// the host only once they are needed there.
    ///
    /// # Errors
    /// An option is out of its range, an encoded point is not what is expected, or a forced backend has too little memory, or failed.
    pub fn shared(accelerator: &Accelerator, bases: impl Into<Points<C>>, options: Options) -> Result<Self> {
        Self::shared_unless(accelerator, bases.into(), options, None)
    }

    /// As [`Self::shared`], unless somebody aborts the upload.
    pub(crate) fn shared_unless(
        accelerator: &Accelerator,
        bases: Points<C>,
        options: Options,
        abort: Abort<'_>,
    ) -> Result<Self> {
        Self::upload(accelerator, Held::Shared(bases), options, abort)
    }

    /// As [`Self::shared`], with bases that stay on the host: every call streams them.
    ///
    /// # Errors
    /// An encoded point is not what is expected.
    pub(crate) fn streamed(accelerator: &Accelerator, bases: Points<C>) -> Result<Self> {
        bases.on_host()?;
        let grid = Grid::of_points(bases.len(), accelerator.devices().len());
        let (accelerator, options, tables) = (accelerator.clone(), Options::default(), Vec::new());
        Ok(Self { accelerator, options, bases: Held::Shared(bases), tables, grid, choices: Choices::default() })
    }
}

impl<'a, C: MsmCurve> Msm<'a, C> {
    /// Uploads the bases, an equal share to each of the accelerator's devices, or each to several of them where a cost model
    /// says that sharing windows too is faster ([`field@Options::window_groups`]).
    ///
    /// The points are trusted: see [`crate::curve`] for what they have to be, and
    /// [`Self::checked`].
    ///
    /// # Errors
    /// A forced backend has too little memory, or failed.
    pub fn new(accelerator: &Accelerator, bases: &'a [C]) -> Result<Self> {
        Self::with_options(accelerator, bases, Options::default())
    }

    /// As [`Self::new`], with some things settled by the caller.
    ///
    /// With `precompute` = k copies a base takes k times its bytes on the device, and making them some 10
    /// multiplications in the field for each bit that the copies span, once.
    ///
    /// # Errors
    /// An option is out of its range, or a forced backend has too little memory, or failed.
    pub fn with_options(accelerator: &Accelerator, bases: &'a [C], options: Options) -> Result<Self> {
        Self::upload(accelerator, Held::Borrowed(bases), options, None)
    }

    fn upload(accelerator: &Accelerator, bases: Held<'a, C>, options: Options, abort: Abort<'_>) -> Result<Self> {
        options.check()?;
        let devices = accelerator.devices().iter().take(options.most_devices());
        let accelerator = accelerator.on_devices(devices.cloned().collect());
        let held = run::grid::<C>(accelerator.devices(), bases.len(), &options).and_then(|grid| {
            let devices = accelerator.devices().iter().take(grid.devices).enumerate();
            let held = devices.map(|(number, device)| (device, grid.held(number, bases.len())));
            let tables = held.filter(|(_, range)| !range.is_empty());
            let tables = tables.map(|(device, range)| Table::new(device, bases.part(range)?, &options, abort));
            Ok((grid, tables.collect::<Result<Vec<_>>>()?))
        });
        let (grid, tables) = match held {
            Err(error @ (Error::Invalid { .. } | Error::Aborted)) => return Err(error),
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("msm {}: bases stay on the host: {error}", C::NAME);
                (Grid::of_points(bases.len(), accelerator.devices().len()), Vec::new())
            }
            held => held?,
        };
        if tables.is_empty() {
            bases.on_host()?;
        }
        Ok(Self { accelerator, options, bases, tables, grid, choices: Choices::default() })
    }

    /// As [`Self::new`], for bases that nobody vouches for: each has to be infinity or a point of the curve's
    /// subgroup of prime order, its coordinates reduced.
    ///
    /// Uploads the bases once more than [`Self::new`] does. A point costs a few field multiplications on BN254 G1,
    /// Pallas and Vesta, and some 70 (BLS12-381 G2), 145 (BLS12-381 G1) or 200 (BN254 G2) point operations else.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] names the first base that is no such point, and why; an option is out of its range, or a forced
    /// backend has too little memory, or failed.
    pub fn checked(accelerator: &Accelerator, bases: &'a [C], options: Options) -> Result<Self> {
        check(accelerator, bases)?;
        Self::with_options(accelerator, bases, options)
    }

    /// Uploads as many scalars as there are bases, to each device those of the bases that it holds. With the scalars of
    /// [`DeviceScalars::upload`] devices share points alone.
    ///
    /// # Errors
    /// Their number is another, there is no device, or it has too little memory, or failed.
    pub fn upload_scalars(&self, scalars: &[[u8; 32]], form: Form) -> Result<DeviceScalars> {
        check_lengths(self.bases.len(), scalars.len())?;
        DeviceScalars::spread(self.accelerator.devices(), self.grid, scalars, form)
    }

    /// Bytes that the bases and their copies take on the devices, all together.
    pub fn table_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.buffer.bytes() as u64).sum()
    }

    /// Σ scalarᵢ · baseᵢ.
    ///
    /// `abort` is asked whether to stop, every few milliseconds; with `None` nobody may ([`Abort`]).
    ///
    /// # Errors
    /// There are not as many scalars as bases, one is longer than promised ([`Scalars::with_bit_length`]), scalars on devices
    /// are shared otherwise than the bases, the hook aborted, or a forced backend failed.
    pub fn run<'s>(&self, scalars: impl Into<Scalars<'s>>, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let (sums, report) = self.run_batch(&[scalars.into()], abort)?;
        sums.into_iter().next().map(|sum| (sum, report)).ok_or_else(|| Error::lost("msm"))
    }

    /// The sums of several vectors of scalars over the same bases, in their order: cheaper than one call after the other.
    /// Neighbours whose scalars have equally many bits are multiplied as one matrix as far as a cost model says that it
    /// is faster ([`field@Options::joined`]); some vectors, or matrices, are under way at once.
    ///
    /// # Errors
    /// Of a vector there are not as many scalars as bases, one is longer than promised ([`Scalars::with_bit_length`]), scalars on
    /// devices are shared otherwise than the bases, the hook aborted, or a forced backend failed.
    pub fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Report)> {
        vectors.iter().try_for_each(|scalars| check_lengths(self.bases.len(), scalars.len()))?;
        let elements = vectors.iter().map(Scalars::len).sum();
        let bases = self.shares()?;
        let work = self.work(&bases, vectors);
        let on_host = |abort: Abort<'_>| {
            let bases = self.bases.on_host()?;
            vectors.iter().map(|scalars| on_cpu(bases, scalars, abort)).collect()
        };
        guarded(abort, |abort| {
            let call = call::<C>(elements);
            self.accelerator.run(call, |devices| run::msm(devices, work, abort), || on_host(abort))
        })
    }

    /// Queues a sum and returns without waiting for it, once host memory has been read (a chunk that needs the place
    /// of an earlier one is waited for). Errors of the devices show in [`Running::wait`].
    ///
    /// # Errors
    /// There are not as many scalars as bases.
    pub fn start<'s>(&'s self, scalars: impl Into<Scalars<'s>>) -> Result<Running<'s, 'a, C>> {
        let scalars = scalars.into();
        check_lengths(self.bases.len(), scalars.len())?;
        let pipelines = self.pipelines(&scalars, None, 1, None);
        Ok(Running { msm: self, scalars, pipelines })
    }

    /// Queues a sum of scalars on the devices, with one of `parts` equal parts of their free memory, on the first of them
    /// on a stream of the caller's if there is one. Unlike [`Self::start`] it leaves a failure to the caller.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) fn queue(
        &self,
        scalars: &DeviceScalars,
        stream: Option<Stream>,
        parts: usize,
        abort: Abort<'_>,
    ) -> Result<Queued<'_, C>> {
        check_lengths(self.bases.len(), scalars.len())?;
        Ok(Queued::new(self.pipelines(&scalars.into(), stream, parts, abort)?, scalars))
    }

    /// A vector started on every device, on the first on a stream of the caller's if there is one.
    fn pipelines(
        &self,
        vector: &Scalars<'_>,
        mut stream: Option<Stream>,
        parts: usize,
        abort: Abort<'_>,
    ) -> Result<Vec<Pipeline>> {
        let (bases, devices) = (self.shares()?, self.accelerator.devices());
        let work = self.work(&bases, std::slice::from_ref(vector));
        let split = run::split(devices, &work, vector, parts, abort)?;
        let start =
            |(number, device)| run::start((device, stream.take()), number, work, (vector, &split), parts, abort);
        devices.iter().take(bases.len()).enumerate().map(start).collect()
    }

    fn work<'w>(&'w self, bases: &'w [Bases<'w, C>], vectors: &'w [Scalars<'w>]) -> Work<'w, C> {
        Work { bases, vectors, grid: self.grid, choices: &self.choices, options: self.options }
    }

    /// The sums of several vectors on the devices, without a way out: a failure is left to the caller.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) fn sums(&self, vectors: &[DeviceScalars], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Traffic)> {
        vectors.iter().try_for_each(|scalars| check_lengths(self.bases.len(), scalars.len()))?;
        let (bases, vectors) = (self.shares()?, vectors.iter().map(Scalars::from).collect::<Vec<_>>());
        let work = self.work(&bases, &vectors);
        run::msm(self.accelerator.devices(), work, abort)
    }

    /// What a sum of scalars that are on the first of its devices takes there by the model, with so many bytes and so many
    /// sums at a time; nothing is known where that is too little, or there is no device.
    pub(crate) fn time_within(&self, bytes: u64, at_once: usize, abort: Abort<'_>) -> Option<Duration> {
        let (points, at_once, abortable) = (self.bases.len(), at_once as u32, abort.is_some());
        let need = Need { at_once, abortable, ..Need::alone(points, C::SCALAR_BITS) };
        let problem = problem::<C>(self.accelerator.devices().first()?, self.tables.first(), need, &self.options);
        Plan::fit(problem, bytes).ok().map(|plan| plan.time(points))
    }

    /// Whether every call uploads the bases.
    pub(crate) fn is_streamed(&self) -> bool {
        self.tables.is_empty() && self.bases.len() > 0
    }

    /// How a multiplication by such scalars would be done: windows, rows, kernels, bytes. With scalars in host
    /// memory the longest row is counted, else it is said for random ones.
    ///
    /// # Errors
    /// There is no device or no base, there are not as many scalars as bases or one in host memory is longer than
    /// promised, or the device's memory does not do or cannot be asked.
    pub fn explain(&self, scalars: Option<Scalars<'_>>) -> Result<Explanation> {
        scalars.map_or(Ok(()), |scalars| check_lengths(self.bases.len(), scalars.len()))?;
        let bases = self.shares()?;
        Explanation::new(self.accelerator.devices(), &self.work(&bases, &[]), self.bases.len(), scalars)
    }

    fn shares(&self) -> Result<Vec<Bases<'_, C>>> {
        Ok(match self.tables.is_empty() {
            true => self.bases.on_host()?.chunks(self.grid.piece()).map(Bases::Host).collect(),
            false => self.tables.iter().map(Bases::Device).collect(),
        })
    }
}

/// A sum under way. Dropped without waiting, it still runs to its end first.
pub struct Running<'s, 'a, C> {
    msm: &'s Msm<'a, C>,
    scalars: Scalars<'s>,
    pipelines: Result<Vec<Pipeline>>,
}

impl<C: MsmCurve> Running<'_, '_, C> {
    /// Waits for the sum.
    ///
    /// # Errors
    /// As [`Msm::run`].
    pub fn wait(self, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let Self { msm, scalars, pipelines } = self;
        let finish = |pipelines: Result<Vec<Pipeline>>, abort: Abort<'_>| {
            let mut sums = pipelines?.into_iter().map(|pipeline| pipeline.finish::<C>(abort));
            sums.try_fold((C::Curve::identity(), Traffic::default()), |total, part| {
                let (sum, traffic) = part?;
                Ok((total.0 + sum, total.1 + traffic))
            })
        };
        let on_host = |abort: Abort<'_>| on_cpu(msm.bases.on_host()?, &scalars, abort);
        guarded(abort, |abort| {
            msm.accelerator.run(call::<C>(scalars.len()), |_| finish(pipelines, abort), || on_host(abort))
        })
    }

    /// Waits for the sum and writes it to a device's buffer, from byte `offset` on, as an affine point in the
    /// device's form ([`crate::curve`]). The last step, a chain of doublings, is the host's all the same: it is
    /// several times as fast there, the way and back included.
    ///
    /// # Errors
    /// As [`Self::wait`], or the buffer ends before or is of another device.
    pub fn wait_into(self, device: &Arc<Device>, buffer: &Buffer, offset: usize, abort: Abort<'_>) -> Result<Report>
    where
        C::Curve: group::Curve<AffineRepr = C>,
    {
        use group::Curve as _;
        let (sum, report) = self.wait(abort)?;
        let mut stream = device.stream()?;
        stream.upload_at(buffer, offset, &C::to_device(&[sum.to_affine()]))?;
        stream.wait(None)?;
        Ok(report)
    }
}
