//! Runs the crate's operations over the ranks of an MPI job, with the feature `mpi`.
//!
//! ```no_run
//! use proofwarp::cluster::{Cluster, ClusterMsm, mpi};
//!
//! let universe = mpi::initialize().ok_or("MPI runs already")?;
//! let cluster = Cluster::new(&universe.world())?; // every rank: its share of the node's devices
//! let g = <blstrs::G1Affine as group::prime::PrimeCurveAffine>::generator();
//! let msm = ClusterMsm::new(&cluster, 1 << 20, |range| Ok(vec![g; range.len()]))?; // each rank loads its own bases
//! let scalars = vec![blstrs::Scalar::from(3); msm.local_range().len()];
//! let (sum, report) = msm.run(&scalars, None)?; // the same on all ranks
//! assert_eq!(sum, g * blstrs::Scalar::from(3 << 20));
//! println!("rank {} of {}: {report}", cluster.rank(), cluster.size());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A rank that fails does not leave the others waiting: [`Cluster::all_or_error`] comes before every step in which
//! ranks wait for each other.

mod batch_coordinator;
mod checkpoint;
mod cluster_handle;
mod groth16;
mod msm;
mod ntt;
mod partition;
mod stats;

pub use batch_coordinator::{BatchOutcome, ClusterBatch};
pub use cluster_handle::{Cluster, ClusterOptions};
pub use groth16::{ClusterKey, Input, KeyLayout, OwnedWitness, proof_from_bytes, proof_to_bytes, prove_batch};
pub use mpi;
pub use msm::ClusterMsm;
pub use ntt::{ClusterNtt, ClusterNttOptions, CyclicLayout};
pub use partition::Partition;
pub use stats::{RankRow, RankStats};
