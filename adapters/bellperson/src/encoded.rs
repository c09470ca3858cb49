//! Queries of a mapped file that devices decode, and the host only where it needs them.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bellperson::groth16::MappedParameters;
use group::UncompressedEncoding;
use group::prime::PrimeCurveAffine;
use memmap2::Mmap;
use pairing::MultiMillerLoop;
use proofwarp::Error;
use proofwarp::msm::{EncodedPoints, Expected};
use rayon::prelude::*;

use crate::mapped::{Identity, Read, decoded};

/// A file of parameters in one state, mapped a second time, for as long as a key lives.
#[derive(Debug)]
pub struct File {
    map: Mmap,
    handle: fs::File,
    path: PathBuf,
    identity: Identity,
    checked: bool,
}

impl File {
    /// The file behind mapped parameters, if later changes of it can be told.
    pub fn of<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> Option<Self> {
        let identity = Identity::of(mapped)?;
        let handle = mapped.param_file.try_clone().ok()?;
        // SAFETY: who maps parameters promises that the file stays as it is while they are in use; as it may be longer
        // here, every use looks for changes.
        let map = unsafe { Mmap::map(&handle) }.ok()?;
        Some(Self { map, handle, path: mapped.param_file_path.clone(), identity, checked: mapped.checked })
    }

    /// That it is still in its state.
    fn confirm(&self) -> proofwarp::Result<()> {
        match self.handle.metadata() {
            Ok(data) if self.identity.is_state_of(&data) => Ok(()),
            Ok(_) => {
                Err(self.error("the file as it was when its points were used first", "one that was changed since"))
            }
            Err(error) => Err(self.error("a file", error)),
        }
    }

    fn error(&self, expected: &str, actual: impl ToString) -> Error {
        Error::invalid("parameters", self.path.display().to_string(), expected, actual)
    }
}

/// Points of a file that lie one after another.
#[derive(Debug)]
pub struct Query<C> {
    file: Arc<File>,
    name: &'static str,
    bytes: Range<usize>,
    read: Read<C>,
}

impl<C: UncompressedEncoding> Query<C> {
    /// A query whose points are at these places, if they lie one after another within the file.
    pub fn new(file: &Arc<File>, name: &'static str, ranges: &[Range<usize>], read: Read<C>) -> Option<Self> {
        let size = size_of::<C::Uncompressed>();
        let start = ranges.first().map_or(0, |first| first.start);
        let end = start.checked_add(size.checked_mul(ranges.len())?)?;
        let in_place = |(number, range): (usize, &Range<usize>)| *range == place(start, number, size);
        let contiguous = end <= file.map.len() && ranges.par_iter().enumerate().all(in_place);
        contiguous.then(|| Self { file: file.clone(), name, bytes: start..end, read })
    }
}

/// Where a point is.
fn place(start: usize, number: usize, size: usize) -> Range<usize> {
    start + number * size..start + (number + 1) * size
}

impl<C: PrimeCurveAffine + UncompressedEncoding> EncodedPoints<C> for Query<C> {
    fn count(&self) -> usize {
        self.bytes.len() / size_of::<C::Uncompressed>()
    }

    /// As bellperson reads mapped parameters.
    fn expected(&self) -> Expected {
        Expected { in_subgroup: self.file.checked, not_infinity: true }
    }

    fn read(&self, user: &mut dyn FnMut(&[u8]) -> proofwarp::Result<()>) -> proofwarp::Result<()> {
        self.file.confirm()?;
        let result = user(&self.file.map[self.bytes.clone()]);
        // First of all: what a changed file has led to means nothing.
        self.file.confirm()?;
        result
    }

    fn decode(&self) -> proofwarp::Result<Vec<C>> {
        let (count, size) = (EncodedPoints::<C>::count(self), size_of::<C::Uncompressed>());
        let places = (0..count).into_par_iter().map(|number| place(self.bytes.start, number, size));
        self.file.confirm()?;
        let points = decoded(&self.file.map, places, self.file.checked, self.read);
        self.file.confirm()?;
        points.map_err(|(number, error): (usize, io::Error)| {
            Error::invalid("parameters", EncodedPoints::<C>::name(self, number), "a point of the group", error)
        })
    }

    fn name(&self, number: usize) -> String {
        format!("{}: point {number} of {}", self.file.path.display(), self.name)
    }
}
