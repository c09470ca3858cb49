//! Lists the steps of a PLONKish prover between transforms and MSMs, each on a device and on the host.
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

pub mod blinding {
    //! Fills rows with random elements of the host, and makes polynomials of random elements.
    pub use crate::plonk::blinding::{UNIFORM_BYTES, enqueue, enqueue_uniform, on_cpu, uniform_on_cpu};
}

pub mod combine {
    //! Sums multiples of polynomials, less polynomials of low degree.
    pub use crate::plonk::combine::{LinearCombination, enqueue, on_cpu};
}

pub mod divide {
    //! Divides polynomials by X − z, for one root after another.
    pub use crate::plonk::openings::{enqueue, on_cpu};
}

pub mod evaluate {
    //! Evaluates many polynomials at several points.
    pub use crate::plonk::evaluations::{EvaluationQuery, enqueue, on_cpu};
}

pub mod lookup_permute {
    //! Computes A' and S' of all lookups, without a sort.
    pub use crate::plonk::lookups::{MissingValues, PermutedColumns, enqueue, on_cpu};
}

pub mod product_factors {
    //! Computes the numerators and denominators of the grand products of all permutation sets and lookups.
    pub use crate::plonk::products::factors::{Challenges, Factors, Lookup, PermutationSet, enqueue, on_cpu};
}

pub mod products {
    //! Computes grand products, `z[0] = 1` and `z[i + 1] = z[i]·numerator[i]/denominator[i]`, for all columns at once.
    pub use crate::plonk::products::{enqueue, on_cpu};
}

pub mod quotient_pieces {
    //! Computes the pieces of a quotient from its values on as few cosets as it has pieces.
    pub use crate::plonk::circuit::MAX_COSETS;
    pub use crate::plonk::quotient::pieces::Cosets;
}

pub use super::column_places_and_checks::{DeviceColumn, RowCounts, StridedColumns};
