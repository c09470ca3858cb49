//! Implements the stages of a proof, a type for each. A stage takes the challenges for the results of the stage
//! before.

mod advice_stage;
mod blinded_stage;
mod constraint_terms;
mod lookup_stage;
mod product_stage;
mod quotient_stage;

pub use advice_stage::{AdviceStage, RandomSource};
pub use blinded_stage::BlindedStage;
pub use constraint_terms::CompiledCircuit;
pub(super) use constraint_terms::WeightedSum;
pub use lookup_stage::LookupStage;
pub use product_stage::ProductStage;
pub use quotient_stage::QuotientStage;
