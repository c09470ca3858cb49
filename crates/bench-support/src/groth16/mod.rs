//! `proofwarp bench groth16`: proves real circuits of bellperson's in several ways, with the same parameters and
//! randomisation, and compares the proofs.
//!
//! Without the feature `engine` this module holds what programs on stock crates share with it.

#[cfg(feature = "engine")]
mod bench;
mod circuits;
#[cfg(feature = "engine")]
mod drop_in;
#[cfg(feature = "engine")]
mod mapped;
#[cfg(feature = "engine")]
mod options;
mod outcome;
mod parameters;
#[cfg(feature = "engine")]
mod phases;
#[cfg(feature = "engine")]
mod programs;
#[cfg(feature = "engine")]
mod resident;
#[cfg(feature = "engine")]
mod run;
#[cfg(feature = "engine")]
mod steps;
#[cfg(feature = "engine")]
mod table;
mod task;
mod work;

#[cfg(feature = "engine")]
pub use bench::bench;
#[cfg(feature = "engine")]
pub use drop_in::measure as measure_drop_in;
#[cfg(feature = "engine")]
pub use options::{Adapter, Options};
pub use outcome::{Outcome, Phase};
pub use parameters::path as parameters_file;
#[cfg(feature = "engine")]
pub use run::run;
pub use task::{Task, TimedCircuit};
pub use work::WorkOptions;
