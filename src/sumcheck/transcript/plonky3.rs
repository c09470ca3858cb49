//! Uses Plonky3's challengers as transcripts.

use p3_challenger::FieldChallenger;

use super::{Checkpoint, Transcript};
use crate::field::plonky3::{BabyBear4, Goldilocks2, KoalaBear4};

/// Wraps a Plonky3 challenger over the base field as a [`Transcript`] over the extension field. It observes an
/// element's coefficients in their order and samples challenges coefficient by coefficient, as Plonky3's own provers
/// and verifiers do. A challenger has no labels, so they are ignored. Claims, messages and finals begin with a tag and
/// a count, which it observes as elements.
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
#[derive(Debug)]
pub struct Challenger<'c, C>(pub &'c mut C);

macro_rules! transcript {
    ($type:ident over $base:ty) => {
        impl<C: FieldChallenger<$base> + Clone + 'static> Transcript<$type> for Challenger<'_, C> {
            fn observe(&mut self, _: &str, elements: &[$type]) {
                self.0.observe_algebra_slice($type::to_plonky3(elements));
            }

            fn challenge(&mut self, _: &str) -> $type {
                $type(self.0.sample_algebra_element())
            }

            fn checkpoint(&self) -> Option<Checkpoint<Self>> {
                let saved = self.0.clone();
                Some(Box::new(move |transcript| *transcript.0 = saved))
            }
        }
    };
}

transcript!(Goldilocks2 over p3_goldilocks::Goldilocks);
transcript!(BabyBear4 over p3_baby_bear::BabyBear);
transcript!(KoalaBear4 over p3_koala_bear::KoalaBear);
