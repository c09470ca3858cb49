//! Computes sums, products and terms of quotients, row by row, on columns that stay on a device. It serves provers that
//! do one operation at a time, such as halo2-gpu-specific. Provers that know a whole expression use
//! [`crate::expression`].
//!
//! ```
//! use halo2curves::bn256::Fr;
//! use proofwarp::column_ops::{Argument::{Column, Number}, Operation, on_cpu};
//!
//! let [a, b] = [[1, 2], [30, 40]].map(|column| column.map(Fr::from));
//! // a, and b a row further on.
//! let arguments = [Column(&a[..]), Column(&a[..]), Column(&b[..]), Number(0), Number(1), Number(2)];
//! let sums = on_cpu(Operation::Sum, &arguments, 0)?;
//! assert_eq!(sums, [(0, vec![Fr::from(41), Fr::from(32)])]);
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! Columns hold elements in Montgomery form. An operation takes its arguments in the order of
//! [`Operation::parameters`]. A result may be a column that is also read, but not one that is read at another row.
//!
//! An operation takes O(rows) products and, for each column, some reads and one write of 32 bytes a row. A sort's step
//! takes a comparison for two rows.

mod check;
mod cpu;
mod gpu;
mod operation;

pub use check::Argument;
pub use cpu::on_cpu;
pub use gpu::enqueue;
pub use operation::{Operation, Parameter};
