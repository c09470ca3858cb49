//! halo2-axiom's `poly`, with provers that say how they open.

pub mod commitment;

#[doc(no_inline)]
pub use halo2_axiom::poly::*;
