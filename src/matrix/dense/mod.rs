//! Multiplies dense matrices of field elements or small integers by each other and by vectors. Fields are the scalar
//! fields and, with feature `plonky3`, Goldilocks and BabyBear.
//!
//! A [`DenseMatrix`] stays on its device, or on the host if there is no device. Products stay there too. Results are
//! exact: every method gives the same elements on every backend.
//!
//! ```
//! use proofwarp::matrix::dense::{DenseMatrix, DenseOptions};
//! use proofwarp::Accelerator;
//!
//! type F = halo2curves::bn256::Fr;
//! let accelerator = Accelerator::from_env()?;
//! let numbers: Vec<F> = (1..=6).map(F::from).collect();
//! let a = DenseMatrix::upload(&accelerator, &numbers, 2, 3)?; // row after row
//! let c = a.multiply(&a.transposed(), &DenseOptions::default(), None)?;
//! assert_eq!(c.download()?, [14, 32, 32, 77].map(F::from));
//!
//! // Weights of a quantised layer are bytes.
//! let weights = DenseMatrix::upload(&accelerator, &[-1i8, 2], 1, 2)?;
//! let layer = weights.multiply(&a, &DenseOptions::default(), None)?;
//! assert_eq!(layer.download()?, [7, 8, 9].map(F::from));
//! assert!(layer.check_product::<F, _, _>(&weights, &a, 1, &mut rand::thread_rng())?.is_valid());
//! println!("{}", weights.explain(&a, &DenseOptions::default())?);
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod cpu;
#[cfg(target_arch = "x86_64")]
mod cpu_avx2_256bit;
#[cfg(feature = "plonky3")]
mod cpu_small_field;
mod crt_params;
mod dense_matrix_and_freivalds;
mod element_and_accumulator;
mod gpu;
mod gpu_crt;
mod host_or_device_storage;
mod layout;
mod multi_device;
mod multiply;
mod plan;
mod shared_launches;
mod tensor_core_kernels;

pub use dense_matrix_and_freivalds::{DenseMatrix, FreivaldsResult};
pub use element_and_accumulator::{DenseField, ElementKind, Entry, MatMulElement};
pub use layout::View;
pub use plan::{DenseExplanation, DenseOptions, Method};
