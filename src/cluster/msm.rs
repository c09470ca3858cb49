//! Runs multi-scalar multiplications (MSMs) whose bases are in slices. Messages hold points as devices do: affine.

use std::ops::Range;
use std::time::{Duration, Instant};

use group::{Curve, Group};
use num_bigint::BigUint;

use super::cluster_handle::{Cluster, digest};
use super::partition::Partition;
use crate::backend::Abort;
use crate::curve::MsmCurve;
use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::msm::{BasePoints, FilePoints, Msm, MsmOptions, ScalarForm, Scalars};
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
use crate::{Error, Report, Result};

const ERROR_CONTEXT: &str = "cluster msm";
/// Number of points of the first MSM that measures a rank's speed. Larger ones follow until one takes
/// [`MIN_SAMPLE_TIME`] or has [`MAX_SAMPLE_POINTS`] points.
const FIRST: usize = 1 << 10;
const MAX_SAMPLE_POINTS: usize = 1 << 20;
const MIN_SAMPLE_TIME: Duration = Duration::from_millis(50);
/// Minimum ratio of each rank's speed to the fastest one's at which all ranks count as equally fast.
const EQUAL_SPEED_RATIO: f64 = 0.9;

/// Holds the bases of an MSM in slices, one per rank, each on its rank's devices. It is [`Msm`] for a cluster.
///
/// All ranks call all methods. Each rank sends its sums in one message. All ranks add them in order of the ranks, so
/// that all have the same result. An MPI reduction would take as long, because there are few sums and a message has
/// less than 300 bytes. MPI might also call its operation in any order.
#[derive(Debug)]
pub struct ClusterMsm<'c, C: 'static> {
    cluster: &'c Cluster,
    msm: Msm<'static, C>,
    slices: Partition,
}

impl<'c, C: MsmCurve> ClusterMsm<'c, C> {
    /// Creates an MSM of `length` bases, divided into slices in proportion to the ranks' speeds. `load` returns this
    /// rank's bases, given the range of their indices.
    ///
    /// Speeds are measured first, once for each curve, unless they are given ([`super::ClusterOptions::speed`]).
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: a rank failed to load its bases, or loaded another number of them.
    /// - [`Error::Rank`] on all ranks: a rank has too little memory, or failed.
    /// - [`Error::Invalid`] on all ranks: a given speed is negative or NaN.
    /// - The error itself: there is only one rank ([`Cluster::all_or_error`]).
    pub fn new<B: Into<BasePoints<C>>>(
        cluster: &'c Cluster,
        length: usize,
        load: impl FnOnce(Range<usize>) -> Result<B>,
    ) -> Result<Self> {
        let slices = Partition::weighted(length, &speeds::<C>(cluster)?)?;
        Self::with_slices(cluster, slices, MsmOptions::default(), load)
    }

    /// Creates an MSM like [`Self::new`], with the caller's `slices` and `options`.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: the slices differ between ranks, or are for another number of ranks.
    /// - The errors of [`Self::new`], except those of speeds, which are not used.
    pub fn with_slices<B: Into<BasePoints<C>>>(
        cluster: &'c Cluster,
        slices: Partition,
        options: MsmOptions,
        load: impl FnOnce(Range<usize>) -> Result<B>,
    ) -> Result<Self> {
        let own = slices.range(cluster.rank());
        cluster.all_or_error(check_ranks(cluster, &slices))?;
        cluster.check_replicated("slices of the bases", format!("{slices:?}").as_bytes())?;
        let upload = || {
            let bases: BasePoints<C> = load(own.clone())?.into();
            Error::check_eq(ERROR_CONTEXT, "number of bases of the rank", own.len(), bases.len())?;
            Msm::shared(cluster.accelerator(), bases, options)
        };
        let msm = cluster.time_compute(upload);
        Ok(Self { cluster, msm: cluster.all_or_error(msm)?, slices })
    }

    /// Creates an MSM like [`Self::new`], from `points` of a file that every rank has mapped. Each rank decodes only
    /// its own points. The ranks compare digests of their whole files, which reads each file once.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: a rank's file differs from rank 0's, or cannot be read.
    /// - The errors of [`Self::new`].
    pub fn from_file(cluster: &'c Cluster, points: &FilePoints) -> Result<Self>
    where
        C: group::UncompressedEncoding,
    {
        if cluster.size() > 1 {
            let digest = cluster.time_compute(|| points.file.read(|bytes| Ok(digest(bytes))));
            let digest = cluster.all_or_error(digest)?;
            cluster.check_same_digest(&points.file.path().display().to_string(), &digest)?;
        }
        Self::new(cluster, points.count, |range| BasePoints::encoded(points.clone())?.slice(range))
    }

    /// Returns the range of bases of each rank.
    pub fn slices(&self) -> &Partition {
        &self.slices
    }

    /// Returns the range of this rank's bases among all bases.
    pub fn local_range(&self) -> Range<usize> {
        self.slices.range(self.cluster.rank())
    }

    /// Computes the MSM over the bases of all ranks, and returns its result on every rank. Each rank gives the
    /// `scalars` of its own bases.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: a rank has another number of scalars than bases.
    /// - [`Error::Rank`] on all ranks: a rank aborted or failed ([`Msm::run`]).
    /// - [`Error::Aborted`]: this rank's own hook aborted.
    /// - The errors of [`Msm::run`]: there is only one rank.
    pub fn run<'s>(&self, scalars: impl Into<Scalars<'s>>, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let (sums, report) = self.run_batch(&[scalars.into()], abort)?;
        Ok((first_sum::<C>(sums)?, report))
    }

    /// Computes an MSM like [`Self::run`] for each of `vectors`, and returns the results in the same order.
    ///
    /// # Errors
    /// - [`Error::Invalid`] on all ranks: they have different numbers of vectors.
    /// - The errors of [`Self::run`].
    pub fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Report)> {
        let part = self.run_local_msms(vectors, abort);
        if self.cluster.size() == 1 {
            return part;
        }
        let start = Instant::now();
        let (sums, report) = self.cluster.all_or_error(part)?;
        let sums = sum_across_ranks::<C>(self.cluster, &sums, None)?.unwrap_or_default();
        Ok((sums, self.report(report, start)))
    }

    /// Computes the MSM like [`Self::run`], but returns its result only on rank `root`. Other ranks get `None`.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: there is no rank `root`; with only one rank it is [`Error::Invalid`].
    /// - The errors of [`Self::run`].
    pub fn run_to<'s>(
        &self,
        root: usize,
        scalars: impl Into<Scalars<'s>>,
        abort: Abort<'_>,
    ) -> Result<(Option<C::Curve>, Report)> {
        self.cluster.all_or_error(check_root(self.cluster, root))?;
        let start = Instant::now();
        let (sums, report) = self.cluster.all_or_error(self.run_local_msms(&[scalars.into()], abort))?;
        let sums = sum_across_ranks::<C>(self.cluster, &sums, Some(root))?;
        Ok((sums.map(first_sum::<C>).transpose()?, self.report(report, start)))
    }

    /// Computes the MSM like [`Self::run`], from the `scalars` of all bases in host memory of rank `root`. Other ranks
    /// pass `None`, and receive the scalars of their own bases.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: there is no rank `root`, it has no scalars, or they are on its devices.
    /// - [`Error::Invalid`]: there is only one rank, and it has no scalars.
    /// - The errors of [`Self::run`].
    pub fn run_from(&self, root: usize, scalars: Option<Scalars<'_>>, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let cluster = self.cluster;
        if let (1, Some(scalars)) = (cluster.size(), scalars) {
            return self.run(scalars, abort);
        }
        let mine = if cluster.rank() == root { self.prepare_root_scalars(scalars) } else { Ok((&[][..], [0; 5])) };
        let (all, header) = cluster.all_or_error(check_root(cluster, root).and(mine))?;
        let header = cluster.broadcast(root, &header);
        let mut received = SecretVec(vec![0; if cluster.rank() == root { 0 } else { 32 * self.local_range().len() }]);
        scatter(cluster, root, &self.slices, all, &mut received);
        let own = if cluster.rank() == root { &all[self.local_range()] } else { received.as_chunks().0 };
        self.run(apply_scalar_header(own, &header), abort)
    }

    /// Computes this rank's part of the MSMs, over its own bases: one sum for each of `vectors`.
    fn run_local_msms(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Report)> {
        self.cluster.time_compute(|| self.msm.run_batch(vectors, abort))
    }

    fn report(&self, own: Report, start: Instant) -> Report {
        let call = OpScope { operation: format!("cluster {}", own.operation), elements: self.slices.length() };
        let Report { backend, device, traffic, fallbacks, total, .. } = own;
        call.report_success(backend, &device, start.checked_sub(total).unwrap_or(start), traffic, fallbacks)
    }

    /// Returns the root's scalars, and a header for the other ranks. The header has one byte for the form (1 is
    /// Montgomery) and four little-endian bytes for the bit length (`u32::MAX` if unknown).
    fn prepare_root_scalars<'s>(&self, scalars: Option<Scalars<'s>>) -> Result<(&'s [[u8; 32]], [u8; 5])> {
        let host = scalars.and_then(|scalars| scalars.in_host_memory());
        let (all, form, bits) =
            host.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "scalars of the root", "some in host memory", "none"))?;
        Error::check_eq(ERROR_CONTEXT, "number of scalars", self.slices.length(), all.len())?;
        let [a, b, c, d] = bits.unwrap_or(u32::MAX).to_le_bytes();
        Ok((all, [u8::from(form == ScalarForm::Montgomery), a, b, c, d]))
    }
}

/// Returns `scalars` with the form and the bit length in `header`, which the root made.
fn apply_scalar_header<'s>(scalars: &'s [[u8; 32]], header: &[u8]) -> Scalars<'s> {
    let is_montgomery = header.first() == Some(&1);
    let scalars = if is_montgomery { Scalars::montgomery(scalars) } else { Scalars::canonical(scalars) };
    let bits = header.get(1..5).and_then(|bits| bits.try_into().ok()).map_or(u32::MAX, u32::from_le_bytes);
    if bits == u32::MAX { scalars } else { scalars.with_bit_length(bits) }
}

/// Sends each rank its slice of the scalars `all` of rank `root`. Other ranks receive their slices into `own`.
fn scatter(cluster: &Cluster, root: usize, slices: &Partition, all: &[[u8; 32]], own: &mut [u8]) {
    let is_root = cluster.rank() == root;
    let others = slices.ranges().enumerate().filter(|(rank, range)| is_root && *rank != root && !range.is_empty());
    let sends = others.map(|(rank, range)| (rank, all[range].as_flattened())).collect();
    let receives = if is_root || own.is_empty() { Vec::new() } else { vec![(root, own)] };
    cluster.time_mpi(|| cluster.exchange(sends, receives));
}

/// Adds the `sums` of all ranks, element by element and in the order of the ranks. Returns the totals on all ranks, or
/// with `root` only on that rank. Other ranks get `None`.
pub(super) fn sum_across_ranks<C: MsmCurve>(
    cluster: &Cluster,
    sums: &[C::Curve],
    root: Option<usize>,
) -> Result<Option<Vec<C::Curve>>> {
    let mine = to_bytes::<C>(sums);
    let parts = match root {
        None => cluster.gather(&mine),
        Some(root) => cluster.gather_to(root, &mine),
    };
    let mut total = vec![C::Curve::identity(); sums.len()];
    for part in &parts {
        Error::check_eq(ERROR_CONTEXT, "sums of a rank", mine.len(), part.len())?;
        total.iter_mut().zip(from_bytes::<C>(part)?).for_each(|(total, part)| *total += part);
    }
    Ok((!parts.is_empty()).then_some(total))
}

/// Returns the speed of each rank in points per second, or 1.0 for each if they are about equal. Speeds that were given
/// are in the caller's unit.
pub(super) fn speeds<C: MsmCurve>(cluster: &Cluster) -> Result<Vec<f64>> {
    let speeds = cluster.speeds(C::NAME, || cluster.time_compute(|| measure_msm_speed::<C>(cluster)))?;
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    let alike = speeds.iter().all(|speed| *speed >= EQUAL_SPEED_RATIO * fastest);
    Ok(if alike { vec![1.0; speeds.len()] } else { speeds })
}

/// Measures this rank's speed in MSM points per second. The MSM grows until it takes long enough for a measurement.
fn measure_msm_speed<C: MsmCurve>(cluster: &Cluster) -> Result<f64> {
    let mut count = FIRST;
    let mut points = generator_multiples::<C>(count);
    loop {
        let msm = Msm::shared(cluster.accelerator(), points.clone(), MsmOptions::default())?;
        let scalars: Vec<[u8; 32]> = (0..count as u64).map(pseudorandom_scalar).collect();
        // The first run loads kernels and makes tables.
        let mut time = Duration::MAX;
        for _ in 0..2 {
            let start = Instant::now();
            msm.run(&scalars, None)?;
            time = start.elapsed();
        }
        if time >= MIN_SAMPLE_TIME || count >= MAX_SAMPLE_POINTS {
            return Ok(count as f64 / time.as_secs_f64().max(1e-9));
        }
        // As many more as `MIN_SAMPLE_TIME` seems to take; by far the most are repeated points.
        let more = (MIN_SAMPLE_TIME.as_secs_f64() / time.as_secs_f64().max(1e-9)).clamp(2.0, 16.0);
        count = ((count as f64 * more) as usize).min(MAX_SAMPLE_POINTS);
        points = points.iter().copied().cycle().take(count).collect();
    }
}

/// Returns the first `count` multiples of the generator G: G, 2G, 3G and so on.
fn generator_multiples<C: MsmCurve>(count: usize) -> Vec<C> {
    let g = C::Curve::generator();
    let sums: Vec<_> = std::iter::successors(Some(g), |sum| Some(*sum + g)).take(count).collect();
    let mut points = vec![C::identity(); count];
    C::Curve::batch_normalize(&sums, &mut points);
    points
}

/// Returns a scalar of 32 bytes whose digits look random, computed from `number` alone.
fn pseudorandom_scalar(number: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    let words = bytes.chunks_exact_mut(8).enumerate();
    words.for_each(|(word, to)| {
        let mixed = (4 * number + word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        to.copy_from_slice(&(mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).to_le_bytes());
    });
    bytes
}

fn first_sum<C: MsmCurve>(sums: Vec<C::Curve>) -> Result<C::Curve> {
    sums.into_iter().next().ok_or_else(|| Error::internal(ERROR_CONTEXT))
}

fn check_ranks(cluster: &Cluster, slices: &Partition) -> Result<()> {
    Error::check_eq(ERROR_CONTEXT, "ranks of the slices", cluster.size(), slices.rank_count())
}

fn check_root(cluster: &Cluster, root: usize) -> Result<()> {
    if root < cluster.size() {
        return Ok(());
    }
    Err(Error::invalid(ERROR_CONTEXT, "root", format!("below {}", cluster.size()), root))
}

/// Encodes `sums` as affine points in the memory layout of devices, [`MsmCurve::AFFINE_BYTES`] bytes each.
pub(super) fn to_bytes<C: MsmCurve>(sums: &[C::Curve]) -> Vec<u8> {
    sums.iter().flat_map(|sum| C::to_device(&[sum.to_affine()]).into_owned()).collect()
}

/// Decodes the points that [`to_bytes`] encoded.
pub(super) fn from_bytes<C: MsmCurve>(bytes: &[u8]) -> Result<Vec<C::Curve>> {
    let one = montgomery_one::<C>()?;
    let jacobian = |affine: &[u8]| {
        // Infinity is all zeros, in either form.
        let is_infinity = affine.iter().all(|byte| *byte == 0);
        let z = if is_infinity { vec![0; one.len()] } else { one.clone() };
        C::from_device(&[affine, &z].concat())
    };
    Ok(bytes.chunks_exact(C::AFFINE_BYTES).map(jacobian).collect())
}

/// Returns the number 1 in Montgomery form, as the little-endian bytes of a coordinate of curve `C`.
fn montgomery_one<C: MsmCurve>() -> Result<Vec<u8>> {
    let modulus = BigUint::from_slice(KernelModule::find(&kernels::msm::FAMILY, C::NAME)?.modulus());
    let bits = 32 * modulus.bits().div_ceil(32);
    let mut one = ((BigUint::from(1u8) << bits) % modulus).to_bytes_le();
    one.resize(C::AFFINE_BYTES / 2, 0);
    Ok(one)
}

#[cfg(test)]
mod tests {
    use group::Group;

    use super::*;

    fn check_round_trip<C: MsmCurve>() {
        let g = C::Curve::generator();
        let points = [C::Curve::identity(), g, g.double() + g];
        let bytes = to_bytes::<C>(&points);
        assert_eq!(bytes.len(), 3 * C::AFFINE_BYTES);
        assert_eq!(from_bytes::<C>(&bytes).expect("a known curve"), points);
    }

    #[test]
    fn points_come_back() {
        check_round_trip::<crate::curve::bls12_377::G1Affine>();
        check_round_trip::<crate::curve::bls12_377::G2Affine>();
        check_round_trip::<blstrs::G1Affine>();
        check_round_trip::<blstrs::G2Affine>();
        check_round_trip::<halo2curves::bn256::G1Affine>();
        check_round_trip::<halo2curves::bn256::G2Affine>();
        check_round_trip::<pasta_curves::EpAffine>();
        check_round_trip::<pasta_curves::EqAffine>();
    }
}
