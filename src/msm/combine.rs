//! The host's part of a multiplication: what the bucket reduction leaves, weighted and added up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use group::Group;

use super::plan::Plan;
use crate::curve::MsmCurve;
use crate::{Error, Result};

/// Cores that are asked for help at most: with more of them, the chain over the sets takes longest all the same.
const HELPERS: usize = 3;

/// The sums of the device's sets, which whoever is free takes one after the other, the highest first.
struct Sets {
    plan: Plan,
    jacobian: Vec<u8>,
    taken: AtomicU32,
}

/// The weighted sum of what the reduction leaves. One core of the host does the chain of doublings over the sets several
/// times as fast as a work-item of a device; what is added up within a set is spread over idle cores, and the chain goes
/// on as it comes.
///
/// # Errors
/// Another thread panicked.
pub(super) fn combine<C: MsmCurve>(plan: Plan, jacobian: Vec<u8>) -> Result<C::Curve> {
    let sets = Arc::new(Sets { plan, jacobian, taken: AtomicU32::new(0) });
    let (sender, receiver) = channel();
    for _ in 0..HELPERS.min(rayon::current_num_threads() - 1) {
        let (sets, sender) = (sets.clone(), sender.clone());
        // Unlike a parallel iterator this waits for nobody who is busy: who comes too late finds nothing to do.
        rayon::spawn(move || sets.sum_all::<C>(&sender));
    }
    drop(sender);
    let mut sums = Sums { sets: &sets, receiver, found: vec![None; plan.own_sets() as usize] };
    let chain = (0..plan.own_sets()).rev().try_fold(C::Curve::identity(), |total, number| {
        Ok::<_, Error>(doubled(total, plan.bits(plan.first_set + number)) + sums.get::<C>(number)?)
    });
    Ok(doubled(chain?, plan.first_bit(plan.first_set)))
}

/// Sums of sets as the chain sees them.
struct Sums<'a, P> {
    sets: &'a Sets,
    receiver: Receiver<(u32, P)>,
    found: Vec<Option<P>>,
}

impl<P: Copy> Sums<'_, P> {
    /// A set's sum. While others are at it, the next set is summed that nobody has taken.
    fn get<C: MsmCurve<Curve = P>>(&mut self, number: u32) -> Result<P> {
        loop {
            if let Some(sum) = self.found[number as usize] {
                return Ok(sum);
            }
            let (found, sum) = match self.receiver.try_recv() {
                Ok(found) => found,
                Err(_) => match self.sets.take() {
                    Some(next) => (next, self.sets.sum::<C>(next)),
                    None => self.receiver.recv().map_err(|_| Error::panicked("msm"))?,
                },
            };
            self.found[found as usize] = Some(sum);
        }
    }
}

impl Sets {
    /// The next set that nobody has taken yet.
    fn take(&self) -> Option<u32> {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        self.plan.own_sets().checked_sub(taken + 1)
    }

    /// Sums those sets that nobody has taken yet.
    fn sum_all<C: MsmCurve>(&self, sums: &Sender<(u32, C::Curve)>) {
        while let Some(number) = self.take() {
            // Nobody listens any more once an error has ended the call.
            if sums.send((number, self.sum::<C>(number))).is_err() {
                return;
            }
        }
    }

    /// A set's sum by Horner's rule over the bits of its segments' numbers, then the segments' shares.
    fn sum<C: MsmCurve>(&self, number: u32) -> C::Curve {
        let (plan, bytes) = (&self.plan, self.jacobian.len() / self.plan.sums() as usize);
        let (bits, first) = (plan.segment_bits(), number * (plan.segment_bits() + 1));
        let point = |bit: u32| {
            let start = (first + bit) as usize * bytes;
            C::from_device(&self.jacobian[start..start + bytes])
        };
        let segments = (0..bits).rev().fold(C::Curve::identity(), |total, bit| total.double() + point(bit));
        doubled(segments, plan.weight(first) - plan.first_bit(plan.first_set + number)) + point(bits)
    }
}

fn doubled<G: Group>(point: G, times: u32) -> G {
    (0..times).fold(point, |point, _| point.double())
}
