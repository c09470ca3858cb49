//! Sparse matrices that change between products.
//!
//! [`DynamicCsr`] holds a base in compressed rows and a delta: the changes appended since. A change costs an append,
//! and waits for no device. A [`Snapshot`] multiplies: it queues the base's kernels, then the delta's, together. A
//! merge makes a new base of both. Products before, during and after it are equal, since elements have one form each.
//!
//! ```
//! use proofwarp::Accelerator;
//! use proofwarp::matrix::Csr;
//! use proofwarp::matrix::dynamic::{DynamicCsr, Policy};
//!
//! type F = halo2curves::bn256::Fr;
//! let [one, two, three] = [1, 2, 3].map(F::from);
//! let csr = Csr::from_rows(2, [vec![(0, one)], vec![(1, two)]])?;
//! let matrix = DynamicCsr::new(&Accelerator::from_env()?, csr, Policy::default())?;
//! let before = matrix.snapshot()?;
//! matrix.set(0, 1, three)?; // row 0 is (1, 3) now
//! matrix.remove(1, 1)?;
//! let (mut old, mut new) = ([F::zero(); 2], [F::zero(); 2]);
//! before.multiply(&[one, one], &mut old, None)?;
//! matrix.snapshot()?.multiply(&[one, one], &mut new, None)?;
//! assert_eq!((old, new), ([one, two], [F::from(4), F::zero()]));
//! matrix.merge()?;
//! println!("{}", matrix.explain());
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod base;
mod change_and_delta;
mod matrix;
mod merge_on_host;
mod policy;
mod snapshot;

pub use change_and_delta::{Action, Change};
pub use matrix::DynamicCsr;
pub use policy::{DynamicExplanation, Policy, Threshold};
pub use snapshot::Snapshot;
