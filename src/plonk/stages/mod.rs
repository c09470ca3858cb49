//! Implements the stages of a proof, a type for each. A stage takes the challenges for the results of the stage
//! before.

mod advice_stage;
mod constraint_terms;
mod evaluation_stage;
mod lookup_stage;
mod product_stage;
mod quotient_commitment;

pub use advice_stage::{AdviceStage, RandomSource};
pub use constraint_terms::CompiledCircuit;
pub use evaluation_stage::QuotientStage;
pub use lookup_stage::LookupStage;
pub use product_stage::ProductStage;
pub use quotient_commitment::BlindedStage;
pub(super) use constraint_terms::WeightedSum;
