//! Permutations and sponges, on every backend.

use ff::Field as _;
use p3_symmetric::{CryptographicHasher as _, Permutation};
use proofwarp::field::DeviceVector;
use proofwarp::field::plonky3::{BabyBear, Goldilocks, KoalaBear};
use proofwarp::hash::{
    PaddingFreeSponge, Poseidon2, Poseidon2Field, RoundConstants, RowMajorMatrix, hash_rows, permute_many,
};
use proofwarp::{Accelerator, BackendKind};

use crate::common::{accelerators_and_cpu, accelerators_with_devices, rng};

fn states<F: Poseidon2Field<WIDTH>, const WIDTH: usize>(count: usize) -> Vec<[F; WIDTH]> {
    let mut rng = rng(WIDTH as u64);
    let random = (0..count).map(|_| std::array::from_fn(|_| F::random(&mut rng)));
    let largest = [-F::ONE; WIDTH];
    [[F::ZERO; WIDTH], [F::ONE; WIDTH], largest].into_iter().chain(random).take(count).collect()
}

/// The permutation is `theirs`, and every backend computes it.
fn check<F: Poseidon2Field<WIDTH>, const WIDTH: usize>(
    ours: &Poseidon2<F, WIDTH>,
    theirs: &impl Permutation<[F::Plonky3; WIDTH]>,
) {
    for count in [0, 1, 3, 128, 300] {
        let inputs = states::<F, WIDTH>(count);
        let expected: Vec<_> = inputs.iter().map(|state| theirs.permute(state.map(F::peel)).map(F::wrap)).collect();
        for accelerator in accelerators_and_cpu() {
            let mut states = inputs.clone();
            permute_many(&accelerator, ours, &mut states).unwrap_or_else(|error| panic!("{error}"));
            assert!(states == expected, "{} {WIDTH}: {count} states on {accelerator:?}", F::NAME);
        }
    }
}

#[test]
fn goldilocks() {
    check(&Poseidon2::<Goldilocks, 8>::plonky3(), &p3_goldilocks::default_goldilocks_poseidon2_8());
    check(&Poseidon2::<Goldilocks, 12>::plonky3(), &p3_goldilocks::default_goldilocks_poseidon2_12());
    check(&Poseidon2::<Goldilocks, 16>::plonky3(), &p3_goldilocks::default_goldilocks_poseidon2_16());
}

#[test]
fn baby_bear() {
    check(&Poseidon2::<BabyBear, 16>::plonky3(), &p3_baby_bear::default_babybear_poseidon2_16());
    check(&Poseidon2::<BabyBear, 24>::plonky3(), &p3_baby_bear::default_babybear_poseidon2_24());
}

#[test]
fn koala_bear() {
    check(&Poseidon2::<KoalaBear, 16>::plonky3(), &p3_koala_bear::default_koalabear_poseidon2_16());
    check(&Poseidon2::<KoalaBear, 24>::plonky3(), &p3_koala_bear::default_koalabear_poseidon2_24());
}

/// Constants of other numbers of rounds than Plonky3's defaults.
#[test]
fn other_constants() {
    let mut rng = rng(5);
    let mut rows = |count: usize| -> Vec<[KoalaBear; 16]> {
        (0..count).map(|_| std::array::from_fn(|_| KoalaBear::random(&mut rng))).collect()
    };
    for (outer, inner) in [(3, 0), (3, 1), (5, 33)] {
        let internal = rows(inner).into_iter().map(|row| row[0]).collect();
        let constants = RoundConstants { first: rows(outer), internal, last: rows(outer) };
        let permutation = Poseidon2::new(constants).expect("enough rounds");
        check(&permutation, permutation.host());
    }
    for (first, last) in [(2, 2), (0, 0), (4, 3), (3, 4)] {
        let constants = RoundConstants { first: rows(first), internal: Vec::new(), last: rows(last) };
        let error = Poseidon2::new(constants).expect_err("too few or unequal").to_string();
        assert!(error.contains("external rounds"), "{error}");
    }
}

/// A sponge gives `theirs` for rows of each length around multiples of its rate, in host and in device memory.
fn check_rows<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize>() {
    let permutation = Poseidon2::<F, WIDTH>::plonky3();
    let theirs = p3_symmetric::PaddingFreeSponge::<_, WIDTH, RATE, OUT>::new(permutation.host().clone());
    let sponge = PaddingFreeSponge::<F, WIDTH, RATE, OUT>::new(permutation);
    let mut rng = rng(RATE as u64);
    for (height, width) in [(1, 1), (130, RATE - 1), (5, RATE), (2, RATE + 1), (129, 3 * RATE), (3, 2 * RATE + 3)] {
        let values: Vec<F> = (0..height * width).map(|_| F::random(&mut rng)).collect();
        let hash = |row: &[F]| theirs.hash_iter(row.iter().copied().map(F::peel)).map(F::wrap);
        let expected: Vec<[F; OUT]> = values.chunks(width).map(hash).collect();
        for accelerator in accelerators_and_cpu() {
            let check = |matrix: RowMajorMatrix<'_, F>| {
                let (digests, _) = hash_rows(&accelerator, &sponge, matrix).unwrap_or_else(|error| panic!("{error}"));
                assert!(digests == expected, "{} {WIDTH}: {height} rows of {width} on {accelerator:?}", F::NAME);
            };
            check(RowMajorMatrix::host(&values, width).expect("whole rows"));
            if let Some(device) = accelerator.devices().first() {
                let mut stream = device.stream().expect("a stream");
                let resident = DeviceVector::upload(&mut stream, &values).expect("memory");
                check(RowMajorMatrix::device(&resident, width).expect("whole rows"));
            }
        }
    }
}

#[test]
fn rows() {
    check_rows::<Goldilocks, 8, 4, 4>();
    check_rows::<Goldilocks, 12, 8, 4>();
    check_rows::<Goldilocks, 16, 12, 3>();
    check_rows::<BabyBear, 16, 8, 8>();
    check_rows::<BabyBear, 24, 16, 8>();
    check_rows::<KoalaBear, 16, 8, 8>();
    check_rows::<KoalaBear, 24, 23, 1>();
}

#[test]
fn no_rows() {
    let sponge = PaddingFreeSponge::<KoalaBear, 16, 8, 8>::new(Poseidon2::plonky3());
    for accelerator in accelerators_and_cpu() {
        let empty = RowMajorMatrix::host(&[], 3).expect("no rows are whole");
        assert!(hash_rows(&accelerator, &sponge, empty).expect("no rows").0.is_empty());
    }
    for (elements, width) in [(4, 0), (4, 3), (0, 0)] {
        assert!(RowMajorMatrix::host(&[KoalaBear::from(1); 4][..elements], width).is_err(), "{elements} in {width}");
    }
}

/// Rows that are uploaded in two chunks: 33 of 1 MiB each.
#[test]
fn chunks() {
    let sponge = PaddingFreeSponge::<KoalaBear, 16, 8, 8>::new(Poseidon2::plonky3());
    let mut number = 0;
    let values = std::iter::repeat_with(|| {
        number += 1;
        KoalaBear::from(number)
    });
    let values: Vec<KoalaBear> = values.take(33 << 18).collect();
    let matrix = RowMajorMatrix::host(&values, 1 << 18).expect("whole rows");
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let (expected, _) = hash_rows(&cpu, &sponge, matrix).expect("a host");
    for accelerator in accelerators_with_devices() {
        let (digests, report) = hash_rows(&accelerator, &sponge, matrix).unwrap_or_else(|error| panic!("{error}"));
        assert!(digests == expected, "{accelerator:?}");
        assert_eq!(report.traffic.launches, 2);
    }
}
