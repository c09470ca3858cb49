//! What is done to columns: on a device, where they then stay, or on the host. Steps of a proof call nothing else.
//!
//! Work goes to the accelerator's first device, on a stream of the engine's own. Nothing is waited for but points, values
//! and lookups' missing rows. Where a device cannot do a step, and none is forced, the host does it: columns are fetched,
//! and the next step tries the device again.

mod arguments;
mod host;
mod key;
mod openings;
mod place;
mod transforms;

use std::sync::{Arc, Mutex, PoisonError};

use group::Curve as _;

pub(super) use arguments::PermutedLookup;
pub use key::KeyOnDevice;
pub(super) use transforms::Cosets;

use super::column::{Column, Resident, View, Viewed};
use super::curve::ProofCurve;
use crate::backend::{Device, Stream};
use crate::field::{NttField, SecretVec};
use crate::msm::{DeviceScalars, Form, Msm, Options, Scalars};
use crate::ntt::NttDomain;
use crate::report::Call;
use crate::{Accelerator, Error, Result};
use place::{OnHost, check, download, residents};

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
        let upload = |bases: Vec<C>| Msm::shared(&accelerator, bases, Options::default());
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
        Ok(Self { domain: NttDomain::new(&accelerator, log_n)?, accelerator, srs, stream })
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
        let there = self.run("upload", views.len(), upload, || Ok(None))?;
        let on_host = || columns.iter_mut().map(|column| Column::new(std::mem::take(*column))).collect();
        Ok(there.map_or_else(on_host, |vector| Column::of(vector, self.n())))
    }

    /// Σ columnᵢ·baseᵢ of each column, in their order.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub fn commit(&self, basis: Basis, columns: &[View<'_, C::Scalar>]) -> Result<Vec<C>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let bases = match basis {
            Basis::Monomial => &self.srs.monomial,
            Basis::Lagrange => &self.srs.lagrange,
        };
        let there = self.run(
            "scalars",
            columns.len(),
            |stream| self.on_device(stream, columns).map(AnyScalars::OnDevice),
            || self.fetch_all(columns).map(AnyScalars::OnHost),
        )?;
        let (sums, _) = bases.run_batch(&there.lent(), None)?;
        Ok(sums.into_iter().map(|sum| sum.to_affine()).collect())
    }

    /// Columns as an MSM's scalars, which are there once the stream is where it is now.
    fn on_device(&self, stream: &mut Stream, columns: &[View<'_, C::Scalar>]) -> Result<Vec<DeviceScalars>> {
        let residents = residents(stream, self.n(), columns)?;
        let mark = Arc::new(stream.mark()?);
        let scalars = |Resident { vector, first, len }: &Resident<C::Scalar>| {
            let range = *first..first + len;
            let scalars = DeviceScalars::from_range(vector.device(), vector.buffer().clone(), range, Form::Montgomery);
            Ok(scalars?.after(mark.clone()))
        };
        residents.iter().map(scalars).collect()
    }

    fn call(&self, step: &str, columns: usize) -> Call {
        let operation = format!("plonk {step} {}", <C::Scalar as NttField>::NAME);
        Call { operation, elements: columns * self.n() }
    }

    /// Runs a step on the device, or where that cannot be on the host.
    fn run<T>(
        &self,
        step: &str,
        columns: usize,
        gpu: impl FnOnce(&mut Stream) -> Result<T>,
        cpu: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let on_device = |_: &[Arc<Device>]| {
            let stream = self.stream.as_ref().ok_or_else(|| Error::lost("plonk"))?;
            let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            let before = stream.traffic();
            let value = gpu(&mut stream)?;
            Ok((value, stream.traffic().since(before)))
        };
        self.accelerator.run(self.call(step, columns), on_device, cpu).map(|(value, _)| value)
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

/// Scalars where columns were.
enum AnyScalars<'v, F: NttField> {
    OnHost(Vec<OnHost<'v, F>>),
    OnDevice(Vec<DeviceScalars>),
}

impl<F: NttField> AnyScalars<'_, F> {
    fn lent(&self) -> Vec<Scalars<'_>> {
        match self {
            Self::OnHost(columns) => columns.iter().map(|column| Scalars::elements(column)).collect(),
            Self::OnDevice(columns) => columns.iter().map(Scalars::from).collect(),
        }
    }
}

/// The only one of a step's results.
fn only<T>(results: Vec<T>) -> Result<T> {
    results.into_iter().next().ok_or_else(|| Error::lost("plonk"))
}
