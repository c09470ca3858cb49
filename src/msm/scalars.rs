//! Describes the scalars of a multiplication, on the host or on the devices.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use ff::PrimeField;
use rayon::prelude::*;

use super::plan::DeviceMesh;
use crate::backend::{Buffer, Device, Event};
use crate::curve::{scalar_from_bytes, scalar_to_bytes};
use crate::field::{ScalarField, as_bytes};
use crate::secret_vec::{SecretCow, SecretVec};
use crate::{Accelerator, Error, Result};

/// Selects how the bytes of a scalar represent its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarForm {
    /// The number itself: any value below 2^256 counts modulo the group's order r.
    Canonical,
    /// 2^256 times the number, modulo the group's order r. Any value below 2^256 is allowed here too.
    Montgomery,
}

/// Refers to the scalars of one multiplication, 32 little-endian bytes each, on the host or on the devices.
#[derive(Debug, Clone, Copy)]
pub struct Scalars<'a> {
    pub(super) place: ScalarLocation<'a>,
    pub(super) form: ScalarForm,
    pub(super) bit_length: Option<u32>,
    /// Name of the field if the bytes are the memory of its elements, else `None`.
    field: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(super) enum ScalarLocation<'a> {
    Host(&'a [[u8; 32]]),
    Devices(&'a DeviceScalars),
}

/// Holds scalars in host memory, their form, and their promised bit length.
#[cfg(feature = "mpi")]
pub(crate) type HostScalarSlice<'a> = (&'a [[u8; 32]], ScalarForm, Option<u32>);

impl fmt::Debug for ScalarLocation<'_> {
    /// Writes only the number of scalars: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(scalars) => write!(f, "{} on the host", scalars.len()),
            Self::Devices(scalars) => write!(f, "{} on devices", scalars.count),
        }
    }
}

impl<'a> Scalars<'a> {
    /// Wraps canonical scalars in host memory ([`ScalarForm::Canonical`]).
    pub fn canonical(scalars: &'a [[u8; 32]]) -> Self {
        Self { place: ScalarLocation::Host(scalars), form: ScalarForm::Canonical, bit_length: None, field: None }
    }

    /// Wraps scalars in host memory in Montgomery form ([`ScalarForm::Montgomery`]).
    pub fn montgomery(scalars: &'a [[u8; 32]]) -> Self {
        Self { form: ScalarForm::Montgomery, ..Self::canonical(scalars) }
    }

    /// Wraps `bytes` in host memory as scalars of 32 bytes in `form`, without a copy.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the number of bytes is no multiple of 32.
    pub fn from_bytes(bytes: &'a [u8], form: ScalarForm) -> Result<Self> {
        Ok(Self { form, ..Self::canonical(split_scalars(bytes)?) })
    }

    /// Wraps field elements in host memory without a copy: their Rust type stores them in Montgomery form.
    pub fn elements<F: ScalarField>(scalars: &'a [F]) -> Self {
        // The type is 32 bytes long, so nothing is left over.
        Self { field: Some(F::NAME), ..Self::montgomery(as_bytes(scalars).as_chunks().0) }
    }

    /// Promises that all scalars, modulo the group's order, are below 2^`bits`, which makes short scalars cheaper. A
    /// call fails if a scalar is longer.
    #[must_use]
    pub fn with_bit_length(self, bits: u32) -> Self {
        Self { bit_length: Some(bits), ..self }
    }

    /// Returns the maximum bit length of the scalars: the promised one, but at most `order_bits`, that of the group's
    /// order.
    pub(super) fn max_bit_length(&self, order_bits: u32) -> u32 {
        self.bit_length.map_or(order_bits, |bits| bits.min(order_bits))
    }

    /// Returns the name of the field and the memory of its elements. Returns `None` if they are not in host memory, are
    /// not field elements, or have a promised bit length.
    pub(super) fn elements_in_host_memory(&self) -> Option<(&'static str, &'a [[u8; 32]])> {
        match self.place {
            ScalarLocation::Host(scalars) if self.bit_length.is_none() => Some((self.field?, scalars)),
            _ => None,
        }
    }

    /// Returns the scalars in host memory, their form and their promised bit length; `None` if they are on devices.
    #[cfg(feature = "mpi")]
    pub(crate) fn in_host_memory(&self) -> Option<HostScalarSlice<'a>> {
        match self.place {
            ScalarLocation::Host(scalars) => Some((scalars, self.form, self.bit_length)),
            ScalarLocation::Devices(_) => None,
        }
    }

    /// Returns the mesh by which the scalars are spread over devices; `None` if they are on the host.
    pub(super) fn device_mesh(&self) -> Option<DeviceMesh> {
        match self.place {
            ScalarLocation::Host(_) => None,
            ScalarLocation::Devices(scalars) => Some(scalars.grid),
        }
    }

    /// Returns the number of scalars.
    pub fn len(&self) -> usize {
        match self.place {
            ScalarLocation::Host(scalars) => scalars.len(),
            ScalarLocation::Devices(scalars) => scalars.count,
        }
    }

    /// Returns whether there are no scalars.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> From<&'a [[u8; 32]]> for Scalars<'a> {
    fn from(scalars: &'a [[u8; 32]]) -> Self {
        Self::canonical(scalars)
    }
}

impl<'a, F: ScalarField> From<&'a [F]> for Scalars<'a> {
    fn from(scalars: &'a [F]) -> Self {
        Self::elements(scalars)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Scalars<'a>
where
    &'a [T]: Into<Self>,
{
    fn from(scalars: &'a [T; N]) -> Self {
        scalars.as_slice().into()
    }
}

impl<'a, T> From<&'a Vec<T>> for Scalars<'a>
where
    &'a [T]: Into<Self>,
{
    fn from(scalars: &'a Vec<T>) -> Self {
        scalars.as_slice().into()
    }
}

impl<'a> From<&'a DeviceScalars> for Scalars<'a> {
    fn from(scalars: &'a DeviceScalars) -> Self {
        Self { place: ScalarLocation::Devices(scalars), form: scalars.form, bit_length: None, field: None }
    }
}

/// Holds scalars on the devices, divided among them like the bases of a [`super::Msm`] of the same length. Their memory
/// is cleared when dropped.
///
/// An `Msm` may hold each base on several devices, which then divide the windows among them. That needs scalars from
/// [`super::Msm::upload_scalars`]. [`Self::upload`] gives each device an equal share of the scalars, and the devices
/// then divide only the points.
#[derive(Debug)]
pub struct DeviceScalars {
    /// Devices and their buffers, in order of the scalars.
    pub(super) shards: Vec<(Arc<Device>, Arc<Buffer>)>,
    pub(super) grid: DeviceMesh,
    pub(super) count: usize,
    pub(super) form: ScalarForm,
    /// Index of the first scalar in each buffer.
    pub(super) first: usize,
    /// Event recorded after the scalars are written; `None` if they already are.
    pub(super) ready: Option<Arc<Event>>,
}

impl DeviceScalars {
    /// Uploads `scalars`, an equal share to each of the accelerator's devices. If the bases are on only some of these
    /// devices ([`field@super::MsmOptions::devices`]), pass an accelerator of just those.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver fails.
    pub fn upload(accelerator: &Accelerator, scalars: &[[u8; 32]], form: ScalarForm) -> Result<Self> {
        let grid = DeviceMesh::by_points(scalars.len(), accelerator.devices().len());
        Self::upload_sharded(accelerator.devices(), grid, scalars, form)
    }

    /// Uploads to each of `devices` the part of `scalars` whose bases it holds by the mesh `grid`.
    pub(super) fn upload_sharded(
        devices: &[Arc<Device>],
        grid: DeviceMesh,
        scalars: &[[u8; 32]],
        form: ScalarForm,
    ) -> Result<Self> {
        if devices.is_empty() {
            return Err(Error::invalid("msm", "scalars for the devices", "an accelerator with devices", "one without"));
        }
        let count = scalars.len();
        let held = (0..grid.devices).map(|number| &scalars[grid.device_range(number, count)]);
        let shards = devices.iter().zip(held.filter(|held| !held.is_empty())).map(|(device, scalars)| {
            let mut stream = device.stream()?;
            let buffer = stream.allocate(size_of_val(scalars))?.mark_secret();
            stream.upload(&buffer, scalars.as_flattened())?;
            stream.synchronize(None)?;
            Ok((device.clone(), Arc::new(buffer)))
        });
        let shards = shards.collect::<Result<_>>()?;
        Ok(Self { shards, grid, count, form, first: 0, ready: None })
    }

    /// Wraps the first `count` scalars of `buffer`, which another operation wrote to `device`. `device` must be the
    /// only one of the [`super::Msm`] that uses them. The caller must have waited for the operation that writes them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `buffer` is too short.
    /// - [`Error::Invalid`]: `buffer` is of another device.
    /// - [`Error::Invalid`]: `count` is 2^32 or more.
    pub fn from_buffer(device: &Arc<Device>, buffer: Arc<Buffer>, count: usize, form: ScalarForm) -> Result<Self> {
        Self::from_range(device, buffer, 0..count, form)
    }

    /// Wraps the scalars of `buffer` with indices in `range`, otherwise like [`Self::from_buffer`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `buffer` is too short.
    /// - [`Error::Invalid`]: `buffer` is of another device.
    /// - [`Error::Invalid`]: `range` ends at 2^32 or later.
    pub fn from_range(
        device: &Arc<Device>,
        buffer: Arc<Buffer>,
        range: Range<usize>,
        form: ScalarForm,
    ) -> Result<Self> {
        if !device.owns(&buffer) {
            let expected = format!("one of {}", device.info().name);
            return Err(Error::invalid("msm", "buffer of scalars", expected, "one of another device"));
        }
        if buffer.bytes() / 32 < range.end || u32::try_from(range.end).is_err() {
            let expected = format!("{} bytes", range.end.saturating_mul(32));
            return Err(Error::invalid("msm", "buffer of scalars", expected, buffer.bytes()));
        }
        let count = range.len();
        let shards = vec![(device.clone(), buffer)];
        Ok(Self { shards, grid: DeviceMesh::single_device(count), count, form, first: range.start, ready: None })
    }

    /// Makes multiplications wait on the device for the event `mark`, which one of its streams records after the
    /// scalars are written.
    #[must_use]
    pub fn ready_after(self, mark: Arc<Event>) -> Self {
        Self { ready: Some(mark), ..self }
    }

    /// Returns the number of scalars.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no scalars.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn download(&self) -> Result<SecretVec<[u8; 32]>> {
        let mut scalars = SecretVec(vec![[0; 32]; self.count]);
        // One device per piece suffices: all devices of a piece hold the same scalars.
        let shards = self.shards.iter().step_by(self.grid.groups);
        for ((device, buffer), scalars) in shards.zip(scalars.chunks_mut(self.grid.points_per_piece())) {
            let mut stream = device.stream()?;
            self.ready.iter().try_for_each(|ready| stream.wait_event(ready))?;
            let mut all = SecretVec(vec![[0; 32]; self.first + scalars.len()]);
            stream.download(all.as_flattened_mut(), buffer)?;
            scalars.copy_from_slice(&all[self.first..]);
        }
        Ok(scalars)
    }
}

/// Returns `scalars` in host memory in canonical form, for the CPU to multiply by. Downloads or converts them if
/// needed.
///
/// # Errors
/// - [`Error::Invalid`]: a scalar exceeds its promised bit length.
/// - [`Error::OutOfMemory`], [`Error::Device`]: the scalars cannot be read from their device.
pub(super) fn load_canonical_scalars<'a, F: PrimeField>(scalars: &Scalars<'a>) -> Result<SecretCow<'a, [u8; 32]>> {
    let mut host = match scalars.place {
        ScalarLocation::Host(scalars) => SecretCow::Borrowed(scalars),
        ScalarLocation::Devices(scalars) => SecretCow::Owned(scalars.download()?),
    };
    if scalars.form == ScalarForm::Montgomery {
        let inverse = F::from(2).pow_vartime([256]).invert().unwrap_or(F::ZERO);
        let canonical = |scalar: &[u8; 32]| scalar_to_bytes(scalar_from_bytes::<F>(scalar) * inverse);
        host = SecretCow::Owned(SecretVec(host.par_iter().map(canonical).collect()));
    }
    match scalars.bit_length {
        Some(bits) if host.par_iter().any(|scalar| is_longer::<F>(scalar, bits)) => Err(scalar_out_of_range(bits)),
        _ => Ok(host),
    }
}

/// Returns whether `scalar` has more than `bits` bits, even if reduced modulo the group's order.
fn is_longer<F: PrimeField>(scalar: &[u8; 32], bits: u32) -> bool {
    let modulo_order = || scalar_to_bytes(scalar_from_bytes::<F>(scalar));
    bit_length(scalar) > bits && bit_length(&modulo_order()) > bits
}

/// Returns the number of significant bits of the little-endian `scalar`; 0 for zero.
fn bit_length(scalar: &[u8; 32]) -> u32 {
    let highest = scalar.iter().rposition(|byte| *byte != 0);
    highest.map_or(0, |at| 8 * at as u32 + 8 - scalar[at].leading_zeros())
}

/// Returns `bytes` as scalars of 32 bytes.
///
/// # Errors
/// - [`Error::Invalid`]: the number of bytes is no multiple of 32.
pub(crate) fn split_scalars(bytes: &[u8]) -> Result<&[[u8; 32]]> {
    match bytes.as_chunks() {
        (scalars, []) => Ok(scalars),
        _ => Err(Error::invalid("msm", "number of bytes of the scalars", "a multiple of 32", bytes.len())),
    }
}

/// Returns the error for a scalar of more than `bits` bits, the promised maximum.
pub(super) fn scalar_out_of_range(bits: u32) -> Error {
    Error::invalid("msm", "scalars", format!("below 2^{bits}"), "a longer one")
}
