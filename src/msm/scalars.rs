//! Scalars of a multiplication, on the host or on the devices.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use ff::PrimeField;
use rayon::prelude::*;

use super::plan::Grid;
use crate::backend::{Buffer, Device, Mark, clear_all_past_cache};
use crate::curve::{scalar_from_bytes, scalar_to_bytes};
use crate::field::{NttField, as_bytes};
use crate::{Accelerator, Error, Result};

/// The form that scalars are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The number itself, modulo the group's order r: any below 2^256 is the scalar that it leaves.
    Canonical,
    /// 2^256 times the number, modulo r; here too the 256 bits may be any.
    Montgomery,
}

/// Scalars of one multiplication, 32 bytes little-endian each, on the host or on the devices.
#[derive(Debug, Clone, Copy)]
pub struct Scalars<'a> {
    pub(super) place: Place<'a>,
    pub(super) form: Form,
    pub(super) bit_length: Option<u32>,
    /// The field of whose elements they are the memory.
    field: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Host(&'a [[u8; 32]]),
    Devices(&'a DeviceScalars),
}

/// Scalars in host memory, their form, and the bits that were promised.
#[cfg(feature = "mpi")]
pub(crate) type Whole<'a> = (&'a [[u8; 32]], Form, Option<u32>);

impl fmt::Debug for Place<'_> {
    /// Writes the number alone: scalars may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(scalars) => write!(f, "{} on the host", scalars.len()),
            Self::Devices(scalars) => write!(f, "{} on devices", scalars.count),
        }
    }
}

impl<'a> Scalars<'a> {
    /// Canonical scalars in host memory ([`Form::Canonical`]).
    pub fn canonical(scalars: &'a [[u8; 32]]) -> Self {
        Self { place: Place::Host(scalars), form: Form::Canonical, bit_length: None, field: None }
    }

    /// Scalars in Montgomery form in host memory.
    pub fn montgomery(scalars: &'a [[u8; 32]]) -> Self {
        Self { form: Form::Montgomery, ..Self::canonical(scalars) }
    }

    /// Field elements as their Rust type has them in memory, which is Montgomery form.
    pub fn elements<F: NttField>(scalars: &'a [F]) -> Self {
        // The type is 32 bytes long, so nothing is left over.
        Self { field: Some(F::NAME), ..Self::montgomery(as_bytes(scalars).as_chunks().0) }
    }

    /// A promise that all scalars, modulo the group's order, are below 2^bits, which makes short ones cheaper. Where one is
    /// longer the call fails.
    #[must_use]
    pub fn with_bit_length(self, bits: u32) -> Self {
        Self { bit_length: Some(bits), ..self }
    }

    /// Bits that they have at most, in a group whose order has `order_bits`.
    pub(super) fn bits(&self, order_bits: u32) -> u32 {
        self.bit_length.map_or(order_bits, |bits| bits.min(order_bits))
    }

    /// A field and its elements in host memory, if nothing was promised of them.
    pub(super) fn elements_in_host_memory(&self) -> Option<(&'static str, &'a [[u8; 32]])> {
        match self.place {
            Place::Host(scalars) if self.bit_length.is_none() => Some((self.field?, scalars)),
            _ => None,
        }
    }

    /// Those in host memory, their form, and the bits that were promised.
    #[cfg(feature = "mpi")]
    pub(crate) fn in_host_memory(&self) -> Option<Whole<'a>> {
        match self.place {
            Place::Host(scalars) => Some((scalars, self.form, self.bit_length)),
            Place::Devices(_) => None,
        }
    }

    /// How they are spread over devices, if they are.
    pub(super) fn grid(&self) -> Option<Grid> {
        match self.place {
            Place::Host(_) => None,
            Place::Devices(scalars) => Some(scalars.grid),
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        match self.place {
            Place::Host(scalars) => scalars.len(),
            Place::Devices(scalars) => scalars.count,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> From<&'a [[u8; 32]]> for Scalars<'a> {
    fn from(scalars: &'a [[u8; 32]]) -> Self {
        Self::canonical(scalars)
    }
}

impl<'a, F: NttField> From<&'a [F]> for Scalars<'a> {
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
        Self { place: Place::Devices(scalars), form: scalars.form, bit_length: None, field: None }
    }
}

/// Scalars that are on the devices, shared among them as the bases of a [`super::Msm`] of the same length are. Cleared
/// when dropped.
///
/// An `Msm` may hold each base on several devices, to share windows among them: for that the scalars have to come from
/// [`super::Msm::upload_scalars`]. With an equal share to each device, as [`Self::upload`] gives, it is shared by points.
#[derive(Debug)]
pub struct DeviceScalars {
    /// One a device, in order of the scalars.
    pub(super) shards: Vec<(Arc<Device>, Arc<Buffer>)>,
    pub(super) grid: Grid,
    pub(super) count: usize,
    pub(super) form: Form,
    /// Scalars in a buffer before the first one of these.
    pub(super) first: usize,
    /// The point of the stream that writes them after which they are there.
    pub(super) ready: Option<Arc<Mark>>,
}

impl DeviceScalars {
    /// Uploads scalars, an equal share to each of the accelerator's devices. For bases on some of them
    /// ([`field@super::Options::devices`]) it takes an accelerator of just those.
    ///
    /// # Errors
    /// There is no device, or it has too little memory, or failed.
    pub fn upload(accelerator: &Accelerator, scalars: &[[u8; 32]], form: Form) -> Result<Self> {
        let grid = Grid::of_points(scalars.len(), accelerator.devices().len());
        Self::spread(accelerator.devices(), grid, scalars, form)
    }

    /// Uploads scalars, to each device those of the bases that it holds.
    pub(super) fn spread(devices: &[Arc<Device>], grid: Grid, scalars: &[[u8; 32]], form: Form) -> Result<Self> {
        if devices.is_empty() {
            return Err(Error::invalid("msm", "scalars for the devices", "an accelerator with devices", "one without"));
        }
        let count = scalars.len();
        let held = (0..grid.devices).map(|number| &scalars[grid.held(number, count)]);
        let shards = devices.iter().zip(held.filter(|held| !held.is_empty())).map(|(device, scalars)| {
            let mut stream = device.stream()?;
            let buffer = stream.allocate(size_of_val(scalars))?.secret();
            stream.upload(&buffer, scalars.as_flattened())?;
            stream.wait(None)?;
            Ok((device.clone(), Arc::new(buffer)))
        });
        let shards = shards.collect::<Result<_>>()?;
        Ok(Self { shards, grid, count, form, first: 0, ready: None })
    }

    /// Scalars that another operation left in a buffer of a device, the only one of a [`super::Msm`], from its
    /// start on; what writes them must have been waited for.
    ///
    /// # Errors
    /// The buffer is shorter, or of another device.
    pub fn from_buffer(device: &Arc<Device>, buffer: Arc<Buffer>, count: usize, form: Form) -> Result<Self> {
        Self::from_range(device, buffer, 0..count, form)
    }

    /// As [`Self::from_buffer`], of those that are in a range of the buffer.
    ///
    /// # Errors
    /// As [`Self::from_buffer`].
    pub fn from_range(device: &Arc<Device>, buffer: Arc<Buffer>, range: Range<usize>, form: Form) -> Result<Self> {
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
        Ok(Self { shards, grid: Grid::of_one(count), count, form, first: range.start, ready: None })
    }

    /// The same, for scalars that are there once a stream of their device has passed a mark, which multiplications
    /// then wait for on the device.
    #[must_use]
    pub fn after(self, mark: Arc<Mark>) -> Self {
        Self { ready: Some(mark), ..self }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn download(&self) -> Result<Copied> {
        let mut scalars = Copied(vec![[0; 32]; self.count]);
        // One device of each piece.
        let shards = self.shards.iter().step_by(self.grid.groups);
        for ((device, buffer), scalars) in shards.zip(scalars.0.chunks_mut(self.grid.piece())) {
            let mut stream = device.stream()?;
            self.ready.iter().try_for_each(|ready| stream.wait_for(ready))?;
            let mut all = Copied(vec![[0; 32]; self.first + scalars.len()]);
            stream.download(all.0.as_flattened_mut(), buffer)?;
            scalars.copy_from_slice(&all.0[self.first..]);
        }
        Ok(scalars)
    }
}

/// Scalars in ordinary memory, cleared when dropped.
pub(crate) struct Copied(pub Vec<[u8; 32]>);

impl Drop for Copied {
    fn drop(&mut self) {
        clear_all_past_cache(vec![self.0.as_flattened_mut()]);
        // Nobody reads them any more, but they are to be stored.
        std::hint::black_box(&self.0);
    }
}

/// Scalars in host memory, somebody's or a copy.
pub(super) enum OnHost<'a> {
    Lent(&'a [[u8; 32]]),
    Copy(Copied),
}

impl Deref for OnHost<'_> {
    type Target = [[u8; 32]];

    fn deref(&self) -> &[[u8; 32]] {
        match self {
            Self::Lent(scalars) => scalars,
            Self::Copy(scalars) => &scalars.0,
        }
    }
}

/// What the CPU multiplies by: canonical scalars in host memory.
///
/// # Errors
/// A scalar is longer than promised, or a device failed.
pub(super) fn on_host<'a, F: PrimeField>(scalars: &Scalars<'a>) -> Result<OnHost<'a>> {
    let mut host = match scalars.place {
        Place::Host(scalars) => OnHost::Lent(scalars),
        Place::Devices(scalars) => OnHost::Copy(scalars.download()?),
    };
    if scalars.form == Form::Montgomery {
        let inverse = F::from(2).pow_vartime([256]).invert().unwrap_or(F::ZERO);
        let canonical = |scalar: &[u8; 32]| scalar_to_bytes(scalar_from_bytes::<F>(scalar) * inverse);
        host = OnHost::Copy(Copied(host.par_iter().map(canonical).collect()));
    }
    match scalars.bit_length {
        Some(bits) if host.par_iter().any(|scalar| is_longer::<F>(scalar, bits)) => Err(too_long(bits)),
        _ => Ok(host),
    }
}

/// Whether a number has more bits, modulo the order too.
fn is_longer<F: PrimeField>(scalar: &[u8; 32], bits: u32) -> bool {
    let modulo_order = || scalar_to_bytes(scalar_from_bytes::<F>(scalar));
    bit_length(scalar) > bits && bit_length(&modulo_order()) > bits
}

/// Bits of a little-endian number.
fn bit_length(scalar: &[u8; 32]) -> u32 {
    let highest = scalar.iter().rposition(|byte| *byte != 0);
    highest.map_or(0, |at| 8 * at as u32 + 8 - scalar[at].leading_zeros())
}

/// The error of a scalar that its windows do not hold.
pub(super) fn too_long(bits: u32) -> Error {
    Error::invalid("msm", "scalars", format!("below 2^{bits}"), "a longer one")
}
