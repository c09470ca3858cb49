//! The path over bit-sliced columns.

use proofwarp::BackendKind;
use proofwarp::backend::Arg;
use proofwarp::field::DeviceVector;
use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::{self, Tower};
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use proofwarp::sumcheck::{
    Claim, Columns, KernelPath, Prover, SumcheckField, SumcheckOptions, bitslice_column, prove_with,
};
use proofwarp::{Accelerator, Error};

use rand::RngCore;

use crate::common::{abort_after, accelerators_with_devices, alone, rng};
use crate::tools::{Case, EVERYWHERE, Lying, transcript, unbound};

const SLICED: SumcheckOptions = SumcheckOptions { path: Some(KernelPath::Bitsliced), tail: None, rounds_a_pass: None };

fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("always there")
}

/// The CPU's proof, from everywhere.
fn agrees<F: SumcheckField>(case: &Case<F>, tails: &[Option<u32>]) {
    let expected = case.prove(&cpu(), Lying::Host, &SumcheckOptions::default());
    // By the definition, which takes its time.
    if case.claim.variables() <= 11 {
        case.check(&expected);
    }
    for accelerator in accelerators_with_devices() {
        for (lying, tail) in EVERYWHERE.iter().flat_map(|lying| tails.iter().map(move |tail| (*lying, *tail))) {
            let proof = case.prove(&accelerator, lying, &SumcheckOptions { tail, ..SLICED });
            assert!(proof == expected, "{accelerator:?} {lying:?} {tail:?} {:?}", case.claim);
        }
    }
}

fn products<F: SumcheckField>() {
    for degree in 2..=4 {
        // Too few rows for a tile, one round, two rounds, and more tiles than some devices have groups.
        for (variables, tails) in [(3, &[Some(0)][..]), (11, &[None]), (12, &[Some(0), Some(11)]), (15, &[None])] {
            agrees(&Case::<F>::product(variables, degree, 900 + u64::from(variables) + degree as u64), tails);
        }
    }
}

#[test]
fn in_the_tower() {
    products::<Tower>();
}

#[test]
fn in_the_field_of_ghash() {
    products::<Ghash>();
}

/// From bit-sliced columns on a device, by whatever path; they stay as they are.
#[test]
fn columns_that_are_sliced() {
    let cases = [Case::<Tower>::product(10, 2, 70), Case::product(12, 3, 71), Case::terms(11, 3, 72).with_eq(73)];
    for case in cases {
        let expected = case.prove(&cpu(), Lying::Host, &SumcheckOptions::default());
        let words: Vec<Tower> = case.columns.iter().flat_map(|column| bitslice_column(column)).collect();
        for accelerator in accelerators_with_devices() {
            let mut stream = accelerator.devices()[0].stream().expect("stream");
            let vector = DeviceVector::upload(&mut stream, &words).expect("memory");
            stream.synchronize(None).expect("upload");
            let paths = [None, Some(KernelPath::Portable), Some(KernelPath::Bitsliced)];
            for path in paths.into_iter().filter(|path| case.is_product() || *path != Some(KernelPath::Bitsliced)) {
                let (options, columns) =
                    (SumcheckOptions { path, ..SumcheckOptions::default() }, Columns::device_sliced(&vector));
                let proved = prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &options, None);
                assert!(proved.expect("a proof").0 == expected, "{accelerator:?} {path:?} {:?}", case.claim);
            }
            let mut after = vec![Tower::default(); words.len()];
            vector.download(&mut stream, &mut after).expect("download");
            assert!(after == words, "kept columns were changed");
        }
    }
}

#[test]
fn columns_that_cannot_be_sliced() {
    let (few, other) = (Case::<Tower>::product(9, 2, 74), Case::<Ghash>::product(10, 2, 75));
    for accelerator in accelerators_with_devices() {
        let (few_rows, of_ghash) = (few.upload(&accelerator), other.upload(&accelerator));
        let errors = [
            Prover::new(&accelerator, &few.claim, Columns::device_sliced(&few_rows)).map(drop),
            Prover::new(&accelerator, &other.claim, Columns::device_sliced(&of_ghash)).map(drop),
        ];
        for (error, actual) in errors.into_iter().zip(["512 of tower", "1024 of ghash"]) {
            let error = error.expect_err("refused").to_string();
            assert!(error.contains("at least 1024 rows") && error.ends_with(actual), "{error}");
        }
    }
}

/// Elements of 32 bits, a bit of 32 of them a word: of one group's 1024, in the kernel's order.
fn by_bits(elements: &[u32]) -> Vec<u8> {
    let word = |bit: usize, lane: usize| (0..32).map(|i| (elements[32 * lane + i] >> bit & 1) << i).sum::<u32>();
    (0..32).flat_map(|bit| (0..32).flat_map(move |lane| word(bit, lane).to_le_bytes())).collect()
}

/// Each bit times each bit, all bits times all, and random ones.
#[test]
fn products_of_32_bits() {
    let mut rng = rng(12);
    let singles: Vec<(u32, u32)> = (0..1024).map(|i| (1 << (i % 32), 1 << (i / 32))).collect();
    let random: Vec<(u32, u32)> = (0..1024).map(|_| (rng.next_u32(), rng.next_u32())).collect();
    for pairs in [singles, vec![(u32::MAX, u32::MAX); 1024], random] {
        let (a, b): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let products = a.iter().zip(&b).map(|(a, b)| tower::product(5, (*a).into(), (*b).into()) as u32);
        let expected = by_bits(&products.collect::<Vec<_>>());
        for accelerator in accelerators_with_devices() {
            let program = KernelModule::find(&kernels::sumcheck::SLICED, "tower").expect("module exists");
            let mut stream = accelerator.devices()[0].stream().expect("stream");
            let [x, y, to] = [(); 3].map(|()| stream.allocate(expected.len()).expect("memory"));
            stream.upload(&x, &by_bits(&a)).expect("upload");
            stream.upload(&y, &by_bits(&b)).expect("upload");
            let args = [&x, &y, &to].map(|buffer| Arg::Memory(buffer.handle()));
            // SAFETY: the arguments are those of the kernel, and buffers have the words of one group.
            unsafe { program.launch(&mut stream, "sliced_products", 32, 32, &args) }.expect("launch");
            let mut got = vec![0; expected.len()];
            stream.download(&mut got, &to).expect("download");
            assert!(got == expected, "{accelerator:?}");
        }
    }
}

/// Rows whose bits are all set, or one of them.
#[test]
fn extreme_elements() {
    let bits = |row: usize| [u128::MAX, 1 << (row % 128), 0, 1 << 127][row / 3 % 4];
    let column = |step: usize| (0..1 << 11).map(|row| Tower(bits(row * step + step))).collect();
    for degree in 2..=4 {
        let claim = Claim::product(11, &(0..degree).collect::<Vec<_>>());
        agrees(&Case::new(claim, (1..=degree).map(column).collect()), &[None]);
    }
}

#[test]
fn what_runs_where_is_told() {
    let case = Case::<Tower>::product(12, 3, 8);
    for accelerator in accelerators_with_devices() {
        let new = |variables: u32, options: &SumcheckOptions| {
            let case = Case::<Tower>::product(variables, 3, 8);
            let columns = Columns::host(&case.slices());
            Prover::with_options(&accelerator, &case.claim, columns, options).expect("memory").explain().clone()
        };
        let told = new(12, &SLICED);
        assert_eq!((told.path, told.device_rounds, told.host_rounds), (Some(KernelPath::Bitsliced), 2, 10));
        assert!(told.to_string().starts_with("2 rounds on the device (bitsliced, a pass a round, "), "{told}");
        let told = new(10, &SumcheckOptions { tail: Some(0), ..SLICED });
        assert_eq!(told.path, Some(KernelPath::Portable));
        assert_eq!(told.reasons, ["path bitsliced not used: expected more than 2^10 rows, got 2^10"]);
        // It is taken where it is asked for.
        assert_ne!(new(case.claim.variables(), &SumcheckOptions::default()).path, Some(KernelPath::Bitsliced));
    }
}

#[test]
fn other_claims_are_refused() {
    let expected = "sumcheck: path: expected another where the claim is not on the product of all columns, two to four, \
                    without eq, got bitsliced";
    let cases =
        [Case::product(3, 1, 1), Case::product(3, 5, 2), Case::terms(3, 2, 3), Case::product(3, 2, 4).with_eq(5)];
    for case in cases {
        let case: Case<Tower> = case;
        for accelerator in accelerators_with_devices() {
            let columns = Columns::host(&case.slices());
            let error = prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &SLICED, None);
            assert_eq!(error.expect_err("another path").to_string(), expected);
        }
    }
    let case = Case::<blstrs::Scalar>::product(3, 2, 6);
    let columns = Columns::host(&case.slices());
    let error =
        prove_with(&cpu(), &case.claim, columns, unbound(&mut transcript()), &SLICED, None).expect_err("a prime field");
    assert_eq!(error.to_string(), "sumcheck: path: expected portable for a prime field, got bitsliced");
}

#[test]
fn an_abort_in_each_round() {
    let case = Case::<Ghash>::product(13, 2, 9);
    let expected = case.prove(&cpu(), Lying::Host, &SLICED);
    for accelerator in accelerators_with_devices() {
        let mut aborted = 0;
        for questions in 0..1000 {
            let hook = abort_after(questions);
            let columns = Columns::host(&case.slices());
            match prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &SLICED, Some(&hook)) {
                Ok((proof, _)) => {
                    assert_eq!(proof, expected);
                    break;
                }
                Err(error) => assert!(matches!(error, Error::Aborted), "{error}"),
            }
            aborted += 1;
        }
        assert!((3..1000).contains(&aborted), "{aborted} times on {accelerator:?}");
    }
}

#[test]
fn failures_and_too_little_memory() {
    let case = Case::<Tower>::product(12, 3, 10);
    let expected = case.prove(&cpu(), Lying::Host, &SLICED);
    let prove = |accelerator: &Accelerator| {
        prove_with(accelerator, &case.claim, Columns::host(&case.slices()), unbound(&mut transcript()), &SLICED, None)
    };
    for accelerator in alone(None) {
        for launches in 0..4 {
            accelerator.devices()[0].inject_launch_fault(launches);
            let error = prove(&accelerator).expect_err("made to fail").to_string();
            assert!(error.contains("failure injected"), "{error}");
        }
    }
    for limit in (1..12).map(|pages| pages << 17) {
        for accelerator in alone(Some(limit)) {
            match prove(&accelerator) {
                Ok((proof, _)) => assert_eq!(proof, expected),
                Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
            }
        }
    }
}
