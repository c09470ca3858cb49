//! Defines a matrix that changes: appends, versions and merges.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::base::Base;
use super::change_and_delta::{Action, Change, ERROR_CONTEXT, combine};
use super::policy::{DynamicExplanation, Policy, Threshold};
use super::snapshot::Snapshot;
use crate::backend::lock;
use crate::exec::ExecCtx;
use crate::field::NttField;
use crate::matrix::Csr;
use crate::{Accelerator, Error, Result};

/// Holds a sparse matrix that can change between products. The [module](super) has an example.
///
/// Every call takes `&self`, from any thread. A change is appended, and waits for no product and no merge.
#[derive(Debug)]
pub struct DynamicCsr<F: NttField> {
    shared: Arc<DynamicCsrInner<F>>,
    sizes: [usize; 2],
}

#[derive(Debug)]
struct DynamicCsrInner<F: NttField> {
    accelerator: Accelerator,
    policy: Policy,
    state: Mutex<State<F>>,
    /// Locked during a merge, so that only one runs at a time.
    merging: Mutex<()>,
    /// Whether an automatic merge runs or is about to run.
    started: AtomicBool,
}

#[derive(Debug)]
struct State<F: NttField> {
    /// Last version that a call requested. Its base is the current one.
    version: Snapshot<F>,
    /// Changes after `version`, in the order of their arrival.
    later: Vec<Change<F>>,
    /// Number of changes since the base was created.
    changes: usize,
    limit: usize,
    merges: usize,
    last_merge: Option<Duration>,
    failure: Option<String>,
}

impl<F: NttField> DynamicCsr<F> {
    /// Creates a matrix with the contents of `csr` and uploads it to each device of `accelerator`. `policy` decides
    /// when changes are merged. Coefficients of a column that occurs more than once in a row are added up.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    pub fn new(accelerator: &Accelerator, csr: impl Into<Arc<Csr<F>>>, policy: Policy) -> Result<Self> {
        let base = Arc::new(Base::new(accelerator, csr.into())?);
        let (sizes, limit) = (base.sizes(), policy.limit(base.nonzeros()));
        let version = Snapshot::new(accelerator, base, Vec::new());
        let (later, last_merge, failure) = (Vec::new(), None, None);
        let state = Mutex::new(State { version, later, changes: 0, limit, merges: 0, last_merge, failure });
        let (accelerator, merging, started) = (accelerator.clone(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { shared: Arc::new(DynamicCsrInner { accelerator, policy, state, merging, started }), sizes })
    }

    /// Sets entry (`row`, `column`) to `value`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such entry.
    pub fn set(&self, row: usize, column: usize, value: F) -> Result<()> {
        self.update(&[Change { row, column, action: Action::Set(value) }])
    }

    /// Adds `difference` to entry (`row`, `column`).
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such entry.
    pub fn add(&self, row: usize, column: usize, difference: F) -> Result<()> {
        self.update(&[Change { row, column, action: Action::Add(difference) }])
    }

    /// Sets entry (`row`, `column`) to zero. The next merge removes it from memory.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such entry.
    pub fn remove(&self, row: usize, column: usize) -> Result<()> {
        self.set(row, column, F::ZERO)
    }

    /// Applies `changes` in order. A snapshot has all of them or none.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: one of them names an entry that does not exist. Then none of them is applied.
    pub fn update(&self, changes: &[Change<F>]) -> Result<()> {
        let [rows, columns] = self.sizes;
        changes.iter().try_for_each(|change| change.check(rows, columns))?;
        let mut state = lock(&self.shared.state);
        state.later.extend_from_slice(changes);
        state.changes += changes.len();
        let merges = state.changes > state.limit;
        drop(state);
        if merges {
            self.shared.spawn_merge();
        }
        Ok(())
    }

    /// Returns the current version of the matrix, which later changes do not affect. It first sorts the changes since
    /// the last snapshot, in time O(c + d·log d) for c changed entries and d new changes.
    ///
    /// # Errors
    /// - No condition causes an error at present; merges on devices may cause some.
    pub fn snapshot(&self) -> Result<Snapshot<F>> {
        Ok(self.shared.snapshot().0)
    }

    /// Merges the changes so far into a new base matrix, on the first device if there is one. Computes statistics and
    /// selects the kernel again. It takes O(n + d·log n) for n non-zeros and d changes. Changes that arrive during the
    /// merge wait for the next one.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the merged matrix has more than 2^31 non-zeros.
    /// - [`Error::Invalid`]: a forced backend merges on a device, and non-zeros and changes together exceed 2^31.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    ///
    /// After an error, the matrix is unchanged.
    pub fn merge(&self) -> Result<()> {
        self.shared.merge()
    }

    /// Returns the sizes of the matrix, its numbers of changes and merges, and the state of automatic merges.
    pub fn explain(&self) -> DynamicExplanation {
        let state = lock(&self.shared.state);
        DynamicExplanation {
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

impl<F: NttField> DynamicCsrInner<F> {
    /// Returns the current version, and the number of changes in it that arrived since its base was created.
    fn snapshot(&self) -> (Snapshot<F>, usize) {
        loop {
            let (before, later, changes) = {
                let state = lock(&self.state);
                if state.later.is_empty() {
                    return (state.version.clone(), state.changes);
                }
                (state.version.clone(), state.later.clone(), state.changes)
            };
            // Writers may append meanwhile.
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
            let none = || Error::invalid(ERROR_CONTEXT, "changes", "some", "none");
            version.device_changes(base, ExecCtx::unreported(None))?.ok_or_else(none)
        };
        let base = Arc::new(version.base.merged(&version.changes, found)?);
        let limit = self.policy.limit(base.nonzeros());
        self.install_base(base, &snapshot, changes, limit);
        let mut state = lock(&self.state);
        state.merges += 1;
        (state.last_merge, state.failure) = (Some(start.elapsed()), None);
        Ok(())
    }

    /// Installs `base`, the result of merging version `merged`, and keeps the changes after that version. `changes` is
    /// the number of merged changes. `limit` is the number above which the next automatic merge starts.
    fn install_base(&self, base: Arc<Base<F>>, merged: &Snapshot<F>, changes: usize, limit: usize) {
        let mut state = lock(&self.state);
        let (then, now) = (&merged.version().changes, &state.version.version().changes);
        let recent = if Arc::ptr_eq(then, now) { Vec::new() } else { rebase_changes(then, now) };
        state.version = Snapshot::new(&self.accelerator, base, recent);
        state.changes -= changes;
        state.limit = limit;
    }

    /// Starts a thread that merges, unless such a thread is running.
    fn spawn_merge(self: &Arc<Self>) {
        if self.started.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = self.clone();
        let merge = move || {
            // A panic must not keep later changes from being merged.
            let outcome = catch_unwind(AssertUnwindSafe(|| shared.merge()));
            let outcome = outcome.unwrap_or_else(|panic| Err(Error::worker_panicked("dynamic csr", &*panic)));
            shared.started.store(false, Ordering::Release);
            if let Err(error) = outcome {
                shared.record_failure(&error);
            }
        };
        if let Err(error) = thread::Builder::new().name("proofwarp merge".to_owned()).spawn(merge) {
            self.started.store(false, Ordering::Release);
            self.record_failure(&Error::device("host", "thread", error));
        }
    }

    /// Records `error` as the reason why a merge failed. Doubles the number of changes above which the next automatic
    /// merge starts.
    fn record_failure(&self, error: &Error) {
        log::warn!("dynamic csr {}: a merge failed: {error}", F::NAME);
        let mut state = lock(&self.state);
        state.limit = state.limit.max(state.changes).saturating_mul(2);
        state.failure = Some(error.to_string());
    }
}

/// Returns the changes that turn the base with `earlier` merged into the version `now`. Both lists are sorted and
/// belong to the same old base.
///
/// A list has one action per entry, which combines all actions so far. If it differs in `now`, a `Set` is applied
/// again, and an `Add` is reduced to the difference of both values.
fn rebase_changes<F: NttField>(earlier: &[Change<F>], now: &[Change<F>]) -> Vec<Change<F>> {
    let mut earlier = earlier.iter().peekable();
    let mut recent = Vec::new();
    for change in now {
        let before = earlier.next_if(|before| before.key() == change.key()).map(|before| before.action);
        let action = match (before, change.action) {
            (Some(before), now) if before == now => continue,
            (Some(Action::Add(before)), Action::Add(now)) => Action::Add(now - before),
            (_, action) => action,
        };
        recent.push(Change { action, ..*change });
    }
    recent
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;

    use super::*;

    /// Checks that additions during a merge count once, whether or not a snapshot was taken after them.
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
            let none = |_: &_| Err(Error::internal("a device"));
            let base = Arc::new(version.base.merged(&version.changes, none).expect("a base"));
            for _ in 0..taken {
                matrix.add(0, 0, five).expect("a change");
                matrix.snapshot().expect("a version");
            }
            (0..left).for_each(|_| matrix.add(0, 0, five).expect("a change"));
            shared.install_base(base, &merged, changes, 100);
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
        assert_eq!(rebase_changes(&earlier, &now), expected);
    }
}
