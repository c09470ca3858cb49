//! Multiplies matrices over the fields of [`crate::field`]: sparse ones, sparse ones that change, and dense ones.
//!
//! | what | module | an example |
//! |---|---|---|
//! | sparse matrices times vectors, such as those of an R1CS | [`sparse`] | [`SparseMatrix`] |
//! | sparse matrices that change between products | [`dynamic`] | [`dynamic::DynamicCsr`] |
//! | dense products, also of small integers | [`dense`] | [`dense::DenseMatrix`] |

pub mod dense;
pub mod dynamic;
pub mod sparse;

pub use sparse::{Csr, CsrOnDevice, DeviceVectors, Kernel, SparseExplanation, SparseMatrix, SparseOptions, Statistics};
