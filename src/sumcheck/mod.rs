//! Sumcheck (C. Lund, L. Fortnow, H. Karloff and N. Nisan, 1992): proofs that a polynomial in columns, given by their values on
//! the hypercube, adds up to a sum.
//!
//! A [`Claim`] is a sum of products of columns, with a factor eq if need be. [`prove`] makes a [`Proof`] of it for a
//! [`Transcript`], [`verify`] checks all of it but the columns' values at the last point. [`Prover`] gives and takes single
//! messages, [`Batch`] proves several claims at once. `docs/sumcheck.md` has the protocol.
//!
//! ```
//! use proofwarp::Accelerator;
//! use proofwarp::field::tower::Tower;
//! use proofwarp::sumcheck::{Claim, Columns, HashTranscript, prove, verify};
//!
//! let (a, b) = ([1, 2, 3, 4].map(Tower), [5, 6, 7, 8].map(Tower));
//! let claim = Claim::product(2, &[0, 1]).sum(a.iter().zip(&b).map(|(a, b)| *a * b).sum());
//! let mut transcript = HashTranscript::new(b"example");
//! let accelerator = Accelerator::from_env()?;
//! let (proof, report) = prove(&accelerator, &claim, Columns::host(&[&a, &b]), &mut transcript, None)?;
//! let (point, finals) = verify(&claim, &proof, &mut HashTranscript::new(b"example"))?;
//! // Now it is to be shown that the columns have these values at this point.
//! assert_eq!((point.len(), finals.len()), (2, 2));
//! println!("{report}");
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod batch;
#[cfg(feature = "plonky3")]
mod challenger;
mod claim;
mod columns;
mod cpu;
mod cpu_base;
mod eq;
mod field;
#[cfg(feature = "plonky3")]
mod field_plonky3;
mod gpu;
mod gpu_challenge;
mod gpu_columns;
mod gpu_convert;
mod gpu_memory;
mod gpu_path;
mod gpu_sliced;
mod message;
mod pairs;
mod plan;
mod proof;
mod prove;
mod prover;
mod shape;
mod transcript;
mod verify;

pub use batch::{Batch, BatchProof};
#[cfg(feature = "plonky3")]
pub use challenger::Challenger;
pub use claim::{Claim, MOST_FACTORS, MOST_VARIABLES, Term};
pub use columns::{Columns, HostColumn, sliced, unsliced};
pub use field::{SumcheckField, WorkField};
pub use message::Message;
pub use plan::{Explanation, Options, Path, Place, TAIL};
pub use proof::Proof;
pub use prove::{prove, prove_with};
pub use prover::Prover;
pub use transcript::{HashTranscript, Transcript};
pub use verify::verify;
