//! A commitment scheme for midnight-proofs (KZG on BLS12-381) whose multi-scalar multiplications run on proofwarp, over
//! bases that stay on the devices. Circuits, keys, transcripts and verifiers stay midnight-proofs'. With the same
//! randomness, proofs equal its own byte for byte.
//!
//! ```
//! use blake2b_simd::State;
//! use ff::Field;
//! use midnight_curves::{Bls12, Fq};
//! use midnight_proofs::circuit::{Layouter, SimpleFloorPlanner, Value};
//! use midnight_proofs::plonk::{Advice, Circuit, Column, ConstraintSystem, Constraints, Error, Selector};
//! use midnight_proofs::plonk::{create_proof, keygen_pk, keygen_vk_with_k, prepare};
//! use midnight_proofs::poly::{Rotation, commitment::Guard, kzg::KZGCommitmentScheme, kzg::params::ParamsKZG};
//! use midnight_proofs::transcript::{CircuitTranscript, Transcript};
//! use proofwarp_midnight::{Parameters, GpuKzgScheme, retype};
//! use rand_core::OsRng;
//!
//! /// A row with the square of the row before.
//! #[derive(Clone)]
//! struct Square(u64);
//!
//! impl Circuit<Fq> for Square {
//!     type Config = (Selector, Column<Advice>);
//!     type FloorPlanner = SimpleFloorPlanner;
//!
//!     fn without_witnesses(&self) -> Self {
//!         Self(0)
//!     }
//!
//!     fn configure(meta: &mut ConstraintSystem<Fq>) -> Self::Config {
//!         let (on, column) = (meta.selector(), meta.advice_column());
//!         meta.create_gate("square", |meta| {
//!             let [now, next] = [0, 1].map(|rotation| meta.query_advice(column, Rotation(rotation)));
//!             Constraints::with_selector(on, vec![now.clone() * now - next])
//!         });
//!         (on, column)
//!     }
//!
//!     fn synthesize(&self, (on, column): Self::Config, mut layouter: impl Layouter<Fq>) -> Result<(), Error> {
//!         layouter.assign_region(|| "square", |mut region| {
//!             on.enable(&mut region, 0)?;
//!             for (row, value) in [self.0, self.0 * self.0].into_iter().enumerate() {
//!                 region.assign_advice(|| "", column, row, || Value::known(Fq::from(value)))?;
//!             }
//!             Ok(())
//!         })
//!     }
//! }
//!
//! let stock = ParamsKZG::<Bls12>::unsafe_setup(4, OsRng);
//! let vk = keygen_vk_with_k::<_, KZGCommitmentScheme<Bls12>, _>(&stock, &Square(3), 4).unwrap();
//! let pk = keygen_pk(vk, &Square(3)).unwrap();
//!
//! // From here on it is ours: the setup on the device, and the key for it.
//! let parameters = Parameters::new(&proofwarp::Accelerator::from_env()?, stock.clone())?;
//! let ours = retype::<_, GpuKzgScheme, Square>(&pk).unwrap();
//! let mut transcript = CircuitTranscript::<State>::init();
//! create_proof::<_, GpuKzgScheme, _, _>(&parameters, &ours, &[Square(3)], &[&[]], &mut transcript, OsRng).unwrap();
//!
//! // The verifier is midnight-proofs' own, with its own key.
//! let mut transcript = CircuitTranscript::<State>::init_from_bytes(&transcript.finalize());
//! let guard = prepare::<_, KZGCommitmentScheme<Bls12>, _>(pk.get_vk(), &[&[]], &mut transcript).unwrap();
//! guard.verify(&stock.verifier_params()).unwrap();
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! Transforms, the quotient and the openings stay midnight-proofs', which has no interface to replace them.
//! docs/midnight.md lists what runs where.

#![deny(unreachable_pub)]

mod keys;
mod parameters;
mod points;
mod scheme;

pub use keys::retype;
pub use parameters::Parameters;
pub use scheme::{GpuKzgScheme, UninhabitedGuard};
/// Re-exports items under their names of earlier versions.
#[doc(hidden)]
pub use scheme::{GpuKzgScheme as Resident, UninhabitedGuard as Never};
