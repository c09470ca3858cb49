//! bellperson's parameter files: the verifying key, then h, l, a, b_g1 and b_g2; lengths are big-endian and of 32 bits,
//! points uncompressed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use blstrs::Bls12;
use group::UncompressedEncoding;
use group::prime::PrimeCurveAffine;
use proofwarp::groth16::Parameters;
use rayon::prelude::*;

use crate::error::Error;
use crate::verify::VerifyingKey;

/// Points that a core reads at once.
const CHUNK: usize = 1 << 13;

/// Reads a file.
pub fn read(path: &Path) -> Result<(VerifyingKey, Parameters<Bls12>), Error> {
    let mut reader = Reader::open(path)?;
    let [alpha_g1, beta_g1] = [reader.point("alpha_g1")?, reader.point("beta_g1")?];
    let [beta_g2, gamma_g2] = [reader.point("beta_g2")?, reader.point("gamma_g2")?];
    let (delta_g1, delta_g2) = (reader.point("delta_g1")?, reader.point("delta_g2")?);
    let ic = reader.points("ic", Points::Checked)?;
    let mut query = |name| reader.points(name, Points::OnCurve).map(Into::into);
    let (h, l, a, b_g1) = (query("h")?, query("l")?, query("a")?, query("b_g1")?);
    let b_g2 = reader.points("b_g2", Points::OnCurve)?.into();
    reader.end();
    let key = VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, ic };
    Ok((key, Parameters { alpha_g1, beta_g1, beta_g2, delta_g1, delta_g2, h, l, a, b_g1, b_g2 }))
}

/// What is checked of points. Decoding checks that they are on the curve in any case.
#[derive(Clone, Copy)]
enum Points {
    /// That they are in the group.
    Checked,
    OnCurve,
}

/// A file, read up to a place.
struct Reader<'a> {
    path: &'a Path,
    file: File,
    length: u64,
    offset: u64,
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| io(path, error))?;
        let length = file.metadata().map_err(|error| io(path, error))?.len();
        Ok(Self { path, file, length, offset: 0 })
    }

    /// Goes on by so many bytes, and says where they are.
    fn take(&mut self, what: &str, bytes: u64) -> Result<u64, Error> {
        let (start, end) = (self.offset, self.offset + bytes);
        if end > self.length {
            return Err(self.malformed(what, format!("{end} bytes of the file at least"), self.length));
        }
        self.offset = end;
        Ok(start)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        read_exact_at(&self.file, offset, bytes).map_err(|error| io(self.path, error))
    }

    fn count(&mut self, what: &str) -> Result<usize, Error> {
        let mut bytes = [0; 4];
        let offset = self.take(&format!("number of {what}"), 4)?;
        self.read_at(offset, &mut bytes)?;
        Ok(u32::from_be_bytes(bytes) as usize)
    }

    fn point<C: PrimeCurveAffine + UncompressedEncoding>(&mut self, what: &str) -> Result<C, Error> {
        let offset = self.take(what, encoded::<C>() as u64)?;
        let mut point = [C::identity()];
        self.decode(what, offset, &mut point, Points::Checked)?;
        Ok(point[0])
    }

    /// A number of points and so many points, all cores reading.
    fn points<C: PrimeCurveAffine + UncompressedEncoding>(
        &mut self,
        what: &str,
        check: Points,
    ) -> Result<Vec<C>, Error> {
        let count = self.count(what)?;
        let start = self.take(&format!("{count} points of {what}"), (count * encoded::<C>()) as u64)?;
        let mut points: Vec<_> = (0..count).into_par_iter().map(|_| C::identity()).collect();
        points.par_chunks_mut(CHUNK).enumerate().try_for_each(|(number, chunk)| {
            self.decode(what, start + (number * CHUNK * encoded::<C>()) as u64, chunk, check)
        })?;
        Ok(points)
    }

    fn decode<C>(&self, what: &str, offset: u64, points: &mut [C], check: Points) -> Result<(), Error>
    where
        C: PrimeCurveAffine + UncompressedEncoding,
    {
        let mut bytes = vec![0; points.len() * encoded::<C>()];
        self.read_at(offset, &mut bytes)?;
        for (number, (point, bytes)) in points.iter_mut().zip(bytes.chunks_exact(encoded::<C>())).enumerate() {
            let at = || format!("{what}, the point at byte {}", offset + (number * encoded::<C>()) as u64);
            *point = decoded(bytes, check).map_err(|actual| self.malformed(&at(), POINT, actual))?;
        }
        Ok(())
    }

    fn malformed(&self, what: &str, expected: impl ToString, actual: impl ToString) -> Error {
        let (expected, actual) = (expected.to_string(), actual.to_string());
        Error::Malformed { path: self.path.to_owned(), what: what.to_owned(), expected, actual }
    }

    /// bellperson does not look behind the last point either.
    fn end(self) {
        let Self { path, length, offset, .. } = self;
        if offset != length {
            log::warn!("{}: {} bytes behind the parameters", path.display(), length - offset);
        }
    }
}

const POINT: &str = "a point of the group other than infinity";

/// A point, or what the bytes are instead.
fn decoded<C: PrimeCurveAffine + UncompressedEncoding>(bytes: &[u8], check: Points) -> Result<C, &'static str> {
    let mut encoding = C::Uncompressed::default();
    encoding.as_mut().copy_from_slice(bytes);
    let point = match check {
        Points::Checked => C::from_uncompressed(&encoding),
        Points::OnCurve => C::from_uncompressed_unchecked(&encoding),
    };
    match Option::<C>::from(point) {
        None => Err("none"),
        Some(point) if bool::from(point.is_identity()) => Err("infinity"),
        Some(point) => Ok(point),
    }
}

/// Bytes of a point in a file.
fn encoded<C: UncompressedEncoding>() -> usize {
    C::Uncompressed::default().as_ref().len()
}

fn io(path: &Path, reason: io::Error) -> Error {
    Error::Io { path: path.to_owned(), reason: Arc::new(reason) }
}

#[cfg(unix)]
fn read_exact_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => (offset, bytes) = (offset + count as u64, &mut bytes[count..]),
        }
    }
    Ok(())
}
