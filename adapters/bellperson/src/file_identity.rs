//! Distinguishes one state of a mapped file from another.

use std::fs::Metadata;
use std::ops::Range;

use bellperson::groth16::MappedParameters;
use pairing::MultiMillerLoop;
use proofwarp::file_state::FileState;

/// Identifies one state of a parameter file, and the places of the points in it.
///
/// Files of equal identity have equal contents, as [`FileState`] explains; a state that has not settled has no
/// identity. The caller who maps parameters promises that no writer had the file mapped before. As a last resort
/// against wrong server clocks, a sample of the points ([`Samples`](crate::mapped_params::Samples)) and the verifying
/// key are compared too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    state: FileState,
    /// First byte, end (exclusive) and number of points of each query: h, l, a, b_g1 and b_g2.
    places: [(usize, usize, usize); 5],
    checked: bool,
}

impl FileIdentity {
    /// Returns the identity of the file of `mapped`. Returns `None` if a later change might not be detected, or if the
    /// file's length has changed since it was mapped.
    pub(crate) fn from_mapped<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> Option<Self> {
        let data = mapped.param_file.metadata().ok()?;
        let state = FileState::from_metadata(&data)?;
        let place = |ranges: &[Range<usize>]| {
            (ranges.first().map_or(0, |first| first.start), ranges.last().map_or(0, |last| last.end), ranges.len())
        };
        let places = [&mapped.h, &mapped.l, &mapped.a, &mapped.b_g1, &mapped.b_g2].map(|ranges| place(ranges));
        let same_length = data.len() == mapped.params.len() as u64;
        (state.is_settled() && same_length).then_some(Self { state, places, checked: mapped.checked })
    }

    /// Returns whether the file metadata `data` describes the state of this identity.
    pub(crate) fn is_state_of(&self, data: &Metadata) -> bool {
        FileState::from_metadata(data).as_ref() == Some(&self.state)
    }

    /// Returns whether `other` is a state of the same file, read with the same checks.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.state.is_same_file(&other.state) && self.checked == other.checked
    }
}

/// Returns whether the metadata `one` and `other` of an open file describe the same state. Returns false if the system
/// has no reliable metadata.
pub(crate) fn is_same_state(one: &Metadata, other: &Metadata) -> bool {
    FileState::from_metadata(one).is_some_and(|one| Some(one) == FileState::from_metadata(other))
}
