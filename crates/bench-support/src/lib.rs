//! Holds what examples, benches, peers' programs and `proofwarp bench` share, and the bodies of `proofwarp bench`.
//!
//! Without the feature `engine` it names nothing of proofwarp, so that programs that link stock crates can use it.

/// Prints a line, unless the reader of standard output has gone.
#[cfg_attr(not(feature = "engine"), allow(unused_macros, reason = "only programs with the engine print"))]
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::output::print_line(format_args!($($argument)*))
    };
}

pub mod answer;
#[cfg(feature = "engine")]
pub mod backend;
#[cfg(feature = "engine")]
pub mod binius;
#[cfg(feature = "mpi")]
pub mod cluster;
#[cfg(feature = "engine")]
pub mod contestants;
#[cfg(feature = "engine")]
pub mod device;
pub mod exit;
#[cfg(feature = "groth16")]
pub mod groth16;
#[cfg(feature = "halo2")]
pub mod halo2;
pub mod inputs;
#[cfg(feature = "engine")]
pub mod matmul;
#[cfg(feature = "midnight")]
pub mod midnight;
#[cfg(feature = "engine")]
pub mod msm;
#[cfg(feature = "engine")]
pub mod ntt;
pub mod output;
#[cfg(feature = "engine")]
pub mod peers;
#[cfg(feature = "engine")]
pub mod plot;
pub mod program;
pub mod progress;
pub mod protocol;
pub mod results;
#[cfg(feature = "engine")]
mod results_table;
#[cfg(feature = "engine")]
mod rows;
#[cfg(feature = "engine")]
pub mod sampling;
#[cfg(feature = "engine")]
pub mod session;
#[cfg(feature = "engine")]
pub mod steps;
#[cfg(feature = "engine")]
pub mod sumcheck;
#[cfg(feature = "engine")]
pub mod synthetic;
#[cfg(feature = "engine")]
pub mod table;
pub mod timing;
#[cfg(feature = "engine")]
pub mod variables;

pub use protocol::Failure;
