//! Strides, blocks, transposes, and products into parts of memory.

use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Method, View};

use crate::common::accelerators_and_cpu;
use crate::tools::{METHODS, elements, options, product, rows_of, upload};

#[test]
fn any_order_in_memory() {
    let memory = elements::<Fr>(4000, 1);
    let strided = View { first: 13, ..View::row_major(20, 30).with_row_step(37) };
    let apart = View { rows: 20, columns: 30, first: 5, row_step: 1, column_step: 22 };
    let both = View { rows: 20, columns: 30, first: 0, row_step: 2, column_step: 47 };
    let views = [View::row_major(20, 30), View::column_major(20, 30), strided, apart, both];
    for left in views {
        for right in views.map(View::transposed) {
            let expected = product((&rows_of(&memory, left), &rows_of(&memory, right)), [20, 30, 20], |a, b| a * b);
            for accelerator in accelerators_and_cpu() {
                let [a, b] =
                    [left, right].map(|view| DenseMatrix::upload_view(&accelerator, &memory, view).expect("a view"));
                assert_eq!(a.download().expect("download"), rows_of(&memory, left));
                for method in METHODS {
                    let c = a.multiply(&b, &options(method), None).expect("a product").download().expect("download");
                    assert!(c == expected, "{left:?} {right:?} {method:?} {accelerator:?}");
                }
            }
        }
    }
}

#[test]
fn blocks_and_transposes() {
    let entries = elements::<Fr>(50 * 40, 2);
    let whole = View::row_major(50, 40);
    let (left, right) =
        (whole.block(3..20, 5..38).expect("inside"), whole.block(1..50, 0..33).expect("inside").transposed());
    let expected = product((&rows_of(&entries, left), &rows_of(&entries, right)), [17, 33, 49], |a, b| a * b);
    for accelerator in accelerators_and_cpu() {
        let matrix = upload(&accelerator, &entries, 50, 40);
        let a = matrix.block(3..20, 5..38).expect("inside");
        let b = matrix.block(1..50, 0..33).expect("inside").transposed();
        let c = a.multiply(&b, &DenseOptions::default(), None).expect("a product");
        assert!(c.download().expect("download") == expected, "{accelerator:?}");
        // (A·B)ᵀ = Bᵀ·Aᵀ, of a product that is resident.
        let transposed = b.transposed().multiply(&a.transposed(), &DenseOptions::default(), None).expect("a product");
        assert!(transposed.transposed().download().expect("download") == expected);
    }
}

/// What lies around a product's place stays as it was.
#[test]
fn into_a_part_of_memory() {
    let (a, b, before) = (elements::<Fr>(5 * 4, 3), elements::<Fr>(4 * 6, 4), elements::<Fr>(10 * 9, 5));
    let whole = View::row_major(10, 9);
    let place = whole.block(2..7, 1..7).expect("inside");
    let result = product((&a, &b), [5, 4, 6], |a, b| a * b);
    let mut expected = before.clone();
    (0..place.len()).for_each(|i| expected[place.entry_index(i / 6, i % 6)] = result[i]);
    for accelerator in accelerators_and_cpu() {
        let (a, b) = (upload(&accelerator, &a, 5, 4), upload(&accelerator, &b, 4, 6));
        let mut c = upload(&accelerator, &before, 10, 9).with_view(place).expect("inside");
        a.multiply_into(&b, &mut c, &DenseOptions::default(), None).expect("a product");
        assert!(c.download().expect("download") == result, "{accelerator:?}");
        assert!(c.with_view(whole).expect("all of it").download().expect("download") == expected, "{accelerator:?}");
    }
}

#[test]
fn a_batch() {
    let entries: Vec<Vec<Fr>> = (0..6).map(|seed| elements(12, seed)).collect();
    for accelerator in accelerators_and_cpu() {
        let matrices: Vec<DenseMatrix<Fr>> =
            entries.iter().map(|entries| upload(&accelerator, entries, 3, 4)).collect();
        let transposed: Vec<DenseMatrix<Fr>> = matrices.iter().map(DenseMatrix::transposed).collect();
        let pairs: Vec<_> = matrices.iter().zip(&transposed).collect();
        let products = DenseMatrix::multiply_batch(&pairs, &DenseOptions::default(), None).expect("products");
        for ((a, b), c) in pairs.iter().zip(products) {
            let alone = a.multiply(b, &DenseOptions::default(), None).expect("a product");
            assert!(c.download().expect("download") == alone.download().expect("download"));
        }
    }
}

/// Small products of one shape, which are one launch where they are blocks of two matrices, among others.
pub fn together<F: DenseField>() {
    let (count, [rows, inner, columns]) = (7, [70, 21, 35]);
    let (left, right) = (elements::<F>(count * rows * inner, 1), elements::<F>(count * inner * columns, 2));
    let options = DenseOptions::default().method(Method::Lazy);
    let expected: Vec<Vec<F>> = left
        .chunks(rows * inner)
        .zip(right.chunks(inner * columns))
        .map(|(a, b)| product((a, b), [rows, inner, columns], |a, b| a * b))
        .collect();
    for accelerator in accelerators_and_cpu() {
        let a = upload(&accelerator, &left, count * rows, inner);
        let b = upload(&accelerator, &right, count * inner, columns);
        let blocks = |matrix: &DenseMatrix<F>, rows: usize| -> Vec<DenseMatrix<F>> {
            let block = |i| matrix.block(i * rows..(i + 1) * rows, 0..matrix.columns()).expect("inside");
            (0..count).map(block).collect()
        };
        let (a, b) = (blocks(&a, rows), blocks(&b, inner));
        let pairs: Vec<_> = a.iter().zip(&b).collect();
        let products = DenseMatrix::multiply_batch(&pairs, &options, None).expect("products");
        let launches = products[0].report().expect("a report").traffic.launches;
        assert_eq!(launches, u32::from(!accelerator.devices().is_empty()), "{accelerator:?}");
        let download = |product: &DenseMatrix<F>| product.download().expect("download");
        assert!(products.iter().map(download).eq(expected.iter().cloned()), "{accelerator:?}");
        // Of memory of their own, the other way round, with another shape and other strides among them.
        let own = |entries: &[F], rows: usize| upload(&accelerator, entries, rows, entries.len() / rows);
        let a: Vec<_> = left.chunks(rows * inner).rev().map(|entries| own(entries, rows)).collect();
        let b: Vec<_> = right.chunks(inner * columns).rev().map(|entries| own(entries, inner)).collect();
        let [down, across] = [products[0].transposed(), products[1].block(3..40, 0..columns).expect("inside")];
        let mut pairs: Vec<_> = a.iter().zip(&b).collect();
        pairs.insert(2, (&across, &down));
        let mixed = DenseMatrix::multiply_batch(&pairs, &options, Some(&|| false)).expect("products");
        let found = mixed.iter().enumerate().filter(|(number, _)| *number != 2).map(|(_, product)| download(product));
        assert!(found.eq(expected.iter().rev().cloned()), "{accelerator:?}");
        let alone = across.multiply(&down, &options, None).expect("a product");
        assert!(download(&mixed[2]) == download(&alone), "{accelerator:?}");
    }
}

#[test]
fn a_batch_of_one_launch() {
    together::<Fr>();
}
