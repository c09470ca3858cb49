//! Re-exports halo2-axiom's `poly`, with provers whose opening is known.

pub mod commitment;

#[doc(no_inline)]
pub use halo2_axiom::poly::*;
