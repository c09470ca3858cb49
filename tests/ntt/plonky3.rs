//! Transforms over 31-bit fields, beside Plonky3's own.

use p3_dft::{Radix2Dit, TwoAdicSubgroupDft};
use p3_field::TwoAdicField;
use proofwarp::field::TransformField;
use proofwarp::field::plonky3::{BabyBear, KoalaBear};
use proofwarp::ntt::{Direction, NttDomain};

use crate::common::accelerators_and_cpu;
use crate::common::ntt::{omega, random};

/// Sizes on both sides of one pass and of two.
const SIZES: [u32; 7] = [0, 1, 5, 8, 9, 12, 15];

/// Both directions, on the subgroup and on a coset, equal Plonky3's on every backend.
fn equals_plonky3<F, P>()
where
    F: TransformField + From<P> + Into<P>,
    P: TwoAdicField,
{
    let theirs = |values: &[F]| values.iter().map(|value| (*value).into()).collect::<Vec<P>>();
    let ours = |values: Vec<P>| values.into_iter().map(F::from).collect::<Vec<F>>();
    let dft = Radix2Dit::<P>::default();
    for log_n in SIZES {
        let omega: P = omega::<F>(log_n).into();
        assert_eq!(omega, P::two_adic_generator(log_n as usize), "the same root");
        let (x, coset): (Vec<F>, P) = (random(log_n, 7), F::MULTIPLICATIVE_GENERATOR.into());
        let expected = [
            (Direction::Forward, ours(dft.dft(theirs(&x)))),
            (Direction::Inverse, ours(dft.idft(theirs(&x)))),
            (Direction::CosetForward, ours(dft.coset_dft(theirs(&x), coset))),
            (Direction::CosetInverse, ours(dft.coset_idft(theirs(&x), coset))),
        ];
        for accelerator in accelerators_and_cpu() {
            let domain = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
            assert_eq!(domain.coset(), F::MULTIPLICATIVE_GENERATOR, "the coset by default");
            for (direction, expected) in &expected {
                let mut values = x.clone();
                domain.run(*direction, &mut [&mut values], None).expect("a transform");
                assert!(values == *expected, "2^{log_n}, {direction:?}, {accelerator:?}");
            }
        }
    }
}

#[test]
fn baby_bear() {
    equals_plonky3::<BabyBear, p3_baby_bear::BabyBear>();
}

#[test]
fn koala_bear() {
    equals_plonky3::<KoalaBear, p3_koala_bear::KoalaBear>();
}
