//! Opens the polynomials of a proof at the points of the transcript, by GWC or SHPLONK.

mod gwc_and_shplonk;
mod opening_stage;
mod queries;

pub use gwc_and_shplonk::Shplonk;
pub use opening_stage::OpeningStage;
pub(super) use opening_stage::Polynomials;
pub(super) use queries::ProofQueries;
