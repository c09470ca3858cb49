//! Multiplications whose bases are in slices.

use std::ops::Range;
use std::time::{Duration, Instant};

use group::{Curve, Group};

use super::job::{Cluster, digest};
use super::points;
use super::slices::Slices;
use crate::backend::Abort;
use crate::curve::MsmCurve;
use crate::field::SecretBytes;
use crate::msm::{FilePoints, Form, Msm, Options, Points, Scalars};
use crate::report::Call;
use crate::{Error, Report, Result};

const PLACE: &str = "cluster msm";
/// Points of the first multiplication by which speed is measured; more follow until one takes [`LONG_ENOUGH`].
const FIRST: usize = 1 << 10;
const MOST: usize = 1 << 20;
const LONG_ENOUGH: Duration = Duration::from_millis(50);
/// Ranks whose speeds differ by no more than that are taken for equal: a fraction of the fastest.
const ALIKE: f64 = 0.9;

/// Bases in slices, one a rank, each on its rank's devices: [`Msm`] for a cluster.
///
/// All methods are called by all ranks. Sums come as one message a rank, whose points all ranks add in order of the ranks, so
/// that all have the same result. A reduction by an operation on points would take as long: there are few of them, a
/// message has less than 300 bytes, and MPI may call the operation in any order.
#[derive(Debug)]
pub struct ClusterMsm<'c, C: 'static> {
    cluster: &'c Cluster,
    msm: Msm<'static, C>,
    slices: Slices,
}

impl<'c, C: MsmCurve> ClusterMsm<'c, C> {
    /// Bases in slices as long as ranks are fast; each rank loads its own.
    ///
    /// Speeds are measured first, once for each curve ([`super::Options::speed`]).
    ///
    /// # Errors
    /// On all ranks, if one of them failed to load its bases or they are not as many, or has too little memory, or failed.
    pub fn new<B: Into<Points<C>>>(
        cluster: &'c Cluster,
        length: usize,
        load: impl FnOnce(Range<usize>) -> Result<B>,
    ) -> Result<Self> {
        let slices = Slices::by_speed(length, &speeds::<C>(cluster)?)?;
        Self::with_slices(cluster, slices, Options::default(), load)
    }

    /// As [`Self::new`], with slices and options of the caller's.
    ///
    /// # Errors
    /// As [`Self::new`], or the slices are not the same on all ranks, or of another number of ranks.
    pub fn with_slices<B: Into<Points<C>>>(
        cluster: &'c Cluster,
        slices: Slices,
        options: Options,
        load: impl FnOnce(Range<usize>) -> Result<B>,
    ) -> Result<Self> {
        let own = slices.range(cluster.rank());
        cluster.agree(check_ranks(cluster, &slices))?;
        cluster.check_same("slices of the bases", format!("{slices:?}").as_bytes())?;
        let upload = || {
            let bases: Points<C> = load(own.clone())?.into();
            equal("number of bases of the rank", own.len(), bases.len())?;
            Msm::shared(cluster.accelerator(), bases, options)
        };
        let msm = cluster.working(upload);
        Ok(Self { cluster, msm: cluster.agree(msm)?, slices })
    }

    /// As [`Self::new`], for points of a file that every rank has mapped: each decodes its own. The files are compared by
    /// digests of all their bytes, which reads them once.
    ///
    /// # Errors
    /// As [`Self::new`], or a rank's file is another than rank 0's.
    pub fn of_file(cluster: &'c Cluster, points: &FilePoints) -> Result<Self>
    where
        C: group::UncompressedEncoding,
    {
        if cluster.size() > 1 {
            let digest = cluster.working(|| points.file.read(|bytes| Ok(digest(bytes))));
            let digest = cluster.agree(digest)?;
            cluster.check_same_digest(&points.file.path().display().to_string(), &digest)?;
        }
        Self::new(cluster, points.count, |range| Points::encoded(points.clone())?.part(range))
    }

    /// Which bases each rank has.
    pub fn slices(&self) -> &Slices {
        &self.slices
    }

    /// The bases of this rank.
    pub fn own(&self) -> Range<usize> {
        self.slices.range(self.cluster.rank())
    }

    /// The sum of all ranks, each of which has the scalars of its own bases; all of them get the result.
    ///
    /// # Errors
    /// On all ranks, if one of them has another number of scalars than bases, aborted, or failed ([`Msm::run`]).
    pub fn run<'s>(&self, scalars: impl Into<Scalars<'s>>, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let (sums, report) = self.run_batch(&[scalars.into()], abort)?;
        Ok((first::<C>(sums)?, report))
    }

    /// As [`Self::run`] for several vectors of scalars.
    ///
    /// # Errors
    /// As [`Self::run`], or ranks have other numbers of vectors.
    pub fn run_batch(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Report)> {
        let part = self.part(vectors, abort);
        if self.cluster.size() == 1 {
            return part;
        }
        let start = Instant::now();
        let (sums, report) = self.cluster.agree(part)?;
        let sums = add_all::<C>(self.cluster, &sums, None)?.unwrap_or_default();
        Ok((sums, self.report(report, start)))
    }

    /// As [`Self::run`], but only one rank gets the result.
    ///
    /// # Errors
    /// As [`Self::run`], or there is no such rank.
    pub fn run_to<'s>(
        &self,
        root: usize,
        scalars: impl Into<Scalars<'s>>,
        abort: Abort<'_>,
    ) -> Result<(Option<C::Curve>, Report)> {
        self.cluster.agree(check_root(self.cluster, root))?;
        let start = Instant::now();
        let (sums, report) = self.cluster.agree(self.part(&[scalars.into()], abort))?;
        let sums = add_all::<C>(self.cluster, &sums, Some(root))?;
        Ok((sums.map(first::<C>).transpose()?, self.report(report, start)))
    }

    /// As [`Self::run`], with all scalars on one rank, in host memory; other ranks give none and get those of their bases.
    ///
    /// # Errors
    /// As [`Self::run`], or there is no such rank, it has no scalars, or they are on its devices.
    pub fn run_from(&self, root: usize, scalars: Option<Scalars<'_>>, abort: Abort<'_>) -> Result<(C::Curve, Report)> {
        let cluster = self.cluster;
        if let (1, Some(scalars)) = (cluster.size(), scalars) {
            return self.run(scalars, abort);
        }
        let mine = if cluster.rank() == root { self.on_root(scalars) } else { Ok((&[][..], [0; 5])) };
        let (all, header) = cluster.agree(check_root(cluster, root).and(mine))?;
        let header = cluster.broadcast(root, &header);
        let mut received = SecretBytes(vec![0; if cluster.rank() == root { 0 } else { 32 * self.own().len() }]);
        scatter(cluster, root, &self.slices, all, &mut received.0);
        let own = if cluster.rank() == root { &all[self.own()] } else { received.0.as_chunks().0 };
        self.run(with_header(own, &header), abort)
    }

    /// The rank's own sums.
    fn part(&self, vectors: &[Scalars<'_>], abort: Abort<'_>) -> Result<(Vec<C::Curve>, Report)> {
        self.cluster.working(|| self.msm.run_batch(vectors, abort))
    }

    fn report(&self, own: Report, start: Instant) -> Report {
        let call = Call { operation: format!("cluster {}", own.operation), elements: self.slices.length() };
        let Report { backend, device, traffic, fallbacks, total, .. } = own;
        call.done(backend, &device, start.checked_sub(total).unwrap_or(start), traffic, fallbacks)
    }

    /// The root's scalars, and what the others have to know of them.
    fn on_root<'s>(&self, scalars: Option<Scalars<'s>>) -> Result<(&'s [[u8; 32]], [u8; 5])> {
        let host = scalars.and_then(|scalars| scalars.in_host_memory());
        let (all, form, bits) =
            host.ok_or_else(|| Error::invalid(PLACE, "scalars of the root", "some in host memory", "none"))?;
        equal("number of scalars", self.slices.length(), all.len())?;
        let [a, b, c, d] = bits.unwrap_or(u32::MAX).to_le_bytes();
        Ok((all, [u8::from(form == Form::Montgomery), a, b, c, d]))
    }
}

/// Scalars of which the root said what they are.
fn with_header<'s>(scalars: &'s [[u8; 32]], header: &[u8]) -> Scalars<'s> {
    let is_montgomery = header.first() == Some(&1);
    let scalars = if is_montgomery { Scalars::montgomery(scalars) } else { Scalars::canonical(scalars) };
    let bits = header.get(1..5).and_then(|bits| bits.try_into().ok()).map_or(u32::MAX, u32::from_le_bytes);
    if bits == u32::MAX { scalars } else { scalars.with_bit_length(bits) }
}

/// Sends each rank its part of what the root has.
fn scatter(cluster: &Cluster, root: usize, slices: &Slices, all: &[[u8; 32]], own: &mut [u8]) {
    let is_root = cluster.rank() == root;
    let others = slices.all().enumerate().filter(|(rank, range)| is_root && *rank != root && !range.is_empty());
    let sends = others.map(|(rank, range)| (rank, all[range].as_flattened())).collect();
    let receives = if is_root || own.is_empty() { Vec::new() } else { vec![(root, own)] };
    cluster.waiting(|| cluster.exchange(sends, receives));
}

/// The sums of all ranks' sums, in order of the ranks: on all of them, or on one.
pub(super) fn add_all<C: MsmCurve>(
    cluster: &Cluster,
    sums: &[C::Curve],
    root: Option<usize>,
) -> Result<Option<Vec<C::Curve>>> {
    let mine = points::to_bytes::<C>(sums);
    let parts = match root {
        None => cluster.gather(&mine),
        Some(root) => cluster.gather_to(root, &mine),
    };
    let mut total = vec![C::Curve::identity(); sums.len()];
    for part in &parts {
        equal("sums of a rank", mine.len(), part.len())?;
        total.iter_mut().zip(points::from_bytes::<C>(part)?).for_each(|(total, part)| *total += part);
    }
    Ok((!parts.is_empty()).then_some(total))
}

/// Speeds of all ranks, by points a second.
pub(super) fn speeds<C: MsmCurve>(cluster: &Cluster) -> Result<Vec<f64>> {
    let speeds = cluster.speeds(C::NAME, || cluster.working(|| measure::<C>(cluster)))?;
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    let alike = speeds.iter().all(|speed| *speed >= ALIKE * fastest);
    Ok(if alike { vec![1.0; speeds.len()] } else { speeds })
}

/// Points a second of a multiplication that takes long enough.
fn measure<C: MsmCurve>(cluster: &Cluster) -> Result<f64> {
    let mut count = FIRST;
    let mut points = multiples::<C>(count);
    loop {
        let msm = Msm::shared(cluster.accelerator(), points.clone(), Options::default())?;
        let scalars: Vec<[u8; 32]> = (0..count as u64).map(scalar).collect();
        // Kernels are loaded, and tables made, by the first.
        let mut time = Duration::MAX;
        for _ in 0..2 {
            let start = Instant::now();
            msm.run(&scalars, None)?;
            time = start.elapsed();
        }
        if time >= LONG_ENOUGH || count >= MOST {
            return Ok(count as f64 / time.as_secs_f64().max(1e-9));
        }
        // As many more as it seems to take, by far the most of them the same points again.
        let more = (LONG_ENOUGH.as_secs_f64() / time.as_secs_f64().max(1e-9)).clamp(2.0, 16.0);
        count = ((count as f64 * more) as usize).min(MOST);
        points = points.iter().copied().cycle().take(count).collect();
    }
}

/// The first multiples of the generator.
fn multiples<C: MsmCurve>(count: usize) -> Vec<C> {
    let g = C::Curve::generator();
    let sums: Vec<_> = std::iter::successors(Some(g), |sum| Some(*sum + g)).take(count).collect();
    let mut points = vec![C::identity(); count];
    C::Curve::batch_normalize(&sums, &mut points);
    points
}

/// Numbers whose digits look random: those of a multiplicative generator.
fn scalar(number: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    let words = bytes.chunks_exact_mut(8).enumerate();
    words.for_each(|(word, to)| {
        let mixed = (4 * number + word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        to.copy_from_slice(&(mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).to_le_bytes());
    });
    bytes
}

fn first<C: MsmCurve>(sums: Vec<C::Curve>) -> Result<C::Curve> {
    sums.into_iter().next().ok_or_else(|| Error::lost(PLACE))
}

fn check_ranks(cluster: &Cluster, slices: &Slices) -> Result<()> {
    equal("ranks of the slices", cluster.size(), slices.ranks())
}

fn check_root(cluster: &Cluster, root: usize) -> Result<()> {
    if root < cluster.size() {
        return Ok(());
    }
    Err(Error::invalid(PLACE, "root", format!("below {}", cluster.size()), root))
}

fn equal(what: &str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(PLACE, what, expected, actual)) }
}
