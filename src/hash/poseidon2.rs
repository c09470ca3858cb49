//! Holds permutations Poseidon2 with their round constants, and runs them on the host by Plonky3's crates.

use std::fmt;

use bytemuck::TransparentWrapper;
use p3_field::Field as HostField;
use p3_poseidon2::ExternalLayerConstants;
use p3_symmetric::{CryptographicPermutation, Permutation as _};

use crate::field::Element;
use crate::field::plonky3::{BabyBear, Goldilocks, KoalaBear};
use crate::{Error, Result};

const ERROR_CONTEXT: &str = "poseidon2";

/// Minimum number of external rounds in each half: the Poseidon2 paper asks for six in all, against statistical
/// attacks (section 7.1).
const MIN_OUTER: usize = 3;

/// Represents a field over which states can be permuted.
pub trait HashField: Element + TransparentWrapper<Self::Plonky3> {
    /// Names the field's type in Plonky3's crates.
    type Plonky3: HostField;
}

/// Represents a field over which states of `WIDTH` elements can be permuted by Poseidon2.
pub trait Poseidon2Field<const WIDTH: usize>: HashField {
    /// Type of Plonky3's permutation, for single states and for one state in each lane of a vector.
    type Permutation: CryptographicPermutation<[Self::Plonky3; WIDTH]>
        + CryptographicPermutation<[<Self::Plonky3 as HostField>::Packing; WIDTH]>
        + Send;

    /// Returns the constants of Plonky3's default permutation, such as `default_koalabear_poseidon2_16`.
    fn plonky3_constants() -> RoundConstants<Self, WIDTH>;

    /// Returns Plonky3's permutation with `constants`, which have as many first rounds as last ones.
    fn host_permutation(constants: &RoundConstants<Self, WIDTH>) -> Self::Permutation;
}

/// Holds the constants that are added to states of `WIDTH` elements, round by round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundConstants<F, const WIDTH: usize> {
    /// Constants of the external rounds before the internal ones.
    pub first: Vec<[F; WIDTH]>,
    /// Constants of the internal rounds, which are added to the first element of the state.
    pub internal: Vec<F>,
    /// Constants of the external rounds after the internal ones.
    pub last: Vec<[F; WIDTH]>,
}

impl<F: HashField, const WIDTH: usize> RoundConstants<F, WIDTH> {
    /// Returns the constants as Plonky3's types hold them.
    fn to_host(&self) -> (ExternalLayerConstants<F::Plonky3, WIDTH>, Vec<F::Plonky3>) {
        let rounds = |rows: &[[F; WIDTH]]| rows.iter().map(|row| row.map(F::peel)).collect();
        let external = ExternalLayerConstants::new(rounds(&self.first), rounds(&self.last));
        (external, self.internal.iter().copied().map(F::peel).collect())
    }
}

/// Holds a permutation Poseidon2 of states of `WIDTH` elements. The [module](super) has an example.
#[derive(Clone)]
pub struct Poseidon2<F: Poseidon2Field<WIDTH>, const WIDTH: usize> {
    constants: RoundConstants<F, WIDTH>,
    host: F::Permutation,
}

impl<F: Poseidon2Field<WIDTH>, const WIDTH: usize> Poseidon2<F, WIDTH> {
    /// Creates the permutation with `constants`. Their number determines the number of rounds.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are fewer than 3 first external rounds, or another number of last ones.
    pub fn new(constants: RoundConstants<F, WIDTH>) -> Result<Self> {
        let [first, last] = [&constants.first, &constants.last].map(Vec::len);
        if first < MIN_OUTER {
            let expected = format!("at least {MIN_OUTER}");
            return Err(Error::invalid(ERROR_CONTEXT, "first external rounds", expected, first));
        }
        if first != last {
            return Err(Error::invalid(ERROR_CONTEXT, "last external rounds", first, last));
        }
        Ok(Self { host: F::host_permutation(&constants), constants })
    }

    /// Creates the permutation with the constants of Plonky3's default one for the field and the width.
    pub fn plonky3() -> Self {
        let constants = F::plonky3_constants();
        Self { host: F::host_permutation(&constants), constants }
    }

    /// Returns the constants of the rounds.
    pub fn constants(&self) -> &RoundConstants<F, WIDTH> {
        &self.constants
    }

    /// Returns Plonky3's permutation with these constants.
    pub fn host(&self) -> &F::Permutation {
        &self.host
    }

    /// Permutes `state` on the calling thread.
    pub fn permute(&self, state: &mut [F; WIDTH]) {
        let permuted = self.host.permute(state.map(F::peel));
        *state = permuted.map(F::wrap);
    }

    /// Returns the constants in the order in which the kernels read them (`cl/poseidon2.cl`).
    pub(super) fn kernel_constants(&self) -> Vec<F> {
        let RoundConstants { first, internal, last } = &self.constants;
        let zeros = [F::ZERO; WIDTH];
        [first.as_flattened(), &zeros, internal, last.as_flattened(), &zeros].concat()
    }
}

impl<F: Poseidon2Field<WIDTH>, const WIDTH: usize> fmt::Debug for Poseidon2<F, WIDTH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poseidon2").field("constants", &self.constants).finish_non_exhaustive()
    }
}

/// Implements [`HashField`] and [`Poseidon2Field`] for a field. Arguments: the type and Plonky3's type, Plonky3's
/// permutation, and for each width the names of Plonky3's constants.
macro_rules! permutations {
    (
        $type:ident($inner:ty), $permutation:ident;
        $($width:literal: [$first:ident, $internal:ident, $last:ident]),*
    ) => {
        impl HashField for $type {
            type Plonky3 = $inner;
        }

        $(
            impl Poseidon2Field<$width> for $type {
                type Permutation = $permutation<$width>;

                fn plonky3_constants() -> RoundConstants<Self, $width> {
                    RoundConstants {
                        first: $first.iter().map(|row| row.map(Self)).collect(),
                        internal: $internal.iter().copied().map(Self).collect(),
                        last: $last.iter().map(|row| row.map(Self)).collect(),
                    }
                }

                fn host_permutation(constants: &RoundConstants<Self, $width>) -> Self::Permutation {
                    let (external, internal) = constants.to_host();
                    new_permutation!($permutation, external, internal)
                }
            }
        )*
    };
}

/// Creates Plonky3's permutation of type `$permutation`. That of Goldilocks takes references on 64-bit Arm.
macro_rules! new_permutation {
    (Poseidon2Goldilocks, $external:ident, $internal:ident) => {{
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        let permutation = Poseidon2Goldilocks::new(&$external, &$internal);
        #[cfg(not(all(target_arch = "aarch64", target_feature = "neon")))]
        let permutation = Poseidon2Goldilocks::new($external, $internal);
        permutation
    }};
    ($permutation:ident, $external:ident, $internal:ident) => {
        $permutation::new($external, $internal)
    };
}

use p3_baby_bear::{
    BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    BABYBEAR_POSEIDON2_RC_16_INTERNAL, BABYBEAR_POSEIDON2_RC_24_EXTERNAL_FINAL,
    BABYBEAR_POSEIDON2_RC_24_EXTERNAL_INITIAL, BABYBEAR_POSEIDON2_RC_24_INTERNAL, Poseidon2BabyBear,
};
use p3_goldilocks::{
    GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_FINAL, GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_INITIAL,
    GOLDILOCKS_POSEIDON2_RC_8_INTERNAL, GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_FINAL,
    GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_INITIAL, GOLDILOCKS_POSEIDON2_RC_12_INTERNAL,
    GOLDILOCKS_POSEIDON2_RC_16_EXTERNAL_FINAL, GOLDILOCKS_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    GOLDILOCKS_POSEIDON2_RC_16_INTERNAL, Poseidon2Goldilocks,
};
use p3_koala_bear::{
    KOALABEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, KOALABEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    KOALABEAR_POSEIDON2_RC_16_INTERNAL, KOALABEAR_POSEIDON2_RC_24_EXTERNAL_FINAL,
    KOALABEAR_POSEIDON2_RC_24_EXTERNAL_INITIAL, KOALABEAR_POSEIDON2_RC_24_INTERNAL, Poseidon2KoalaBear,
};

permutations! {
    Goldilocks(p3_goldilocks::Goldilocks), Poseidon2Goldilocks;
    8: [GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_INITIAL, GOLDILOCKS_POSEIDON2_RC_8_INTERNAL, GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_FINAL],
    12: [GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_INITIAL, GOLDILOCKS_POSEIDON2_RC_12_INTERNAL, GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_FINAL],
    16: [GOLDILOCKS_POSEIDON2_RC_16_EXTERNAL_INITIAL, GOLDILOCKS_POSEIDON2_RC_16_INTERNAL, GOLDILOCKS_POSEIDON2_RC_16_EXTERNAL_FINAL]
}

permutations! {
    BabyBear(p3_baby_bear::BabyBear), Poseidon2BabyBear;
    16: [BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL, BABYBEAR_POSEIDON2_RC_16_INTERNAL, BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL],
    24: [BABYBEAR_POSEIDON2_RC_24_EXTERNAL_INITIAL, BABYBEAR_POSEIDON2_RC_24_INTERNAL, BABYBEAR_POSEIDON2_RC_24_EXTERNAL_FINAL]
}

permutations! {
    KoalaBear(p3_koala_bear::KoalaBear), Poseidon2KoalaBear;
    16: [KOALABEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL, KOALABEAR_POSEIDON2_RC_16_INTERNAL, KOALABEAR_POSEIDON2_RC_16_EXTERNAL_FINAL],
    24: [KOALABEAR_POSEIDON2_RC_24_EXTERNAL_INITIAL, KOALABEAR_POSEIDON2_RC_24_INTERNAL, KOALABEAR_POSEIDON2_RC_24_EXTERNAL_FINAL]
}

#[cfg(test)]
mod tests {
    use p3_poseidon2::GenericPoseidon2LinearLayers;

    use crate::kernels::poseidon2::{DIAGONAL_SHIFT, POSEIDON2};

    /// Decodes an entry of a diagonal.
    fn decode<F: p3_field::Field>(code: i8) -> F {
        let magnitude = match code.unsigned_abs() {
            small if u32::from(small) < DIAGONAL_SHIFT => F::from_u8(small),
            shifted => F::ONE.div_2exp_u64(u64::from(shifted) - u64::from(DIAGONAL_SHIFT)),
        };
        if code < 0 { -magnitude } else { magnitude }
    }

    /// Checks that the internal matrix of `L`, column by column, is the diagonal plus ones.
    fn check<F: p3_field::Field, L: GenericPoseidon2LinearLayers<WIDTH>, const WIDTH: usize>(field: &str) {
        let mut specs = POSEIDON2.iter().filter(|spec| spec.field.name == field && spec.diagonal.len() == WIDTH);
        let spec = specs.next().expect("in the list");
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
