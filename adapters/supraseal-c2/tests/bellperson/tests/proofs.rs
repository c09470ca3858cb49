//! An unmodified bellperson proves on the backend that `PROOFWARP_BACKEND` forces.

mod common;

use bellperson::groth16::{Proof, create_proof_batch};
use blstrs::{Bls12, Scalar};
use common::{equals_stock, open, panic_of, prove, verify};
use supraseal_c2::{Assignment, SRS, generate_groth16_proof, generate_groth16_proofs};
use supraseal_c2_tests::{BATCHES, CASES, Chain, Kind, RANDOM, batch, bytes, folder, parameter_file, parameters};
use supraseal_c2_tests::{proof_file, random_batch, random_case};

#[test]
fn equal_to_bellpersons_own() {
    for case in 0..CASES.len() {
        let key = open(&parameter_file(&folder(), case));
        BATCHES.into_iter().for_each(|count| equals_stock(&key, case, count));
    }
}

/// Systems drawn at random, whose witnesses satisfy them: what does not verify would be refused.
#[test]
fn random_systems() {
    for number in 0..RANDOM {
        let (circuits, r, s) = random_batch(number);
        let (case, count) = (random_case(number), circuits.len());
        let key = open(&parameter_file(&folder(), case));
        let proofs = create_proof_batch(circuits, &key, r, s).expect("proofs");
        let expected = std::fs::read(proof_file(&folder(), case, count, 0)).expect("bellperson's proofs");
        assert_eq!(bytes(&proofs), expected, "system {number}, {count}");
    }
}

#[test]
fn several_threads_share_parameters() {
    let key = open(&parameter_file(&folder(), 1));
    std::thread::scope(|scope| {
        for count in BATCHES {
            let key = &key;
            scope.spawn(move || equals_stock(key, 1, count));
        }
    });
}

#[test]
fn a_wrong_witness_gives_the_proof_that_bellperson_gives() {
    let file = parameter_file(&folder(), 2);
    let (kind, links) = CASES[2];
    let (circuits, r, s) = batch(Chain { error: 1, ..Chain::new(kind, links) }, 1);
    let proofs = prove(circuits.clone(), &open(&file), r, s);
    assert!(!verify(&file, &circuits, &proofs));
    assert_eq!(bytes(&proofs), std::fs::read(proof_file(&folder(), 2, 1, 1)).expect("bellperson's proof"));
}

#[test]
fn circuits_of_other_densities_are_refused() {
    let key = open(&parameter_file(&folder(), 1));
    let (kind, links) = CASES[1];
    let other = Chain::new(Kind::Swapped, links);
    let ([r, s], circuits) = ([(); 2].map(|()| vec![Scalar::from(2); 2]), vec![Chain::new(kind, links), other]);
    let panic = panic_of(|| prove(circuits, &key, r, s));
    assert!(panic.contains("densities of assignment 1"), "{panic}");
    equals_stock(&key, 1, 2);
}

#[test]
fn parameters_of_another_circuit_are_refused() {
    let key = open(&parameter_file(&folder(), 1));
    let (kind, links) = CASES[1];
    let one = || vec![Scalar::from(2)];
    let panic = panic_of(|| prove(vec![Chain::new(kind, links + 1)], &key, one(), one()));
    assert!(panic.contains("bases of l: expected 83, got 81"), "{panic}");
    // Of the same shape, so that only the proof shows it.
    let panic = panic_of(|| prove(vec![Chain { constant: 7, ..Chain::new(kind, links) }], &key, one(), one()));
    assert!(panic.contains("proof 0 made on") && panic.contains("does not verify"), "{panic}");
    equals_stock(&key, 1, 1);
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let srs = SRS::try_new(parameter_file(&folder(), 0), false).expect("parameters");
    let none: [Assignment<Scalar>; 0] = [];
    generate_groth16_proofs::<_, [u64; 48]>(&none, &[], &[], &mut [], &srs);
    let panic = panic_of(|| generate_groth16_proofs::<_, [u64; 48]>(&none, &[Scalar::from(1)], &[], &mut [], &srs));
    assert!(panic.contains("number of r: expected 0, got 1"), "{panic}");
    let panic = panic_of(|| generate_groth16_proofs::<_, [u64; 47]>(&none, &[], &[], &mut [], &srs));
    assert!(panic.contains("type of proofs") && panic.contains("384 bytes"), "{panic}");
    let wrong: [Assignment<[u64; 4]>; 0] = [];
    let panic = panic_of(|| generate_groth16_proofs::<_, [u64; 48]>(&wrong, &[], &[], &mut [], &srs));
    assert!(panic.contains("type of scalars") && panic.contains("[u64; 4]"), "{panic}");
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let srs = SRS::try_new(parameter_file(&folder(), 0), false).expect("parameters");
    // Bits behind the last one are whatever they are.
    let (scalars, words, one) = ([Scalar::from(1); 3], [usize::MAX], [Scalar::from(1)]);
    let good = || Assignment {
        a_aux_density: words.as_ptr(),
        a_aux_bit_len: 3,
        a_aux_popcount: 3,
        b_inp_density: words.as_ptr(),
        b_inp_bit_len: 2,
        b_inp_popcount: 2,
        b_aux_density: words.as_ptr(),
        b_aux_bit_len: 3,
        b_aux_popcount: 3,
        a: scalars.as_ptr(),
        b: scalars.as_ptr(),
        c: scalars.as_ptr(),
        abc_size: 3,
        inp_assignment_data: scalars.as_ptr(),
        inp_assignment_size: 2,
        aux_assignment_data: scalars.as_ptr(),
        aux_assignment_size: 3,
    };
    let refused = |assignment, reason: &str, srs: &SRS| {
        let panic = panic_of(|| generate_groth16_proofs(&[assignment], &one, &one, &mut [[0_u64; 48]], srs));
        assert!(panic.contains(reason), "{reason} is not in: {panic}");
    };
    refused(Assignment { a: std::ptr::null(), ..good() }, "a of assignment 0: expected an aligned pointer", &srs);
    refused(
        Assignment { b_inp_popcount: 1, ..good() },
        "ones in b_inp_density of assignment 0: expected 1, got 2",
        &srs,
    );
    refused(Assignment { b_aux_bit_len: 2, b_aux_popcount: 2, ..good() }, "bits of a density", &srs);
    refused(good(), "elements of the key's domain", &srs);
    refused(good(), "an empty default", &SRS::default());
}

/// bellperson calls it no more: the circuit of one link by hand.
#[test]
fn the_call_with_shared_densities() {
    let srs = SRS::try_new(parameter_file(&folder(), 0), false).expect("parameters");
    let (circuits, r, s) = batch(Chain::new(CASES[0].0, CASES[0].1), 1);
    let (x, result) = (circuits[0].secret, circuits[0].inputs()[0]);
    let (one, zero, square) = (Scalar::from(1), Scalar::from(0), x * x);
    let vectors = [
        [x, square, result, one, result],
        [x, x, one, zero, zero],
        [square, square * x, result, zero, zero],
        [one, result, zero, zero, zero],
        [x, square, result, zero, zero],
    ];
    let [a, b, c, inputs, aux] = vectors.each_ref().map(|vector| [vector.as_ptr()]);
    let [a_aux, b_inputs, b_aux] = [[0b111_u64], [0b01], [0b001]];
    let point = blstrs::G1Affine::default();
    let mut proofs = [Proof::<Bls12> { a: point, b: blstrs::G2Affine::default(), c: point }];
    generate_groth16_proof(
        &a,
        &b,
        &c,
        5,
        &inputs,
        &aux,
        2,
        3,
        &a_aux,
        &b_inputs,
        &b_aux,
        3,
        1,
        1,
        1,
        &r,
        &s,
        &mut proofs,
        &srs,
    );
    assert_eq!(bytes(&proofs), std::fs::read(proof_file(&folder(), 0, 1, 0)).expect("bellperson's proof"));
}

#[test]
fn parameters_are_kept_where_asked_for() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("kept");
    parameters(Chain::new(Kind::Plain, 2)).write(std::fs::File::create(&path).expect("file")).expect("parameters");
    let first = SRS::try_new(path.clone(), true).expect("parameters");
    // Changed in place, with length and time of modification as they were: what is kept is not of that state.
    let time = std::fs::metadata(&path).and_then(|data| data.modified()).expect("time");
    let garbage = vec![0; std::fs::read(&path).expect("file").len()];
    std::fs::write(&path, garbage).expect("file");
    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).expect("time");
    for cache in [true, false] {
        SRS::try_new(path.clone(), cache).expect_err("read again");
    }
    first.evict();
    SRS::try_new(path, true).expect_err("read again");
}

/// Batches by workers of pools of one to four: they read the parameters, and make the same proofs, at a time.
#[test]
fn workers_of_pools() {
    for threads in 1..=4 {
        let (sender, ended) = std::sync::mpsc::channel();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.spawn(move || {
            let key = open(&parameter_file(&folder(), 1));
            let again = || SRS::try_new(parameter_file(&folder(), 1), true).map(drop).expect("parameters");
            rayon::scope(|scope| {
                (0..4).for_each(|_| scope.spawn(|_| again()));
                (0..6).for_each(|_| scope.spawn(|_| equals_stock(&key, 1, 2)));
            });
            sender.send(()).expect("the test waits");
        });
        ended.recv_timeout(std::time::Duration::from_secs(300)).expect("an end, not a deadlock");
    }
}
