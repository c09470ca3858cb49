//! Bytes of sumcheck's proofs: any claim with any bytes is refused or verified without a panic, and no damaged proof verifies.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use proofwarp::sumcheck::{Columns, Proof, prove, verify};
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::sumcheck::{AnyClaim, Case, bound, case, cpu};

/// Claims with the bytes of their proofs.
static PROVED: LazyLock<Vec<(Case, Vec<u8>)>> = LazyLock::new(|| {
    let proved = |(variables, with_eq)| {
        let case = case(variables, with_eq);
        let slices: Vec<_> = case.columns.iter().map(Vec::as_slice).collect();
        let (proof, _) =
            bound(|transcript| prove(&cpu(), &case.claim, Columns::host(&slices), transcript, None)).expect("a proof");
        (case, proof.to_bytes())
    };
    [(0, false), (1, true), (3, false), (4, true)].into_iter().map(proved).collect()
});

fuzz_target!(|input: (u8, Damage, AnyClaim, Vec<u8>)| {
    let (number, damage, any, bytes) = input;
    let (case, proof) = &PROVED[usize::from(number) % PROVED.len()];
    let damaged = damage.of(proof);
    let read = Proof::from_bytes(&case.claim, &damaged);
    let verified = read.as_ref().is_ok_and(|read| bound(|transcript| verify(&case.claim, read, transcript)).is_ok());
    assert_eq!(verified, damaged == *proof, "a proof verifies if and only if it is undamaged");
    assert!(read.is_err() || read.is_ok_and(|read| read.to_bytes() == damaged), "read and written");
    let claim = any.claim();
    // Zeros prove that zeros add up to zero: what is verified may be true.
    if let Ok(read) = Proof::from_bytes(&claim, &bytes) {
        let _ = bound(|transcript| verify(&claim, &read, transcript));
    }
    if let Ok(undamaged) = Proof::from_bytes(&case.claim, proof) {
        let verified = bound(|transcript| verify(&claim, &undamaged, transcript)).is_ok();
        assert!(!verified || claim == case.claim, "another claim's proof");
    }
});
