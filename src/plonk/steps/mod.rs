//! Implements the steps of a PLONKish prover between transforms and MSMs, each on a device and on the host.
//!
//! A step's `enqueue` takes and returns vectors on a device. It only queues work on a stream, and waits for nothing.
//! Its `on_cpu` does the same work on slices, with rayon, and returns equal elements. A [`DeviceColumn`] is `n` elements of a
//! [`DeviceVector`] in Montgomery form; a [`StridedColumns`] describes a batch of columns. One launch serves all columns of a
//! step if they are in at most eight vectors; columns in more vectors take some more launches.
//!
//! The caller must have waited for other streams' writes ([`crate::backend::Stream::wait_event`]), and vectors of other
//! streams must outlive the queued work. Wrong arguments are found before anything is queued.
//!
//! | step | result |
//! |---|---|
//! | [`lookup_permute`] | A' and S' of lookups, by a hash table and counting |
//! | [`product_factors`] | numerators and denominators of all grand products |
//! | [`products`] | the grand products, chained and not |
//! | [`evaluate`] | values of many polynomials at several points |
//! | [`combine`] | sums of multiples of polynomials, less some of low degree |
//! | [`divide`] | quotients by products of X − z |
//! | [`quotient_pieces`] | the pieces of a quotient, from its values on cosets |
//! | [`blinding`] | blinding rows, random elements |
//!
//! ```
//! use ff::Field;
//! use halo2curves::bn256::Fr;
//! use proofwarp::{Accelerator, field::DeviceVector, plonk::steps::{DeviceColumn, evaluate}};
//!
//! let coefficients = [1, 2, 3].map(Fr::from); // 1 + 2X + 3X²
//! let points = [Fr::from(10), Fr::ZERO];
//! let accelerator = Accelerator::from_env()?;
//! let mut values = [Fr::ZERO; 2];
//! match accelerator.devices().first() {
//!     Some(device) => {
//!         let mut stream = device.stream()?;
//!         let polynomial = DeviceVector::upload(&mut stream, &coefficients)?;
//!         let queries = [0, 1].map(|point| evaluate::EvaluationQuery { polynomial: DeviceColumn::new(&polynomial, 0), point });
//!         evaluate::enqueue(&mut stream, 3, &queries, &points)?.download(&mut stream, &mut values)?;
//!     }
//!     None => {
//!         let queries = [0, 1].map(|point| evaluate::EvaluationQuery { polynomial: &coefficients[..], point });
//!         values.copy_from_slice(&evaluate::on_cpu(&queries, &points)?);
//!     }
//! }
//! assert_eq!(values, [Fr::from(321), Fr::ONE]);
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! [`DeviceVector`]: crate::field::DeviceVector

pub mod blinding;
mod column_places_and_checks;
pub mod combine;
pub mod divide;
pub mod evaluate;
pub mod lookup_permute;
pub mod product_factors;
pub mod products;
pub mod quotient_pieces;
mod step_launches;

pub use column_places_and_checks::{DeviceColumn, RowCounts, StridedColumns};
pub(super) use quotient_pieces::{device_vector_count, MAX_COSETS};
