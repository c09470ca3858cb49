//! Runs the work of zero-knowledge provers on CUDA, OpenCL or the CPU: multi-scalar multiplication, number-theoretic
//! transforms, matrices, polynomial expressions, sumcheck, Merkle trees and whole proofs.
//!
//! ```
//! use ff::Field;
//! use proofwarp::prelude::*;
//!
//! let accelerator = Accelerator::from_env()?; // PROOFWARP_BACKEND=cuda|opencl|cpu forces one
//! let domain = NttDomain::<blstrs::Scalar>::new(&accelerator, 4)?;
//! let mut values = vec![blstrs::Scalar::ONE; 16];
//! let report = domain.forward(&mut values)?;
//! assert_eq!(values[0], blstrs::Scalar::from(16));
//! println!("{report}");
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! | what | module | an example |
//! |---|---|---|
//! | devices that run an operation, and the fallback | [`accelerator`] | [`Accelerator`] |
//! | multi-scalar multiplication | [`mod@msm`] | [`msm::msm`], [`msm::Msm`] |
//! | number-theoretic transforms | [`ntt`] | [`ntt::NttDomain`] |
//! | sparse matrices, such as those of an R1CS | [`matrix`] | [`matrix::SparseMatrix`] |
//! | sums, products and quotient terms, one operation at a time | [`column_ops`] | [`mod@column_ops`] |
//! | sparse matrices that change | [`matrix::dynamic`] | [`matrix::dynamic::DynamicCsr`] |
//! | dense matrices | [`matrix::dense`] | [`matrix::dense::DenseMatrix`] |
//! | polynomial expressions over columns | [`expression`] | [`mod@expression`] |
//! | sumcheck, prover and verifier | [`sumcheck`] | [`mod@sumcheck`] |
//! | fields, and vectors of elements on a device or pinned | [`field`] | [`field::DeviceVector`], [`field::HostVector`] |
//! | Poseidon2 and Merkle trees, with the feature `plonky3` | `hash` | `hash::MerkleTreeMmcs` |
//! | binary fields: the tower, and GHASH's | [`field::tower`], [`field::ghash`] | [`field::tower::Tower`] |
//! | curves of multi-scalar multiplication | [`curve`] | [`curve::MsmCurve`] |
//! | MSM and transforms over bytes, of a curve or field that is named at run time | [`mod@bytes`] | [`bytes::ByteBases`], [`bytes::ByteDomain`] |
//! | Groth16 proofs | [`groth16`] | [`groth16::prove`] |
//! | the steps of a PLONKish proof, with the feature `unstable-plonk` | `plonk` | the adapter for halo2 |
//! | devices and times of operations | [`report`] | [`report::observe`] |
//! | MSM, transforms and Groth16 over the ranks of an MPI job, with the feature `mpi` | `cluster` | `cluster::Cluster` |
//! | environment variables | [`settings`] | [`settings::Settings`] |
//! | contents of this build and this machine | [`inspect`] | [`mod@inspect`] |
//! | processes that were forked after the first use | [`fork_check`] | [`fork_check::check`] |
//! | the names that most programs use | [`prelude`] | [`mod@prelude`] |
//!
//! # Backends
//!
//! CUDA, OpenCL and the CPU are tried in this order; the first that has a device is used. [`Report`] and the log say
//! which, and why another was not. `PROOFWARP_BACKEND` forces one, and then failing is an error.
//! [`settings::table::VARIABLES`] lists all variables.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `opencl` | yes | OpenCL devices, through the library that is found at run time |
//! | `bn254` | yes | BN254 and Grumpkin, by the types of halo2curves |
//! | `pasta` | yes | Pallas and Vesta, by the types of pasta_curves; on the CPU, halo2curves multiplies their points |
//! | `cuda` | no | CUDA kernels, compiled by nvcc at build time; the driver is found at run time |
//! | `mpi` | no | operations over the ranks of an MPI job: module `cluster` |
//! | `halo2` | no | the types of halo2curves-axiom too |
//! | `plonky3` | no | Goldilocks, BabyBear and KoalaBear by Plonky3's types: modules `field::plonky3` and `hash` |
//! | `unstable-device-api` | no | modules for adapters, which may change at any time: `backend`, `file_state`, `kernels`, `lru`, `module_launcher`, `rayon_waits`, `secret_vec` |
//! | `unstable-plonk` | no | module `plonk`, which may change at any time |
//! | `tracing` | no | a span of `tracing` for each operation, with an event at its end |
//! | `test-kernels` | no | kernels of the project's tests and benches |
//!
//! # Curves and fields
//!
//! | curve | points | scalars, for transforms and matrices too |
//! |---|---|---|
//! | BLS12-377 G1, G2 | `curve::bls12_377::{G1Affine, G2Affine}` | `curve::bls12_377::Fr` |
//! | BLS12-381 G1, G2 | `blstrs::{G1Affine, G2Affine}` | `blstrs::Scalar` |
//! | BN254 G1, G2 | `halo2curves::bn256::{G1Affine, G2Affine}` | `halo2curves::bn256::Fr` |
//! | Grumpkin | `halo2curves::grumpkin::G1Affine` | none |
//! | Pallas, Vesta | `pasta_curves::{EpAffine, EqAffine}` | `pasta_curves::{Fq, Fp}` |
//!
//! # Adapters
//!
//! | package | serves |
//! |---|---|
//! | `ec-gpu-gen`, `supraseal-c2`, drop-ins | unmodified bellperson, rust-fil-proofs; other versions serve neptune, Curio and halo2-gpu-specific |
//! | `proofwarp-bellperson` | bellperson's circuits and parameters |
//! | `proofwarp-circom` | circom's files, and circuits of arkworks |
//! | `proofwarp-rapidsnark`, the library `librapidsnark` | programs that call rapidsnark |
//! | `risc0-groth16-sys`, a drop-in | RISC Zero's Groth16 step |
//! | `proofwarp-halo2` | halo2-axiom |
//! | `halo2-axiom-gpu`, a drop-in | unmodified halo2-base and snark-verifier |
//! | `proofwarp-midnight` | midnight-proofs |
//!
//! The project's `docs` have a page for each.

// docs.rs shows the feature that each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unreachable_pub)]

pub mod accelerator;
pub mod bytes;
mod checked_size;
#[cfg(feature = "mpi")]
pub mod cluster;
pub mod column_ops;
pub mod curve;
mod error;
mod exec;
pub mod expression;
pub mod field;
pub mod fork_check;
pub mod groth16;
#[cfg(feature = "plonky3")]
pub mod hash;
pub mod inspect;
mod kernel_types;
mod mapped_file;
pub mod matrix;
pub mod msm;
pub mod ntt;
pub mod prelude;
pub mod report;
pub mod settings;
pub mod sumcheck;
mod thread_pools;

// Its macro declares kernels in `kernels`, and has to precede that.
#[macro_use]
#[doc(hidden)]
pub mod kernel_arguments;

/// Declares modules that are public with a feature, and private without it. Without the feature, nothing outside uses
/// what they define for others.
macro_rules! unstable {
    ($feature:literal: $($module:ident)*) => {
        $(
            #[cfg(feature = $feature)]
            #[doc(hidden)]
            pub mod $module;
            #[cfg(not(feature = $feature))]
            #[allow(dead_code, unreachable_pub, unused_imports, reason = "for crates that turn the feature on")]
            mod $module;
        )*
    };
}

unstable!("unstable-device-api": backend file_state kernels lru module_launcher rayon_waits secret_vec);
unstable!("unstable-plonk": plonk);

pub use accelerator::Accelerator;
pub use backend::{
    Abort, BackendKind, Buffer, Device, DeviceCaps, DeviceInfo, Event, PinnedBuffer, Stream, StreamStats,
};
pub use error::{Error, Result};
pub use mapped_file::MappedFile;
pub use report::Report;

/// Compiles and runs the Rust code of the included pages as doc tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/bellperson.md")]
    struct Bellperson;
    #[doc = include_str!("../docs/library.md")]
    struct Library;
    #[cfg_attr(feature = "plonky3", doc = include_str!("../docs/matrices.md"))]
    struct Matrices;
    #[cfg_attr(feature = "mpi", doc = include_str!("../docs/scale.md"))]
    struct Scale;
}
