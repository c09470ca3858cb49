//! Implements BN254 by the types of halo2curves and of halo2curves-axiom.

#[cfg(feature = "halo2")]
mod axiom;
#[cfg(feature = "bn254")]
mod g1_and_g2;
