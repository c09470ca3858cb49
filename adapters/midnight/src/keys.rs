//! Keys of one commitment scheme as keys of another that has the same commitments.

use std::io;

use midnight_curves::{Fq, G1Projective};
use midnight_proofs::plonk::{Circuit, ProvingKey};
use midnight_proofs::poly::commitment::PolynomialCommitmentScheme;
use midnight_proofs::utils::SerdeFormat;

/// The same key for another scheme: from midnight-proofs' own to [`crate::Resident`], or back. It is written and read again in
/// memory, which computes what a key holds beside its columns once more: seconds for a large circuit, once a key.
///
/// `C` is the circuit that the key was made for; of another one the outcome is an error, or a key that proves nothing.
///
/// # Errors
/// The key does not fit the circuit.
pub fn retype<A, B, C>(key: &ProvingKey<Fq, A>) -> io::Result<ProvingKey<Fq, B>>
where
    A: PolynomialCommitmentScheme<Fq, Commitment = G1Projective>,
    B: PolynomialCommitmentScheme<Fq, Commitment = G1Projective>,
    C: Circuit<Fq>,
{
    // It is our own memory, so that points need no check.
    const FORMAT: SerdeFormat = SerdeFormat::RawBytesUnchecked;
    ProvingKey::from_bytes::<C>(&key.to_bytes(FORMAT), FORMAT)
}
