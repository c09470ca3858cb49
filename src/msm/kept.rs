//! What the model chose before: a choice may take as long as a small sum, and where memory is short as a large one.

use std::sync::Mutex;

use super::gpu::Bases;
use super::options::Options;
use super::plan::{Plan, Problem};
use super::table::{Need, problem};
use crate::backend::{Device, lock, usable};
use crate::curve::MsmCurve;
use crate::{Error, Result};

/// Most choices of a kind that are kept.
const KEPT: usize = 64;
/// How devices share a sum and vectors are joined is chosen for free memory rounded down by at most one part in so many, so
/// that what little others take does not bring new choices. Plans are for all that there is.
const ROUNDING: u64 = 16;

/// Plans for as much memory as they like, and for so much free memory where they do not get that; or the bytes that are
/// needed.
static PLANS: Kept<Problem, Plan> = Kept::new();
static SMALLER: Kept<(Problem, u64), std::result::Result<Plan, u64>> = Kept::new();

/// Choices made before, of which the oldest are forgotten.
#[derive(Debug)]
pub(super) struct Kept<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Kept<K, V> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<K: PartialEq, V: Clone> Kept<K, V> {
    /// What was chosen for the key, or else what `choose` does.
    pub fn find(&self, key: K, choose: impl FnOnce() -> V) -> V {
        if let Some((_, choice)) = lock(&self.0).iter().find(|(other, _)| *other == key) {
            return choice.clone();
        }
        let choice = choose();
        let mut kept = lock(&self.0);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((key, choice.clone()));
        choice
    }
}

/// The plan for so many points and scalars of so many bits on a device, within the caller's cap and a part of what the
/// device has free.
pub(super) fn plan_for<C: MsmCurve>(
    device: &Device,
    bases: &Bases<'_, C>,
    need: Need,
    options: &Options,
) -> Result<Plan> {
    let table = match bases {
        Bases::Host(_) => None,
        Bases::Device(table) => Some(*table),
    };
    let problem = problem::<C>(device, table, need, options);
    let available = available(device, need.at_once, options)?;
    let best = PLANS.find(problem, || Plan::new(problem));
    if best.bytes() <= available {
        return Ok(best);
    }
    SMALLER.find((problem, available), || Plan::fit(problem, available)).map_err(|requested| {
        let device = device.info().name.clone();
        Error::OutOfMemory { device, requested, available }
    })
}

/// Bytes of a device for each of so many multiplications at a time, within the caller's cap.
pub(super) fn available(device: &Device, at_once: u32, options: &Options) -> Result<u64> {
    let free = usable(device.free_memory()? / u64::from(at_once));
    Ok(if options.memory == 0 { free } else { free.min(options.memory) })
}

/// Free memory by which choices are made.
pub(super) fn rounded(free: u64) -> u64 {
    let granule = 1 << (free / ROUNDING).max(1).ilog2();
    free / granule * granule
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_choices_are_forgotten() {
        let kept: Kept<usize, usize> = Kept::default();
        assert!((0..=KEPT).all(|key| kept.find(key, || key) == key));
        assert_eq!(kept.find(KEPT, || unreachable!("it is kept")), KEPT);
        assert_eq!(kept.find(0, || 7), 7);
    }
}
