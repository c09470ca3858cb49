//! Decides during synthesis which columns are finished.

use std::collections::BTreeMap;

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::Error;
use proofwarp::plonk::Circuit;
use proofwarp::secret_vec::SecretVec;
use rand_core::RngCore;
use rayon::Scope;

use crate::arena::WitnessArena;
use crate::committer::{Committer, FinishedColumn};
use crate::error::to_halo2_error;

/// A column is finished if a circuit goes to another one after this part of its usable rows in succession, a half.
const FINISHED_DIV: usize = 2;

/// Follows the assignments of one circuit. A column that seems finished goes to a task that commits to it. If the
/// circuit assigns one of its cells later, it is committed to again at the end of the phase.
pub(crate) struct EarlyCommits<'s, 'p> {
    scope: &'s Scope<'p>,
    /// Number of assignments in succession after which a column is finished. It is the maximum once the circuit has
    /// come back to such a column.
    min_run: usize,
    /// Column of the last assignment.
    column: usize,
    /// Number of assignments to it since the last one to another column.
    run: usize,
    /// All advice columns.
    columns: Vec<ColumnState>,
    /// First error of a task.
    failed: Option<Error>,
}

/// Holds the state of an advice column in a phase.
#[derive(Default)]
struct ColumnState {
    stage: Stage,
    /// Elements of the blinding rows. It is empty while a task commits to the column, and in other phases.
    blinding: SecretVec<Fr>,
}

#[derive(Default)]
enum Stage {
    /// No task may commit to the column: it is not of the phase, or was assigned after it seemed finished, or its task
    /// failed.
    #[default]
    Stays,
    /// The column is of the phase, and no task has had it.
    Open,
    /// A task commits to the column.
    Away,
    /// The column was committed to, and not assigned since.
    Committed(G1Affine),
}

impl<'s, 'p> EarlyCommits<'s, 'p> {
    /// Follows a circuit of the shape of `circuit`. Tasks are spawned in `scope`, if columns have at least `min_rows`
    /// rows.
    pub(crate) fn new(scope: &'s Scope<'p>, circuit: &Circuit<Fr>, min_rows: usize) -> Self {
        let min_run = if circuit.rows() < min_rows { usize::MAX } else { circuit.usable_rows() / FINISHED_DIV };
        let columns = (0..circuit.layout.advice).map(|_| ColumnState::default()).collect();
        Self { scope, min_run, column: usize::MAX, run: 0, columns, failed: None }
    }

    /// Draws the elements of the blinding rows of all columns of `phase` from `rng`.
    pub(crate) fn start_phase(&mut self, circuit: &Circuit<Fr>, phase: u8, rng: &mut impl RngCore) {
        self.columns.iter_mut().for_each(|column| *column = ColumnState::default());
        for number in circuit.advice_in_phase(phase) {
            let blinding = (circuit.usable_rows()..circuit.rows()).map(|_| Fr::random(&mut *rng));
            self.columns[number] = ColumnState { stage: Stage::Open, blinding: SecretVec(blinding.collect()) };
        }
        self.run = 0;
    }

    /// Notes an assignment to `column`.
    pub(crate) fn follow(&mut self, column: usize, committer: &'p Committer<'_>, arena: &mut WitnessArena) {
        if column != self.column {
            self.leave(column, committer, arena);
        }
        self.run += 1;
    }

    /// Leaves the current column for the column `next`. Has a task commit to the former if it is finished. Waits for
    /// the latter if a task has it.
    #[cold]
    fn leave(&mut self, next: usize, committer: &'p Committer<'_>, arena: &mut WitnessArena) {
        let number = self.column;
        if self.run >= self.min_run
            && let Some(left) = self.columns.get_mut(number)
            && matches!(left.stage, Stage::Open)
            && let Some(memory) = arena.take(number)
        {
            let blinding = std::mem::take(&mut left.blinding);
            left.stage = Stage::Away;
            committer.commit_later(self.scope, FinishedColumn { number, memory, blinding, point: None });
        }
        if matches!(self.columns.get(next).map(|column| &column.stage), Some(Stage::Away | Stage::Committed(_))) {
            self.come_back(next, committer, arena);
        }
        (self.column, self.run) = (next, 0);
    }

    /// Takes back all columns, since the circuit assigns `column` again. Its next columns are committed to at the end
    /// of the phase: half of a column in succession does not mean that they are finished.
    fn come_back(&mut self, column: usize, committer: &Committer<'_>, arena: &mut WitnessArena) {
        self.take_back(committer, arena);
        self.columns[column].stage = Stage::Stays;
        self.min_run = usize::MAX;
    }

    /// Waits until no task works, and returns the memory of the columns to `arena`.
    pub(crate) fn take_back(&mut self, committer: &Committer<'_>, arena: &mut WitnessArena) {
        let (columns, error) = committer.take_back();
        for FinishedColumn { number, memory, blinding, point } in columns {
            arena.restore(number, memory);
            self.columns[number] = ColumnState { stage: point.map_or(Stage::Stays, Stage::Committed), blinding };
        }
        if let Some(error) = error {
            self.min_run = usize::MAX;
            self.failed.get_or_insert(to_halo2_error(error));
        }
    }

    /// Commits to the columns of the phase to which no task has committed. Returns all commitments, in ascending order
    /// of the columns' indices.
    pub(crate) fn end_phase(
        &mut self,
        committer: &Committer<'_>,
        arena: &mut WitnessArena,
    ) -> Result<Vec<G1Affine>, Error> {
        self.take_back(committer, arena);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let of_phase = self.columns.iter().enumerate().filter(|(_, column)| !column.blinding.is_empty());
        let mut points = BTreeMap::new();
        let (mut rest, mut blinding) = (Vec::new(), Vec::new());
        for (number, column) in of_phase {
            if let Stage::Committed(point) = column.stage {
                points.insert(number, point);
            } else {
                rest.push(number);
                blinding.push(&*column.blinding);
            }
        }
        let (blinding, columns) = (concatenate(&blinding), arena.compute_values(&rest));
        let others = committer.with_proof(|proof| proof.commit_with_blinding(0, columns, &blinding));
        points.extend(rest.into_iter().zip(others.map_err(to_halo2_error)?));
        Ok(points.into_values().collect())
    }
}

/// Returns the elements of all `parts`. The memory does not move, so that none is freed before it is cleared.
fn concatenate(parts: &[&[Fr]]) -> SecretVec<Fr> {
    let mut all = SecretVec(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
    for part in parts {
        all.0.extend_from_slice(part);
    }
    all
}
