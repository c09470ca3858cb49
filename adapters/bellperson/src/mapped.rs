//! bellperson's parameters in a mapped file, whose points are decoded in parallel, and only those that are needed.

use std::fmt::Display;
use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bellperson::SynthesisError;
use bellperson::groth16::{MappedParameters, ParameterSource, read_g1, read_g2};
use group::UncompressedEncoding;
use group::prime::PrimeCurveAffine;
use pairing::MultiMillerLoop;
use proofwarp::groth16::{Circuit, Engine, Parameters};
use rayon::prelude::*;

/// A file may be changed within the grain of its times, which is at most this, without a trace in them.
const GRAIN: Duration = Duration::from_secs(2);
/// Points of each query that are compared before a file counts as known.
const SAMPLES: usize = 64;

/// The source as a mapped file, if it is one.
pub fn mapped<E: MultiMillerLoop, P: ParameterSource<E>>(source: &P) -> Option<&MappedParameters<E>> {
    if typeid::of::<P>() != typeid::of::<&MappedParameters<E>>() {
        return None;
    }
    // SAFETY: `P` is that reference, but for its lifetime, the only one there is in it (`E` is 'static), which is at
    // least as long as that of the reference to it; references are covariant.
    Some(unsafe { *std::ptr::from_ref(source).cast::<&MappedParameters<E>>() })
}

/// The key of a circuit.
pub fn read<E>(mapped: &MappedParameters<E>, circuit: &Circuit<E::Fr>) -> Result<Parameters<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
{
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let h = circuit.constraints().next_power_of_two() - 1;
    let g1 = |name, ranges: &[_], count| points(mapped, name, ranges, count, &|at| g1_at(mapped, at));
    let g2 = |name, ranges: &[_], count| points(mapped, name, ranges, count, &|at| g2_at(mapped, at));
    Ok(Parameters {
        alpha_g1: mapped.vk.alpha_g1,
        beta_g1: mapped.vk.beta_g1,
        beta_g2: mapped.vk.beta_g2,
        delta_g1: mapped.vk.delta_g1,
        delta_g2: mapped.vk.delta_g2,
        h: g1("h", &mapped.h, h)?,
        l: g1("l", &mapped.l, circuit.aux())?,
        a: g1("a", &mapped.a, a)?,
        b_g1: g1("b_g1", &mapped.b_g1, b_inputs + b_aux)?,
        b_g2: g2("b_g2", &mapped.b_g2, b_inputs + b_aux)?,
    })
}

fn g1_at<E: MultiMillerLoop>(mapped: &MappedParameters<E>, range: Range<usize>) -> io::Result<E::G1Affine> {
    check_range::<E::G1Affine>(&range, mapped.params.len())?;
    read_g1::<E>(&mapped.params, range, mapped.checked)
}

fn g2_at<E: MultiMillerLoop>(mapped: &MappedParameters<E>, range: Range<usize>) -> io::Result<E::G2Affine> {
    check_range::<E::G2Affine>(&range, mapped.params.len())?;
    read_g2::<E>(&mapped.params, range, mapped.checked)
}

/// bellperson trusts ranges, which the length of a truncated file may belie.
fn check_range<C: UncompressedEncoding>(range: &Range<usize>, bytes: usize) -> io::Result<()> {
    let expected = size_of::<C::Uncompressed>();
    match range.end <= bytes && range.len() == expected {
        true => Ok(()),
        false => Err(malformed(format!("expected {expected} bytes within the file's {bytes}, got {range:?}"))),
    }
}

/// The first points of a query, written in parallel to where they stay.
fn points<E: MultiMillerLoop, C: PrimeCurveAffine>(
    mapped: &MappedParameters<E>,
    name: &str,
    ranges: &[Range<usize>],
    count: usize,
    read: &(dyn Fn(Range<usize>) -> io::Result<C> + Sync),
) -> Result<Arc<Vec<C>>, SynthesisError> {
    let ranges = ranges.get(..count).ok_or(SynthesisError::MalformedSrs)?;
    let failed = OnceLock::new();
    let read = |(number, range): (usize, &Range<usize>)| {
        read(range.clone()).unwrap_or_else(|error| {
            failed.get_or_init(|| (number, error));
            C::identity()
        })
    };
    let points = ranges.par_iter().enumerate().map(read).collect();
    match failed.into_inner() {
        None => Ok(Arc::new(points)),
        Some((number, error)) => {
            let path = mapped.param_file_path.display();
            Err(io::Error::new(error.kind(), format!("{path}: point {number} of {name}: {error}")).into())
        }
    }
}

fn malformed(what: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// One state of a file.
///
/// Two files of equal identity have equal contents: a file is named by its device and number; whatever changes its
/// contents, or takes its number for another file, sets its time of change, which no program can set back, and a
/// state younger than the grain of such times has no identity. A writer that had the file mapped before is not noticed;
/// who maps parameters promises that there is none. As a last resort, against clocks of servers that lie, a sample of
/// the points is compared too ([`sampled`]), and the verifying key.
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

    /// Whether it is a state of the same file, read with the same checks.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.state.file == other.state.file && self.checked == other.checked
    }
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

/// Whether points spread over all queries are those of a key.
pub fn sampled<E: Engine + MultiMillerLoop>(mapped: &MappedParameters<E>, key: &Parameters<E>) -> bool {
    let g1 = |ranges: &[Range<usize>], points: &[E::G1Affine]| same(ranges, points, |at| g1_at(mapped, at));
    g1(&mapped.h, &key.h)
        && g1(&mapped.l, &key.l)
        && g1(&mapped.a, &key.a)
        && g1(&mapped.b_g1, &key.b_g1)
        && same(&mapped.b_g2, &key.b_g2, |at| g2_at(mapped, at))
}

fn same<C: PartialEq>(ranges: &[Range<usize>], points: &[C], read: impl Fn(Range<usize>) -> io::Result<C>) -> bool {
    let step = points.len().div_ceil(SAMPLES).max(1);
    let mut pairs = ranges.iter().zip(points).step_by(step);
    ranges.len() >= points.len() && pairs.all(|(range, point)| read(range.clone()).is_ok_and(|it| it == *point))
}
