//! Sparse matrices: empty ones, empty rows, columns that occur twice, zero coefficients, vectors that do not fit.

use proofwarp::field::NttField;
use proofwarp::matrix::{Csr, SparseMatrix};
use proofwarp::{Accelerator, Result};

use super::common::rng;
use super::one_answer;

/// Rows of (column, coefficient) in so many columns.
type Rows<F> = (usize, Vec<Vec<(usize, F)>>);

fn shapes<F: NttField>() -> Vec<Rows<F>> {
    let [zero, one, three] = [F::ZERO, F::ONE, F::from(3)];
    let long =
        |length: usize| (0..length).map(|i| (i * 7 % 40, if i % 3 == 0 { -one } else { F::from(i as u64) })).collect();
    vec![
        (0, vec![]),
        (0, vec![vec![]]),
        (0, vec![vec![]; 300]),
        (5, vec![]),
        (5, vec![vec![]; 3]),
        (1, vec![vec![(0, one)]]),
        (3, vec![vec![(2, three), (2, -three)], vec![], vec![(0, one), (0, one), (0, one)], vec![(1, zero)]]),
        (2, vec![vec![(0, one), (1, -one)], vec![(0, -one), (1, -one)], vec![(1, -one); 9]]),
        // Whole rows, rows that are cut, and many that are short.
        (40, vec![long(40), vec![], long(700), long(1), long(2000), vec![]]),
        (40, (0..500).map(|row| long(row % 4)).collect()),
    ]
}

/// Vectors of the ends of the range, and random ones.
fn vectors<F: NttField>(length: usize) -> Vec<Vec<F>> {
    let mut rng = rng(length as u64);
    let random = (0..length).map(|_| F::random(&mut rng)).collect();
    vec![vec![F::ZERO; length], vec![-F::ONE; length], random]
}

fn product<F: NttField>(
    accelerator: &Accelerator,
    csr: &Csr<F>,
    transposed: bool,
    x: &[Vec<F>],
    lengths: &[usize],
) -> Result<Vec<Vec<F>>> {
    let matrix = SparseMatrix::new(accelerator, csr.clone())?;
    let before: Vec<Vec<F>> = lengths.iter().map(|length| vec![F::from(9); *length]).collect();
    let mut y = before.clone();
    let from: Vec<&[F]> = x.iter().map(Vec::as_slice).collect();
    let mut to: Vec<&mut [F]> = y.iter_mut().map(Vec::as_mut_slice).collect();
    let outcome = match transposed {
        true => matrix.multiply_transposed_many(&from, &mut to, None),
        false => matrix.multiply_many(&from, &mut to, None),
    };
    assert!(outcome.is_ok() || y == before);
    outcome.map(|_| y)
}

fn definition<F: NttField>(csr: &Csr<F>, x: &[F]) -> Vec<F> {
    (0..csr.rows()).map(|row| csr.row(row).map(|(column, value)| x[column] * value).sum()).collect()
}

fn products<F: NttField>() {
    for (columns, rows) in shapes::<F>() {
        let csr = Csr::from_rows(columns, rows).expect("columns are in range");
        for (transposed, other) in [(false, csr.clone()), (true, csr.transpose())] {
            let x = vectors(other.columns());
            let (rows, columns) = (other.rows(), other.columns());
            let call = |x: &[Vec<F>], lengths: &[usize]| {
                let what = format!("{rows} rows of {columns} columns, {} non-zeros", csr.nonzeros());
                one_answer(&what, |accelerator| product(accelerator, &csr, transposed, x, lengths))
            };
            let expected: Vec<Vec<F>> = x.iter().map(|x| definition(&other, x)).collect();
            assert_eq!(call(&x, &[rows; 3]), Ok(expected));
            assert_eq!(call(&[], &[]), Ok(vec![]));
            call(&x, &[rows; 2]).expect_err("a result is missing");
            call(&x[..2], &[rows, rows + 1]).expect_err("a result is too long");
            call(&[x[0].clone(), vec![F::ONE; columns + 1]], &[rows; 2]).expect_err("a vector is too long");
        }
    }
}

macro_rules! every_field {
    ($($test:ident: $type:ty;)*) => { $(#[test] fn $test() { products::<$type>(); })* };
}

every_field! {
    bls12_377: proofwarp::curve::bls12_377::Fr;
    bls12_381: blstrs::Scalar;
    bn254: halo2curves::bn256::Fr;
    pasta_fp: pasta_curves::Fp;
    pasta_fq: pasta_curves::Fq;
}
