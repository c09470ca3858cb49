//! Runs the steps of a proof on columns, on the device (where results stay) or on the host.
//!
//! Work runs on the accelerator's first device, on the engine's own stream. The host waits only for points, values and
//! lookups' missing rows. If the device cannot do a step, and none is forced, the host fetches the columns and does it.
//! The next step tries the device again. [`execute`] alone decides that, once for each step. A commitment is two steps:
//! its scalars, then its MSM.
//!
//! A [`MemoryPlan`] bounds the columns that a step has on the device. The step then processes its columns in groups.
//! [`execute`] treats each group as a step.

mod interpolate_and_sum;
mod key;
pub(super) mod memory;
mod memory_bound;
pub(super) mod memory_peaks;
mod reservation;
mod resident;
pub(super) mod transfer;
mod work_for_peer;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use group::Curve as _;

pub use key::KeyOnDevice;
pub use memory::{MemoryEstimate, MemoryPlan};
pub use memory_bound::MemoryBound;
pub use memory_peaks::MemoryPeak;

use super::circuit::ProofCurve;
use super::columns_layout_and_key::{Column, ColumnStorage, ColumnView, ViewStorage};
use crate::backend::{Abort, Device, MemoryBudget, ResidentBytes, Stream, lock};
use crate::exec::{ExecCtx, Operation, execute};
use crate::expression::max_column_vectors;
use crate::field::{DeviceVector, Element};
use crate::msm::{Msm, MsmOptions};
use crate::ntt::NttDomain;
use crate::report::OpScope;
use crate::secret_vec::{SecretCow, SecretVec};
use crate::{Accelerator, Error, Result};
use memory::max_commitment_bytes;
use transfer::{
    ColumnScalars, ScalarStorage, allocate_zeros, check_column_lengths, column_scalars, download, download_into,
};

/// Selects the polynomial basis of a commitment, which says whether a column holds coefficients or values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Powers of X: columns are coefficients.
    Monomial,
    /// Lagrange polynomials of the subgroup: columns are values.
    Lagrange,
}

/// Holds the points of a structured reference string in both bases, uploaded once for any number of proofs.
#[derive(Debug)]
pub struct Srs<C: 'static> {
    monomial: Msm<'static, C>,
    lagrange: Msm<'static, C>,
    /// The points, counted among the device's resident data. It is never read.
    _resident: Option<ResidentBytes>,
}

impl<C: ProofCurve> Srs<C> {
    /// Uploads the points of both bases, `monomial` and `lagrange`, n each. The points are trusted, like those of
    /// [`Msm`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the numbers of bases differ.
    /// - A forced backend failed: its error.
    pub fn new(accelerator: &Accelerator, monomial: Vec<C>, lagrange: Vec<C>) -> Result<Self> {
        if monomial.len() != lagrange.len() {
            return Err(Error::invalid("plonk srs", "Lagrange bases", monomial.len(), lagrange.len()));
        }
        let accelerator = first_device_only(accelerator);
        let column = (monomial.len() * size_of::<C::Scalar>()) as u64;
        let memory = max_commitment_bytes(column);
        let upload = |bases: Vec<C>| Msm::shared(&accelerator, bases, MsmOptions { memory, ..MsmOptions::default() });
        let [monomial, lagrange] = [upload(monomial)?, upload(lagrange)?];
        let bytes = monomial.table_bytes() + lagrange.table_bytes();
        let resident = accelerator.devices().first().map(|device| device.mark_resident(bytes));
        Ok(Self { monomial, lagrange, _resident: resident })
    }
}

/// Returns `accelerator` with its first device only, because an engine's columns and points are on one device.
fn first_device_only(accelerator: &Accelerator) -> Accelerator {
    accelerator.with_devices(accelerator.devices().iter().take(1).cloned().collect())
}

/// Runs the operations of proofs on columns of n = 2^log_n elements, such as commitments and transforms. They run on
/// one device, or on the host.
#[derive(Debug)]
pub struct Engine<C: ProofCurve> {
    pub(super) domain: NttDomain<C::Scalar>,
    pub(super) accelerator: Accelerator,
    srs: Arc<Srs<C>>,
    stream: Option<Mutex<Stream>>,
    pub(super) plan: MemoryPlan,
    /// Maximum bytes of workspace of an MSM.
    commitment_bytes: u64,
    hook: Option<AbortHook>,
    /// Soft memory budget, which holds until it is dropped. It is never read.
    _budget: Option<MemoryBudget>,
}

impl<C: ProofCurve> Engine<C> {
    /// Creates an engine for columns of 2^`log_n` elements, on the first device of `accelerator`. `srs` has as many
    /// points in each basis.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity.
    /// - A forced device has no stream: the driver's error.
    pub fn new(accelerator: &Accelerator, log_n: u32, srs: Arc<Srs<C>>) -> Result<Self> {
        let accelerator = first_device_only(accelerator);
        let (stream, accelerator) = match accelerator.devices().first().map(Device::stream).transpose() {
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("plonk: the device has no stream, the host does all: {error}");
                (None, accelerator.with_devices(Vec::new()))
            }
            stream => (stream?.map(Mutex::new), accelerator),
        };
        let domain = NttDomain::new(&accelerator, log_n)?;
        let (plan, column) = (MemoryPlan::ALL, (size_of::<C::Scalar>() as u64) << log_n);
        let commitment_bytes = plan.commitment_bytes(column);
        Ok(Self { domain, accelerator, srs, stream, plan, commitment_bytes, hook: None, _budget: None })
    }

    /// Returns the engine with the memory plan `plan`. Without a plan, all columns stay on the device, and no step is
    /// split.
    #[must_use]
    pub fn with_memory_plan(self, plan: MemoryPlan) -> Self {
        let commitment_bytes = plan.commitment_bytes((self.n() * size_of::<C::Scalar>()) as u64);
        Self { plan, commitment_bytes, ..self }
    }

    /// Returns the engine with the abort hook `hook`. Steps call it before they start, and longer ones while they run.
    /// If it returns true, the proof ends with [`Error::Aborted`], and no step falls back to the host.
    #[must_use]
    pub fn with_abort(self, hook: AbortHook) -> Self {
        Self { hook: Some(hook), ..self }
    }

    /// Returns the name of the engine's device, or `None` if the host does the work.
    pub fn device_name(&self) -> Option<String> {
        let device = self.accelerator.devices().first().filter(|_| self.stream.is_some());
        device.map(|device| device.info().name.clone())
    }

    /// Returns the maximum number of device vectors from which a step reads columns without a copy. It is unlimited if
    /// the host does the work.
    pub fn max_column_vectors(&self) -> usize {
        self.stream.as_ref().map_or(usize::MAX, |stream| max_column_vectors::<C::Scalar>(&lock(stream)))
    }

    /// Returns the generator ω of the subgroup of order n.
    pub fn omega(&self) -> C::Scalar {
        self.domain.omega()
    }

    /// Returns the number of elements of a column.
    pub(super) fn n(&self) -> usize {
        1 << self.domain.log_n()
    }

    /// Moves `columns`, of n elements each, to the device. They stay in host memory if the plan keeps columns there
    /// between steps, or if the host does the work.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn upload(&self, columns: Vec<Vec<C::Scalar>>) -> Result<Vec<Column<C::Scalar>>> {
        // Columns that the device has copied are cleared here.
        let mut columns: Vec<_> = columns.into_iter().map(SecretVec).collect();
        self.upload_or_take(&mut columns.iter_mut().map(|column| &mut column.0).collect::<Vec<_>>())
    }

    /// Makes columns of the elements of `columns`, n each. Copies them to the device, or takes the vectors' memory and
    /// leaves them empty. It takes the memory if the plan keeps columns in host memory, or if the host does the work.
    /// The caller goes on to use the vectors.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    ///
    /// After an error, the vectors are unchanged.
    pub fn upload_or_take(&self, columns: &mut [&mut Vec<C::Scalar>]) -> Result<Vec<Column<C::Scalar>>> {
        let views: Vec<_> = columns.iter().map(|column| ColumnView::new(column.as_slice())).collect();
        check_column_lengths(self.n(), &views)?;
        let upload = |stream: &mut Stream| transfer::enqueue_copies(stream, self.n(), &views).map(Some);
        let there =
            if self.plan.columns_resident { self.run_step("upload", views.len(), upload, |_| Ok(None))? } else { None };
        let on_host = || columns.iter_mut().map(|column| Column::new(std::mem::take(*column))).collect();
        Ok(there.map_or_else(on_host, |vector| Column::split_vector(vector, self.n())))
    }

    /// Commits to each of `columns`: computes the MSM Σ columnᵢ·pointᵢ over the points of `basis`. Returns the
    /// commitments in the order of `columns`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - [`Error::Device`]: a scalar on the device is too long, a wrong result; this fails even if no backend is
    ///   forced.
    /// - A forced backend failed: its error.
    pub fn commit(&self, basis: Basis, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<C>> {
        self.commit_scalars(basis, &self.prepare_scalars(columns)?)
    }

    /// Returns `columns` as MSM scalars for [`Self::commit_scalars`], in their order. They include all changes that are
    /// queued on the engine's stream now.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the host works, and a column does not have n elements. On a device [`Self::commit_scalars`] finds
    ///   such a column.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(super) fn prepare_scalars<'v>(
        &self,
        columns: &[ColumnView<'v, C::Scalar>],
    ) -> Result<ColumnScalars<'v, C::Scalar>> {
        if columns.is_empty() {
            return Ok(ColumnScalars(Vec::new()));
        }
        let all = self.run_step(
            "scalars",
            columns.len(),
            |stream| columns.iter().map(|column| column_scalars(stream, *column)).collect(),
            |_| Ok(self.fetch_all_to_host(columns)?.into_iter().map(ScalarStorage::OnHost).collect()),
        );
        all.map(ColumnScalars)
    }

    /// Computes the MSM Σ scalarᵢ·pointᵢ over the points of `basis` for each column of `scalars`. Returns the
    /// commitments in the order of the columns.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column did not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - [`Error::Device`]: a scalar on the device is too long, a wrong result; this fails even if no backend is
    ///   forced.
    /// - A forced backend failed: its error.
    pub(super) fn commit_scalars(&self, basis: Basis, scalars: &ColumnScalars<'_, C::Scalar>) -> Result<Vec<C>> {
        if scalars.0.is_empty() {
            return Ok(Vec::new());
        }
        let as_scalars: Vec<_> = scalars.0.iter().map(ScalarStorage::as_scalars).collect();
        let sums = self.basis_msm(basis).run_batch_within(&as_scalars, self.commitment_bytes, self.abort_callback());
        let (sums, _) = sums.map_err(|error| self.scalar_error_to_device(error))?;
        Ok(sums.into_iter().map(|sum| sum.to_affine()).collect())
    }

    /// Converts an MSM's error about its scalars to an error of the device, and returns other errors unchanged. Columns
    /// are reduced field elements, so a scalar that is too long is a wrong result of the device.
    fn scalar_error_to_device(&self, error: Error) -> Error {
        match (error, self.device_name()) {
            (Error::Invalid { place: "msm", what, expected, actual }, Some(device)) if what == "scalars" => {
                let reason = format!("{what}: expected {expected}, got {actual}: a wrong result");
                Error::device(device, "a commitment", reason)
            }
            (error, _) => error,
        }
    }

    fn basis_msm(&self, basis: Basis) -> &Msm<'static, C> {
        match basis {
            Basis::Monomial => &self.srs.monomial,
            Basis::Lagrange => &self.srs.lagrange,
        }
    }

    /// Runs the step named `step` on `columns` columns, by `gpu` on the device. The host takes over by `cpu` if there
    /// is no device, or if `gpu` fails and no backend is forced.
    pub(super) fn run_step<T>(
        &self,
        step: &str,
        columns: usize,
        gpu: impl FnOnce(&mut Stream) -> Result<T>,
        cpu: impl FnOnce(ExecCtx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.execute_step(step, columns, |stream, _| gpu(stream), Some(cpu))
    }

    /// Runs the step named `step` on `columns` columns, by `gpu` on the device. The host does not take over.
    fn run_on_device<T>(
        &self,
        step: &str,
        columns: usize,
        gpu: impl FnOnce(&mut Stream, ExecCtx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.execute_step(step, columns, gpu, None::<fn(ExecCtx<'_>) -> Result<T>>)
    }

    fn execute_step<T>(
        &self,
        step: &str,
        columns: usize,
        gpu: impl FnOnce(&mut Stream, ExecCtx<'_>) -> Result<T>,
        cpu: Option<impl FnOnce(ExecCtx<'_>) -> Result<T>>,
    ) -> Result<T> {
        let mut operation = EngineStep { engine: self, step, columns, gpu: Some(gpu), cpu };
        execute(&self.accelerator, self.accelerator.devices(), &mut operation, self.abort_callback())
            .map(|(value, _)| value)
    }

    /// Returns an accelerator without devices, for the part of a step that the host does.
    pub(super) fn host(&self) -> Accelerator {
        self.accelerator.with_devices(Vec::new())
    }

    /// Trims the device's memory pool if the plan limits memory. Free blocks of the previous step have other sizes and
    /// would not fit.
    pub(super) fn trim_before_step(&self, stream: &Stream) {
        if self.plan != MemoryPlan::ALL {
            stream.device().trim_pool();
        }
    }

    fn abort_callback(&self) -> Abort<'_> {
        self.hook.as_ref().map(AbortHook::callback)
    }

    /// Splits `vector` into columns of n elements. Moves them to host memory unless the plan keeps columns on the
    /// device.
    pub(super) fn collect_columns(
        &self,
        stream: &mut Stream,
        vector: DeviceVector<C::Scalar>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let columns = Column::split_vector(vector, self.n());
        if self.plan.columns_resident {
            return Ok(columns);
        }
        let mut on_host = |column: &Column<C::Scalar>| match &column.0 {
            ColumnStorage::Device(resident) => Ok(Column(ColumnStorage::Host(download(stream, resident)?))),
            ColumnStorage::Host(_) => Err(Error::internal("plonk")),
        };
        columns.iter().map(&mut on_host).collect()
    }

    /// Returns the elements of `column` in host memory, borrowed if they are there already, otherwise downloaded.
    pub(super) fn fetch_to_host<'v>(&self, column: ColumnView<'v, C::Scalar>) -> Result<SecretCow<'v, C::Scalar>> {
        match (column.0, &self.stream) {
            (ViewStorage::Host(elements), _) => Ok(SecretCow::Borrowed(elements)),
            (ViewStorage::Device(resident), Some(stream)) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                download(&mut stream, resident).map(SecretCow::Owned)
            }
            (ViewStorage::Device(_), None) => Err(Error::internal("plonk")),
        }
    }

    pub(super) fn fetch_all_to_host<'v>(
        &self,
        columns: &[ColumnView<'v, C::Scalar>],
    ) -> Result<Vec<SecretCow<'v, C::Scalar>>> {
        check_column_lengths(self.n(), columns)?;
        columns.iter().map(|column| self.fetch_to_host(*column)).collect()
    }

    /// Copies `elements` to columns of n elements each, in host memory.
    pub(super) fn split_host_columns(&self, elements: &[C::Scalar]) -> Vec<Column<C::Scalar>> {
        elements.chunks(self.n()).map(|column| Column::new(column.to_vec())).collect()
    }
}

/// Returns the only one of a step's `results`. An empty list is an error.
pub(super) fn exactly_one<T>(results: Vec<T>) -> Result<T> {
    results.into_iter().next().ok_or_else(|| Error::internal("plonk"))
}

/// Holds the caller's function that returns true if the proof must stop. The proof's own thread, its helper
/// threads and workers of rayon's pool call it.
#[derive(Clone)]
pub struct AbortHook(Arc<dyn Fn() -> bool + Send + Sync>);

impl AbortHook {
    /// Creates a hook that calls `ask`, which returns true to stop the proof.
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    pub(crate) fn callback(&self) -> &(dyn Fn() -> bool + Send + Sync) {
        &*self.0
    }
}

impl fmt::Debug for AbortHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHook").finish_non_exhaustive()
    }
}

impl<C: ProofCurve> Engine<C> {
    /// Moves the elements of `columns` to host memory, in the same order. The vectors are not cleared when dropped, so
    /// the columns must not be secret.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    /// - [`Error::Device`]: a column is on a device, and the engine has none.
    pub fn move_to_host(&self, columns: Vec<Column<C::Scalar>>) -> Result<Vec<Vec<C::Scalar>>> {
        columns.into_iter().map(|column| self.column_into_host(column)).collect()
    }

    fn column_into_host(&self, column: Column<C::Scalar>) -> Result<Vec<C::Scalar>> {
        match column.0 {
            ColumnStorage::Host(mut elements) => Ok(std::mem::take(&mut elements.0)),
            ColumnStorage::Device(resident) => {
                let stream = self.stream.as_ref().ok_or_else(|| Error::internal("plonk"))?;
                let mut elements = allocate_zeros(resident.len);
                download_into(&mut lock(stream), &resident, &mut elements)?;
                Ok(elements)
            }
        }
    }
}

/// Runs one step of a proof, by a closure for the device or by one for the CPU.
struct EngineStep<'e, C: ProofCurve, G, H> {
    engine: &'e Engine<C>,
    /// Name of the step.
    step: &'e str,
    /// Number of columns that it works on.
    columns: usize,
    /// `None` once it has run.
    gpu: Option<G>,
    /// `None` once it has run, or if the host cannot take over.
    cpu: Option<H>,
}

impl<C: ProofCurve, T, G, H> Operation for EngineStep<'_, C, G, H>
where
    G: FnOnce(&mut Stream, ExecCtx<'_>) -> Result<T>,
    H: FnOnce(ExecCtx<'_>) -> Result<T>,
{
    type Output = T;

    fn scope(&self) -> OpScope {
        let operation = format!("plonk {} {}", self.step, <C::Scalar as Element>::NAME);
        OpScope { operation, elements: self.columns * self.engine.n() }
    }

    fn on_devices(&mut self, _: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<T> {
        ctx.check_abort()?;
        let (Some(stream), Some(gpu)) = (self.engine.stream.as_ref(), self.gpu.take()) else {
            return Err(Error::internal("plonk"));
        };
        let mut stream = lock(stream);
        let before = stream.stats();
        self.engine.trim_before_step(&stream);
        let value = gpu(&mut stream, ctx)?;
        ctx.add_stats(stream.stats().since(before));
        Ok(value)
    }

    fn has_cpu_path(&self) -> bool {
        self.cpu.is_some()
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<T> {
        ctx.check_abort()?;
        let cpu = self.cpu.take().ok_or_else(|| Error::internal("plonk"))?;
        cpu(ctx)
    }
}
