//! Transforms blocks of columns and sends them, round by round.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::layout::{ColumnRange, CyclicLayout, split_columns};
use super::local::{LocalPass, PassStats};
use crate::backend::{Abort, parallel_copy};
use crate::cluster::cluster_handle::Cluster;
use crate::exec::fan_out;
use crate::field::{NttField, as_bytes, as_bytes_mut};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Number of blocks per round, each on a thread of its own, so that one block is uploaded while another is downloaded.
/// It is the same on all ranks.
const LANES: usize = 2;

/// Lists blocks of columns with their values after the transform and the transposition.
type TransposedBlocks<F> = Vec<(ColumnRange, SecretVec<F>)>;

/// Keeps host buffers for reuse, because asking the system for gigabytes takes longer than filling them.
pub(super) struct BufferCache<F: NttField>(Mutex<Vec<SecretVec<F>>>);

/// Never shows the buffers' contents, which are secret.
impl<F: NttField> fmt::Debug for BufferCache<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

impl<F: NttField> BufferCache<F> {
    pub(super) fn new() -> Self {
        Self(Mutex::default())
    }

    fn lock_buffers(&self) -> MutexGuard<'_, Vec<SecretVec<F>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a kept or new buffer of `length` elements. The caller must overwrite all of them.
    fn take(&self, length: usize) -> SecretVec<F> {
        let mut all = self.lock_buffers();
        let found = all.iter().position(|values| values.len() == length).map(|at| all.swap_remove(at));
        drop(all);
        found.unwrap_or_else(|| SecretVec::zeros(length))
    }

    fn give(&self, values: impl Iterator<Item = SecretVec<F>>) {
        self.lock_buffers().extend(values);
    }

    /// Clears `slice` and keeps it for the next transform. Drops all other kept buffers.
    pub(super) fn keep_only(&self, mut slice: SecretVec<F>) {
        slice.fill_zeros();
        *self.lock_buffers() = vec![slice];
    }
}

/// Runs the column transforms of one transform over all ranks, and the exchange of their results. Each round transforms
/// a few blocks of columns while it sends those of the round before.
pub(super) struct Rounds<'a, F: NttField> {
    cluster: &'a Cluster,
    from: &'a CyclicLayout,
    to: &'a CyclicLayout,
    columns: LocalPass<F>,
    /// Blocks of columns of each rank, indexed by rank.
    blocks: Vec<Vec<ColumnRange>>,
    /// Number of rows that are transformed in one step.
    rows_at_once: usize,
    spare: &'a BufferCache<F>,
    done: RefCell<Vec<PassStats>>,
}

impl<'a, F: NttField> Rounds<'a, F> {
    pub(super) fn new(
        cluster: &'a Cluster,
        (from, to): (&'a CyclicLayout, &'a CyclicLayout),
        columns: LocalPass<F>,
        (block_bytes, spare): (usize, &'a BufferCache<F>),
    ) -> Self {
        let most = |classes: &CyclicLayout| (block_bytes / (size_of::<F>() * classes.class_length())).max(1);
        let most_log = most(from).ilog2();
        let blocks = (0..cluster.size()).map(|rank| split_columns(from.slices(), rank, most_log)).collect();
        Self { cluster, from, to, columns, blocks, rows_at_once: most(to), spare, done: RefCell::default() }
    }

    /// Returns the statistics of the column transforms, one entry per block.
    pub(super) fn into_stats(self) -> Vec<PassStats> {
        self.done.into_inner()
    }

    /// Transforms all columns in this rank's `slice`, and exchanges the results with the other ranks. Returns this
    /// rank's rows, one after another.
    pub(super) fn run(&self, slice: &[F], abort: Abort<'_>) -> Result<SecretVec<F>> {
        let rounds = self.blocks.iter().map(|blocks| blocks.len().div_ceil(LANES)).max().unwrap_or(0);
        let mut rows = self.spare.take(self.to.length(self.cluster.rank()));
        let mut next = self.cluster.time_compute(|| self.round_transforms(0).run(slice, abort));
        for round in 0..rounds {
            let turned = self.record_stats(self.cluster.all_or_error(next)?);
            let start = Instant::now();
            let work = self.round_transforms(round + 1);
            let (result, time) = std::thread::scope(|scope| {
                let run = || timed(|| work.run(slice, abort));
                let worker = std::thread::Builder::new().spawn_scoped(scope, run);
                self.exchange_blocks(round, turned, &mut rows);
                let lost = |panic: Box<dyn std::any::Any + Send>| {
                    (Err(Error::worker_panicked("cluster ntt", &*panic)), Duration::ZERO)
                };
                worker.map_or_else(|_| run(), |worker| worker.join().unwrap_or_else(lost))
            });
            next = result;
            self.cluster.update_stats(|ledger| {
                ledger.work += time;
                ledger.waiting += start.elapsed().saturating_sub(time);
            });
        }
        self.record_stats(self.cluster.all_or_error(next)?);
        Ok(rows)
    }

    /// Transforms this rank's rows in place by the pass `rows`. `values` has the rows one after another. Returns the
    /// statistics of each step.
    pub(super) fn transform_rows(
        &self,
        rows: &LocalPass<F>,
        values: &mut [F],
        abort: Abort<'_>,
    ) -> Result<Vec<PassStats>> {
        let length = self.rows_at_once * self.to.class_length();
        let mut lanes: [Vec<&mut [F]>; LANES] = Default::default();
        values.chunks_mut(length).enumerate().for_each(|(number, piece)| lanes[number % LANES].push(piece));
        let accelerator = self.cluster.accelerator();
        let lanes = lanes.into_iter().enumerate();
        let done = fan_out("cluster ntt", lanes, |(lane, pieces)| {
            let run = |piece: &mut [F]| {
                // If a download fails half way, the piece is still whole and is transformed again.
                let mut to = self.spare.take(piece.len());
                let done = rows.run(accelerator, lane, (piece, 0), &mut to, abort)?;
                // SAFETY: the bytes copied are those of elements.
                parallel_copy(unsafe { as_bytes_mut(piece) }, as_bytes(&to));
                self.spare.give([to].into_iter());
                Ok(done)
            };
            pieces.into_iter().map(run).collect::<Result<Vec<_>>>()
        });
        Ok(done.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn record_stats(&self, (turned, done): (TransposedBlocks<F>, Vec<PassStats>)) -> TransposedBlocks<F> {
        self.done.borrow_mut().extend(done);
        turned
    }

    /// Returns this rank's column transforms of `round`, which need no messages.
    fn round_transforms(&self, round: usize) -> RoundTransforms<'_, F> {
        let rank = self.cluster.rank();
        RoundTransforms {
            accelerator: self.cluster.accelerator(),
            columns: &self.columns,
            spare: self.spare,
            blocks: blocks_in_round(&self.blocks[rank], round),
            start: self.from.slices().range(rank).start,
        }
    }

    /// Sends each rank its part of `turned`, this rank's transformed blocks of `round`, and receives the parts of other
    /// ranks' blocks. Writes the received parts and this rank's own to `rows`.
    fn exchange_blocks(&self, round: usize, turned: TransposedBlocks<F>, rows: &mut [F]) {
        let (me, own) = (self.cluster.rank(), self.to.slices().range(self.cluster.rank()));
        let others = || (0..self.cluster.size()).filter(|rank| *rank != me);
        let piece = |block: &ColumnRange| own.len() << block.count_log;
        let mut received: Vec<(usize, ColumnRange, SecretVec<F>)> = others()
            .flat_map(|rank| blocks_in_round(&self.blocks[rank], round).iter().map(move |block| (rank, *block)))
            .map(|(rank, block)| (rank, block, self.spare.take(piece(&block))))
            .collect();
        let sends = others().flat_map(|rank| {
            let range = self.to.slices().range(rank);
            turned.iter().map(move |(block, values)| {
                (rank, as_bytes(&values[range.start << block.count_log..range.end << block.count_log]))
            })
        });
        // SAFETY: the bytes received are those of elements that a rank of the same build has computed.
        let receives = received.iter_mut().map(|(rank, _, values)| (*rank, unsafe { as_bytes_mut(&mut values.0) }));
        let sends = sends.filter(|(_, bytes)| !bytes.is_empty()).collect();
        let time = self.cluster.exchange(sends, receives.filter(|(_, bytes)| !bytes.is_empty()).collect());
        self.cluster.update_stats(|ledger| ledger.messages += time);
        let width = self.to.class_length();
        for (block, values) in &turned {
            store_block(rows, width, block, &values[own.start << block.count_log..own.end << block.count_log]);
        }
        for (_, block, values) in &received {
            store_block(rows, width, block, values);
        }
        self.spare.give(turned.into_iter().map(|(_, values)| values));
        self.spare.give(received.into_iter().map(|(_, _, values)| values));
    }
}

/// Returns those of `blocks`, the blocks of one rank, that belong to `round`.
fn blocks_in_round(blocks: &[ColumnRange], round: usize) -> &[ColumnRange] {
    let start = (round * LANES).min(blocks.len());
    &blocks[start..(start + LANES).min(blocks.len())]
}

/// Copies `values`, the transposed `block`, to its columns of `rows`, which have `width` elements each.
fn store_block<F: NttField>(rows: &mut [F], width: usize, block: &ColumnRange, values: &[F]) {
    let rows = rows.par_chunks_mut(width).zip(values.par_chunks(block.count()));
    rows.for_each(|(row, values)| row[block.first..][..values.len()].copy_from_slice(values));
}

/// Holds one rank's column transforms of one round.
struct RoundTransforms<'a, F: NttField> {
    accelerator: &'a crate::Accelerator,
    columns: &'a LocalPass<F>,
    spare: &'a BufferCache<F>,
    blocks: &'a [ColumnRange],
    /// Index of the rank's first column, among the columns of all ranks.
    start: usize,
}

impl<F: NttField> RoundTransforms<'_, F> {
    fn run(&self, slice: &[F], abort: Abort<'_>) -> Result<(TransposedBlocks<F>, Vec<PassStats>)> {
        let length = 1usize << self.columns.domain.log_n();
        let results = fan_out("cluster ntt", self.blocks.iter().enumerate(), |(lane, block)| {
            let from = &slice[(block.first - self.start) * length..][..block.count() * length];
            let mut turned = self.spare.take(from.len());
            let done = self.columns.run(self.accelerator, lane, (from, block.first), &mut turned, abort)?;
            Ok(((*block, turned), done))
        });
        results.into_iter().collect::<Result<Vec<_>>>().map(|results| results.into_iter().unzip())
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}
