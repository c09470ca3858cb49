//! Products of any shape in any order in memory, with entries at the ends of their range, against the definition.

use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseMatrix, Method, View};
use proptest::prelude::*;

use crate::common::accelerators_and_cpu;
use crate::tools::{METHODS, element, ends, options, product, words};

/// Rows and columns in memory: which way round, where the first one is, and how many entries lie between rows.
#[derive(Debug, Clone, Copy)]
struct Order {
    transposed: bool,
    first: usize,
    gap: usize,
}

fn order() -> impl Strategy<Value = Order> {
    (any::<bool>(), 0..7usize, 0..5usize).prop_map(|(transposed, first, gap)| Order { transposed, first, gap })
}

impl Order {
    fn view(self, rows: usize, columns: usize) -> View {
        let [rows, columns] = if self.transposed { [columns, rows] } else { [rows, columns] };
        let view = View { first: self.first, ..View::row_major(rows, columns).with_row_step(columns + self.gap) };
        if self.transposed { view.transposed() } else { view }
    }

    /// Memory in which such a matrix lies.
    fn memory<T>(self, rows: usize, columns: usize, entry: impl FnMut(usize) -> T) -> Vec<T> {
        let lines = if self.transposed { columns } else { rows };
        let line = if self.transposed { rows } else { columns };
        (0..self.first + lines * (line + self.gap)).map(entry).collect()
    }
}

fn rows_of<T: Copy>(entries: &[T], view: View) -> Vec<T> {
    (0..view.len()).map(|i| entries[view.entry_index(i / view.columns, i % view.columns)]).collect()
}

/// Which of the ends an entry is: mostly the same ones, so that sums are as large as they get.
fn picks() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![3 => Just(2usize), 2 => Just(3), 2 => Just(4), 5 => 0..10usize], 1..40)
}

#[test]
fn any_product() {
    let (accelerators, ends) = (accelerators_and_cpu(), ends::<Fr>());
    let shapes = (1..40usize, 1..70usize, 1..40usize);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((rows, inner, columns) in shapes, left in order(), right in order(), picks in picks(), seed in 0..9u64)| {
        let pick = |number: usize| ends[picks[number % picks.len()]];
        let (a, b) = (left.memory(rows, inner, pick), right.memory(inner, columns, |i| pick(i * 7 + 3)));
        let numbers = words(a.len(), seed);
        let (of_a, of_b) = (left.view(rows, inner), right.view(inner, columns));
        let sizes = [rows, inner, columns];
        let expected = product((&rows_of(&a, of_a), &rows_of(&b, of_b)), sizes, |a, b| a * b);
        let of_numbers =
            product((&rows_of(&numbers, of_a), &rows_of(&b, of_b)), sizes, |a, b| element::<Fr>(a.into()) * b);
        for accelerator in &accelerators {
            let matrix = |entries: &[Fr], view| DenseMatrix::upload_view(accelerator, entries, view).expect("a view");
            let numbers = DenseMatrix::upload_view(accelerator, &numbers, of_a).expect("a view");
            let (a, b) = (matrix(&a, of_a), matrix(&b, of_b));
            for method in METHODS.into_iter().chain([Some(Method::Crt)]) {
                // Residues need tensor cores.
                if method != Some(Method::Crt) || a.explain(&b, &options(method)).is_ok() {
                    let c = a.multiply(&b, &options(method), None).expect("a product").download().expect("download");
                    prop_assert!(c == expected, "{method:?} {accelerator:?}");
                }
            }
            let c = numbers.multiply(&b, &options(None), None).expect("a product").download().expect("download");
            prop_assert!(c == of_numbers, "i32 {accelerator:?}");
        }
    });
}
