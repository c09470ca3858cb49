//! Proves circuits of many sizes on the CPU and on the device, and compares the proofs with those of the reference.

mod common;

use blstrs::Bls12;
use common::generator;
use common::reference::{self, scalars};
use ff::Field;
use halo2curves::bn256::Bn256;
use proofwarp::backend::{self, Device, Driver};
use proofwarp::{Accelerator, BackendKind};
use proofwarp_circom::{Blinding, Error, Groth16Engine, ProveOptions, ProvingKey, Witness, Zkey, verify};

fn open_zkey<E: Groth16Engine>(constraints: usize) -> Zkey {
    Zkey::from_bytes("generated.zkey", generator::zkey::<E>(constraints).to_bytes()).expect("a zkey")
}

fn open_witness<E: Groth16Engine>(constraints: usize, first: u64) -> Witness {
    let bytes = generator::witness::<E>(constraints, E::Fr::from(first)).to_bytes();
    Witness::from_bytes("generated.wtns", bytes).expect("a witness")
}

/// Returns an accelerator for each backend, forced so that none falls back. `PROOFWARP_BACKEND` names one of them.
fn accelerators() -> Vec<Accelerator> {
    if let Some(backend) = Accelerator::from_env().expect("a backend").forced() {
        return vec![Accelerator::with_backend(backend).expect("the backend that is forced")];
    }
    let all = [BackendKind::Cuda, BackendKind::OpenCl, BackendKind::Cpu].map(Accelerator::with_backend);
    all.iter().filter_map(|found| found.as_ref().err()).for_each(|error| eprintln!("left out: {error}"));
    let found: Vec<_> = all.into_iter().flatten().collect();
    assert!(found.len() > 1, "no device to test on (PoCL serves with PROOFWARP_OPENCL_CPU=1)");
    found
}

fn options<F>(pairs: &[Blinding<F>]) -> ProveOptions<'_, F> {
    ProveOptions { blinding: Some(pairs), ..ProveOptions::default() }
}

/// With given r and s, the proof is the reference's.
fn equals_reference<E: Groth16Engine>(constraints: usize) {
    let (zkey, witness) = (open_zkey::<E>(constraints), open_witness::<E>(constraints, 3));
    let pair = Blinding { r: E::Fr::from(11).square(), s: -E::Fr::from(13) };
    let expected = reference::prove::<E>(&zkey, &scalars(&witness), reference::Blinding { r: pair.r, s: pair.s });
    for accelerator in accelerators() {
        let key = ProvingKey::<E>::new(&accelerator, &zkey).expect("a key");
        let proofs = key.prove_with(&[&witness], options(&[pair])).expect("a proof");
        assert_eq!(proofs, [expected], "{constraints} constraints");
        let public = key.public_signals(&witness).expect("signals");
        assert!(verify(key.verification_key(), &public, &expected).expect("points of the subgroup"));
    }
}

#[test]
fn proofs_equal_those_of_the_reference() {
    for constraints in [2, 3, 5, 6, 14, 30, 100, 254] {
        equals_reference::<Bn256>(constraints);
        equals_reference::<Bls12>(constraints);
    }
}

#[test]
fn batches_are_proofs_of_each_witness_in_order() {
    const CONSTRAINTS: usize = 62;
    let zkey = open_zkey::<Bn256>(CONSTRAINTS);
    let witnesses: Vec<_> = (1..6).map(|first| open_witness::<Bn256>(CONSTRAINTS, first)).collect();
    for accelerator in accelerators() {
        let key = ProvingKey::<Bn256>::new(&accelerator, &zkey).expect("a key");
        let proofs = key.prove_batch(&witnesses).expect("proofs");
        assert_eq!(proofs.len(), witnesses.len());
        for (proof, witness) in proofs.iter().zip(&witnesses) {
            let public = key.public_signals(witness).expect("signals");
            assert!(verify(key.verification_key(), &public, proof).expect("points of the subgroup"));
        }
        assert_eq!(key.prove_batch(&[]).expect("no proofs"), []);
    }
}

#[test]
fn proofs_of_one_witness_differ() {
    let (zkey, witness) = (open_zkey::<Bls12>(6), open_witness::<Bls12>(6, 5));
    let key = ProvingKey::<Bls12>::new(&accelerators()[0], &zkey).expect("a key");
    assert_ne!(key.prove(&witness).expect("a proof"), key.prove(&witness).expect("a proof"));
}

#[test]
fn a_witness_that_fails_gives_an_error_unless_verification_is_off() {
    let zkey = open_zkey::<Bn256>(14);
    let mut file = generator::witness::<Bn256>(14, 3.into());
    file.section(2)[32 * 7] ^= 1;
    let witness = Witness::from_bytes("changed.wtns", file.to_bytes()).expect("a witness");
    for accelerator in accelerators() {
        let key = ProvingKey::<Bn256>::new(&accelerator, &zkey).expect("a key");
        let error = key.prove(&witness).expect_err("an invalid proof");
        assert!(matches!(error, Error::InvalidProof { .. }), "{error}");
        assert!(error.to_string().starts_with("changed.wtns: the proof does not verify"), "{error}");
        let unverified = ProveOptions { verify: false, ..ProveOptions::default() };
        let proofs = key.prove_with(&[&witness], unverified).expect("a proof");
        let public = key.public_signals(&witness).expect("signals");
        assert!(!verify(key.verification_key(), &public, &proofs[0]).expect("points of the subgroup"));
    }
}

#[test]
fn keys_and_witnesses_that_do_not_fit_are_refused() {
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let key = ProvingKey::<Bn256>::new(&accelerator, &open_zkey::<Bn256>(6)).expect("a key");
    let error = key.prove(&open_witness::<Bn256>(7, 3)).expect_err("another length");
    assert!(matches!(error, Error::WitnessLength { expected: 8, actual: 9, .. }), "{error}");
    let error = key.prove(&open_witness::<Bls12>(6, 3)).expect_err("another curve");
    assert!(matches!(error, Error::OtherCurve { .. }), "{error}");
    let error = ProvingKey::<Bls12>::new(&accelerator, &open_zkey::<Bn256>(6)).expect_err("another curve");
    assert!(matches!(error, Error::OtherCurve { .. }), "{error}");
    let pair = Blinding { r: 1.into(), s: 2.into() };
    let witness = open_witness::<Bn256>(6, 3);
    let error = key.prove_with(&[&witness], options(&[pair, pair])).expect_err("two pairs for one witness");
    assert!(error.to_string().contains("number of r"), "{error}");
}

#[test]
fn a_point_off_the_curve_is_named() {
    let mut file = generator::zkey::<Bn256>(6);
    // Point 3 of A: another x.
    file.section(5)[3 * 64] ^= 1;
    let zkey = Zkey::from_bytes("damaged.zkey", file.to_bytes()).expect("coordinates below q");
    let error = ProvingKey::<Bn256>::new(&accelerators()[0], &zkey).expect_err("a point off the curve").to_string();
    assert!(error.starts_with("damaged.zkey: section 5") && error.contains("point 3"), "{error}");
}

/// Returns a device like that of `accelerator`, with `limit` bytes of memory, if it has one.
fn limited(accelerator: &Accelerator, limit: u64) -> Option<Accelerator> {
    let like = accelerator.devices().first()?;
    let driver: Box<dyn Driver> = match like.info().backend {
        #[cfg(feature = "opencl")]
        BackendKind::OpenCl => Box::new(backend::opencl::drivers().expect("the platform").remove(0)),
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => Box::new(backend::cuda::drivers().expect("the driver").remove(0)),
        other => panic!("{other} has no devices"),
    };
    Some(accelerator.with_devices(vec![Device::new(driver, Some(limit))]))
}

/// Proofs of a batch, and the sums of a single proof, are spread over two devices that share the hardware of one.
#[test]
fn several_devices_share_a_batch() {
    const CONSTRAINTS: usize = 300;
    let zkey = open_zkey::<Bn256>(CONSTRAINTS);
    let witnesses: Vec<_> = (1..6).map(|first| open_witness::<Bn256>(CONSTRAINTS, first)).collect();
    let all: Vec<_> = witnesses.iter().collect();
    let pairs: Vec<_> = (1..6).map(|r| Blinding { r: r.into(), s: (5 * r).into() }).collect();
    for accelerator in accelerators() {
        let devices = (0..2).filter_map(|_| Some(limited(&accelerator, 1 << 30)?.devices()[0].clone())).collect();
        let [one, two] = [accelerator.clone(), accelerator.with_devices(devices)]
            .map(|it| ProvingKey::<Bn256>::new(&it, &zkey).expect("a key"));
        let expected = one.prove_with(&all, options(&pairs)).expect("proofs");
        assert_eq!(two.prove_with(&all, options(&pairs)).expect("proofs of two devices"), expected);
        assert_eq!(two.prove_with(&all[..1], options(&pairs[..1])).expect("a proof of two"), expected[..1]);
    }
}

#[test]
fn keys_that_do_not_fit_are_streamed() {
    const CONSTRAINTS: usize = 2000;
    let zkey = open_zkey::<Bn256>(CONSTRAINTS);
    let witnesses: Vec<_> = (1..4).map(|first| open_witness::<Bn256>(CONSTRAINTS, first)).collect();
    let all: Vec<_> = witnesses.iter().collect();
    let pairs: Vec<_> = (1..4).map(|r| Blinding { r: r.into(), s: (7 * r).into() }).collect();
    for accelerator in accelerators() {
        // The key's points alone take .6 MB, and 16 MiB are left free for proofs.
        let Some(small) = limited(&accelerator, 16 << 20) else { continue };
        let [large, small] = [accelerator, small].map(|it| ProvingKey::<Bn256>::new(&it, &zkey).expect("a key"));
        assert!(small.device_bytes() < large.device_bytes(), "points stay on the host");
        let expected = large.prove_with(&all, options(&pairs)).expect("proofs");
        assert_eq!(small.prove_with(&all, options(&pairs)).expect("proofs by streams"), expected);
        assert_eq!(small.prove_with(&all[..1], options(&pairs[..1])).expect("a proof by streams"), expected[..1]);
    }
}
