//! Converts between midnight-curves' and blstrs' types, which hold the same values of blst in memory.

use std::io::{self, Write};
use std::mem::{align_of, size_of};

use blstrs::G1Affine;
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use midnight_curves::serde::SerdeObject;
use midnight_curves::{Bls12, Fq, G1Affine as TheirAffine, G1Projective as TheirProjective};
use midnight_proofs::poly::kzg::params::ParamsKZG;
use midnight_proofs::utils::SerdeFormat;
use rayon::prelude::*;

/// Number of points that one task converts.
const GRAIN: usize = 1 << 10;

const _: () = assert!(size_of::<Fq>() == size_of::<[u8; 32]>() && align_of::<Fq>() == align_of::<blst::blst_fr>());

/// Returns `elements` as bytes, without a copy: 32 each, in Montgomery form, least significant byte first.
pub(crate) fn as_montgomery(elements: &[Fq]) -> &[[u8; 32]] {
    // SAFETY: `Fq` is 32 bytes long (above) and transparent over blst's four words, so it has no padding. Bytes need no
    // alignment, and the lifetime is the slice's.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

fn from_midnight(point: &TheirAffine) -> G1Affine {
    let mut ours = G1Affine::identity();
    *ours.as_mut() = *point.as_ref();
    ours
}

/// Converts `sum` to midnight-curves' type.
pub(crate) fn to_midnight(sum: &blstrs::G1Projective) -> TheirProjective {
    let mut to_midnight = TheirProjective::identity();
    *to_midnight.as_mut() = *sum.as_ref();
    to_midnight
}

/// Returns `points` in affine coordinates, with one inversion for each [`GRAIN`] of them.
pub(crate) fn to_affine_points(points: &[TheirProjective]) -> Vec<G1Affine> {
    let convert = |points: &[TheirProjective]| {
        let mut normal = vec![TheirAffine::identity(); points.len()];
        TheirProjective::batch_normalize(points, &mut normal);
        normal.iter().map(from_midnight).collect::<Vec<_>>()
    };
    points.par_chunks(GRAIN).flat_map_iter(convert).collect()
}

/// Returns the points [τ^i]₁ of `setup` for i < 2^k, where τ is its secret. A setup exposes them only by writing
/// itself.
pub(crate) fn read_tau_powers(setup: &ParamsKZG<Bls12>) -> io::Result<Vec<G1Affine>> {
    let mut powers = PowersWriter { skipped: 0, bytes: Vec::new(), most: setup.g_lagrange().len() * POINT };
    match setup.write_custom(&mut powers, SerdeFormat::RawBytesUnchecked) {
        Err(error) if powers.bytes.len() < powers.most => return Err(error),
        _ => {}
    }
    let decode = |bytes: &[u8; POINT]| from_midnight(&TheirAffine::from_raw_bytes_unchecked(bytes));
    Ok(powers.bytes.as_chunks().0.par_iter().map(decode).collect())
}

/// Number of bytes of an uncompressed point.
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
    fn elements_are_in_the_form_of_blstrs() {
        let values = [Fq::ZERO, Fq::ONE, -Fq::ONE, Fq::from(u64::MAX)];
        let ours = [0.into(), 1.into(), -blstrs::Scalar::from(1), u64::MAX.into()];
        let ours: Vec<[u8; 32]> = ours.iter().map(|s: &blstrs::Scalar| scalar_bytes(s)).collect();
        assert_eq!(as_montgomery(&values), ours);
    }

    fn scalar_bytes(scalar: &blstrs::Scalar) -> [u8; 32] {
        let words = blst::blst_fr::from(*scalar).l;
        std::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8])
    }

    #[test]
    fn powers_are_those_of_the_setup() {
        let setup = ParamsKZG::<Bls12>::unsafe_setup(3, ChaCha8Rng::seed_from_u64(5));
        let powers = read_tau_powers(&setup).expect("powers");
        let lagrange = to_affine_points(setup.g_lagrange());
        assert_eq!((powers.len(), powers[0]), (8, G1Affine::generator()));
        // Σ Lᵢ = 1.
        let sum: blstrs::G1Projective = lagrange.iter().map(blstrs::G1Projective::from).sum();
        assert_eq!(sum.to_affine(), G1Affine::generator());
        assert_eq!(to_midnight(&powers[1].into()).to_affine(), tau_point(&setup));
    }

    /// Returns [τ]₁ = Σ ωⁱ·[Lᵢ]₁, computed from the Lagrange points of `setup`.
    fn tau_point(setup: &ParamsKZG<Bls12>) -> TheirAffine {
        use ff::PrimeField;
        let omega = (3..Fq::S).fold(Fq::ROOT_OF_UNITY, |root, _| root.square());
        let terms = setup.g_lagrange().iter().enumerate().map(|(i, l)| *l * omega.pow_vartime([i as u64]));
        terms.sum::<TheirProjective>().to_affine()
    }
}
