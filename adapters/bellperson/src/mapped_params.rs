//! Reads bellperson's parameters in a mapped file. Only the points that are needed are decoded, by the devices or in
//! parallel on the host.

use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bellperson::SynthesisError;
use bellperson::groth16::{MappedParameters, ParameterSource, read_g1, read_g2};
use group::UncompressedEncoding;
use group::prime::PrimeCurveAffine;
use memmap2::Mmap;
use pairing::MultiMillerLoop;
use proofwarp::curve::MsmCurve;
use proofwarp::groth16::{Circuit, Engine, Parameters};
use proofwarp::msm::{BasePoints, MappedFile};
use rayon::prelude::*;

use crate::encoded::{self, point_name};
use crate::to_synthesis_error;

/// Maximum number of sample points of each query that are compared before a file counts as known.
const SAMPLES: usize = 64;

/// Returns `source` as parameters in a mapped file, or `None` if its type is another one.
pub(crate) fn as_mapped_parameters<E: MultiMillerLoop, P: ParameterSource<E>>(
    source: &P,
) -> Option<&MappedParameters<E>> {
    if typeid::of::<P>() != typeid::of::<&MappedParameters<E>>() {
        return None;
    }
    // SAFETY: `P` is that reference type, but for its lifetime, which is the only one in it (`E` is 'static) and at
    // least as long as that of the reference to it; references are covariant.
    Some(unsafe { *std::ptr::from_ref(source).cast::<&MappedParameters<E>>() })
}

/// Reads the parameters of `circuit` from the file `mapped`. Points stay encoded for devices if later changes of the
/// file can be detected, or if the file is copied to memory. Otherwise the host decodes them now.
pub(crate) fn read<E>(mapped: &MappedParameters<E>, circuit: &Circuit<E::Fr>) -> Result<Parameters<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
{
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let h = circuit.constraint_count().next_power_of_two() - 1;
    let file = encoded::remap_or_copy(mapped)?;
    let g1 = |name, ranges: &[_], count| read_query(mapped, file.as_ref(), (name, ranges, count), read_g1::<E>);
    let g2 = |name, ranges: &[_], count| read_query(mapped, file.as_ref(), (name, ranges, count), read_g2::<E>);
    Ok(Parameters {
        alpha_g1: mapped.vk.alpha_g1,
        beta_g1: mapped.vk.beta_g1,
        beta_g2: mapped.vk.beta_g2,
        delta_g1: mapped.vk.delta_g1,
        delta_g2: mapped.vk.delta_g2,
        h: g1("h", &mapped.h, h)?,
        l: g1("l", &mapped.l, circuit.aux_count())?,
        a: g1("a", &mapped.a, a)?,
        b_g1: g1("b_g1", &mapped.b_g1, b_inputs + b_aux)?,
        b_g2: g2("b_g2", &mapped.b_g2, b_inputs + b_aux)?,
    })
}

/// Decodes the point at a byte range of a mapped file as bellperson does, with bellperson's checks if the `bool` is
/// true.
type PointDecoder<C> = fn(&Mmap, Range<usize>, bool) -> io::Result<C>;

/// Returns the first `count` points of the query `name`, whose byte ranges are `ranges`. They stay encoded if they are
/// contiguous in the file and devices decode the curve. Otherwise `read` decodes them.
fn read_query<E, C>(
    mapped: &MappedParameters<E>,
    file: Option<&Arc<MappedFile>>,
    (name, ranges, count): (&'static str, &[Range<usize>], usize),
    read: PointDecoder<C>,
) -> Result<BasePoints<C>, SynthesisError>
where
    E: MultiMillerLoop,
    C: MsmCurve + UncompressedEncoding,
{
    let ranges = ranges.get(..count).ok_or(SynthesisError::MalformedSrs)?;
    let query = file.and_then(|file| encoded::encoded_query::<C>(file, name, ranges, mapped.checked));
    if let Some(query) = query.filter(|_| C::HAS_GPU_DECODE) {
        return BasePoints::encoded(query).map_err(to_synthesis_error);
    }
    check_not_truncated(mapped)?;
    let points = decode_points(&mapped.params, ranges.par_iter().cloned(), mapped.checked, read);
    points.map(BasePoints::from).map_err(|(number, error)| {
        let point = point_name(&mapped.param_file_path, name, number, ranges[number].start);
        io::Error::new(error.kind(), format!("{point}: {error}")).into()
    })
}

/// Decodes the points at `ranges` in parallel, or returns the index and the error of a point that fails.
fn decode_points<C: PrimeCurveAffine + UncompressedEncoding>(
    map: &Mmap,
    ranges: impl IndexedParallelIterator<Item = Range<usize>>,
    checked: bool,
    read: PointDecoder<C>,
) -> Result<Vec<C>, (usize, io::Error)> {
    let failed = OnceLock::new();
    let read = |(number, range)| {
        decode_point(map, range, checked, read).unwrap_or_else(|error| {
            failed.get_or_init(|| (number, error));
            C::identity()
        })
    };
    let points = ranges.enumerate().map(read).collect();
    failed.into_inner().map_or(Ok(points), Err)
}

/// Decodes one point by `read`, after a check of `range`: bellperson trusts ranges, but a truncated file may be
/// shorter.
fn decode_point<C: UncompressedEncoding>(
    map: &Mmap,
    range: Range<usize>,
    checked: bool,
    read: PointDecoder<C>,
) -> io::Result<C> {
    let (expected, bytes) = (size_of::<C::Uncompressed>(), map.len());
    match range.end <= bytes && range.len() == expected {
        true => read(map, range, checked),
        false => Err(malformed(format!("expected {expected} bytes within the file's {bytes}, got {range:?}"))),
    }
}

/// Checks that the file of `mapped` is still as long as its map: a read behind its end would end the process by SIGBUS.
fn check_not_truncated<E: MultiMillerLoop>(mapped: &MappedParameters<E>) -> io::Result<()> {
    let (expected, actual) = (mapped.params.len() as u64, mapped.param_file.metadata()?.len());
    if actual >= expected {
        return Ok(());
    }
    let path = mapped.param_file_path.display();
    Err(malformed(format!("{path}: expected {expected} bytes, as when it was mapped, got {actual}")))
}

fn malformed(what: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// Holds sample points of all queries of a file, to recognise the file's contents.
#[derive(Debug)]
pub(crate) struct Samples<E: Engine> {
    g1: [Vec<E::G1Affine>; 4],
    b_g2: Vec<E::G2Affine>,
}

impl<E: Engine + MultiMillerLoop> Samples<E> {
    /// Returns the sample points of `mapped`, or `None` if one of them does not decode.
    pub(crate) fn from_mapped(mapped: &MappedParameters<E>) -> Option<Self> {
        let g1 = |ranges: &[_]| sample(mapped, ranges, read_g1::<E>);
        let g1 = [g1(&mapped.h)?, g1(&mapped.l)?, g1(&mapped.a)?, g1(&mapped.b_g1)?];
        Some(Self { g1, b_g2: sample(mapped, &mapped.b_g2, read_g2::<E>)? })
    }

    /// Returns whether the points of `mapped` at the sampled positions equal these.
    pub(crate) fn match_file(&self, mapped: &MappedParameters<E>) -> bool {
        Self::from_mapped(mapped).is_some_and(|other| self.g1 == other.g1 && self.b_g2 == other.b_g2)
    }
}

fn sample<E: MultiMillerLoop, C: UncompressedEncoding>(
    mapped: &MappedParameters<E>,
    ranges: &[Range<usize>],
    read: PointDecoder<C>,
) -> Option<Vec<C>> {
    check_not_truncated(mapped).ok()?;
    let step = ranges.len().div_ceil(SAMPLES).max(1);
    let points =
        ranges.iter().step_by(step).map(|range| decode_point(&mapped.params, range.clone(), mapped.checked, read));
    points.collect::<io::Result<_>>().ok()
}
