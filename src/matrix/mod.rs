//! Matrices over the fields of [`crate::field`].

pub mod sparse;

pub use sparse::{Csr, CsrOnDevice, DeviceVectors, Explanation, Kernel, Options, SparseMatrix, Statistics};
