//! PLONKish proofs, as halo2 makes them, over plain data: no framework's types, any field and curve of the kernels.
//!
//! A proof is a chain of steps, each of which takes the challenges that the transcript gave for what the step before
//! returned: [`Witnesses::commit`] phase by phase, [`Witnesses::lookups`] (θ), [`Permuted::products`] (β, γ),
//! [`Products::random`], [`Masked::quotient`] (y), [`Quotient::evaluations`] (x), then [`Openings::gwc`] or
//! [`Openings::shplonk`]. Whoever has a transcript writes what a step returns, in its order, and squeezes what the next one
//! takes.
//!
//! Steps know names of columns and order of terms; what is done to columns, [`Engine`] does, with [`steps`] on a device or
//! on the host.

mod circuit;
mod column;
mod curve;
mod engine;
mod evaluations;
mod gwc;
mod key;
mod layout;
mod lookups;
mod lowered;
mod memory;
mod openings;
mod polynomials;
mod products;
mod queries;
mod quotient;
mod setting;
mod shares;
mod shplonk;
pub mod steps;
mod sums;
mod terms;
mod witness;

#[cfg(test)]
mod tests;

pub use circuit::{Circuit, Lookup, SamePoint};
pub use column::{Column, View};
pub use curve::ProofCurve;
pub use engine::{Basis, Engine, Hook, KeyOnDevice, Srs};
pub use evaluations::Quotient;
pub use key::{Key, Polynomial};
pub use layout::{Layout, Name};
pub use lookups::Permuted;
pub use lowered::Lowered;
pub use memory::{Memory, Plan};
pub use openings::Openings;
pub use products::Products;
pub use quotient::Masked;
pub use setting::{Peer, Setting};
pub use shares::Link;
pub use shplonk::Shplonk;
pub use witness::{Random, Witnesses};
