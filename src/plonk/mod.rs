//! Makes PLONKish proofs as halo2 does, over plain data: without a framework's types, for any field and curve of the
//! kernels.
//!
//! A proof is a chain of steps. Each step takes the challenges that the transcript gave for the previous step's
//! results: [`Witnesses::commit`] phase by phase, [`Witnesses::lookups`] (θ), [`Permuted::products`] (β, γ),
//! [`Products::random`], [`Masked::quotient`] (y), [`Quotient::evaluations`] (x), then [`Openings::gwc`] or
//! [`Openings::shplonk`]. The owner of the transcript writes the results of a step, in their order, and squeezes the
//! challenges of the next one.
//!
//! Steps know the names of columns and the order of terms. [`Engine`] works on columns, with [`steps`] on a device or
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
