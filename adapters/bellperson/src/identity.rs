//! What tells one state of a mapped file from another.

use std::fs::Metadata;
use std::ops::Range;
use std::time::{Duration, SystemTime};

use bellperson::groth16::MappedParameters;
use pairing::MultiMillerLoop;

/// A file may be changed within the grain of its times, which is at most this, without a trace in them.
const GRAIN: Duration = Duration::from_secs(2);

/// One state of a file.
///
/// Two files of equal identity have equal contents: a file is named by its device and number; whatever changes its
/// contents, or takes its number for another file, sets its time of change, which no program can set back, and a
/// state younger than the grain of such times has no identity. A writer that had the file mapped before is not noticed;
/// who maps parameters promises that there is none. As a last resort, against clocks of servers that lie, a sample of
/// the points is compared too ([`Samples`](crate::mapped::Samples)), and the verifying key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    state: State,
    bytes: u64,
    /// First byte, last byte and number of each query's points.
    places: [(usize, usize, usize); 5],
    checked: bool,
}

impl Identity {
    /// That of the file behind a map, if it has one.
    pub fn of<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> Option<Self> {
        let data = mapped.param_file.metadata().ok()?;
        let state = State::of(&data)?;
        let age = |seconds: i64| {
            let since = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.try_into().ok()?);
            SystemTime::now().duration_since(since).ok()
        };
        let settled = state.times.iter().all(|(seconds, _)| age(*seconds).is_some_and(|age| age > GRAIN));
        let place = |ranges: &[Range<usize>]| {
            (ranges.first().map_or(0, |first| first.start), ranges.last().map_or(0, |last| last.end), ranges.len())
        };
        let places = [&mapped.h, &mapped.l, &mapped.a, &mapped.b_g1, &mapped.b_g2].map(|ranges| place(ranges));
        let same_length = data.len() == mapped.params.len() as u64;
        (settled && same_length).then_some(Self { state, bytes: data.len(), places, checked: mapped.checked })
    }

    /// Whether a file's is still this state, as far as the file itself tells.
    pub fn is_state_of(&self, data: &Metadata) -> bool {
        State::of(data).as_ref() == Some(&self.state) && data.len() == self.bytes
    }

    /// Whether it is a state of the same file, read with the same checks.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.state.file == other.state.file && self.checked == other.checked
    }
}

/// Whether two states of an open file are the same, as far as the file itself tells.
pub fn is_same_state(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && State::of(one).is_some_and(|one| Some(one) == State::of(other))
}

/// What the system knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    /// Device and number.
    file: [u64; 2],
    /// Of modification and of change, in seconds and nanoseconds.
    times: [(i64, i64); 2],
}

impl State {
    #[cfg(unix)]
    #[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    fn of(data: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let times = [(data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec())];
        Some(Self { file: [data.dev(), data.ino()], times })
    }

    /// Files have no number here, or no time that only the system sets.
    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }
}
