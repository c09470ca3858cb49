//! Points of a key. Encoded ones go to a device as they are.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use crate::curve::MsmCurve;
use crate::waiting::{made_once, spread};
use crate::{Error, Result};

/// What is expected of encoded points, beside that they are on the curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// All are in the subgroup of prime order.
    pub in_subgroup: bool,
    /// None is infinity.
    pub not_infinity: bool,
}

/// Points in the uncompressed form of their curve, such as those of a mapped file.
pub trait EncodedPoints<C>: fmt::Debug + Send + Sync {
    /// Number of points.
    fn count(&self) -> usize;

    /// What is expected of them.
    fn expected(&self) -> Expected;

    /// Hands over the bytes of all points.
    ///
    /// # Errors
    /// The user's, or the bytes are not, or not any more at the end, those that they were in the beginning.
    fn read(&self, user: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// The points, decoded on the host. An error is to be the one that [`crate::msm::decode()`] has for the same bytes: the
    /// answer may not depend on where they are decoded.
    ///
    /// # Errors
    /// As those of [`Self::read`], or a point is not what is expected.
    fn decode(&self) -> Result<Vec<C>>;

    /// What errors call a point, such as `point 3 of h`.
    fn name(&self, number: usize) -> String;

    /// Some that follow each other, encoded too, if they can be had without the others.
    fn part(&self, range: Range<usize>) -> Option<Box<dyn EncodedPoints<C>>> {
        let _ = range;
        None
    }

    /// The points of these numbers, decoded on the host, of which each is below [`Self::count`].
    ///
    /// # Errors
    /// As those of [`Self::decode`].
    fn pick(&self, numbers: &[usize]) -> Result<Vec<C>>
    where
        C: Copy,
    {
        let all = self.decode()?;
        Ok(numbers.iter().map(|number| all[*number]).collect())
    }
}

/// Points in host memory, or encoded ones, which are decoded on the host only once they are needed there. Clones share
/// them.
#[derive(Debug, Clone)]
pub struct Points<C>(Kind<C>);

#[derive(Debug, Clone)]
enum Kind<C> {
    Decoded(Arc<Vec<C>>),
    Encoded(Arc<Encoded<C>>),
}

/// Encoded points, and what was decoded of them.
#[derive(Debug)]
struct Encoded<C> {
    source: Box<dyn EncodedPoints<C>>,
    decoded: OnceLock<Arc<Vec<C>>>,
    turn: Mutex<Option<Arc<()>>>,
}

impl<C> From<Arc<Vec<C>>> for Points<C> {
    fn from(points: Arc<Vec<C>>) -> Self {
        Self(Kind::Decoded(points))
    }
}

impl<C> From<Vec<C>> for Points<C> {
    fn from(points: Vec<C>) -> Self {
        Arc::new(points).into()
    }
}

impl<C: MsmCurve> Points<C> {
    /// Points that devices decode.
    ///
    /// # Errors
    /// They cannot decode those of this curve ([`MsmCurve::DECODES`]).
    pub fn encoded(source: impl EncodedPoints<C> + 'static) -> Result<Self> {
        if !C::DECODES {
            return Err(Error::invalid("msm", "encoded points", "of a curve that devices decode", C::NAME));
        }
        Ok(Self::of(Box::new(source)))
    }

    fn of(source: Box<dyn EncodedPoints<C>>) -> Self {
        Self(Kind::Encoded(Arc::new(Encoded { source, decoded: OnceLock::new(), turn: Mutex::default() })))
    }

    /// Some points that follow each other. Those of a file stay encoded, and the others are not looked at.
    ///
    /// # Errors
    /// The range is not one within the points, or the source's ([`EncodedPoints::decode`]).
    pub fn part(&self, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > self.len() {
            let expected = format!("a range within {}", self.len());
            return Err(Error::invalid("msm", "part of the points", expected, format!("{range:?}")));
        }
        match self.source().and_then(|source| source.part(range.clone())) {
            Some(part) => Ok(Self::of(part)),
            None => Ok(self.on_host()?[range].to_vec().into()),
        }
    }

    /// The points of these numbers, in host memory. Of a file's no others are decoded.
    ///
    /// # Errors
    /// A number is not below the points' own, or the source's ([`EncodedPoints::decode`]).
    pub fn pick(&self, numbers: &[usize]) -> Result<Self> {
        if let Some(number) = numbers.iter().find(|number| **number >= self.len()) {
            return Err(Error::invalid("msm", "number of a point", format!("below {}", self.len()), number));
        }
        if let Some(source) = self.source() {
            return Ok(source.pick(numbers)?.into());
        }
        let all = self.on_host()?;
        Ok(numbers.iter().map(|number| all[*number]).collect::<Vec<_>>().into())
    }
}

impl<C> Points<C> {
    /// Number of points.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Decoded(points) => points.len(),
            Kind::Encoded(encoded) => encoded.source.count(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points in host memory, where they are there already.
    pub fn in_memory(&self) -> Option<&Arc<Vec<C>>> {
        match &self.0 {
            Kind::Decoded(points) => Some(points),
            Kind::Encoded(encoded) => encoded.decoded.get(),
        }
    }

    /// The points in host memory, decoded now if they are not there yet.
    ///
    /// # Errors
    /// The source's ([`EncodedPoints::decode`]).
    pub fn on_host(&self) -> Result<&Arc<Vec<C>>>
    where
        C: Send + Sync,
    {
        match &self.0 {
            Kind::Decoded(points) => Ok(points),
            Kind::Encoded(encoded) => encoded.on_host(),
        }
    }

    /// The source of points that are not in host memory.
    pub(super) fn source(&self) -> Option<&dyn EncodedPoints<C>> {
        match &self.0 {
            Kind::Encoded(encoded) if encoded.decoded.get().is_none() => Some(&*encoded.source),
            _ => None,
        }
    }
}

impl<C> Encoded<C> {
    fn on_host(&self) -> Result<&Arc<Vec<C>>>
    where
        C: Send + Sync,
    {
        if let Some(points) = self.decoded.get() {
            return Ok(points);
        }
        // Who comes second waits for the first.
        let decode = || {
            let points = Arc::new(spread(|| self.source.decode())?);
            self.decoded.get_or_init(|| points);
            Ok(())
        };
        made_once(&self.turn, decode)?;
        self.decoded.get().ok_or_else(|| Error::lost("msm"))
    }
}
