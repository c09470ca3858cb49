//! Converts keys between commitment schemes that have the same commitments.

use std::io;

use midnight_curves::{Fq, G1Projective};
use midnight_proofs::plonk::{Circuit, ProvingKey};
use midnight_proofs::poly::commitment::PolynomialCommitmentScheme;
use midnight_proofs::utils::SerdeFormat;

/// Converts `key` to another scheme: from midnight-proofs' own to [`crate::GpuKzgScheme`], or back. The key is written
/// and read again in memory, which recomputes everything in it but its columns. That takes seconds for a large circuit,
/// once per key.
///
/// `C` is the circuit that the key was made for. Another circuit gives an error, or a key that proves nothing.
///
/// # Errors
/// - The key does not fit the circuit: the error of [`ProvingKey::from_bytes`].
pub fn retype<A, B, C>(key: &ProvingKey<Fq, A>) -> io::Result<ProvingKey<Fq, B>>
where
    A: PolynomialCommitmentScheme<Fq, Commitment = G1Projective>,
    B: PolynomialCommitmentScheme<Fq, Commitment = G1Projective>,
    C: Circuit<Fq>,
{
    // The bytes are our own, so points need no check.
    const FORMAT: SerdeFormat = SerdeFormat::RawBytesUnchecked;
    ProvingKey::from_bytes::<C>(&key.to_bytes(FORMAT), FORMAT)
}
