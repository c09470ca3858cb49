//! Makes PLONKish proofs as halo2 does, over plain data: without a framework's types, for any field and curve of the
//! kernels.
//!
//! A proof is a chain of steps. Each step takes the challenges that the transcript gave for the previous step's
//! results: [`AdviceStage::commit`] phase by phase, [`AdviceStage::commit_lookups`] (θ), [`LookupStage::commit_products`] (β, γ),
//! [`ProductStage::commit_random_polynomial`], [`BlindedStage::commit_quotient`] (y), [`QuotientStage::evaluate_polynomials`] (x), then [`OpeningStage::gwc`] or
//! [`OpeningStage::shplonk`]. The owner of the transcript writes the results of a step, in their order, and squeezes the
//! challenges of the next one.
//!
//! Steps know the names of columns and the order of terms. [`Engine`] works on columns, with [`steps`] on a device or
//! on the host.

mod circuit;
mod columns_layout_and_key;
mod engine;
mod openings;
mod stages;
pub mod steps;
mod work_sharing;

#[cfg(test)]
mod memory_estimate_tests;

pub use circuit::{Circuit, DuplicateQueries, Lookup, ProofCurve};
pub use columns_layout_and_key::{Column, ColumnId, ColumnLayout, ColumnView, Key, Polynomial};
pub use engine::{AbortHook, Basis, Engine, KeyOnDevice, MemoryEstimate, MemoryPlan, Srs};
pub use openings::{OpeningStage, Shplonk};
pub use stages::{AdviceStage, BlindedStage, CompiledCircuit, LookupStage, ProductStage, QuotientStage, RandomSource};
pub use work_sharing::{Link, PeerDevice, ProverContext};
