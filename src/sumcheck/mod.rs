//! Implements sumcheck (C. Lund, L. Fortnow, H. Karloff and N. Nisan, 1992): it proves the sum of a polynomial in
//! columns over the hypercube. A column is given by its values there.
//!
//! A [`Claim`] is a sum of products of columns, with an optional factor eq. [`prove`] makes a [`Proof`] of it for a
//! [`Transcript`]. [`verify`] checks all of the proof except the columns' values at the last point. [`Prover`]
//! exchanges single messages, and [`ClaimBatch`] proves several claims at once.
//!
//! **Alone it proves nothing.** The transcript must first absorb a commitment to the columns ([`BoundTranscript`]), and
//! the verifier must check openings of that commitment at the point. `docs/sumcheck.md` has a complete argument, and
//! the protocol.
//!
//! ```
//! use proofwarp::Accelerator;
//! use proofwarp::field::tower::Tower;
//! use proofwarp::sumcheck::{BoundTranscript, Claim, Columns, HashTranscript, prove, verify};
//! use sha2::{Digest, Sha256};
//!
//! let (a, b) = ([1, 2, 3, 4].map(Tower), [5, 6, 7, 8].map(Tower));
//! let claim = Claim::product(2, &[0, 1]).with_sum(a.iter().zip(&b).map(|(a, b)| *a * b).sum());
//! let commitment = Sha256::digest([a, b].concat().iter().flat_map(|Tower(bits)| bits.to_le_bytes()).collect::<Vec<_>>());
//!
//! let mut transcript = HashTranscript::new(b"example");
//! let bound = BoundTranscript::bind_commitment(&mut transcript, &commitment)?;
//! let (proof, report) = prove(&Accelerator::from_env()?, &claim, Columns::host(&[&a, &b]), bound, None)?;
//!
//! let mut transcript = HashTranscript::new(b"example");
//! let (point, finals) = verify(&claim, &proof, BoundTranscript::bind_commitment(&mut transcript, &commitment)?)?;
//! // Now it is to be shown that the columns that were committed to have these values at this point.
//! assert_eq!((point.len(), finals.len()), (2, 2));
//! println!("{report}");
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod caller_columns;
mod claim;
mod field;
mod gpu;
mod proof;
mod prover;
mod rounds;
mod transcript;

pub use caller_columns::{Columns, HostColumn, bitslice_column, unbitslice_column};
pub use claim::{Claim, MAX_COLUMNS, MAX_FACTORS, MAX_VARIABLES, ProductTerm};
pub use field::{ComputeField, SumcheckField};
pub use proof::{Proof, verify};
pub use prover::{BatchProof, ClaimBatch, Prover, prove, prove_with};
pub use rounds::{ColumnOwnership, HOST_TAIL_LOG, KernelPath, RoundPolynomial, SumcheckExplanation, SumcheckOptions};
#[cfg(feature = "plonky3")]
pub use transcript::Challenger;
pub use transcript::{BoundTranscript, Checkpoint, HashTranscript, Transcript};

/// Runs the examples of `docs/sumcheck.md`. One of them needs the feature `plonky3`.
#[cfg(all(doctest, feature = "plonky3"))]
#[doc = include_str!("../../docs/sumcheck.md")]
struct Page;
