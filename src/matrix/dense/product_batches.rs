//! Groups the products of a batch into launches. A launch takes small products of one shape by whole sums, if kernels
//! can address all their factors from those of the first. Touches no device.

use super::device_view::DeviceView;
use super::element::ElementKind;
use super::layout::View;
use super::plan::{DensePlan, Method, Problem, tile};
use crate::BackendKind;
use crate::backend::Buffer;

/// Products of more groups than this fill a device alone.
const SMALL_PRODUCT_GROUPS: usize = 1024;
/// Maximum multiplications of a product in a shared launch: a longer one would delay an abort.
const SMALL_PRODUCT_TERMS: u128 = 1 << 28;

/// Describes a product to compute.
pub(super) struct ProductTask<'a> {
    pub factors: [DeviceView<'a>; 2],
    pub problem: Problem,
    pub plan: DensePlan,
}

impl ProductTask<'_> {
    /// Returns the row-major view of the product.
    pub fn result(&self) -> View {
        View::row_major(self.problem.rows, self.problem.columns)
    }

    /// Returns the number of groups that compute it by sums of `kind`.
    pub fn groups(&self, kind: ElementKind) -> usize {
        let [tall, wide] = tile(kind, self.problem.prime.words);
        self.problem.rows.div_ceil(tall) * self.problem.columns.div_ceil(wide)
    }

    fn is_small(&self) -> bool {
        let fields = self.factors.iter().all(|factor| factor.kind == ElementKind::Field);
        let few = (1..SMALL_PRODUCT_GROUPS).contains(&self.groups(ElementKind::Field))
            && self.problem.products() <= SMALL_PRODUCT_TERMS;
        fields && few && self.plan.method == Method::Lazy
    }
}

/// Holds the products of one launch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProductBatch {
    /// Indices of the tasks.
    pub tasks: Vec<usize>,
    /// Offsets of each product's factors from those of the first product, in entries of the factors' type, modulo 2^64.
    pub offsets_from: Vec<[u64; 2]>,
}

/// Groups `tasks` into batches, each task in one batch. A task joins an earlier one of the same shape and strides.
/// Entries of factors have `size` bytes.
pub(super) fn batches(tasks: &[ProductTask<'_>], size: usize, backend: BackendKind) -> Vec<ProductBatch> {
    let mut batches: Vec<ProductBatch> = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        let found = batches.iter_mut().find_map(|batch| {
            let offsets_from = offsets_from(&tasks[batch.tasks[0]], task, size, backend)?;
            Some((batch, offsets_from))
        });
        match found {
            Some((batch, firsts)) => {
                batch.tasks.push(number);
                batch.offsets_from.push(firsts);
            }
            None => batches.push(ProductBatch { tasks: vec![number], offsets_from: vec![[0; 2]] }),
        }
    }
    batches
}

/// Returns the offsets of the factors of `task` from those of `with`; `None` if the two cannot share a launch.
fn offsets_from(with: &ProductTask<'_>, task: &ProductTask<'_>, size: usize, backend: BackendKind) -> Option<[u64; 2]> {
    let alike = |a: View, b: View| View { first: 0, ..a } == View { first: 0, ..b };
    let both = [0, 1].map(|i| [with.factors[i], task.factors[i]]);
    if !with.is_small() || !task.is_small() || !both.iter().all(|[a, b]| alike(a.view, b.view)) {
        return None;
    }
    let first = |[from, to]: [DeviceView<'_>; 2]| {
        let offset_between = offset_between(from.buffer, to.buffer, size, backend)?;
        Some(offset_between.wrapping_add(to.view.first as u64).wrapping_sub(from.view.first as u64))
    };
    Some([first(both[0])?, first(both[1])?])
}

/// Returns the entries between the starts of two buffers, modulo 2^64. All CUDA memory is in one address space.
fn offset_between(from: &Buffer, to: &Buffer, size: usize, backend: BackendKind) -> Option<u64> {
    let bytes = to.handle().0.wrapping_sub(from.handle().0).cast_signed();
    let size = size.cast_signed();
    match backend {
        _ if bytes == 0 => Some(0),
        BackendKind::Cuda if bytes % size == 0 => Some((bytes / size).cast_unsigned() as u64),
        _ => None,
    }
}
