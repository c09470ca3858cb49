//! Points of a mapped file, for devices to decode.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use group::{Curve, UncompressedEncoding};
use num_bigint::BigUint;
use rayon::prelude::*;

use super::base_points::{EncodedPoints, PointChecks};
use super::check::{PointError, fail_on_first_invalid};
use crate::curve::MsmCurve;
use crate::kernels;
use crate::kernels::msm::{ENCODING_FLAGS, ENCODING_INFINITY};
use crate::mapped_file::MappedFile;
use crate::module_launcher::KernelModule;
use crate::rayon_waits::check_host_threads;
use crate::{Error, Result};

/// Flag of a compressed encoding in its first byte. blst takes such bytes for an uncompressed point; devices refuse
/// them.
const COMPRESSED: u8 = 0x80;

/// Refers to consecutive points of a file, in their curve's uncompressed form ([`MsmCurve::HAS_GPU_DECODE`]).
#[derive(Debug, Clone)]
pub struct FilePoints {
    /// The file.
    pub file: Arc<MappedFile>,
    /// Offset in the file of the first point's first byte.
    pub start: usize,
    /// Number of points.
    pub count: usize,
    /// Checks that the points must pass.
    pub expected: PointChecks,
    /// Name in errors of all the points together, such as `h`.
    pub query: &'static str,
    /// Function that returns the name of a point in errors.
    pub name: PointName,
}

/// Returns a point's name in errors from the file's path, [`FilePoints::query`], the point's index, and the offset of
/// its first byte in the file.
pub type PointName = fn(&Path, &str, usize, usize) -> String;

impl<C: MsmCurve + UncompressedEncoding> EncodedPoints<C> for FilePoints {
    fn count(&self) -> usize {
        self.count
    }

    fn expected(&self) -> PointChecks {
        self.expected
    }

    fn read(&self, user: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.file.read(|bytes| user(self.bytes::<C>(bytes)?))
    }

    fn decode(&self) -> Result<Vec<C>> {
        check_host_threads()?;
        self.file.read(|bytes| {
            let bytes = self.bytes::<C>(bytes)?;
            let points = bytes.par_chunks_exact(C::AFFINE_BYTES).map(|encoding| decoded(encoding, self.expected));
            points.collect::<Option<_>>().map_or_else(|| self.invalid_point_error::<C>(bytes), Ok)
        })
    }

    fn name(&self, number: usize) -> String {
        let at = self.start.saturating_add(number.saturating_mul(C::AFFINE_BYTES));
        (self.name)(self.file.path(), self.query, number, at)
    }

    fn slice(&self, range: Range<usize>) -> Option<Box<dyn EncodedPoints<C>>> {
        let start = self.start.saturating_add(range.start.saturating_mul(C::AFFINE_BYTES));
        Some(Box::new(Self { start, count: range.len(), ..self.clone() }))
    }

    fn gather(&self, numbers: &[usize]) -> Result<Vec<C>> {
        check_host_threads()?;
        self.file.read(|bytes| {
            let bytes = self.bytes::<C>(bytes)?;
            let encoding = |number: &usize| bytes.chunks_exact(C::AFFINE_BYTES).nth(*number);
            let points = numbers.par_iter().map(|number| decoded(encoding(number)?, self.expected));
            points.collect::<Option<_>>().map_or_else(|| self.invalid_point_error::<C>(bytes), Ok)
        })
    }
}

impl FilePoints {
    /// Returns the bytes of these points within `file`, the bytes of the whole file.
    fn bytes<'f, C: MsmCurve>(&self, file: &'f [u8]) -> Result<&'f [u8]> {
        let end = self.count.checked_mul(C::AFFINE_BYTES).and_then(|bytes| bytes.checked_add(self.start));
        end.and_then(|end| file.get(self.start..end)).ok_or_else(|| {
            let expected = format!("{} points from byte {} on", self.count, self.start);
            Error::invalid("msm", self.file.path().display().to_string(), expected, format!("{} bytes", file.len()))
        })
    }

    /// Returns the error that devices would have for `bytes`, encodings of points of which at least one fails its
    /// checks.
    fn invalid_point_error<C: MsmCurve + UncompressedEncoding>(&self, bytes: &[u8]) -> Result<Vec<C>> {
        let modulus = KernelModule::find(&kernels::msm::FAMILY, C::NAME)?.modulus();
        let faults = bytes.par_chunks_exact(C::AFFINE_BYTES).enumerate();
        let faults = faults
            .map(|(number, encoding)| Some((number, find_encoding_fault::<C>(encoding, modulus, self.expected)?)));
        fail_on_first_invalid(faults.find_map_first(|fault| fault), |number| EncodedPoints::<C>::name(self, number))?;
        Err(Error::invalid("msm", self.file.path().display().to_string(), "points of the group", "others"))
    }
}

/// Decodes a point from `bytes`. Returns `None` if it fails the checks of `expected`.
fn decoded<C: MsmCurve + UncompressedEncoding>(bytes: &[u8], expected: PointChecks) -> Option<C> {
    let mut encoding = C::Uncompressed::default();
    encoding.as_mut().copy_from_slice(bytes);
    let point = match expected.in_subgroup {
        true => C::from_uncompressed(&encoding),
        false => C::from_uncompressed_unchecked(&encoding),
    };
    let point = Option::<C>::from(point).filter(|_| bytes[0] & COMPRESSED == 0)?;
    (!expected.not_infinity || !bool::from(point.is_identity())).then_some(point)
}

/// Returns the first fault of an encoded point, or `None` if it passes the checks of `expected`. The checks are in the
/// order of `cl/msm_decode_points.cl`. `modulus` is that of the base field, in 32-bit limbs.
fn find_encoding_fault<C: MsmCurve>(bytes: &[u8], modulus: &[u32], expected: PointChecks) -> Option<PointError> {
    let flags = bytes[0] & ENCODING_FLAGS;
    let is_zero = bytes[0] == flags && bytes[1..].iter().all(|byte| *byte == 0);
    if flags != 0 {
        let is_infinity = flags == ENCODING_INFINITY && is_zero;
        return if is_infinity {
            expected.not_infinity.then_some(PointError::Infinity)
        } else {
            Some(PointError::Encoding)
        };
    }
    let numbers: Vec<_> = bytes.chunks_exact(4 * modulus.len()).map(BigUint::from_bytes_be).collect();
    let modulus = BigUint::from_slice(modulus);
    if numbers.iter().any(|number| *number >= modulus) {
        return Some(PointError::NotReduced);
    }
    let point = unchecked_affine_point::<C>(&numbers, &modulus);
    if bool::from(point.is_identity()) || !point.is_on_curve() {
        return Some(PointError::NotOnCurve);
    }
    let (x, _) = numbers.split_at(numbers.len() / 2);
    let is_outside = x.iter().all(|x| *x == BigUint::ZERO) || (expected.in_subgroup && !point.is_torsion_free());
    is_outside.then_some(PointError::OutsideSubgroup)
}

/// Returns the point with the coordinates `numbers`, x before y, on the curve or not. In an extension field the highest
/// coefficient comes first.
fn unchecked_affine_point<C: MsmCurve>(numbers: &[BigUint], modulus: &BigUint) -> C {
    let bytes = 32 * modulus.bits().div_ceil(32) as usize / 8;
    let in_memory = |number: &BigUint| {
        let mut limbs = ((number << (8 * bytes)) % modulus).to_bytes_le();
        limbs.resize(bytes, 0);
        limbs
    };
    let coordinate = |numbers: &[BigUint]| numbers.iter().rev().flat_map(in_memory).collect::<Vec<u8>>();
    let (x, y) = numbers.split_at(numbers.len() / 2);
    let one: Vec<_> = (0..x.len()).rev().map(|power| BigUint::from(u32::from(power == 0))).collect();
    C::from_device(&[coordinate(x), coordinate(y), coordinate(&one)].concat()).to_affine()
}
