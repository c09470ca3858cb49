//! Which products of a batch one launch makes: small ones by whole sums, of one shape, whose factors' memory kernels reach from one
//! start. Touches no device.

use super::entry::Kind;
use super::lying::Lying;
use super::plan::{Method, Plan, Problem, tile};
use super::view::View;
use crate::BackendKind;
use crate::backend::Buffer;

/// Products of more groups than this fill a device alone.
const FEW_GROUPS: usize = 1024;
/// Products of more terms than this take long enough for an abort to wait for.
const FEW_TERMS: u128 = 1 << 28;

/// A product that is to be made.
pub(super) struct Task<'a> {
    pub factors: [Lying<'a>; 2],
    pub problem: Problem,
    pub plan: Plan,
}

impl Task<'_> {
    /// The product's rows and columns, row after row.
    pub fn result(&self) -> View {
        View::row_major(self.problem.rows, self.problem.columns)
    }

    /// Groups that make it by sums.
    pub fn groups(&self, kind: Kind) -> usize {
        let [tall, wide] = tile(kind, self.problem.prime.words);
        self.problem.rows.div_ceil(tall) * self.problem.columns.div_ceil(wide)
    }

    fn is_small(&self) -> bool {
        let fields = self.factors.iter().all(|factor| factor.kind == Kind::Field);
        let few = (1..FEW_GROUPS).contains(&self.groups(Kind::Field)) && self.problem.products() <= FEW_TERMS;
        fields && few && self.plan.method == Method::Lazy
    }
}

/// Products of one launch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// Their numbers.
    pub tasks: Vec<usize>,
    /// How many entries of the factors' type each factor begins after that of the first product, modulo 2^64.
    pub firsts: Vec<[u64; 2]>,
}

/// All tasks, each in one batch; entries of factors have so many bytes. Products of shape and strides of an earlier one go with it.
pub(super) fn batches(tasks: &[Task<'_>], size: usize, backend: BackendKind) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        let found = batches.iter_mut().find_map(|batch| {
            let firsts = firsts(&tasks[batch.tasks[0]], task, size, backend)?;
            Some((batch, firsts))
        });
        match found {
            Some((batch, firsts)) => {
                batch.tasks.push(number);
                batch.firsts.push(firsts);
            }
            None => batches.push(Batch { tasks: vec![number], firsts: vec![[0; 2]] }),
        }
    }
    batches
}

/// How far a task's factors are from those of one that it can go with.
fn firsts(with: &Task<'_>, task: &Task<'_>, size: usize, backend: BackendKind) -> Option<[u64; 2]> {
    let alike = |a: View, b: View| View { first: 0, ..a } == View { first: 0, ..b };
    let both = [0, 1].map(|i| [with.factors[i], task.factors[i]]);
    if !with.is_small() || !task.is_small() || !both.iter().all(|[a, b]| alike(a.view, b.view)) {
        return None;
    }
    let first = |[from, to]: [Lying<'_>; 2]| {
        let apart = apart(from.buffer, to.buffer, size, backend)?;
        Some(apart.wrapping_add(to.view.first as u64).wrapping_sub(from.view.first as u64))
    };
    Some([first(both[0])?, first(both[1])?])
}

/// Entries between the starts of two buffers, modulo 2^64: all of CUDA's memory has addresses in one space.
fn apart(from: &Buffer, to: &Buffer, size: usize, backend: BackendKind) -> Option<u64> {
    let bytes = to.handle().0.wrapping_sub(from.handle().0).cast_signed();
    let size = size.cast_signed();
    match backend {
        _ if bytes == 0 => Some(0),
        BackendKind::Cuda if bytes % size == 0 => Some((bytes / size).cast_unsigned() as u64),
        _ => None,
    }
}
