//! Converts between midnight-curves' types and bytes in Montgomery form, which proofwarp takes.

use std::io::{self, Write};

use group::Curve;
use group::prime::PrimeCurveAffine;
use midnight_curves::serde::SerdeObject;
use midnight_curves::{Bls12, Fq, G1Affine, G1Projective};
use midnight_proofs::poly::kzg::params::ParamsKZG;
use midnight_proofs::utils::SerdeFormat;
use rayon::prelude::*;

/// Number of points that one task converts.
const GRAIN: usize = 1 << 10;

/// A type of midnight-curves whose memory is little-endian limbs in Montgomery form.
///
/// # Safety
/// The type is transparent over words of blst: it has no padding, and every bit pattern is a value.
pub(crate) unsafe trait MontgomeryLimbs {}
// SAFETY: the type is transparent over `blst_fr`, four words.
unsafe impl MontgomeryLimbs for Fq {}
// SAFETY: the type is transparent over `blst_p1_affine`, x and y of six words each, which are zero for infinity.
unsafe impl MontgomeryLimbs for G1Affine {}

/// Returns the memory of `values`, without a copy.
pub(crate) fn as_bytes<T: MontgomeryLimbs>(values: &[T]) -> &[u8] {
    // SAFETY: `MontgomeryLimbs` promises memory without padding. Bytes need no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Returns the point of `bytes`, its affine coordinates, or `None` if they are not as long as a point.
pub(crate) fn to_point(bytes: &[u8]) -> Option<G1Projective> {
    let bytes = <[u8; POINT]>::try_from(bytes).ok()?;
    // SAFETY: `MontgomeryLimbs` promises that all bytes are values.
    Some(unsafe { std::mem::transmute::<[u8; POINT], G1Affine>(bytes) }.to_curve())
}

/// Returns `points` in affine coordinates, with one inversion for each [`GRAIN`] of them.
pub(crate) fn to_affine_points(points: &[G1Projective]) -> Vec<G1Affine> {
    let mut affine = vec![G1Affine::identity(); points.len()];
    let pieces = points.par_chunks(GRAIN).zip(affine.par_chunks_mut(GRAIN));
    pieces.for_each(|(points, affine)| G1Projective::batch_normalize(points, affine));
    affine
}

/// Returns the points [τ^i]₁ of `setup` for i < 2^k, where τ is its secret. A setup exposes them only by writing
/// itself.
pub(crate) fn read_tau_powers(setup: &ParamsKZG<Bls12>) -> io::Result<Vec<G1Affine>> {
    let mut powers = PowersWriter { skipped: 0, bytes: Vec::new(), most: setup.g_lagrange().len() * POINT };
    match setup.write_custom(&mut powers, SerdeFormat::RawBytesUnchecked) {
        Err(error) if powers.bytes.len() < powers.most => return Err(error),
        _ => {}
    }
    let decode = |bytes: &[u8; POINT]| G1Affine::from_raw_bytes_unchecked(bytes);
    Ok(powers.bytes.as_chunks().0.par_iter().map(decode).collect())
}

/// Number of bytes of a point, in memory and uncompressed.
const POINT: usize = 96;
/// Number of bytes of the header before the points, which is the size's logarithm.
const HEAD: usize = 4;

/// Skips the header of a written setup and keeps the next `most` bytes. Then it fails, so that the setup does not
/// compute the rest.
struct PowersWriter {
    skipped: usize,
    bytes: Vec<u8>,
    most: usize,
}

impl Write for PowersWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.skipped < HEAD {
            let head = bytes.len().min(HEAD - self.skipped);
            self.skipped += head;
            return Ok(head);
        }
        let taken = bytes.len().min(self.most - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        if taken == 0 && !bytes.is_empty() { Err(io::Error::other("all powers are there")) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn memory_is_in_montgomery_form() {
        // 1 is stored as R = 2^256 mod r.
        let limbs = |value: Fq| as_bytes(&[value]).as_chunks().0.iter().map(|limb| u64::from_le_bytes(*limb)).collect();
        let one: Vec<u64> = limbs(Fq::ONE);
        assert_eq!(one, [0x0000_0001_ffff_fffe, 0x5884_b7fa_0003_4802, 0x998c_4fef_ecbc_4ff5, 0x1824_b159_acc5_056f]);
        let zero: Vec<u64> = limbs(Fq::ZERO);
        assert_eq!(zero, [0; 4]);
        for point in [G1Affine::generator(), G1Affine::identity()] {
            assert_eq!(to_point(as_bytes(&[point])).expect("a point").to_affine(), point);
        }
        assert_eq!(as_bytes(&[G1Affine::identity()]), [0; POINT]);
    }

    #[test]
    fn powers_are_those_of_the_setup() {
        let setup = ParamsKZG::<Bls12>::unsafe_setup(3, ChaCha8Rng::seed_from_u64(5));
        let powers = read_tau_powers(&setup).expect("powers");
        let lagrange = to_affine_points(setup.g_lagrange());
        assert_eq!((powers.len(), powers[0]), (8, G1Affine::generator()));
        // Σ Lᵢ = 1.
        let sum: G1Projective = lagrange.iter().map(G1Projective::from).sum();
        assert_eq!(sum.to_affine(), G1Affine::generator());
        assert_eq!(powers[1], tau_point(&setup));
    }

    /// Returns [τ]₁ = Σ ωⁱ·[Lᵢ]₁, computed from the Lagrange points of `setup`.
    fn tau_point(setup: &ParamsKZG<Bls12>) -> G1Affine {
        use ff::PrimeField;
        let omega = (3..Fq::S).fold(Fq::ROOT_OF_UNITY, |root, _| root.square());
        let terms = setup.g_lagrange().iter().enumerate().map(|(i, l)| *l * omega.pow_vartime([i as u64]));
        terms.sum::<G1Projective>().to_affine()
    }
}
