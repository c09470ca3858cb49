//! Keeps bases on their device between calls.
//!
//! Provers pass the same bases again and again, beside others that never come again. So bases are kept when they are
//! passed a second time, and are found by their full contents. The memory for kept bases of a device is bounded; the
//! least recently used ones are dropped first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halo2curves::bn256::{G1, G1Affine};
use proofwarp::backend::Device;
use proofwarp::curve::MsmCurve as _;
use proofwarp::lru::LruList;
use proofwarp::msm::{Msm, MsmOptions, Scalars, msm};
use proofwarp::rayon_waits::on_cpu_pool;
use proofwarp::{Abort, Accelerator, Result};
use rayon::prelude::*;

/// Minimum number of bases for a lookup in the cache, 1024: fewer bases do not repay it.
const MIN_CACHED_POINTS: usize = 1 << 10;
/// Limits cached bases to 1/SHARE of a device's memory.
const SHARE: u64 = 8;
/// Limits the number of fingerprints that are stored.
const SIGHTS: u64 = 64;
/// Approximate number of points that a fingerprint samples.
const SAMPLES: usize = 16;
/// Number of bytes that one task copies or compares, 256 KiB.
const PIECE: usize = 1 << 18;

/// Holds bases in device memory, and their copy in host memory.
struct CachedBases {
    device: Arc<Device>,
    points: Arc<Vec<G1Affine>>,
    msm: Arc<Msm<'static, G1Affine>>,
}

/// Holds the length and samples of bases, to recognise bases that may have been passed before. Different bases may have
/// equal fingerprints.
#[derive(PartialEq)]
struct BasesFingerprint {
    length: usize,
    samples: Vec<G1Affine>,
}

impl BasesFingerprint {
    fn from_points(points: &[G1Affine]) -> Self {
        let step = (points.len() / SAMPLES).max(1);
        Self { length: points.len(), samples: points.iter().step_by(step).copied().collect() }
    }
}

/// Holds the cached bases of all devices, in order of last use.
static KEPT: Mutex<LruList<CachedBases>> = Mutex::new(LruList::new());
static RECENT_FINGERPRINTS: Mutex<LruList<BasesFingerprint>> = Mutex::new(LruList::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns Σ scalarᵢ · pointᵢ, computed by `accelerator`. If that has one device and `points` are cached there, the
/// points are not uploaded again.
///
/// # Errors
/// Returns the errors of [`msm`].
pub(crate) fn sum(
    accelerator: &Accelerator,
    points: &[G1Affine],
    scalars: Scalars<'_>,
    abort: Abort<'_>,
) -> Result<G1> {
    let kept = match accelerator.devices() {
        [device] if points.len() >= MIN_CACHED_POINTS => find(accelerator, device, points)?,
        _ => None,
    };
    let (sum, _) = match kept {
        Some(kept) => kept.run(scalars, abort)?,
        None => msm(accelerator, points, scalars, abort)?,
    };
    Ok(sum)
}

/// Drops all bases that are cached on `device`. Returns whether there were any.
pub(crate) fn give_back(device: &Arc<Device>) -> bool {
    let gone = lock(&KEPT).remove(|bases| Arc::ptr_eq(&bases.device, device));
    !gone.is_empty()
}

/// Returns the bases cached on `device` that equal `points`. If there are none but `points` were passed before, caches
/// them with `accelerator` first. Returns `None` for points that were not passed before.
fn find(
    accelerator: &Accelerator,
    device: &Arc<Device>,
    points: &[G1Affine],
) -> Result<Option<Arc<Msm<'static, G1Affine>>>> {
    let mut kept = lock(&KEPT);
    let is_it = |bases: &CachedBases| Arc::ptr_eq(&bases.device, device) && are_equal(&bases.points, points);
    if let Some(bases) = kept.find(is_it) {
        return Ok(Some(bases.msm.clone()));
    }
    if !seen_before(points) {
        return Ok(None);
    }
    let copy = Arc::new(copy_of(points));
    let msm = Arc::new(Msm::shared(accelerator, copy.clone(), MsmOptions::default())?);
    let bytes = |bases: &CachedBases| Arc::ptr_eq(&bases.device, device).then(|| bases.msm.table_bytes());
    kept.evict((device.memory() / SHARE).saturating_sub(msm.table_bytes()), 0, bytes);
    kept.insert(CachedBases { device: device.clone(), points: copy, msm: msm.clone() });
    Ok(Some(msm))
}

/// Returns a copy of `points`. All cores copy, because the first touch of each page takes most of the time.
fn copy_of(points: &[G1Affine]) -> Vec<G1Affine> {
    on_cpu_pool(|| points.par_iter().with_min_len(PIECE / size_of::<G1Affine>()).copied().collect())
}

fn are_equal(a: &[G1Affine], b: &[G1Affine]) -> bool {
    if a.len() != b.len() || a.first() != b.first() {
        return false;
    }
    let [a, b] = [a, b].map(G1Affine::to_device);
    on_cpu_pool(|| a.par_chunks(PIECE).zip(b.par_chunks(PIECE)).all(|(a, b)| a == b))
}

/// Returns whether bases with the fingerprint of `points` were passed before, and stores the fingerprint.
fn seen_before(points: &[G1Affine]) -> bool {
    let (sight, mut seen) = (BasesFingerprint::from_points(points), lock(&RECENT_FINGERPRINTS));
    if seen.find(|known| *known == sight).is_some() {
        return true;
    }
    seen.evict(SIGHTS - 1, 0, |_| Some(1));
    seen.insert(sight);
    false
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;
    use halo2curves::group::{Curve as _, Group as _};
    use proofwarp::BackendKind;

    use super::*;

    /// Checks that bases are kept at the second sight, found at the third, and told from others that differ in one
    /// point.
    #[test]
    fn bases_that_come_again_are_kept() {
        let Ok(accelerator) = Accelerator::with_backend(BackendKind::OpenCl) else {
            return eprintln!("left out: bases stay on devices only");
        };
        let accelerator = accelerator.with_devices(accelerator.devices()[..1].to_vec());
        let device = &accelerator.devices()[0];
        let mut points: Vec<_> =
            (1..=MIN_CACHED_POINTS as u64).map(|i| (G1Affine::generator() * Fr::from(i)).to_affine()).collect();
        let found = |points: &[G1Affine]| find(&accelerator, device, points).expect("no error").is_some();
        assert_eq!([found(&points), found(&points), found(&points)], [false, true, true]);
        assert_eq!(lock(&KEPT).len(), 1);
        points[1] = points[2];
        let scalars = vec![Fr::from(1); MIN_CACHED_POINTS];
        let expected = points.iter().fold(G1::identity(), |sum, point| sum + point);
        for _ in 0..3 {
            assert_eq!(sum(&accelerator, &points, (&scalars).into(), None).expect("a sum"), expected);
        }
        assert_eq!(lock(&KEPT).len(), 2);
        assert!(give_back(device) && !give_back(device));
    }
}
