//! Groups the products of a batch into launches. Small products share a launch if they have equal shapes and are
//! computed without residues. Kernels must be able to address all factors by offsets from the first ones. Touches no
//! device.

use super::element_and_accumulator::ElementKind;
use super::layout::{DeviceView, View};
use super::plan::{DensePlan, Method, Problem, tile_shape};
use crate::backend::Buffer;

/// Number of work-groups from which on a product fills a device alone. Only smaller products share a launch.
const SMALL_PRODUCT_GROUPS: usize = 1024;
/// Maximum number of multiplications of a product in a shared launch. A longer product would delay an abort.
const SMALL_PRODUCT_TERMS: u128 = 1 << 28;

/// Describes one product to compute on a device: its factors, sizes and plan.
pub(super) struct ProductTask<'a> {
    pub factors: [DeviceView<'a>; 2],
    pub problem: Problem,
    pub plan: DensePlan,
}

impl ProductTask<'_> {
    /// Returns the view of the product, which is row-major and starts at index 0.
    pub(super) fn result_view(&self) -> View {
        View::row_major(self.problem.rows, self.problem.columns)
    }

    /// Returns the number of work-groups that compute the product without residues, if its entries are of `kind`.
    pub(super) fn group_count(&self, kind: ElementKind) -> usize {
        let [tall, wide] = tile_shape(kind, self.problem.prime.words);
        self.problem.rows.div_ceil(tall) * self.problem.columns.div_ceil(wide)
    }

    fn is_small(&self) -> bool {
        let fields = self.factors.iter().all(|factor| factor.kind == ElementKind::Field);
        let few = (1..SMALL_PRODUCT_GROUPS).contains(&self.group_count(ElementKind::Field))
            && self.problem.multiplication_count() <= SMALL_PRODUCT_TERMS;
        fields && few && self.plan.method == Method::Lazy
    }
}

/// Describes the products that share a launch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProductBatch {
    /// Indices of the products in the list of tasks.
    pub tasks: Vec<usize>,
    /// Offsets of each product's two factors from those of the first product, in entries modulo 2^64.
    pub offsets_from: Vec<[u64; 2]>,
}

/// Groups `tasks` into batches, one per launch. A task joins the first batch with which it can share a launch, or
/// starts a new one. Entries of factors have `size` bytes. `unified_addresses` is the device's capability
/// of that name.
pub(super) fn batches(tasks: &[ProductTask<'_>], size: usize, unified_addresses: bool) -> Vec<ProductBatch> {
    let mut batches: Vec<ProductBatch> = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        let found = batches.iter_mut().find_map(|batch| {
            let offsets_from = factor_offsets(&tasks[batch.tasks[0]], task, size, unified_addresses)?;
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

/// Returns the offsets of the two factors of `task` from those of `with`, in entries of `size` bytes modulo 2^64.
/// Returns `None` if the two products cannot share a launch.
fn factor_offsets(
    with: &ProductTask<'_>,
    task: &ProductTask<'_>,
    size: usize,
    unified_addresses: bool,
) -> Option<[u64; 2]> {
    let alike = |a: View, b: View| View { first: 0, ..a } == View { first: 0, ..b };
    let both = [0, 1].map(|i| [with.factors[i], task.factors[i]]);
    if !with.is_small() || !task.is_small() || !both.iter().all(|[a, b]| alike(a.view, b.view)) {
        return None;
    }
    let first = |[from, to]: [DeviceView<'_>; 2]| {
        let offset_between = offset_between(from.buffer, to.buffer, size, unified_addresses)?;
        Some(offset_between.wrapping_add(to.view.first as u64).wrapping_sub(from.view.first as u64))
    };
    Some([first(both[0])?, first(both[1])?])
}

/// Returns the offset of the start of `to` from that of `from`, in entries of `size` bytes modulo 2^64. Returns `None`
/// if kernels cannot reach `to` from `from`. They can if the device has `unified_addresses`.
fn offset_between(from: &Buffer, to: &Buffer, size: usize, unified_addresses: bool) -> Option<u64> {
    let bytes = to.handle().0.wrapping_sub(from.handle().0).cast_signed();
    let size = size.cast_signed();
    match bytes {
        0 => Some(0),
        _ if unified_addresses && bytes % size == 0 => Some((bytes / size).cast_unsigned() as u64),
        _ => None,
    }
}
