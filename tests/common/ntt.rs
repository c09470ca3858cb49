//! What tests of transforms share.

use ff::Field;
use proofwarp::field::TransformField;
use proofwarp::ntt::{Order, Transform};

use super::rng;

/// The same elements in every run.
pub fn random<F: Field>(log_n: u32, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    (0..1 << log_n).map(|_| F::random(&mut rng)).collect()
}

/// A primitive root of unity of order `2^log_n`.
pub fn omega<F: TransformField>(log_n: u32) -> F {
    (log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square())
}

pub fn power<F: Field>(base: F, exponent: usize) -> F {
    base.pow_vartime([exponent as u64])
}

pub fn reverse(index: usize, bits: u32) -> usize {
    (0..bits).fold(0, |reversed, bit| reversed << 1 | (index >> bit & 1))
}

/// From natural order to another, or back.
pub fn ordered<F: TransformField>(values: &[F], order: Order) -> Vec<F> {
    let bits = values.len().trailing_zeros();
    match order {
        Order::Natural => values.to_vec(),
        Order::BitReversed => (0..values.len()).map(|k| values[reverse(k, bits)]).collect(),
    }
}

/// A transform by halving (Cooley and Tukey).
pub fn reference<F: TransformField>(x: &[F], transform: &Transform<F>) -> Vec<F> {
    let powers = |factor: Option<F>| std::iter::successors(Some(F::ONE), move |p| Some(*p * factor.unwrap_or(F::ONE)));
    let x = ordered(x, transform.input);
    let shifted: Vec<F> = x.iter().zip(powers(transform.shift_in)).map(|(x, power)| *x * power).collect();
    let scale = transform.scale.unwrap_or(F::ONE);
    let sums = halve(&shifted, transform.omega);
    let outputs = sums.iter().zip(powers(transform.shift_out)).map(|(sum, power)| *sum * power * scale);
    ordered(&outputs.collect::<Vec<F>>(), transform.order)
}

fn halve<F: TransformField>(x: &[F], omega: F) -> Vec<F> {
    if x.len() == 1 {
        return x.to_vec();
    }
    let part = |first: usize| halve(&x.iter().copied().skip(first).step_by(2).collect::<Vec<F>>(), omega.square());
    let (even, odd) = (part(0), part(1));
    let twiddles = std::iter::successors(Some(F::ONE), |power| Some(*power * omega));
    let odd: Vec<F> = odd.iter().zip(twiddles).map(|(x, twiddle)| *x * twiddle).collect();
    let low = even.iter().zip(&odd).map(|(e, o)| *e + o);
    let high = even.iter().zip(&odd).map(|(e, o)| *e - o);
    low.chain(high).collect()
}

/// Makes a module for each field of the registry that has transforms; after `multi-limb:`, for each of more than two
/// 32-bit limbs. It has a test for each `$body`, which calls that for the field's type.
#[allow(unused_macros, reason = "each test file is a crate of its own")]
macro_rules! of_every_field {
    (multi-limb: $($body:ident)*) => {
        proofwarp::for_each_ntt_field! { crate::common::ntt::of_every_field! { @fields [$($body)*] } }
    };
    ($($body:ident)*) => {
        proofwarp::for_each_ntt_field! { crate::common::ntt::of_every_field! { @fields [$($body)*] } }
        #[cfg(feature = "plonky3")]
        crate::common::ntt::of_every_field! {
            @fields [$($body)*]
            koala_bear: proofwarp::field::plonky3::KoalaBear;
        }
    };
    (@fields $bodies:tt $($field:ident: $type:ty;)*) => {
        $(crate::common::ntt::of_every_field! { @field $field: $type; $bodies })*
    };
    (@field $field:ident: $type:ty; [$($body:ident)*]) => {
        mod $field {
            $(#[test] fn $body() { super::$body::<$type>(); })*
        }
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use of_every_field;
