//! Multiplies over bases that are bytes, by the curve's Rust type.

use std::borrow::Cow;
use std::fmt;

use group::Curve;
use rayon::prelude::*;

use super::CurveId;
use crate::curve::MsmCurve;
use crate::field::is_below;
use crate::kernel_types::{call_with_type, for_each_curve};
use crate::module_launcher::KernelModule;
use crate::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars, msm_with_options};
use crate::rayon_waits::check_host_threads;
use crate::{Abort, Accelerator, Error, Report, Result, kernels};

/// Minimum points per rayon task, 1024: enough work to outweigh the handover to another thread.
const MIN_POINTS: usize = 1 << 10;

/// Represents a point whose type holds the integers of its coordinates alone.
///
/// # Safety
/// The type has no padding, and every bit pattern of its size is a value.
unsafe trait IntegerPoint: MsmCurve<Curve: Curve<AffineRepr = Self>> {}

macro_rules! integer_points {
    ($($name:ident: $type:ty;)*) => {
        // SAFETY: the list promises it of its types.
        $(unsafe impl IntegerPoint for $type {})*
    };
}
for_each_curve!(integer_points! {});

/// Holds bases of one curve that are uploaded once, for any number of multiplications: [`Msm`] over bytes.
///
/// All constructors check the number of bytes, and that coordinates are below the modulus. All but [`Self::checked`]
/// trust that each base is infinity or a point of the curve's prime-order subgroup.
pub struct ByteBases<'a> {
    curve: CurveId,
    bases: Box<dyn ResidentBases + 'a>,
}

impl<'a> ByteBases<'a> {
    /// Uploads the points `bytes` of `curve`: x, then y, in Montgomery form, all zero for infinity ([`super`]). Bytes at
    /// a multiple of 8 are not copied on the host.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the curve's feature, `bn254` or `pasta`, is off.
    /// - [`Error::Invalid`]: the number of bytes is no multiple of a point's.
    /// - [`Error::Invalid`]: a coordinate is not below the modulus. The error names the first such point.
    /// - [`Msm::new`] lists the errors of the upload.
    pub fn from_montgomery(accelerator: &Accelerator, curve: CurveId, bytes: &'a [u8]) -> Result<Self> {
        Self::with_options(accelerator, curve, bytes, MsmOptions::default())
    }

    /// Uploads the points `bytes` of `curve` like [`Self::from_montgomery`], with `options`.
    ///
    /// # Errors
    /// - [`Self::from_montgomery`] lists the errors of `bytes`.
    /// - [`Msm::with_options`] lists the errors of the upload.
    pub fn with_options(
        accelerator: &Accelerator,
        curve: CurveId,
        bytes: &'a [u8],
        options: MsmOptions,
    ) -> Result<Self> {
        Self::upload(accelerator, curve, Upload { bytes, options, is_trusted: true })
    }

    /// Checks that the untrusted points `bytes` of `curve` are in the prime-order subgroup, then uploads them with
    /// `options`.
    ///
    /// # Errors
    /// - [`Self::from_montgomery`] lists the errors of `bytes`.
    /// - [`Msm::checked`] lists the errors of the check and of the upload.
    pub fn checked(accelerator: &Accelerator, curve: CurveId, bytes: &'a [u8], options: MsmOptions) -> Result<Self> {
        Self::upload(accelerator, curve, Upload { bytes, options, is_trusted: false })
    }

    fn upload(accelerator: &Accelerator, curve: CurveId, upload: Upload<'a>) -> Result<Self> {
        let bases = for_each_curve!(call_with_type! { curve.name(), upload_bases(accelerator, upload); })?;
        Ok(Self { curve, bases })
    }

    /// Copies the points `bytes` of `curve` and uploads them with `options`. The copy lives as long as the result.
    ///
    /// # Errors
    /// - [`Self::from_montgomery`] lists the errors of `bytes`.
    /// - [`Msm::shared`] lists the errors of the upload.
    pub fn shared(
        accelerator: &Accelerator,
        curve: CurveId,
        bytes: &[u8],
        options: MsmOptions,
    ) -> Result<ByteBases<'static>> {
        let bases = for_each_curve!(call_with_type! { curve.name(), share_bases(accelerator, bytes, options); })?;
        Ok(ByteBases { curve, bases })
    }

    /// Returns the curve.
    pub fn curve(&self) -> CurveId {
        self.curve
    }

    /// Returns the bytes that the bases and their copies take on all devices together.
    pub fn table_bytes(&self) -> u64 {
        self.bases.table_bytes()
    }

    /// Uploads `scalars`, one for each base, to the devices that hold their bases.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the number of bytes is no multiple of 32.
    /// - [`Msm::upload_scalars`] lists the others.
    pub fn upload_scalars(&self, scalars: &[u8], form: ScalarForm) -> Result<DeviceScalars> {
        self.bases.upload_scalars(crate::msm::split_scalars(scalars)?, form)
    }

    /// Computes Σ scalarᵢ · baseᵢ and waits for the sum: an affine point, in the form of the bases. [`Scalars::from_bytes`]
    /// wraps bytes. The abort hook `abort` is polled every few milliseconds ([`Abort`]).
    ///
    /// # Errors
    /// [`Msm::run`] lists the errors.
    pub fn run<'s>(&self, scalars: impl Into<Scalars<'s>>, abort: Abort<'_>) -> Result<(Vec<u8>, Report)> {
        let (sums, report) = self.run_batch(&[scalars.into()], abort)?;
        sums.into_iter().next().map(|sum| (sum, report)).ok_or_else(|| Error::internal("msm"))
    }

    /// Computes Σ scalarᵢ · baseᵢ for each of several `vectors` of scalars, in their order: affine points, in the form of
    /// the bases. This is cheaper than one call per vector. The abort hook `abort` is polled every few milliseconds.
    ///
    /// # Errors
    /// [`Msm::run_batch`] lists the errors.
    pub fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<Vec<u8>>, Report)> {
        self.bases.run_batch(vectors, abort)
    }
}

impl fmt::Debug for ByteBases<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteBases").field("curve", &self.curve).finish_non_exhaustive()
    }
}

/// Computes Σ scalarᵢ · baseᵢ over the points `bases` of `curve`, in the form of [`ByteBases`]. Nothing stays on the
/// devices. The sum is an affine point in this form. [`msm_with_options`] explains `options` and `abort`.
///
/// # Errors
/// - [`ByteBases::from_montgomery`] lists the errors of `bases`.
/// - [`msm_with_options`] lists the others.
pub fn msm<'s>(
    accelerator: &Accelerator,
    curve: CurveId,
    bases: &[u8],
    scalars: impl Into<Scalars<'s>>,
    options: MsmOptions,
    abort: Abort<'_>,
) -> Result<(Vec<u8>, Report)> {
    let call = OneShot { scalars: scalars.into(), options, abort };
    for_each_curve!(call_with_type! { curve.name(), multiply(accelerator, bases, call); })
}

/// Holds the arguments of one multiplication except for its bases.
struct OneShot<'a, 's> {
    scalars: Scalars<'s>,
    options: MsmOptions,
    abort: Abort<'a>,
}

fn multiply<C: IntegerPoint>(accelerator: &Accelerator, bases: &[u8], call: OneShot) -> Result<(Vec<u8>, Report)> {
    let bases = read_points::<C>(bases)?;
    let (sum, report) = msm_with_options(accelerator, &bases, call.scalars, call.options, call.abort)?;
    Ok((point_bytes::<C>(sum), report))
}

/// Holds the arguments of an upload.
struct Upload<'a> {
    bytes: &'a [u8],
    options: MsmOptions,
    is_trusted: bool,
}

/// Serves [`ByteBases`] by the bases of one type.
trait ResidentBases: Send + Sync {
    fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<Vec<u8>>, Report)>;
    fn upload_scalars(&self, scalars: &[[u8; 32]], form: ScalarForm) -> Result<DeviceScalars>;
    fn table_bytes(&self) -> u64;
}

impl<C: IntegerPoint> ResidentBases for Msm<'_, C> {
    fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<Vec<u8>>, Report)> {
        let (sums, report) = self.run_batch(vectors, abort)?;
        Ok((sums.into_iter().map(point_bytes::<C>).collect(), report))
    }

    fn upload_scalars(&self, scalars: &[[u8; 32]], form: ScalarForm) -> Result<DeviceScalars> {
        self.upload_scalars(scalars, form)
    }

    fn table_bytes(&self) -> u64 {
        self.table_bytes()
    }
}

fn upload_bases<'a, C: IntegerPoint>(
    accelerator: &Accelerator,
    Upload { bytes, options, is_trusted }: Upload<'a>,
) -> Result<Box<dyn ResidentBases + 'a>> {
    let points = read_points::<C>(bytes)?;
    if !is_trusted {
        crate::msm::check(accelerator, &points)?;
    }
    Ok(match points {
        Cow::Borrowed(points) => Box::new(Msm::with_options(accelerator, points, options)?),
        Cow::Owned(points) => Box::new(Msm::shared(accelerator, points, options)?),
    })
}

fn share_bases<C: IntegerPoint>(
    accelerator: &Accelerator,
    bytes: &[u8],
    options: MsmOptions,
) -> Result<Box<dyn ResidentBases>> {
    Ok(Box::new(Msm::shared(accelerator, read_points::<C>(bytes)?.into_owned(), options)?))
}

/// Returns `sum` in affine coordinates, as bytes.
fn point_bytes<C: IntegerPoint>(sum: C::Curve) -> Vec<u8> {
    C::to_device(&[sum.to_affine()]).into_owned()
}

/// Returns the points of `bytes`, without a copy if their alignment allows that.
fn read_points<C: IntegerPoint>(bytes: &[u8]) -> Result<Cow<'_, [C]>> {
    check_points::<C>(bytes)?;
    if !has_device_layout::<C>() {
        return Ok(Cow::Owned(convert_points(bytes)?));
    }
    let count = bytes.len() / C::AFFINE_BYTES;
    let start = bytes.as_ptr().cast::<C>();
    if start.is_aligned() {
        // SAFETY: the bytes hold `count` points, since the types have one size; they are aligned, and `IntegerPoint`
        // promises that they are values.
        return Ok(Cow::Borrowed(unsafe { std::slice::from_raw_parts(start, count) }));
    }
    let mut points = vec![C::identity(); count];
    // SAFETY: the vector has as many bytes; `IntegerPoint` promises that it has no padding and that all bytes are values.
    let memory = unsafe { std::slice::from_raw_parts_mut(points.as_mut_ptr().cast::<u8>(), bytes.len()) };
    memory.copy_from_slice(bytes);
    Ok(Cow::Owned(points))
}

/// Returns whether the memory of `C` is the device form, so that [`MsmCurve::to_device`] borrows it.
fn has_device_layout<C: MsmCurve>() -> bool {
    size_of::<C>() == C::AFFINE_BYTES && matches!(C::to_device(&[C::generator()]), Cow::Borrowed(_))
}

/// Returns the points of `bytes` by way of Jacobian coordinates, for types of another layout.
fn convert_points<C: IntegerPoint>(bytes: &[u8]) -> Result<Vec<C>> {
    let one = KernelModule::find(&kernels::msm::FAMILY, C::NAME)?.one();
    let mut one: Vec<u8> = one.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    // 1 of a quadratic extension is 1 + 0·u.
    one.resize(C::AFFINE_BYTES / 2, 0);
    let zero = vec![0; one.len()];
    let convert = |bytes: &[u8]| {
        let z = if bytes.iter().all(|byte| *byte == 0) { &zero } else { &one };
        C::from_device(&[bytes, z].concat())
    };
    let sums: Vec<C::Curve> = bytes.par_chunks_exact(C::AFFINE_BYTES).with_min_len(MIN_POINTS).map(convert).collect();
    let mut points = vec![C::identity(); sums.len()];
    let places = points.par_chunks_mut(MIN_POINTS).zip(sums.par_chunks(MIN_POINTS));
    places.for_each(|(points, sums)| C::Curve::batch_normalize(sums, points));
    Ok(points)
}

/// Checks that `bytes` are whole points whose coordinates are below the modulus.
fn check_points<C: MsmCurve>(bytes: &[u8]) -> Result<()> {
    check_host_threads()?;
    if !bytes.len().is_multiple_of(C::AFFINE_BYTES) {
        let expected = format!("a multiple of {}", C::AFFINE_BYTES);
        return Err(Error::invalid("msm", "number of bytes of the bases", expected, bytes.len()));
    }
    let modulus = KernelModule::find(&kernels::msm::FAMILY, C::NAME)?.modulus();
    let is_reduced = |point: &[u8]| point.chunks_exact(4 * modulus.len()).all(|element| is_below(element, modulus));
    let points = bytes.par_chunks_exact(C::AFFINE_BYTES).with_min_len(MIN_POINTS);
    match points.position_first(|point| !is_reduced(point)) {
        None => Ok(()),
        Some(index) => {
            let expected = "coordinates below the field's modulus";
            Err(Error::invalid("msm", format!("base {index}"), expected, "one that is not below it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use group::Group;

    use super::*;

    /// Returns infinity and multiples of the generator.
    fn points<C: IntegerPoint>() -> Vec<C> {
        let generator = C::Curve::generator();
        (0..6).map(|i| (generator * C::Scalar::from(i).square()).to_affine()).collect()
    }

    /// Checks that each way to read bytes, aligned or not, gives the points that they were written from.
    fn check_reading<C: IntegerPoint>() {
        let points = points::<C>();
        let bytes = C::to_device(&points);
        assert!(has_device_layout::<C>(), "{}", C::NAME);
        let is_borrowed = |bytes: &[u8]| matches!(read_points::<C>(bytes), Ok(Cow::Borrowed(_)));
        assert!(is_borrowed(&bytes) && read_points::<C>(&bytes).expect("points")[..] == points[..]);
        assert!(convert_points::<C>(&bytes).expect("points") == points);
        let mut memory = vec![0; bytes.len() + 2];
        // An odd address is not aligned.
        let start = 1 + memory.as_ptr().addr() % 2;
        let shifted = &mut memory[start..start + bytes.len()];
        shifted.copy_from_slice(&bytes);
        assert!(!is_borrowed(shifted) && read_points::<C>(shifted).expect("points")[..] == points[..]);
    }

    /// Checks that bytes that are no points are refused, by name and number.
    fn check_faults<C: IntegerPoint>() {
        let mut bytes = C::to_device(&points::<C>()).into_owned();
        let error = |bytes: &[u8]| read_points::<C>(bytes).expect_err("no points").to_string();
        let short = error(&bytes[1..]);
        let expected = format!("expected a multiple of {}, got {}", C::AFFINE_BYTES, bytes.len() - 1);
        assert!(short.ends_with(&expected), "{short}");
        let modulus = KernelModule::find(&kernels::msm::FAMILY, C::NAME).expect("a module").modulus();
        let modulus: Vec<u8> = modulus.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let last = 5 * C::AFFINE_BYTES - modulus.len()..5 * C::AFFINE_BYTES;
        bytes[last].copy_from_slice(&modulus);
        assert!(error(&bytes).contains("base 4: expected coordinates below"), "{}", error(&bytes));
    }

    macro_rules! reading_tests {
        ($($name:ident: $type:ty;)*) => {
            $(#[test] fn $name() {
                check_reading::<$type>();
                check_faults::<$type>();
            })*
        };
    }
    for_each_curve!(reading_tests! {});
}
