//! Circuits in mapped files, and witnesses that are packed.

use std::fs::{File, Metadata};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use proofwarp::groth16::{Circuit, Densities, PackedScalars, Witness, prove};
use proofwarp::{Error, MappedFile};

use crate::circuits::{Kind, prover, setup};
use crate::common::accelerators_and_cpu;

fn map(path: &Path) -> Arc<MappedFile> {
    let same = |one: &Metadata, other: &Metadata| one.modified().ok() == other.modified().ok();
    let file = File::open(path).expect("a file");
    // SAFETY: the tests change the file only between uses.
    Arc::new(unsafe { MappedFile::new(file, path.to_owned(), same) }.expect("a map"))
}

fn pack(values: &[Scalar]) -> PackedScalars<Scalar> {
    values.iter().copied().collect()
}

/// Checks that a circuit in a file, and a packed witness, give the proofs of a circuit in memory and a slice.
#[test]
fn the_same_proofs_from_less_host_memory() {
    let (key, folder) = (setup(5, Kind::Plain), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("circuit");
    let (r, s) = ([Scalar::from(5); 3], [Scalar::from(6); 3]);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        prover.circuit().write_to(&mut File::create(&path).expect("a file")).expect("a circuit");
        let mapped = Circuit::from_file(&map(&path)).expect("the circuit");
        let (packed, mut wrong) = (pack(&aux), aux.clone());
        wrong[3] += Scalar::ONE;
        let slices = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
        let witnesses = [slices, Witness { aux: (&packed).into(), ..slices }, slices];
        let expected = prove(prover.key(), prover.circuit(), &witnesses, &r, &s, None).expect("proofs").0;
        let actual = prove(prover.key(), &mapped, &witnesses, &r, &s, None).expect("proofs").0;
        assert!(expected.iter().chain(&actual).all(|proof| *proof == expected[0]));
        for circuit in [&mapped, prover.circuit()] {
            assert!(circuit.is_satisfied(&accelerator, &witnesses[1]).expect("a witness"));
            assert!(
                !circuit.is_satisfied(&accelerator, &Witness { aux: (&wrong).into(), ..slices }).expect("a witness")
            );
        }
        let short = pack(&aux[1..]);
        let error = prove(prover.key(), &mapped, &[Witness { aux: (&short).into(), ..slices }], &r[..1], &s[..1], None);
        let error = error.expect_err("a short witness").to_string();
        assert!(error.contains("auxiliary values of witness 0: expected 11, got 10"), "{error}");
    }
}

/// Checks that a file that was written to gives an error instead of a proof, unless the devices have the matrices.
#[test]
fn files_that_change() {
    let (key, folder) = (setup(5, Kind::Plain), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("circuit");
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        prover.circuit().write_to(&mut File::create(&path).expect("a file")).expect("a circuit");
        let mapped = Circuit::from_file(&map(&path)).expect("the circuit");
        std::thread::sleep(std::time::Duration::from_millis(20));
        File::options().append(true).open(&path).and_then(|mut file| file.write_all(b"more")).expect("a change");
        let witness = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
        let one = [Scalar::ONE];
        let error = prove(prover.key(), &mapped, &[witness], &one, &one, None).expect_err("another file");
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("changed since"), "{error}");
        let error = Circuit::<Scalar>::from_file(&map(&path)).expect_err("more bytes").to_string();
        assert!(error.contains("bytes of "), "{error}");
    }
}

#[test]
fn files_that_are_no_circuit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("circuit");
    for (bytes, part) in [
        (&b"pw-r1cs1"[..], "expected pw-r1cs1, then 8 bytes, got 8 bytes"),
        (b"pw-r1cs21234567", "got 15 bytes"),
        (b"pw-r1cs212345678", "got pw-r1cs2"),
        (b"pw-r1cs1\x02\0\0\0\0\0\0\0", "header of "),
    ] {
        std::fs::write(&path, bytes).expect("a file");
        let error = Circuit::<Scalar>::from_file(&map(&path)).expect_err("no circuit").to_string();
        assert!(error.contains(part), "{error}");
    }
    let densities = Densities { a_aux: &[true], b_inputs: &[true], b_aux: &[true] };
    let bare = Circuit::<Scalar>::new(1, densities).expect("a circuit");
    let error = bare.write_to(&mut Vec::new()).expect_err("no matrices").to_string();
    assert_eq!(error, "expected a circuit with matrices A, B and C, got 0 of them");
}
