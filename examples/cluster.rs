//! Adds up multiples of points and transforms a vector over all ranks of an MPI job.
//!
//! ```console
//! cargo build --release --example cluster --features mpi
//! mpirun -np 4 --bind-to none target/release/examples/cluster
//! ```
//!
//! `proofwarp bench cluster` measures these and proofs, and predicts larger clusters.

use std::error::Error;

use blstrs::{G1Affine, G1Projective, Scalar};
use ff::Field;
use group::{Curve, Group};
use proofwarp::cluster::{Cluster, ClusterMsm, ClusterNtt, mpi};
use proofwarp::ntt::Direction;

const LOG: u32 = 12;

fn main() -> Result<(), Box<dyn Error>> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    let universe = mpi::initialize().ok_or("MPI runs already")?;
    // All ranks make the same calls in one order. An error of one rank is an error of all.
    let cluster = Cluster::new(&universe.world())?;
    msm(&cluster)?;
    ntt(&cluster)?;
    if cluster.rank() == 0 {
        println!("all results are right: {} ranks", cluster.size());
    }
    Ok(())
}

/// Adds up n points, each rank those of its range: Σ 1 · (i + 1)·G = n(n + 1)/2 · G.
fn msm(cluster: &Cluster) -> Result<(), Box<dyn Error>> {
    let count = 1usize << LOG;
    let multiple = |number: usize| (G1Projective::generator() * Scalar::from(number as u64 + 1)).to_affine();
    let points = |range: std::ops::Range<usize>| Ok(range.map(multiple).collect::<Vec<_>>());
    let msm = ClusterMsm::<G1Affine>::new(cluster, count, points)?;
    let scalars = vec![Scalar::ONE; msm.local_range().len()];
    let (sum, report) = msm.run(&scalars, None)?;
    let n = count as u64;
    assert_eq!(sum, G1Projective::generator() * Scalar::from(n * (n + 1) / 2));
    println!("rank {}: {report}", cluster.rank());
    Ok(())
}

/// Evaluates the polynomial X on all roots of unity, and interpolates it again. A rank has a residue class of each vector.
fn ntt(cluster: &Cluster) -> Result<(), Box<dyn Error>> {
    let ntt = ClusterNtt::<Scalar>::new(cluster, LOG)?;
    let (rank, coefficients) = (cluster.rank(), ntt.coefficients());
    let is_x = |position| if coefficients.index(rank, position) == 1 { Scalar::ONE } else { Scalar::ZERO };
    let slice: Vec<Scalar> = (0..coefficients.length(rank)).map(is_x).collect();
    let mut values = slice.clone();
    ntt.run(Direction::Forward, &mut values, None)?;
    let root = |position| ntt.domain().omega().pow_vartime([ntt.values().index(rank, position) as u64]);
    assert!(values.iter().enumerate().all(|(position, value)| *value == root(position)));
    ntt.run(Direction::Inverse, &mut values, None)?;
    assert_eq!(values, slice);
    Ok(())
}
