//! Re-exports halo2-axiom's `poly::commitment`, with provers whose opening is known.

#[doc(no_inline)]
pub use halo2_axiom::poly::commitment::*;
use proofwarp_halo2::{Opening, Scheme};

/// A prover of halo2-axiom whose opening is known.
///
/// Callers that are generic over their prover know only this trait.
pub trait Prover<'params, S: Scheme>: halo2_axiom::poly::commitment::Prover<'params, S> + Opening {}

impl<'params, S: Scheme, P: halo2_axiom::poly::commitment::Prover<'params, S> + Opening> Prover<'params, S> for P {}
