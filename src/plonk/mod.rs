//! Makes PLONKish proofs as halo2 does, over plain data: without a framework's types, for any field and curve of the
//! kernels.
//!
//! A proof is a chain of stages. Each takes the challenges that the transcript gave for the previous stage's results.
//! The owner of the transcript writes the results of a stage, in their order, and squeezes the challenges of the next.
//!
//! | file | stage | next step, with its challenges |
//! |---|---|---|
//! | `advice.rs` | [`AdviceStage`] | [`AdviceStage::commit`] phase by phase, [`AdviceStage::commit_lookups`] (θ) |
//! | `lookups.rs` | [`LookupStage`] | [`LookupStage::commit_products`] (β, γ) |
//! | `products/` | [`ProductStage`] | [`ProductStage::commit_random_polynomial`] |
//! | `quotient/` | [`BlindedStage`] | [`BlindedStage::commit_quotient`] (y) |
//! | `quotient/` | [`QuotientStage`] | [`QuotientStage::evaluate_polynomials`] (x) |
//! | `evaluations.rs` | [`OpeningStage`] | [`OpeningStage::gwc`] (v), [`OpeningStage::shplonk`] (y, v) |
//! | `openings.rs` | [`Shplonk`] | [`Shplonk::finish`] (u) |
//!
//! A file defines its stage and the step that leads there. Three parts follow each other: the transcript's order, the
//! work of [`Engine`] on columns, then kernels (`enqueue`) and host code (`on_cpu`), which [`steps`] lists.

mod advice;
mod blinding;
mod circuit;
mod column_places_and_checks;
mod columns_layout_and_key;
mod combine;
mod compiled_circuit;
mod engine;
mod evaluations;
mod lookups;
mod openings;
mod products;
mod proof_state;
mod quotient;
mod step_launches;
pub mod steps;
mod work_sharing;

#[cfg(test)]
mod memory_estimate_tests;
#[cfg(test)]
mod resident_tests;

pub use advice::{AdviceStage, RandomSource};
pub use circuit::{Circuit, DuplicateQueries, Lookup, ProofCurve};
pub use columns_layout_and_key::{Column, ColumnId, ColumnLayout, ColumnView, Key, Polynomial};
pub use compiled_circuit::CompiledCircuit;
pub use engine::{AbortHook, Basis, Engine, KeyOnDevice, MemoryBound, MemoryEstimate, MemoryPeak, MemoryPlan, Srs};
pub use evaluations::OpeningStage;
pub use lookups::LookupStage;
pub use openings::Shplonk;
pub use products::ProductStage;
pub use quotient::{BlindedStage, QuotientStage};
pub use work_sharing::{Link, PeerDevice, ProverContext};
