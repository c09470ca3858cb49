//! Commits to columns that synthesis has finished, while it goes on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::Error;
use proofwarp::plonk::AdviceStage;
use proofwarp::secret_vec::SecretVec;
use rand_core::RngCore;
use rayon::Scope;

use crate::arena::ColumnMemory;
use crate::error::to_halo2_error;

/// Lends a proof's advice stage to the thread that synthesizes, or to one task at a time that commits to finished
/// columns. A task takes the stage when it starts, so a thread that waits for the stage waits for work that has begun.
pub(crate) struct Committer<'a> {
    state: Mutex<State<'a>>,
    /// Notified when the stage comes back.
    returned: Condvar,
}

struct State<'a> {
    /// `None` while it is lent.
    proof: Option<AdviceStage<'a, G1Affine>>,
    /// Whether a task is spawned that has not ended.
    has_task: bool,
    /// Columns that no task has taken.
    waiting: Vec<FinishedColumn>,
    /// Columns that a task has worked on.
    ended: Vec<FinishedColumn>,
    /// First error of a task.
    failed: Option<proofwarp::Error>,
    /// Panic of a task, until the thread that synthesizes continues it.
    panic: Option<Box<dyn Any + Send>>,
    panicked: bool,
}

/// Holds a column whose cells a circuit has assigned, away from its arena.
pub(crate) struct FinishedColumn {
    /// Index of the advice column.
    pub number: usize,
    pub memory: ColumnMemory,
    /// Elements of the blinding rows.
    pub blinding: SecretVec<Fr>,
    /// The commitment, if a task has computed it.
    pub point: Option<G1Affine>,
}

/// Holds the advice stage, and gives it back when dropped, also after a panic.
struct Lent<'c, 'a> {
    committer: &'c Committer<'a>,
    /// `None` once it is given away.
    proof: Option<AdviceStage<'a, G1Affine>>,
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        self.committer.lock().proof = self.proof.take();
        self.committer.returned.notify_all();
    }
}

impl<'a> Committer<'a> {
    pub(crate) fn new(proof: AdviceStage<'a, G1Affine>) -> Self {
        let state = State {
            proof: Some(proof),
            has_task: false,
            waiting: Vec::new(),
            ended: Vec::new(),
            failed: None,
            panic: None,
            panicked: false,
        };
        Self { state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Returns the proof. There must be no task.
    pub(crate) fn into_proof(self) -> Option<AdviceStage<'a, G1Affine>> {
        self.lock().proof.take()
    }

    /// Calls `work` with the proof, once no task has it.
    ///
    /// # Errors
    /// Returns the errors of `work`.
    pub(crate) fn with_proof<R>(
        &self,
        work: impl FnOnce(&mut AdviceStage<'a, G1Affine>) -> proofwarp::Result<R>,
    ) -> proofwarp::Result<R> {
        let mut lent = Lent { committer: self, proof: self.wait_for_proof().proof.take() };
        lent.proof.as_mut().map_or_else(|| Err(lost_error()), work)
    }

    /// Commits to `columns` of the circuit with index `number`, once no task has the proof. Each column comes with its
    /// index. Blinding rows get elements of `rng`.
    pub(crate) fn commit_columns(
        &self,
        number: usize,
        columns: Vec<(usize, &mut Vec<Fr>)>,
        rng: &mut impl RngCore,
    ) -> Result<Vec<G1Affine>, Error> {
        let random = &mut || Fr::random(&mut *rng);
        self.with_proof(|proof| proof.commit(number, columns, random)).map_err(to_halo2_error)
    }

    /// Has a task of `scope` commit to `column`.
    pub(crate) fn commit_later<'scope>(&'scope self, scope: &Scope<'scope>, column: FinishedColumn) {
        let mut state = self.lock();
        state.waiting.push(column);
        if !std::mem::replace(&mut state.has_task, true) {
            scope.spawn(|_| self.commit_waiting());
        }
    }

    /// Returns all columns of [`Self::commit_later`], once no task works on one. Those to which no task has committed
    /// have no point.
    ///
    /// # Errors
    /// The second value is the first error of a task.
    ///
    /// # Panics
    /// A task panicked. Its columns stay here, because the circuit may have references to their cells.
    pub(crate) fn take_back(&self) -> (Vec<FinishedColumn>, Option<proofwarp::Error>) {
        let mut state = self.wait_for_proof();
        if let Some(panic) = state.panic.take() {
            drop(state);
            resume_unwind(panic);
        }
        let failed = if state.panicked { Some(lost_error()) } else { state.failed.take() };
        let mut columns = std::mem::take(&mut state.ended);
        columns.append(&mut state.waiting);
        (columns, failed)
    }

    /// Commits to columns until none waits.
    fn commit_waiting(&self) {
        while let Some((mut lent, mut column)) = self.take_next() {
            let result = catch_unwind(AssertUnwindSafe(|| commit(lent.proof.as_mut(), &mut column)));
            let mut state = self.lock();
            match result {
                Ok(Ok(points)) => column.point = points.first().copied(),
                Ok(Err(error)) => state.failed = Some(error),
                Err(panic) => (state.panic, state.panicked) = (Some(panic), true),
            }
            state.ended.push(column);
            drop(state);
            drop(lent);
        }
    }

    /// Takes the proof and the column that waits longest. Ends the task, and returns `None`, if there is none, or if a
    /// commitment failed.
    fn take_next(&self) -> Option<(Lent<'_, 'a>, FinishedColumn)> {
        let mut state = self.lock();
        let ends = state.waiting.is_empty() || state.failed.is_some() || state.panicked;
        let proof = if ends { None } else { state.proof.take() };
        if proof.is_none() {
            state.has_task = false;
            return None;
        }
        Some((Lent { committer: self, proof }, state.waiting.remove(0)))
    }

    /// Waits until no task has the proof. It is parked meanwhile, and works on nothing else: the caller may hold locks
    /// of the circuit's.
    fn wait_for_proof(&self) -> MutexGuard<'_, State<'a>> {
        let lent = |state: &mut State<'_>| state.proof.is_none();
        self.returned.wait_while(self.lock(), lent).unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Committer<'_> {
    /// Clears the columns that [`Self::take_back`] has not returned. After a panic there may be some.
    fn drop(&mut self) {
        let mut state = self.lock();
        let State { waiting, ended, .. } = &mut *state;
        waiting.iter_mut().chain(ended).for_each(|column| column.memory.clear());
    }
}

/// Computes the values of `column` on this thread alone, and commits to it. Other threads of the host would slow the
/// synthesis.
fn commit(
    proof: Option<&mut AdviceStage<'_, G1Affine>>,
    column: &mut FinishedColumn,
) -> proofwarp::Result<Vec<G1Affine>> {
    let values = column.memory.compute_values_alone();
    proof.ok_or_else(lost_error)?.commit_with_blinding(0, vec![(column.number, values)], &column.blinding)
}

fn lost_error() -> proofwarp::Error {
    proofwarp::Error::device("host", "a commitment during synthesis", "it panicked")
}
