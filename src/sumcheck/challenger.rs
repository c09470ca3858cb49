//! Plonky3's challengers as transcripts.

use p3_challenger::FieldChallenger;

use super::transcript::Transcript;
use crate::field::plonky3::{BabyBear4, Goldilocks2};

/// A challenger over the base field as transcript over the extension: it observes coefficients in their order, and challenges are
/// sampled coefficient by coefficient, which is what Plonky3's own provers and verifiers do. It has no labels, so neither are
/// they taken in, nor are lengths: what there is to observe follows from the claim, which goes first.
///
/// ```
/// use p3_baby_bear::{BabyBear, default_babybear_poseidon2_16};
/// use p3_challenger::{CanObserve, DuplexChallenger};
/// use p3_field::PrimeCharacteristicRing;
/// use proofwarp::field::plonky3::BabyBear4;
/// use proofwarp::sumcheck::{Challenger, Transcript};
///
/// let mut theirs = DuplexChallenger::<BabyBear, _, 16, 8>::new(default_babybear_poseidon2_16());
/// theirs.observe(BabyBear::from_u32(5)); // what came before in the protocol
/// let mut transcript = Challenger(&mut theirs);
/// transcript.observe("message", &[BabyBear4::from(7)]);
/// let challenge: BabyBear4 = transcript.challenge("point");
/// assert_ne!(challenge, transcript.challenge("point"));
/// ```
#[derive(Debug, Clone)]
pub struct Challenger<C>(pub C);

macro_rules! transcript {
    ($type:ident over $base:ty) => {
        impl<C: FieldChallenger<$base>> Transcript<$type> for Challenger<C> {
            fn observe(&mut self, _: &str, elements: &[$type]) {
                self.0.observe_algebra_slice($type::to_plonky3(elements));
            }

            fn challenge(&mut self, _: &str) -> $type {
                $type(self.0.sample_algebra_element())
            }
        }
    };
}

transcript!(Goldilocks2 over p3_goldilocks::Goldilocks);
transcript!(BabyBear4 over p3_baby_bear::BabyBear);
