//! What the benches share: who is measured, at which sizes, and what becomes of the numbers.
//!
//! | variable | meaning |
//! |---|---|
//! | `PROOFWARP_BENCH_LOG=10..24` | binary logarithms of the sizes, inclusive, in steps of two; 10..16 without it |
//! | `PROOFWARP_BENCH_DISTRIBUTIONS=20` | the size at which distributions are compared; the largest without it, 0 for none |
//! | `PROOFWARP_BENCH_SECONDS=2` | about how long one number may take |
//! | `PROOFWARP_BENCH_LIMIT=20` | calls that would take more seconds, by the size before, are left out |
//! | `PROOFWARP_BENCH_OUT=DIR` | where numbers and plots go; `target/bench` without it |
//! | `PROOFWARP_PEERS=stock,sppark` | peers whose programs are built; only stock without it |
//! | `PROOFWARP_STOCK_KERNELS`, `PROOFWARP_SPPARK_KERNELS` | programs built before, by their paths |
//!
//! Those of the proofs' benches are in `groth16.rs` and in `--help` of `adapters/halo2/benches/halo2.rs`.
//!
//! Arguments that are no options choose what is measured: `-- msm_bn254_g1` or `-- sppark`.

#[allow(dead_code, reason = "only one bench has it beside it")]
pub mod binius;
#[path = "../../examples/groth16/exit.rs"]
pub mod exit;
#[allow(dead_code, reason = "each bench is a program of its own and uses what it needs")]
pub mod inputs;
mod ours;
mod peers;
mod plot;
#[allow(dead_code, reason = "the programs of the peers use the other half of it")]
pub mod protocol;
#[allow(dead_code, reason = "the example that draws plots again uses the rest")]
mod results;
#[allow(dead_code, reason = "not all benches prove, and not all have contestants")]
mod session;
mod table;
mod timing;
#[allow(dead_code, reason = "the example `timings` uses the rest")]
mod variables;

pub use ours::{Contestant, How, cpu};
#[allow(unused_imports, reason = "for the bench of proofs")]
pub use peers::listed;
pub use protocol::{Answer, Failure, HOST, RESIDENT, Request};
#[allow(unused_imports, reason = "as above")]
pub use results::Measurement;
pub use results::Outcome;
pub use session::Session;
pub use timing::median;
