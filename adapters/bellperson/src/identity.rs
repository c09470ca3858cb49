//! What tells one state of a mapped file from another.

use std::fs::Metadata;
use std::ops::Range;

use bellperson::groth16::MappedParameters;
use pairing::MultiMillerLoop;
use proofwarp::files::FileState;

/// One state of a file.
///
/// Two files of equal identity have equal contents: [`FileState`] says why, and a state that has not settled has no identity.
/// Who maps parameters promises that no writer had the file mapped before. As a last resort, against clocks of servers that
/// lie, a sample of the points is compared too ([`Samples`](crate::mapped::Samples)), and the verifying key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    state: FileState,
    /// First byte, last byte and number of each query's points.
    places: [(usize, usize, usize); 5],
    checked: bool,
}

impl Identity {
    /// That of the file behind a map, if it has one.
    pub fn of<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> Option<Self> {
        let data = mapped.param_file.metadata().ok()?;
        let state = FileState::of(&data)?;
        let place = |ranges: &[Range<usize>]| {
            (ranges.first().map_or(0, |first| first.start), ranges.last().map_or(0, |last| last.end), ranges.len())
        };
        let places = [&mapped.h, &mapped.l, &mapped.a, &mapped.b_g1, &mapped.b_g2].map(|ranges| place(ranges));
        let same_length = data.len() == mapped.params.len() as u64;
        (state.is_settled() && same_length).then_some(Self { state, places, checked: mapped.checked })
    }

    /// Whether a file's is still this state, as far as the file itself tells.
    pub fn is_state_of(&self, data: &Metadata) -> bool {
        FileState::of(data).as_ref() == Some(&self.state)
    }

    /// Whether it is a state of the same file, read with the same checks.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.state.is_same_file(&other.state) && self.checked == other.checked
    }
}

/// Whether two states of an open file are the same, as far as the file itself tells.
pub fn is_same_state(one: &Metadata, other: &Metadata) -> bool {
    FileState::of(one).is_some_and(|one| Some(one) == FileState::of(other))
}
