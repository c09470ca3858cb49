//! Points of a key. Encoded ones go to a device as they are.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use crate::curve::MsmCurve;
use crate::rayon_waits::{get_or_try_init, install};
use crate::{Error, Result};

/// Selects checks of encoded points beyond being on the curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PointChecks {
    /// Whether all points must be in the subgroup of prime order.
    pub in_subgroup: bool,
    /// Whether no point may be infinity.
    pub not_infinity: bool,
}

/// Provides points in the uncompressed form of their curve, such as those of a mapped file.
pub trait EncodedPoints<C>: fmt::Debug + Send + Sync {
    /// Returns the number of points.
    fn count(&self) -> usize;

    /// Returns the checks that the points must pass.
    fn expected(&self) -> PointChecks;

    /// Passes the bytes of all points to `user`.
    ///
    /// # Errors
    /// - `user` fails: its error.
    /// - The bytes have changed since the beginning, or change meanwhile.
    fn read(&self, user: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// Decodes the points on the host. Must return the same error as [`crate::msm::decode()`] for the same bytes, so
    /// that results do not depend on where points are decoded.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a point fails its checks.
    /// - [`Self::read`] lists the errors of changed bytes.
    fn decode(&self) -> Result<Vec<C>>;

    /// Returns the name in errors of the point with index `number`, such as `point 3 of h`.
    fn name(&self, number: usize) -> String;

    /// Returns the points with indices in `range`, still encoded. Returns `None` if that needs the other points too.
    fn slice(&self, range: Range<usize>) -> Option<Box<dyn EncodedPoints<C>>> {
        let _ = range;
        None
    }

    /// Decodes the points with the indices `numbers` on the host, in that order. Each index is below [`Self::count`].
    ///
    /// # Errors
    /// [`Self::decode`] lists the errors.
    fn gather(&self, numbers: &[usize]) -> Result<Vec<C>>
    where
        C: Copy,
    {
        let all = self.decode()?;
        Ok(numbers.iter().map(|number| all[*number]).collect())
    }
}

/// Holds points in host memory, or encoded points, which the host decodes only once it needs them. Clones share the
/// points.
#[derive(Debug, Clone)]
pub struct BasePoints<C>(PointStorage<C>);

#[derive(Debug, Clone)]
enum PointStorage<C> {
    Decoded(Arc<Vec<C>>),
    Encoded(Arc<LazyPoints<C>>),
}

/// Holds encoded points, and their decoded points once the host needs them.
#[derive(Debug)]
struct LazyPoints<C> {
    source: Box<dyn EncodedPoints<C>>,
    decoded: OnceLock<Arc<Vec<C>>>,
    turn: Mutex<Option<Arc<()>>>,
}

impl<C> From<Arc<Vec<C>>> for BasePoints<C> {
    fn from(points: Arc<Vec<C>>) -> Self {
        Self(PointStorage::Decoded(points))
    }
}

impl<C> From<Vec<C>> for BasePoints<C> {
    fn from(points: Vec<C>) -> Self {
        Arc::new(points).into()
    }
}

impl<C: MsmCurve> BasePoints<C> {
    /// Wraps encoded points that devices decode.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: devices cannot decode points of this curve ([`MsmCurve::HAS_GPU_DECODE`]).
    pub fn encoded(source: impl EncodedPoints<C> + 'static) -> Result<Self> {
        if !C::HAS_GPU_DECODE {
            return Err(Error::invalid("msm", "encoded points", "of a curve that devices decode", C::NAME));
        }
        Ok(Self::lazy(Box::new(source)))
    }

    fn lazy(source: Box<dyn EncodedPoints<C>>) -> Self {
        Self(PointStorage::Encoded(Arc::new(LazyPoints { source, decoded: OnceLock::new(), turn: Mutex::default() })))
    }

    /// Returns the points with indices in `range`. Points of a file stay encoded, and the others are not read.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `range` is not within the points.
    /// - The source cannot decode its points: its error ([`EncodedPoints::decode`]).
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > self.len() {
            let expected = format!("a range within {}", self.len());
            return Err(Error::invalid("msm", "part of the points", expected, format!("{range:?}")));
        }
        match self.source().and_then(|source| source.slice(range.clone())) {
            Some(part) => Ok(Self::lazy(part)),
            None => Ok(self.on_host()?[range].to_vec().into()),
        }
    }

    /// Returns the points with the indices `numbers`, in that order, in host memory. Of a file's points only these are
    /// decoded.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a number is not below that of the points.
    /// - The source cannot decode its points: its error ([`EncodedPoints::gather`], [`EncodedPoints::decode`]).
    pub fn gather(&self, numbers: &[usize]) -> Result<Self> {
        if let Some(number) = numbers.iter().find(|number| **number >= self.len()) {
            return Err(Error::invalid("msm", "number of a point", format!("below {}", self.len()), number));
        }
        if let Some(source) = self.source() {
            return Ok(source.gather(numbers)?.into());
        }
        let all = self.on_host()?;
        Ok(numbers.iter().map(|number| all[*number]).collect::<Vec<_>>().into())
    }
}

impl<C> BasePoints<C> {
    /// Returns the number of points.
    pub fn len(&self) -> usize {
        match &self.0 {
            PointStorage::Decoded(points) => points.len(),
            PointStorage::Encoded(encoded) => encoded.source.count(),
        }
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the points in host memory, or `None` if they are still encoded.
    pub fn in_memory(&self) -> Option<&Arc<Vec<C>>> {
        match &self.0 {
            PointStorage::Decoded(points) => Some(points),
            PointStorage::Encoded(encoded) => encoded.decoded.get(),
        }
    }

    /// Returns the points in host memory, decoding them first if needed.
    ///
    /// # Errors
    /// - The source cannot decode its points: its error ([`EncodedPoints::decode`]).
    pub fn on_host(&self) -> Result<&Arc<Vec<C>>>
    where
        C: Send + Sync,
    {
        match &self.0 {
            PointStorage::Decoded(points) => Ok(points),
            PointStorage::Encoded(encoded) => encoded.on_host(),
        }
    }

    /// Returns the source of encoded points, or `None` if the points are in host memory.
    pub(super) fn source(&self) -> Option<&dyn EncodedPoints<C>> {
        match &self.0 {
            PointStorage::Encoded(encoded) if encoded.decoded.get().is_none() => Some(&*encoded.source),
            _ => None,
        }
    }
}

impl<C> LazyPoints<C> {
    fn on_host(&self) -> Result<&Arc<Vec<C>>>
    where
        C: Send + Sync,
    {
        if let Some(points) = self.decoded.get() {
            return Ok(points);
        }
        // A second thread waits for the first.
        let decode = || {
            let points = Arc::new(install(|| self.source.decode())?);
            self.decoded.get_or_init(|| points);
            Ok(())
        };
        get_or_try_init(&self.turn, decode)?;
        self.decoded.get().ok_or_else(|| Error::internal("msm"))
    }
}
