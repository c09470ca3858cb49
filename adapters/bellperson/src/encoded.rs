//! Queries of a mapped file that devices decode; the host decodes them only if it needs them.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bellperson::groth16::MappedParameters;
use group::UncompressedEncoding;
use pairing::MultiMillerLoop;
use proofwarp::msm::{FilePoints, MappedFile, PointChecks};
use rayon::prelude::*;

use crate::file_identity::{FileIdentity, is_same_state};

/// Maps the file of `mapped` again, for as long as a key lives. Returns `None` if later changes to the file could not
/// be detected. Copies the file to memory instead if the settings ask for copies.
///
/// # Errors
/// - The file cannot be copied: the error of the system, or of [`MappedFile::copied`].
pub(crate) fn remap_or_copy<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> io::Result<Option<Arc<MappedFile>>> {
    if !MappedFile::prefers_copies() {
        return Ok(remap_file(mapped));
    }
    let (handle, path) = (mapped.param_file.try_clone()?, mapped.param_file_path.clone());
    MappedFile::copied(handle, path, is_same_state).map(|file| Some(Arc::new(file)))
}

fn remap_file<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> Option<Arc<MappedFile>> {
    let identity = FileIdentity::from_mapped(mapped)?;
    let handle = mapped.param_file.try_clone().ok()?;
    // SAFETY: the caller who maps parameters promises that the file stays unchanged while they are in use; as this map
    // may live longer, every use checks for changes.
    let file = unsafe { MappedFile::new(handle, mapped.param_file_path.clone(), is_same_state) }.ok()?;
    identity.is_state_of(file.state()).then(|| Arc::new(file))
}

/// Returns the points at the byte ranges `ranges` of `file` as one encoded query, named `query` in errors. Returns
/// `None` if the ranges are not contiguous or exceed the file. Decoding refuses infinity, and with `in_subgroup` also
/// points outside the subgroup.
pub(crate) fn encoded_query<C: UncompressedEncoding>(
    file: &Arc<MappedFile>,
    query: &'static str,
    ranges: &[Range<usize>],
    in_subgroup: bool,
) -> Option<FilePoints> {
    let size = size_of::<C::Uncompressed>();
    let (start, count) = (ranges.first().map_or(0, |first| first.start), ranges.len());
    let end = start.checked_add(size.checked_mul(count)?)?;
    let place = |number| start + number * size..start + (number + 1) * size;
    let in_place = |(number, range): (usize, &Range<usize>)| *range == place(number);
    let contiguous = end <= file.len() && ranges.par_iter().enumerate().all(in_place);
    let expected = PointChecks { in_subgroup, not_infinity: true };
    contiguous.then(|| FilePoints { file: file.clone(), start, count, expected, query, name: point_name })
}

/// Returns the name of point `number` of `query` in the file at `path`, for error messages.
pub(crate) fn point_name(path: &Path, query: &str, number: usize, _place: usize) -> String {
    format!("{}: point {number} of {query}", path.display())
}
