//! Lists the permutations that have kernels, and the constants that these are compiled for.

use std::fmt::Write as _;

/// Describes Poseidon2 for states of one width over one field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Poseidon2Spec {
    /// Name of the field in kernels.
    pub field: &'static str,
    /// Number of elements of a state.
    pub width: usize,
    /// Exponent of the S-box.
    pub degree: u32,
    /// Diagonal which, plus a matrix of ones, is the internal matrix.
    pub diagonal: &'static [i8],
}

/// Smallest entry of a [`Poseidon2Spec::diagonal`] that encodes a power of two: [`SHIFT`] + k is 2^−k, and its negative
/// −2^−k. Smaller entries, from −4 to 4, are the numbers themselves.
const SHIFT: i8 = 16;

/// Encodes 2^−`k` in a [`Poseidon2Spec::diagonal`].
const fn inverse(k: i8) -> i8 {
    SHIFT + k
}

/// Lists the permutations with kernels. Widths, S-boxes and matrices are those of Plonky3's crates for the fields.
pub(crate) const POSEIDON2: [Poseidon2Spec; 7] = [
    Poseidon2Spec { field: "goldilocks", width: 8, degree: 7, diagonal: &GOLDILOCKS_8 },
    Poseidon2Spec { field: "goldilocks", width: 12, degree: 7, diagonal: &GOLDILOCKS_12 },
    Poseidon2Spec { field: "goldilocks", width: 16, degree: 7, diagonal: &GOLDILOCKS_16 },
    Poseidon2Spec { field: "baby_bear", width: 16, degree: 7, diagonal: &BABY_BEAR_16 },
    Poseidon2Spec { field: "baby_bear", width: 24, degree: 7, diagonal: &BABY_BEAR_24 },
    Poseidon2Spec { field: "koala_bear", width: 16, degree: 3, diagonal: &KOALA_BEAR_16 },
    Poseidon2Spec { field: "koala_bear", width: 24, degree: 3, diagonal: &KOALA_BEAR_24 },
];

const HALF: i8 = inverse(1);

const GOLDILOCKS_8: [i8; 8] = [-2, 1, 2, HALF, 3, -HALF, -3, -4];

const GOLDILOCKS_12: [i8; 12] = [-2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(2), -inverse(2), inverse(3)];

#[rustfmt::skip]
const GOLDILOCKS_16: [i8; 16] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(3), inverse(4), inverse(5), -inverse(3), -inverse(4), -inverse(5),
    inverse(32),
];

#[rustfmt::skip]
const BABY_BEAR_16: [i8; 16] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(2), inverse(3), inverse(27), -inverse(8), -inverse(4),
    -inverse(27),
];

#[rustfmt::skip]
const BABY_BEAR_24: [i8; 24] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(2), inverse(3), inverse(4), inverse(7), inverse(9),
    inverse(27), -inverse(8), -inverse(2), -inverse(3), -inverse(4), -inverse(5), -inverse(6), -inverse(7), -inverse(27),
];

#[rustfmt::skip]
const KOALA_BEAR_16: [i8; 16] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(3), inverse(24), -inverse(8), -inverse(3), -inverse(4),
    -inverse(24),
];

#[rustfmt::skip]
const KOALA_BEAR_24: [i8; 24] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(2), inverse(3), inverse(4), inverse(5), inverse(6),
    inverse(24), -inverse(8), -inverse(3), -inverse(4), -inverse(5), -inverse(6), -inverse(7), -inverse(9), -inverse(24),
];

const SMALL_FIELD: &str = include_str!("../../cl/poseidon2_small_field.cl");
const GOLDILOCKS: &str = include_str!("../../cl/poseidon2_goldilocks.cl");
const POSEIDON2_SOURCE: &str = include_str!("../../cl/poseidon2.cl");
const MERKLE: &str = include_str!("../../cl/merkle.cl");

impl Poseidon2Spec {
    /// Finds the permutation of states of `width` over `field`.
    pub(crate) fn find(field: &str, width: usize) -> Option<&'static Self> {
        POSEIDON2.iter().find(|spec| spec.field == field && spec.width == width)
    }

    /// Appends the macros that the kernels take to `text`, then the kernels.
    pub(crate) fn append_source(&self, text: &mut String) {
        let diagonal: Vec<String> = self.diagonal.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "#define WIDTH {}\n#define SBOX_DEGREE {}\n#define DIAGONAL_SHIFT {SHIFT}\n#define DIAGONAL {{{}}}",
            self.width,
            self.degree,
            diagonal.join(", ")
        );
        let sums = if self.field == "goldilocks" { GOLDILOCKS } else { SMALL_FIELD };
        [sums, POSEIDON2_SOURCE, MERKLE].iter().for_each(|part| text.push_str(part));
    }
}

#[cfg(test)]
mod tests {
    use p3_field::PrimeCharacteristicRing;
    use p3_poseidon2::GenericPoseidon2LinearLayers;

    use super::*;

    /// Decodes an entry of a diagonal.
    fn decode<F: p3_field::Field>(code: i8) -> F {
        let magnitude = match code.abs() {
            small if small < SHIFT => F::from_u32(small.unsigned_abs().into()),
            shifted => F::ONE.div_2exp_u64((shifted - SHIFT) as u64),
        };
        if code < 0 { -magnitude } else { magnitude }
    }

    /// Checks that the internal matrix of `L`, column by column, is the diagonal plus ones.
    fn check<F: p3_field::Field, L: GenericPoseidon2LinearLayers<WIDTH>, const WIDTH: usize>(field: &str) {
        let spec = Poseidon2Spec::find(field, WIDTH).expect("in the list");
        assert_eq!(spec.diagonal.len(), WIDTH);
        for column in 0..WIDTH {
            let mut state = [F::ZERO; WIDTH];
            state[column] = F::ONE;
            L::internal_linear_layer(&mut state);
            for (row, entry) in state.into_iter().enumerate() {
                let expected = if row == column { decode::<F>(spec.diagonal[row]) + F::ONE } else { F::ONE };
                assert_eq!(entry, expected, "{field} {WIDTH}: row {row}, column {column}");
            }
        }
    }

    #[test]
    fn diagonals_are_those_of_plonky3() {
        use p3_baby_bear::GenericPoseidon2LinearLayersBabyBear as OfBabyBear;
        use p3_goldilocks::GenericPoseidon2LinearLayersGoldilocks as OfGoldilocks;
        use p3_koala_bear::GenericPoseidon2LinearLayersKoalaBear as OfKoalaBear;

        check::<p3_goldilocks::Goldilocks, OfGoldilocks, 8>("goldilocks");
        check::<p3_goldilocks::Goldilocks, OfGoldilocks, 12>("goldilocks");
        check::<p3_goldilocks::Goldilocks, OfGoldilocks, 16>("goldilocks");
        check::<p3_baby_bear::BabyBear, OfBabyBear, 16>("baby_bear");
        check::<p3_baby_bear::BabyBear, OfBabyBear, 24>("baby_bear");
        check::<p3_koala_bear::KoalaBear, OfKoalaBear, 16>("koala_bear");
        check::<p3_koala_bear::KoalaBear, OfKoalaBear, 24>("koala_bear");
    }
}
