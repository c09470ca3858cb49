//! Makes PLONKish proofs as halo2 does, over plain data: without a framework's types, for any field and curve of the
//! kernels.
//!
//! A proof is a chain of steps. Each step takes the challenges that the transcript gave for the previous step's
//! results: [`AdviceStage::commit`] phase by phase, [`AdviceStage::lookups`] (θ), [`LookupStage::products`] (β, γ),
//! [`ProductStage::random`], [`BlindedStage::quotient`] (y), [`QuotientStage::evaluations`] (x), then [`OpeningStage::gwc`] or
//! [`OpeningStage::shplonk`]. The owner of the transcript writes the results of a step, in their order, and squeezes the
//! challenges of the next one.
//!
//! Steps know the names of columns and the order of terms. [`Engine`] works on columns, with [`steps`] on a device or
//! on the host.

mod advice;
mod circuit;
mod column_storage;
mod compiled;
mod curve;
mod device_shares;
mod engine;
mod evaluations;
mod gwc;
mod key;
mod layout;
mod lookups;
mod memory;
mod opening_stage;
mod polynomials;
mod products;
mod queries;
mod shplonk;
pub mod steps;
mod terms;
mod vanishing;
mod weighted_terms;
mod work_sharing;

#[cfg(test)]
mod tests;

pub use advice::{AdviceStage, RandomSource};
pub use circuit::{Circuit, DuplicateQueries, Lookup};
pub use column_storage::{Column, ColumnView};
pub use compiled::CompiledCircuit;
pub use curve::ProofCurve;
pub use device_shares::Link;
pub use engine::{AbortHook, Basis, Engine, KeyOnDevice, Srs};
pub use evaluations::QuotientStage;
pub use key::{Key, Polynomial};
pub use layout::{ColumnId, ColumnLayout};
pub use lookups::LookupStage;
pub use memory::{MemoryEstimate, MemoryPlan};
pub use opening_stage::OpeningStage;
pub use products::ProductStage;
pub use shplonk::Shplonk;
pub use vanishing::BlindedStage;
pub use work_sharing::{PeerDevice, ProverContext};
