//! `proofwarp bench halo2`: proves a circuit with halo2-axiom's types on proofwarp, and on halo2-axiom and halo2-axiom-gpu
//! beside it.
//!
//! Without the feature `engine` this module holds what the program of halo2-axiom-gpu shares with it.

#[cfg(feature = "engine")]
mod bench;
mod circuit;
mod measure;
#[cfg(feature = "engine")]
mod options;
#[cfg(feature = "engine")]
mod ours;
mod outcome;
#[cfg(feature = "engine")]
mod peer;
#[cfg(feature = "engine")]
mod run;
mod shape;
#[cfg(feature = "engine")]
mod stock;
#[cfg(feature = "engine")]
mod table;
mod task;
#[cfg(all(test, feature = "engine"))]
mod tests;
mod timed;
mod witness;
mod work;

#[cfg(feature = "engine")]
pub use bench::bench;
pub use circuit::Filled;
pub use measure::{Prover, Transcript, measure};
#[cfg(feature = "engine")]
pub use options::Options;
#[cfg(feature = "engine")]
pub use ours::Ours;
pub use outcome::{Outcome, Step};
#[cfg(feature = "engine")]
pub use run::{run, run_circuits};
pub use shape::Shape;
#[cfg(feature = "engine")]
pub use stock::Stock;
pub use task::{Circuits, Setup, Task};
pub use work::{Kind, Opening, Work};
