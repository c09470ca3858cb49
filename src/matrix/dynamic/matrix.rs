//! A matrix that changes: appends, versions, merges.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::base::Base;
use super::change::{Action, Change, PLACE, combine};
use super::explain::{Explanation, Policy, Threshold};
use super::snapshot::Snapshot;
use crate::backend::lock;
use crate::field::NttField;
use crate::matrix::Csr;
use crate::{Accelerator, Error, Result};

/// A sparse matrix that changes between products: see the [module](super)'s example.
///
/// Every call takes `&self`, from any thread. Those that change it append, and wait for no product and no merge.
#[derive(Debug)]
pub struct DynamicCsr<F: NttField> {
    shared: Arc<Shared<F>>,
    sizes: [usize; 2],
}

#[derive(Debug)]
struct Shared<F: NttField> {
    accelerator: Accelerator,
    policy: Policy,
    state: Mutex<State<F>>,
    /// Held while there is a merge.
    merging: Mutex<()>,
    /// A merge by itself is under way, or about to be.
    started: AtomicBool,
}

#[derive(Debug)]
struct State<F: NttField> {
    /// The last version that was asked for: its base is the one now.
    version: Snapshot<F>,
    /// Changes that the version does not have.
    later: Vec<Change<F>>,
    /// Changes since the base was made.
    changes: usize,
    limit: usize,
    merges: usize,
    last_merge: Option<Duration>,
    failure: Option<String>,
}

impl<F: NttField> DynamicCsr<F> {
    /// Uploads a matrix to each of the accelerator's devices; coefficients of a column that occurs in a row more than once are added
    /// up.
    ///
    /// # Errors
    /// A forced backend has too little memory, or failed.
    pub fn new(accelerator: &Accelerator, csr: impl Into<Arc<Csr<F>>>, policy: Policy) -> Result<Self> {
        let base = Arc::new(Base::new(accelerator, csr.into())?);
        let (sizes, limit) = (base.sizes(), policy.limit(base.nonzeros()));
        let version = Snapshot::new(accelerator, base, Vec::new());
        let (later, last_merge, failure) = (Vec::new(), None, None);
        let state = Mutex::new(State { version, later, changes: 0, limit, merges: 0, last_merge, failure });
        let (accelerator, merging, started) = (accelerator.clone(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { shared: Arc::new(Shared { accelerator, policy, state, merging, started }), sizes })
    }

    /// An entry is `value` from now on.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn set(&self, row: usize, column: usize, value: F) -> Result<()> {
        self.update(&[Change { row, column, action: Action::Set(value) }])
    }

    /// An entry is so much more from now on.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn add(&self, row: usize, column: usize, difference: F) -> Result<()> {
        self.update(&[Change { row, column, action: Action::Add(difference) }])
    }

    /// An entry is zero from now on; the next merge removes it.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn remove(&self, row: usize, column: usize) -> Result<()> {
        self.set(row, column, F::ZERO)
    }

    /// Several changes in their order, all of them or none: a snapshot has either.
    ///
    /// # Errors
    /// There is no such entry as one of them names.
    pub fn update(&self, changes: &[Change<F>]) -> Result<()> {
        let [rows, columns] = self.sizes;
        changes.iter().try_for_each(|change| change.check(rows, columns))?;
        let mut state = lock(&self.shared.state);
        state.later.extend_from_slice(changes);
        state.changes += changes.len();
        let merges = state.changes > state.limit;
        drop(state);
        if merges {
            self.shared.merge_by_itself();
        }
        Ok(())
    }

    /// The matrix as it is now. Sorts what was appended since the last one: O(c + d·log d) for c changed entries and d new
    /// changes.
    ///
    /// # Errors
    /// None now; merges on devices may have some.
    pub fn snapshot(&self) -> Result<Snapshot<F>> {
        Ok(self.shared.snapshot().0)
    }

    /// Makes a new base of the present one and its changes, with statistics and kernels chosen anew, on the first device if there is
    /// one: O(n + d·log n) for n non-zeros and d changes. Changes that come meanwhile stay changes.
    ///
    /// # Errors
    /// There are more non-zeros than 2^31, or a forced backend has too little memory, or failed; then all is as it was.
    pub fn merge(&self) -> Result<()> {
        self.shared.merge()
    }

    /// What is there.
    pub fn explain(&self) -> Explanation {
        let state = lock(&self.shared.state);
        Explanation {
            sizes: self.sizes,
            nonzeros: state.version.version().base.nonzeros(),
            changes: state.changes,
            merges: state.merges,
            last_merge: state.last_merge,
            failure: state.failure.clone(),
            merge_above: (self.shared.policy.merge_above != Threshold::Never).then_some(state.limit),
        }
    }
}

impl<F: NttField> Shared<F> {
    /// The present version, and how many changes it is made of since its base.
    fn snapshot(&self) -> (Snapshot<F>, usize) {
        loop {
            let (before, later, changes) = {
                let state = lock(&self.state);
                if state.later.is_empty() {
                    return (state.version.clone(), state.changes);
                }
                (state.version.clone(), state.later.clone(), state.changes)
            };
            // Writers go on meanwhile.
            let count = later.len();
            let all = combine(&before.version().changes, later);
            let made = Snapshot::new(&self.accelerator, before.version().base.clone(), all);
            let mut state = lock(&self.state);
            if std::ptr::eq(state.version.version(), before.version()) {
                state.later.drain(..count);
                state.version = made.clone();
                return (made, changes);
            }
        }
    }

    fn merge(&self) -> Result<()> {
        let _one_at_a_time = lock(&self.merging);
        let start = Instant::now();
        let (snapshot, changes) = self.snapshot();
        let version = snapshot.version();
        if version.changes.is_empty() {
            return Ok(());
        }
        let found = |base: &_| {
            let none = || Error::invalid(PLACE, "changes", "some", "none");
            version.on_device(base, None)?.ok_or_else(none)
        };
        let base = Arc::new(version.base.merged(&version.changes, found)?);
        let limit = self.policy.limit(base.nonzeros());
        self.replace(base, &snapshot, changes, limit);
        let mut state = lock(&self.state);
        state.merges += 1;
        (state.last_merge, state.failure) = (Some(start.elapsed()), None);
        Ok(())
    }

    /// Puts a new base in the place of a version's, with the changes that came after.
    fn replace(&self, base: Arc<Base<F>>, merged: &Snapshot<F>, changes: usize, limit: usize) {
        let mut state = lock(&self.state);
        let (then, now) = (&merged.version().changes, &state.version.version().changes);
        let since = if Arc::ptr_eq(then, now) { Vec::new() } else { since(then, now) };
        state.version = Snapshot::new(&self.accelerator, base, since);
        state.changes -= changes;
        state.limit = limit;
    }

    /// Starts a thread that merges, unless there is one.
    fn merge_by_itself(self: &Arc<Self>) {
        if self.started.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = self.clone();
        let merge = move || {
            // A panic must not keep later changes from being merged.
            let outcome = catch_unwind(AssertUnwindSafe(|| shared.merge()));
            let outcome = outcome.unwrap_or_else(|panic| Err(Error::panicked("dynamic csr", &*panic)));
            shared.started.store(false, Ordering::Release);
            if let Err(error) = outcome {
                shared.failed(&error);
            }
        };
        if let Err(error) = thread::Builder::new().name("proofwarp merge".to_owned()).spawn(merge) {
            self.started.store(false, Ordering::Release);
            self.failed(&Error::device("host", "thread", error));
        }
    }

    /// The old version is as good as before: the next change tries again once there are twice as many.
    fn failed(&self, error: &Error) {
        log::warn!("dynamic csr {}: a merge failed: {error}", F::NAME);
        let mut state = lock(&self.state);
        state.limit = state.limit.max(state.changes).saturating_mul(2);
        state.failure = Some(error.to_string());
    }
}

/// What later versions of the same base have beyond an earlier one, as changes to a base that has the earlier one's.
///
/// An entry's action since is not kept apart, so what has changed is set or added anew: `Set` stays, and of `Add` the
/// difference counts.
fn since<F: NttField>(earlier: &[Change<F>], now: &[Change<F>]) -> Vec<Change<F>> {
    let mut earlier = earlier.iter().peekable();
    let mut since = Vec::new();
    for change in now {
        let before = earlier.next_if(|before| before.place() == change.place()).map(|before| before.action);
        let action = match (before, change.action) {
            (Some(before), now) if before == now => continue,
            (Some(Action::Add(before)), Action::Add(now)) => Action::Add(now - before),
            (_, action) => action,
        };
        since.push(Change { action, ..*change });
    }
    since
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;

    use super::*;

    /// Additions while a merge is under way, of which a product has been taken or not, count once.
    #[test]
    fn additions_during_a_merge() {
        let [one, two, five] = [1, 2, 5].map(Fr::from);
        let accelerator = Accelerator::with_backend(crate::BackendKind::Cpu).expect("the CPU");
        for (taken, left) in [(0, 0), (0, 1), (1, 0), (1, 2), (3, 3)] {
            let csr = Csr::from_rows(2, [vec![(0, one)]]).expect("a matrix");
            let policy = Policy { merge_above: Threshold::Never, at_least: 0 };
            let matrix = DynamicCsr::new(&accelerator, csr, policy).expect("a matrix");
            let shared = &matrix.shared;
            matrix.add(0, 0, two).expect("a change");
            let (merged, changes) = shared.snapshot();
            let version = merged.version();
            let none = |_: &_| Err(Error::lost("a device"));
            let base = Arc::new(version.base.merged(&version.changes, none).expect("a base"));
            for _ in 0..taken {
                matrix.add(0, 0, five).expect("a change");
                matrix.snapshot().expect("a version");
            }
            (0..left).for_each(|_| matrix.add(0, 0, five).expect("a change"));
            shared.replace(base, &merged, changes, 100);
            let mut y = [Fr::zero()];
            matrix.snapshot().expect("a version").multiply(&[one, one], &mut y, None).expect("a product");
            assert_eq!(y, [Fr::from(3 + 5 * (taken + left))], "{taken} taken, {left} left");
            assert_eq!(matrix.explain().changes as u64, taken + left);
        }
    }

    #[test]
    fn what_came_after_a_version() {
        let change = |column, action| Change { row: 0, column, action };
        let [one, three] = [1, 3].map(Fr::from);
        let earlier = [change(1, Action::Add(one)), change(3, Action::Set(one)), change(5, Action::Set(one))];
        let now = [
            change(0, Action::Add(one)),
            change(1, Action::Add(three)),
            change(3, Action::Set(one)),
            change(5, Action::Set(three)),
        ];
        let expected =
            [change(0, Action::Add(one)), change(1, Action::Add(Fr::from(2))), change(5, Action::Set(three))];
        assert_eq!(since(&earlier, &now), expected);
    }
}
