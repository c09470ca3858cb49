//! Runs halo2-axiom's prover and key generation on proofwarp: KZG on BN254, any transcript.
//!
//! [`create_proof`], [`create_proof_from_advice`], [`keygen_vk`], [`keygen_pk`] and the others take the arguments of
//! halo2-axiom's functions. Circuits, keys, setups, transcripts and verifiers stay halo2-axiom's. Keys are equal byte
//! for byte; proofs verify with its verifier.
//!
//! ```
//! use halo2_axiom::circuit::{Layouter, SimpleFloorPlanner, Value};
//! use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
//! use halo2_axiom::plonk::{Advice, Circuit, Column, ConstraintSystem, Error, Selector, verify_proof};
//! use halo2_axiom::poly::Rotation;
//! use halo2_axiom::poly::commitment::ParamsProver;
//! use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
//! use halo2_axiom::poly::kzg::multiopen::{ProverSHPLONK, VerifierSHPLONK};
//! use halo2_axiom::poly::kzg::strategy::SingleStrategy;
//! use halo2_axiom::transcript::{
//!     Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer,
//! };
//! use proofwarp_halo2::{create_proof, keygen_pk2};
//! use rand_core::OsRng;
//!
//! /// Three rows, each the square of the one before.
//! #[derive(Clone, Default)]
//! struct Squares(u64);
//!
//! impl Circuit<Fr> for Squares {
//!     type Config = (Selector, Column<Advice>);
//!     type FloorPlanner = SimpleFloorPlanner;
//!     type Params = ();
//!
//!     fn without_witnesses(&self) -> Self {
//!         Self::default()
//!     }
//!
//!     fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
//!         let (on, column) = (meta.selector(), meta.advice_column());
//!         meta.create_gate("square", |meta| {
//!             let [now, next] = [0, 1].map(|rotation| meta.query_advice(column, Rotation(rotation)));
//!             vec![meta.query_selector(on) * (now.square() - next)]
//!         });
//!         (on, column)
//!     }
//!
//!     fn synthesize(&self, (on, column): Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
//!         layouter.assign_region(
//!             || "squares",
//!             |mut region| {
//!                 let mut value = Fr::from(self.0);
//!                 for row in 0..3 {
//!                     on.enable(&mut region, row)?;
//!                     region.assign_advice(column, row, Value::known(value));
//!                     value = value * value;
//!                 }
//!                 region.assign_advice(column, 3, Value::known(value));
//!                 Ok(())
//!             },
//!         )
//!     }
//! }
//!
//! # fn main() -> Result<(), Error> {
//! let (setup, circuit) = (ParamsKZG::<Bn256>::setup(4, OsRng), Squares(3));
//! let key = keygen_pk2(&setup, &circuit, false)?;
//! let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
//! create_proof::<KZGCommitmentScheme<Bn256>, ProverSHPLONK<Bn256>, _, _, _, _>(
//!     &setup, &key, &[circuit], &[&[]], OsRng, &mut transcript,
//! )?;
//! let proof = transcript.finalize();
//! let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(&proof[..]);
//! let strategy = SingleStrategy::new(&setup);
//! verify_proof::<KZGCommitmentScheme<Bn256>, VerifierSHPLONK<Bn256>, _, _, _>(
//!     setup.verifier_params(), key.get_vk(), strategy, &[&[]], &mut transcript,
//! )?;
//! # Ok(())
//! # }
//! ```

#![deny(unreachable_pub)]

mod arena;
mod caches;
mod check;
mod committer;
mod consistent;
mod constraints;
mod device_pick;
mod device_provers;
mod early;
mod error;
mod keygen;
mod lru;
mod memory;
mod opening;
mod options;
mod prover;
mod queue;
mod random;
mod record;
mod resident_advice;
mod schedule;
mod synthesis;
mod task;
mod timed_transcript;
mod witness;

pub use caches::clear_setups;
pub use halo2_axiom;
pub use keygen::{Setup, keygen_pk, keygen_pk_impl, keygen_pk2, keygen_vk, keygen_vk_custom};
pub use opening::{Kind, Opening, Scheme};
pub use options::{Options, memory};
pub use proofwarp;
pub use prover::{
    create_proof, create_proof_from_advice, create_proof_from_advice_with, create_proof_in_parallel, create_proof_with,
};
pub use queue::prove_in_order;
pub use resident_advice::{create_proof_from_resident_advice_with, find_accelerator};
pub use timed_transcript::TimedTranscript;
/// The name of earlier versions.
#[doc(hidden)]
pub use timed_transcript::TimedTranscript as Marked;

/// Compiles the Rust code of the page as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/halo2.md")]
struct Page;
