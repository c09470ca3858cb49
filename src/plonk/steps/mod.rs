//! What a PLONKish prover does between transforms and multiplications, each step on a device and on the host.
//!
//! A step's `enqueue` takes and gives vectors on a device and only queues on a stream; nothing is waited for. Its `on_cpu`
//! does the same with slices, by rayon, and gives equal elements. Columns are [`Column`]s: `n` elements somewhere in a
//! [`DeviceVector`], Montgomery form; a batch of them lies at a [`Place`]. A launch serves all columns of a step, as long as they
//! lie in at most eight vectors; of more, it takes some launches more.
//!
//! What other streams write must have been waited for ([`crate::backend::Stream::wait_for`]), and vectors of other streams
//! must outlive what is queued. Wrong arguments are found before anything is queued.
//!
//! | step | what comes out |
//! |---|---|
//! | [`permute`] | A' and S' of lookups, by a hash table and counting |
//! | [`factors`] | numerators and denominators of all grand products |
//! | [`products`] | the grand products, chained and not |
//! | [`evaluate`] | values of many polynomials at several points |
//! | [`combine`] | sums of multiples of polynomials, less some of low degree |
//! | [`divide`] | quotients by products of X − z |
//! | [`pieces`] | the pieces of a quotient, from its values on cosets |
//! | [`rows`] | blinding rows, random elements |
//!
//! ```
//! use ff::Field;
//! use halo2curves::bn256::Fr;
//! use proofwarp::{Accelerator, field::DeviceVector, plonk::steps::{Column, evaluate}};
//!
//! let coefficients = [1, 2, 3].map(Fr::from); // 1 + 2X + 3X²
//! let points = [Fr::from(10), Fr::ZERO];
//! let accelerator = Accelerator::from_env()?;
//! let mut values = [Fr::ZERO; 2];
//! match accelerator.devices().first() {
//!     Some(device) => {
//!         let mut stream = device.stream()?;
//!         let polynomial = DeviceVector::upload(&mut stream, &coefficients)?;
//!         let queries = [0, 1].map(|point| evaluate::Query { polynomial: Column::new(&polynomial, 0), point });
//!         evaluate::enqueue(&mut stream, 3, &queries, &points)?.download(&mut stream, &mut values)?;
//!     }
//!     None => {
//!         let queries = [0, 1].map(|point| evaluate::Query { polynomial: &coefficients[..], point });
//!         values.copy_from_slice(&evaluate::on_cpu(&queries, &points)?);
//!     }
//! }
//! assert_eq!(values, [Fr::from(321), Fr::ONE]);
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! [`DeviceVector`]: crate::field::DeviceVector

mod columns;
pub mod combine;
pub mod divide;
pub mod evaluate;
pub mod factors;
mod launch;
pub mod permute;
pub mod pieces;
pub mod products;
pub mod rows;

pub use columns::{Column, Place, Rows};
