//! Bytes of proofs of several claims: any claims with any bytes are refused or verified without a panic, and no damaged proof verifies.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use proofwarp::sumcheck::{BatchProof, ClaimBatch, Columns};
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::sumcheck::{AnyClaim, F, bound, case, cpu};

/// Claims of different sizes with the bytes of their proof.
static PROVED: LazyLock<(ClaimBatch<F>, Vec<u8>)> = LazyLock::new(|| {
    let cases = [(3, false), (0, false), (2, true)].map(|(variables, with_eq)| case(variables, with_eq));
    let batch = ClaimBatch::new(cases.iter().map(|case| case.claim.clone()).collect());
    let slices: Vec<Vec<&[F]>> = cases.iter().map(|case| case.columns.iter().map(Vec::as_slice).collect()).collect();
    let columns = slices.iter().map(|slices| Columns::host(slices)).collect();
    let proof = bound(|transcript| batch.prove(&cpu(), columns, transcript, None)).expect("a proof");
    (batch, proof.to_bytes())
});

fuzz_target!(|input: (Damage, Vec<AnyClaim>, Vec<u8>)| {
    let (damage, any, bytes) = input;
    let (batch, proof) = &*PROVED;
    let damaged = damage.of(proof);
    let read = BatchProof::from_bytes(batch, &damaged);
    let verified = read.as_ref().is_ok_and(|read| bound(|transcript| batch.verify(read, transcript)).is_ok());
    assert_eq!(verified, damaged == *proof, "a proof verifies if and only if it is undamaged");
    assert!(read.is_err() || read.is_ok_and(|read| read.to_bytes() == damaged), "read and written");
    let batch = ClaimBatch::new(any.into_iter().map(AnyClaim::claim).collect());
    // Zeros prove that zeros add up to zero: what is verified may be true.
    if let Ok(read) = BatchProof::from_bytes(&batch, &bytes) {
        let _ = bound(|transcript| batch.verify(&read, transcript));
    }
});
