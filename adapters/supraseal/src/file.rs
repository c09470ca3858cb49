//! Reads bellperson's parameter files: the verifying key, then h, l, a, b_g1 and b_g2. Lengths are big-endian numbers
//! of 32 bits, and points are uncompressed. The queries' points are not read here: devices decode them later.

use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::Arc;

use blstrs::{Bls12, G1Affine};
use group::UncompressedEncoding;
use proofwarp::curve::MsmCurve;
use proofwarp::groth16::{Parameters, VerifyingKey};
use proofwarp::msm::{BasePoints, EncodedPoints, FilePoints, MappedFile, PointChecks};

use crate::error::Error;

/// Requires the verifying key's points to be in their groups.
const CHECKED: PointChecks = PointChecks { in_subgroup: true, not_infinity: true };
/// Requires the queries' points not to be infinity. Decoding checks in any case that they are on their curves. Their
/// subgroup is not checked.
const ON_CURVE: PointChecks = PointChecks { in_subgroup: false, not_infinity: true };

/// Maps `file`, which was opened at `path`, or copies it if the settings ask for that, and reads the verifying key. As
/// long as the parameters are in use, a mapped file must stay as it is, or be deleted. If it was written to, later
/// reads of it fail.
pub(crate) fn read(path: &Path, file: File) -> Result<(VerifyingKey<Bls12>, Parameters<Bls12>), Error> {
    let mut reader = Reader::new(path, file)?;
    let [alpha_g1, beta_g1] = [reader.read_point("alpha_g1")?, reader.read_point("beta_g1")?];
    let [beta_g2, gamma_g2] = [reader.read_point("beta_g2")?, reader.read_point("gamma_g2")?];
    let (delta_g1, delta_g2) = (reader.read_point("delta_g1")?, reader.read_point("delta_g2")?);
    let ic = reader.locate_points::<G1Affine>("ic", CHECKED)?;
    let ic = reader.decode_points(&ic)?;
    let (h, l, a, b_g1) =
        (reader.locate_query("h")?, reader.locate_query("l")?, reader.locate_query("a")?, reader.locate_query("b_g1")?);
    let b_g2 = reader.locate_query("b_g2")?;
    reader.warn_trailing_bytes();
    let key = VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, ic };
    Ok((key, Parameters { alpha_g1, beta_g1, beta_g2, delta_g1, delta_g2, h, l, a, b_g1, b_g2 }))
}

/// Maps `file`, which was opened at `path`, or copies it if the settings ask for that.
pub(crate) fn map(path: &Path, file: File) -> Result<Arc<MappedFile>, Error> {
    // SAFETY: the caller who gives the file's path promises that the file stays as it is, and every use looks for
    // changes; a proof by points or matrices that were changed meanwhile would not verify.
    let file = unsafe { MappedFile::new(file, path.to_owned(), is_same_state) };
    file.map(Arc::new).map_err(|reason| Error::from_io(path, reason))
}

/// Reads a parameter file from its start. `offset` is the next byte to read.
struct Reader<'a> {
    path: &'a Path,
    file: Arc<MappedFile>,
    offset: usize,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, file: File) -> Result<Self, Error> {
        Ok(Self { path, file: map(path, file)?, offset: 0 })
    }

    /// Skips `bytes` bytes of the file, and returns the offset of the first of them. `what` names them in the error of
    /// a file that is too short.
    fn take(&mut self, what: &str, bytes: usize) -> Result<usize, Error> {
        let (start, end) = (self.offset, self.offset.saturating_add(bytes));
        if end > self.file.len() {
            return Err(self.malformed(what, format!("{end} bytes of the file at least"), self.file.len()));
        }
        self.offset = end;
        Ok(start)
    }

    fn read_count(&mut self, what: &str) -> Result<usize, Error> {
        let offset = self.take(&format!("number of {what}"), 4)?;
        let bytes = self.file.read(|file| Ok(std::array::from_fn(|at| file[offset + at])));
        let bytes = bytes.map_err(|reason| Error::from_parameter_file(self.path, reason))?;
        Ok(u32::from_be_bytes(bytes) as usize)
    }

    fn read_point<C: MsmCurve + UncompressedEncoding>(&mut self, what: &'static str) -> Result<C, Error> {
        let start = self.take(what, C::AFFINE_BYTES)?;
        let points = self.decode_points(&self.file_points(start, 1, what, CHECKED))?;
        points.first().copied().ok_or_else(|| self.malformed(what, "a point", "none"))
    }

    /// Reads the number of points of `what`, and skips the points. Returns where they are, with the checks `expected`
    /// for decoding.
    fn locate_points<C: MsmCurve>(&mut self, what: &'static str, expected: PointChecks) -> Result<FilePoints, Error> {
        let count = self.read_count(what)?;
        let start = self.take(&format!("{count} points of {what}"), count.saturating_mul(C::AFFINE_BYTES))?;
        Ok(self.file_points(start, count, what, expected))
    }

    fn locate_query<C: MsmCurve + UncompressedEncoding>(&mut self, what: &'static str) -> Result<BasePoints<C>, Error> {
        let points = self.locate_points::<C>(what, ON_CURVE)?;
        BasePoints::encoded(points).map_err(|reason| Error::from_parameter_file(self.path, reason))
    }

    fn file_points(&self, start: usize, count: usize, query: &'static str, expected: PointChecks) -> FilePoints {
        FilePoints { file: self.file.clone(), start, count, expected, query, name: format_point_name }
    }

    fn decode_points<C: MsmCurve + UncompressedEncoding>(&self, points: &FilePoints) -> Result<Vec<C>, Error> {
        points.decode().map_err(|reason| Error::from_parameter_file(self.path, reason))
    }

    fn malformed(&self, what: &str, expected: impl ToString, actual: impl ToString) -> Error {
        let (expected, actual) = (expected.to_string(), actual.to_string());
        Error::Malformed { path: self.path.to_owned(), what: what.to_owned(), expected, actual }
    }

    /// Logs a warning if there are bytes behind the last point. bellperson ignores such bytes too.
    fn warn_trailing_bytes(self) {
        let Self { path, file, offset } = self;
        if offset != file.len() {
            log::warn!("{}: {} bytes behind the parameters", path.display(), file.len() - offset);
        }
    }
}

/// Formats a point's name for error messages, from its query and its first byte. The messages name the file themselves.
fn format_point_name(_file: &Path, query: &str, _number: usize, byte: usize) -> String {
    format!("{query}, the point at byte {byte}")
}

/// Returns whether the metadata `one` and `other` of an open file show no write between them. Deletion, or replacement
/// under its name, is no change to the open file.
fn is_same_state(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}
