//! Re-exports halo2-axiom's `poly::commitment`, with provers whose opening is known.

#[doc(no_inline)]
pub use halo2_axiom::poly::commitment::*;
use proofwarp_halo2::{Opening, Scheme};

/// Marks the provers of halo2-axiom whose kind of opening, SHPLONK or GWC, proofwarp knows.
///
/// Callers that are generic over their prover use only this trait.
pub trait Prover<'params, S: Scheme>: halo2_axiom::poly::commitment::Prover<'params, S> + Opening {}

impl<'params, S: Scheme, P: halo2_axiom::poly::commitment::Prover<'params, S> + Opening> Prover<'params, S> for P {}
