//! Which faults a run has: drawn from its seed.

use rand::seq::SliceRandom;
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;

use crate::common::rng;
use crate::faulty::{Counts, FAULTS, Fault, Planned};

/// What a run without faults is like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usual {
    pub counts: Counts,
    /// Questions to the abort hook.
    pub questions: u64,
}

/// A run's faults.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// Number of the subject.
    pub subject: usize,
    /// Without fallback to the host.
    pub is_forced: bool,
    pub planned: Vec<Planned>,
    pub stop_after: Option<u64>,
}

/// Draws the run of a seed: one loud fault in nine of twenty runs, one silent fault in six, then one after the other, or
/// several; the hook says stop in one of ten. `takes_silent` says which subjects have silent faults too.
pub fn draw(seed: u64, usual: &[Usual], takes_silent: &[bool]) -> Drawn {
    let mut rng = rng(seed);
    let subject = rng.gen_range(0..usual.len());
    let of = &usual[subject];
    let mut kinds = match rng.gen_range(0..20) {
        0..9 => vec![false],
        9..15 => vec![true],
        15..18 => vec![true, false],
        18 => vec![false, false],
        _ => vec![true, true, false],
    };
    if !takes_silent[subject] {
        kinds.fill(false);
    }
    let planned = kinds.iter().filter_map(|silent| fault(*silent, of, &mut rng)).collect();
    let stop_after = (of.questions > 0 && rng.gen_ratio(1, 10)).then(|| rng.gen_range(0..of.questions));
    Drawn { subject, is_forced: rng.r#gen(), planned, stop_after }
}

/// A fault at one of the calls that a usual run has.
fn fault(is_silent: bool, usual: &Usual, rng: &mut ChaCha8Rng) -> Option<Planned> {
    let possible: Vec<Fault> =
        FAULTS.into_iter().filter(|fault| fault.is_silent() == is_silent && usual.counts.of(*fault) > 0).collect();
    let fault = *possible.choose(rng)?;
    Some(Planned { fault, at: rng.gen_range(0..usual.counts.of(fault)), random: rng.next_u64() })
}
