//! Runs the crate's operations over the ranks of an MPI job, with the feature `mpi`.
//!
//! ```no_run
//! use proofwarp::cluster::{Cluster, ClusterMsm, mpi};
//!
//! let universe = mpi::initialize().ok_or("MPI runs already")?;
//! let cluster = Cluster::new(&universe.world())?; // every rank: its share of the node's devices
//! let g = <blstrs::G1Affine as group::prime::PrimeCurveAffine>::generator();
//! let msm = ClusterMsm::new(&cluster, 1 << 20, |range| Ok(vec![g; range.len()]))?; // each rank loads its own bases
//! let scalars = vec![blstrs::Scalar::from(3); msm.own().len()];
//! let (sum, report) = msm.run(&scalars, None)?; // the same on all ranks
//! assert_eq!(sum, g * blstrs::Scalar::from(3 << 20));
//! println!("rank {} of {}: {report}", cluster.rank(), cluster.size());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A rank that fails does not leave the others waiting: [`Cluster::agree`] comes before every step in which ranks wait
//! for each other.

mod batch;
mod folder;
mod groth16;
mod job;
mod ledger;
mod msm;
mod ntt;
mod points;
mod slices;

pub use batch::{ClusterBatch, Outcome};
pub use groth16::{ClusterKey, Input, KeyLayout, OwnedWitness, proof_from_bytes, proof_to_bytes, prove_batch};
pub use job::{Cluster, Options};
pub use ledger::{Ledger, Line};
pub use mpi;
pub use msm::ClusterMsm;
pub use ntt::{Classes, ClusterNtt, NttOptions};
pub use slices::Slices;
