//! What is done to columns: on a device, where they then stay, or on the host. Steps of a proof call nothing else.
//!
//! Work goes to the accelerator's first device, on a stream of the engine's own. Nothing is waited for but points, values
//! and lookups' missing rows. Where a device cannot do a step, and none is forced, the host does it: columns are fetched,
//! and the next step tries the device again.
//!
//! A [`Plan`] bounds what a step has on the device: it then goes through its columns in groups, each of which is a step of
//! its own here.

mod across;
mod arguments;
mod groups;
mod hook;
mod host;
mod key;
mod openings;
mod place;
mod quotient;
mod transforms;

use std::sync::{Arc, Mutex, PoisonError};

use group::Curve as _;

pub(super) use arguments::PermutedLookup;
pub use hook::Hook;
pub use key::KeyOnDevice;
pub(super) use quotient::{Constraints, Cosets};

use super::column::{Column, Place, Resident, View, Viewed};
use super::curve::ProofCurve;
use super::memory::{Memory, Plan, for_commitments};
use crate::backend::{Abort, Aim, BackendKind, Device, Stream, check_abort, guarded};
use crate::field::{DeviceVector, Element, NttField, SecretVec};
use crate::msm::{DeviceScalars, Form, Msm, Options, Scalars};
use crate::ntt::NttDomain;
use crate::report::Call;
use crate::{Accelerator, Error, Result};
use place::{OnHost, check, download};

/// Which polynomials the bases of a commitment stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Powers of X: a column is coefficients.
    Monomial,
    /// Lagrange polynomials of the subgroup: a column is values.
    Lagrange,
}

/// A setup's bases, uploaded once for any number of proofs.
#[derive(Debug)]
pub struct Srs<C: 'static> {
    monomial: Msm<'static, C>,
    lagrange: Msm<'static, C>,
}

impl<C: ProofCurve> Srs<C> {
    /// Uploads both bases, n points each. They are trusted as those of [`Msm`] are.
    ///
    /// # Errors
    /// Their numbers differ, or a forced backend failed.
    pub fn new(accelerator: &Accelerator, monomial: Vec<C>, lagrange: Vec<C>) -> Result<Self> {
        if monomial.len() != lagrange.len() {
            return Err(Error::invalid("plonk srs", "Lagrange bases", monomial.len(), lagrange.len()));
        }
        let accelerator = of_one_device(accelerator);
        let memory = for_commitments((monomial.len() * size_of::<C::Scalar>()) as u64);
        let upload = |bases: Vec<C>| Msm::shared(&accelerator, bases, Options { memory, ..Options::default() });
        Ok(Self { monomial: upload(monomial)?, lagrange: upload(lagrange)? })
    }
}

/// Columns lie on one device, so that bases have to.
fn of_one_device(accelerator: &Accelerator) -> Accelerator {
    accelerator.on_devices(accelerator.devices().iter().take(1).cloned().collect())
}

/// Commitments, transforms and the like over columns of 2^log_n elements.
#[derive(Debug)]
pub struct Engine<C: ProofCurve> {
    domain: NttDomain<C::Scalar>,
    accelerator: Accelerator,
    srs: Arc<Srs<C>>,
    stream: Option<Mutex<Stream>>,
    plan: Plan,
    hook: Option<Hook>,
    /// Held, not looked at.
    _aim: Option<Aim>,
}

impl<C: ProofCurve> Engine<C> {
    /// An engine for columns of as many elements as there are bases.
    ///
    /// # Errors
    /// 2^log_n is above the field's two-adicity, or the device that is forced has no stream.
    pub fn new(accelerator: &Accelerator, log_n: u32, srs: Arc<Srs<C>>) -> Result<Self> {
        let accelerator = of_one_device(accelerator);
        let (stream, accelerator) = match accelerator.devices().first().map(Device::stream).transpose() {
            Err(error) if accelerator.forced().is_none() => {
                log::warn!("plonk: the device has no stream, the host does all: {error}");
                (None, accelerator.on_devices(Vec::new()))
            }
            stream => (stream?.map(Mutex::new), accelerator),
        };
        let domain = NttDomain::new(&accelerator, log_n)?;
        Ok(Self { domain, accelerator, srs, stream, plan: Plan::ALL, hook: None, _aim: None })
    }

    /// The same within a plan. Without one all columns stay on the device, and no step is cut.
    #[must_use]
    pub fn within(self, plan: Plan) -> Self {
        Self { plan, ..self }
    }

    /// The same for a proof that takes no more of the device than it has to, as long as the engine lives: free memory is used
    /// again, or given back, before there is more of it than in a [`Memory::whole_bytes`].
    #[must_use]
    pub fn sparing(self, memory: &Memory) -> Self {
        let aim = self.accelerator.devices().first().map(|device| {
            // CUDA's passes wait for each other where they have to.
            device.aim(memory.whole_bytes(device.info().backend == BackendKind::Cuda))
        });
        Self { _aim: aim, ..self }
    }

    /// The same with a question that steps ask before they start, and the longer ones while they run: the answer "stop" ends
    /// a proof with [`Error::Aborted`], and no step falls back to the host after it.
    #[must_use]
    pub fn stopped_by(self, hook: Hook) -> Self {
        Self { hook: Some(hook), ..self }
    }

    /// The name of the device that works; `None` where the host does.
    pub fn device_name(&self) -> Option<String> {
        let device = self.accelerator.devices().first().filter(|_| self.stream.is_some());
        device.map(|device| device.info().name.clone())
    }

    /// Bytes that the device has free for a proof; `None` where the host works.
    ///
    /// # Errors
    /// The driver's call failed, of a backend that is forced.
    pub fn free_memory(&self) -> Result<Option<u64>> {
        match self.accelerator.devices().first().map(|device| device.free_memory()).transpose() {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("plonk: the device does not say what is free: {error}");
                Ok(None)
            }
            free => free,
        }
    }

    /// The generator ω of the subgroup of order n.
    pub fn omega(&self) -> C::Scalar {
        self.domain.omega()
    }

    /// Elements of a column.
    fn n(&self) -> usize {
        1 << self.domain.log_n()
    }

    /// Takes columns of n elements to where the engine works on them.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub fn take(&self, columns: Vec<Vec<C::Scalar>>) -> Result<Vec<Column<C::Scalar>>> {
        // What the device has copies of is cleared here.
        let mut columns: Vec<_> = columns.into_iter().map(SecretVec).collect();
        self.take_from(&mut columns.iter_mut().map(|column| &mut column.0).collect::<Vec<_>>())
    }

    /// The same from vectors that the caller goes on to use: a device copies them, and the host takes them, so that
    /// they are empty.
    ///
    /// # Errors
    /// As [`Self::take`]; vectors are then as they were.
    pub fn take_from(&self, columns: &mut [&mut Vec<C::Scalar>]) -> Result<Vec<Column<C::Scalar>>> {
        let views: Vec<_> = columns.iter().map(|column| View::new(column.as_slice())).collect();
        check(self.n(), &views)?;
        let upload = |stream: &mut Stream| place::copies(stream, self.n(), &views).map(Some);
        let there = if self.plan.keeps_own { self.run("upload", views.len(), upload, |_| Ok(None))? } else { None };
        let on_host = || columns.iter_mut().map(|column| Column::new(std::mem::take(*column))).collect();
        Ok(there.map_or_else(on_host, |vector| Column::of(vector, self.n())))
    }

    /// Σ columnᵢ·baseᵢ of each column, in their order.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub fn commit(&self, basis: Basis, columns: &[View<'_, C::Scalar>]) -> Result<Vec<C>> {
        self.sums(basis, &self.scalars(columns)?)
    }

    /// Columns as scalars for [`Self::sums`], as they are now.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub(super) fn scalars<'v>(&self, columns: &[View<'v, C::Scalar>]) -> Result<Taken<'v, C::Scalar>> {
        if columns.is_empty() {
            return Ok(Taken(Vec::new()));
        }
        let all = self.run(
            "scalars",
            columns.len(),
            |stream| columns.iter().map(|column| scalars(stream, *column)).collect(),
            |_| Ok(self.fetch_all(columns)?.into_iter().map(AnyScalars::OnHost).collect()),
        );
        all.map(Taken)
    }

    /// [`Self::commit`] to scalars.
    ///
    /// # Errors
    /// As there.
    pub(super) fn sums(&self, basis: Basis, scalars: &Taken<'_, C::Scalar>) -> Result<Vec<C>> {
        if scalars.0.is_empty() {
            return Ok(Vec::new());
        }
        let lent: Vec<_> = scalars.0.iter().map(AnyScalars::lent).collect();
        let (sums, _) = self.bases(basis).run_batch(&lent, self.abort())?;
        Ok(sums.into_iter().map(|sum| sum.to_affine()).collect())
    }

    fn bases(&self, basis: Basis) -> &Msm<'static, C> {
        match basis {
            Basis::Monomial => &self.srs.monomial,
            Basis::Lagrange => &self.srs.lagrange,
        }
    }

    fn call(&self, step: &str, columns: usize) -> Call {
        let operation = format!("plonk {step} {}", <C::Scalar as Element>::NAME);
        Call { operation, elements: columns * self.n() }
    }

    /// Runs a step on the device, or where that cannot be on the host.
    fn run<T>(
        &self,
        step: &str,
        columns: usize,
        gpu: impl FnOnce(&mut Stream) -> Result<T>,
        cpu: impl FnOnce(Abort<'_>) -> Result<T>,
    ) -> Result<T> {
        let on_device = |_: &[Arc<Device>]| {
            let stream = self.stream.as_ref().ok_or_else(|| Error::lost("plonk"))?;
            let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            let before = stream.traffic();
            self.make_room(&stream);
            let value = gpu(&mut stream)?;
            Ok((value, stream.traffic().since(before)))
        };
        guarded(self.abort(), |abort| {
            check_abort(abort)?;
            self.accelerator.run(self.call(step, columns), on_device, || cpu(abort)).map(|(value, _)| value)
        })
    }

    /// Where memory is short, a step starts with nothing of the one before: blocks of other sizes would not fit.
    fn make_room(&self, stream: &Stream) {
        if self.plan != Plan::ALL {
            stream.device().trim_pool();
        }
    }

    fn abort(&self) -> Abort<'_> {
        self.hook.as_ref().map(Hook::question)
    }

    /// A step's columns where they stay.
    fn settle(&self, stream: &mut Stream, vector: DeviceVector<C::Scalar>) -> Result<Vec<Column<C::Scalar>>> {
        let columns = Column::of(vector, self.n());
        if self.plan.keeps_own {
            return Ok(columns);
        }
        let mut on_host = |column: &Column<C::Scalar>| match &column.0 {
            Place::Device(resident) => Ok(Column(Place::Host(download(stream, resident)?))),
            Place::Host(_) => Err(Error::lost("plonk")),
        };
        columns.iter().map(&mut on_host).collect()
    }

    /// A column's elements in host memory.
    fn fetch<'v>(&self, column: View<'v, C::Scalar>) -> Result<OnHost<'v, C::Scalar>> {
        match (column.0, &self.stream) {
            (Viewed::Host(elements), _) => Ok(OnHost::Lent(elements)),
            (Viewed::Device(resident), Some(stream)) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                download(&mut stream, resident).map(OnHost::Copy)
            }
            (Viewed::Device(_), None) => Err(Error::lost("plonk")),
        }
    }

    fn fetch_all<'v>(&self, columns: &[View<'v, C::Scalar>]) -> Result<Vec<OnHost<'v, C::Scalar>>> {
        check(self.n(), columns)?;
        columns.iter().map(|column| self.fetch(*column)).collect()
    }

    /// Columns of n elements that follow each other in host memory.
    fn cut(&self, elements: &[C::Scalar]) -> Vec<Column<C::Scalar>> {
        elements.chunks(self.n()).map(|column| Column::new(column.to_vec())).collect()
    }
}

/// Columns' elements as an MSM takes them.
pub(super) struct Taken<'v, F: NttField>(Vec<AnyScalars<'v, F>>);

/// A column's: where the column was.
enum AnyScalars<'v, F: NttField> {
    OnHost(OnHost<'v, F>),
    OnDevice(DeviceScalars),
}

impl<F: NttField> AnyScalars<'_, F> {
    fn lent(&self) -> Scalars<'_> {
        match self {
            Self::OnHost(column) => Scalars::elements(column),
            Self::OnDevice(column) => Scalars::from(column),
        }
    }
}

/// A column as scalars, which are there once the stream is where it is now.
fn scalars<'v, F: NttField>(stream: &mut Stream, column: View<'v, F>) -> Result<AnyScalars<'v, F>> {
    match column.0 {
        Viewed::Host(elements) => Ok(AnyScalars::OnHost(OnHost::Lent(elements))),
        Viewed::Device(resident) => device_scalars(stream, resident).map(AnyScalars::OnDevice),
    }
}

/// The same of a column on the device.
fn device_scalars<F: NttField>(stream: &mut Stream, column: &Resident<F>) -> Result<DeviceScalars> {
    let Resident { vector, first, len } = column;
    let range = *first..first + len;
    let scalars = DeviceScalars::from_range(vector.device(), vector.buffer().clone(), range, Form::Montgomery)?;
    Ok(scalars.after(Arc::new(stream.mark()?)))
}

/// The only one of a step's results.
fn only<T>(results: Vec<T>) -> Result<T> {
    results.into_iter().next().ok_or_else(|| Error::lost("plonk"))
}
