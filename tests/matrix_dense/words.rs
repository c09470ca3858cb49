//! Fields of one and two words: Plonky3's Goldilocks and BabyBear.

use ff::Field;
use proofwarp::field::as_bytes_mut;
use proofwarp::field::plonky3::{BabyBear, Goldilocks};
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Method, View};

use crate::common::{accelerators_and_cpu, rng};
use crate::products::{extremes, residues, shapes};
use crate::tools::{METHODS, bytes, element, elements, options, product, upload};
use crate::vectors::{agrees, of_elements};
use crate::views::together;

macro_rules! of_both {
    ($($check:ident)*) => {
        mod goldilocks {
            $(#[test] fn $check() { super::$check::<super::Goldilocks>(); })*
        }
        mod baby_bear {
            $(#[test] fn $check() { super::$check::<super::BabyBear>(); })*
        }
    };
}

of_both! {
    shapes
    extremes
    residues
    of_elements
    of_bytes
    several_tiles_in_any_order
    numbers_and_bounds
    a_wrong_entry_is_caught
    together
}

fn of_bytes<F: DenseField>() {
    agrees::<i8, F>(|count| bytes(count, 1), |entry| element(entry.into()));
}

/// Rows and columns of more than one tile, read along both of a matrix's steps.
fn several_tiles_in_any_order<F: DenseField>() {
    let sizes @ [rows, inner, columns] = [67, 37, 130];
    let (a, b) = (elements::<F>(rows * inner, 1), elements::<F>(inner * columns, 2));
    let small = bytes(rows * inner, 3);
    let expected = product((&a, &b), sizes, |a, b| a * b);
    let of_small = product((&small, &b), sizes, |a, b| element::<F>(a.into()) * b);
    let transposed = |entries: &[F], rows: usize, columns: usize| -> Vec<F> {
        (0..rows * columns).map(|i| entries[i % rows * columns + i / rows]).collect()
    };
    let (a_down, b_down) = (transposed(&a, rows, inner), transposed(&b, inner, columns));
    for accelerator in accelerators_and_cpu() {
        let along = [upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns)];
        let down = [(&a_down, rows, inner), (&b_down, inner, columns)].map(|(entries, rows, columns)| {
            DenseMatrix::upload_view(&accelerator, entries, View::column_major(rows, columns)).expect("a view")
        });
        let small = upload(&accelerator, &small, rows, inner);
        for method in METHODS {
            for (a, b) in [(&along[0], &along[1]), (&along[0], &down[1]), (&down[0], &along[1]), (&down[0], &down[1])] {
                let c = a.multiply(b, &options(method), None).expect("a product").download().expect("download");
                assert!(c == expected, "{method:?} {accelerator:?}");
            }
        }
        let c =
            small.multiply(&down[1], &DenseOptions::default(), None).expect("a product").download().expect("download");
        assert!(c == of_small, "{accelerator:?}");
    }
}

/// Bytes to elements, what is known of entries, and what the plan makes of it.
fn numbers_and_bounds<F: DenseField>() {
    let sizes @ [rows, inner, columns] = [20, 30, 25];
    let (numbers, other) = (bytes(rows * inner, 1), elements::<F>(inner * columns, 2));
    let expected = product((&numbers, &other), sizes, |a, b| element::<F>(a.into()) * b);
    for accelerator in accelerators_and_cpu() {
        let a = upload(&accelerator, &numbers, rows, inner).to_field::<F>().expect("elements");
        assert!(a.download().expect("download").into_iter().eq(numbers.iter().map(|a| element::<F>((*a).into()))));
        let a = a.with_bound(8).expect("within the bound");
        let b = upload(&accelerator, &other, inner, columns);
        let c = a.multiply(&b, &DenseOptions::default(), None).expect("a product");
        assert!(c.download().expect("download") == expected, "{accelerator:?}");
        let error = upload(&accelerator, &[F::ZERO, F::from(3), -F::from(4)], 1, 3).with_bound(2).expect_err("beyond");
        assert_eq!(error.to_string(), "dense: entry (0, 2): expected within ±(2^2 - 1), got another");
    }
}

fn a_wrong_entry_is_caught<F: DenseField>() {
    let sizes @ [rows, inner, columns] = [9, 20, 11];
    let (a, b) = (elements::<F>(rows * inner, 1), elements::<F>(inner * columns, 2));
    let right = product((&a, &b), sizes, |a, b| a * b);
    let mut wrong = right.clone();
    wrong[4 * columns + 3] += F::ONE;
    for accelerator in accelerators_and_cpu() {
        let (a, b) = (upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns));
        let check = |c: &[F]| {
            let c: DenseMatrix<F> = upload(&accelerator, c, rows, columns);
            c.check_product::<F, _, _>(&a, &b, 4, &mut rng(7)).expect("a check")
        };
        let verdict = check(&right);
        assert!(verdict.is_valid() && verdict.error_bits == 4 * (F::NUM_BITS - 1), "{verdict:?}");
        assert_eq!(check(&wrong).wrong_row, Some(4));
    }
}

/// Goldilocks' elements are any 64 bits; products are below the modulus.
#[test]
fn numbers_from_the_modulus_on() {
    let all: Vec<Goldilocks> =
        [0, 1, 2, 3].map(|i| Goldilocks(p3_goldilocks::Goldilocks::new(u64::MAX - i))).repeat(50);
    let sizes @ [rows, inner, columns] = [8, 25, 8];
    let expected = product((&all, &all), sizes, |a, b| a * b);
    for accelerator in accelerators_and_cpu() {
        let (a, b) = (upload(&accelerator, &all, rows, inner), upload(&accelerator, &all, inner, columns));
        for method in METHODS {
            let c = a.multiply(&b, &options(method), None).expect("a product").download().expect("download");
            assert!(c == expected, "{method:?} {accelerator:?}");
            let one = DenseMatrix::upload_vector(&accelerator, &[-Goldilocks::ONE; 25]).expect("a vector");
            let sums = a.times_vector(&one).expect("sums").download().expect("download");
            let row = |row: &[Goldilocks]| -row.iter().sum::<Goldilocks>();
            assert!(sums.into_iter().eq(all.chunks(25).map(row)));
        }
        let crt = DenseOptions::default().method(Method::Crt);
        match a.multiply(&b, &crt, None) {
            Ok(c) => assert!(c.download().expect("download") == expected),
            Err(error) => eprintln!("left out: residues on {accelerator:?}: {error}"),
        }
    }
}

#[test]
fn elements_that_are_none() {
    let mut entries = elements::<BabyBear>(12, 1);
    for (number, word) in [(9, u32::MAX), (7, 0x7800_0001)] {
        // SAFETY: the type is its word, of which all patterns may be looked at; the test is that this one is refused.
        unsafe { as_bytes_mut(&mut entries[number..=number]) }.copy_from_slice(&word.to_le_bytes());
    }
    for accelerator in accelerators_and_cpu() {
        let error = DenseMatrix::upload(&accelerator, &entries, 3, 4).map(|_| ()).expect_err("no element").to_string();
        assert_eq!(error, "field: element 7: expected limbs below the modulus, got others");
    }
}

/// Exact where sums are longer than any register has room for.
#[test]
fn long_sums() {
    let inner = (1 << 17) + 1;
    let number = |inner: usize| Goldilocks::from(inner as u64);
    for accelerator in accelerators_and_cpu() {
        let a = upload(&accelerator, &vec![-Goldilocks::ONE; inner], 1, inner);
        let c = a.multiply(&a.transposed(), &DenseOptions::default(), None).expect("a product");
        assert_eq!(c.download().expect("download"), [number(inner)]);
        let a = upload(&accelerator, &vec![-BabyBear::ONE; inner], 1, inner);
        let c = a.multiply(&a.transposed(), &DenseOptions::default(), None).expect("a product");
        assert_eq!(c.download().expect("download"), [BabyBear::from(inner as u64)]);
    }
}
