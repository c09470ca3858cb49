//! Multiplies and transforms over bytes: curves and fields are named at run time, and their elements are little-endian
//! Montgomery limbs. Types of any crate can use the kernels this way, without a Rust type of [`crate::curve`] or
//! [`crate::field`].
//!
//! | value | bytes |
//! |---|---|
//! | element of a prime field of k 64-bit limbs | R·a mod p with R = 2^(64·k), the lowest byte first: 8·k |
//! | element c0 + c1·u of a quadratic extension | c0, then c1 |
//! | affine point | x, then y; all zero for infinity |
//! | scalar of a multiplication | 32, in a [`ScalarForm`](crate::msm::ScalarForm) |
//!
//! These are the forms of arkworks, halo2curves, pasta_curves and blst. An adapter for the types of such a crate writes
//! their limbs.
//!
//! ```
//! use proofwarp::Accelerator;
//! use proofwarp::bytes::{ByteBases, ByteDomain, CurveId};
//! use proofwarp::msm::{ScalarForm, Scalars};
//! use proofwarp::ntt::{Direction, NttOptions};
//!
//! let accelerator = Accelerator::from_env()?;
//! let curve = CurveId::from_name("bn254_g1")?;
//! # let (x, y) = (halo2curves::bn256::Fq::from(1), halo2curves::bn256::Fq::from(2));
//! # use halo2curves::serde::SerdeObject;
//! # let generator = [x, y].map(|coordinate| coordinate.to_raw_bytes()).concat();
//! let bases = ByteBases::from_montgomery(&accelerator, curve, &generator)?; // stays on the devices
//! let mut one = [0; 32];
//! one[0] = 1;
//! let (sum, report) = bases.run(Scalars::from_bytes(&one, ScalarForm::Canonical)?, None)?;
//! assert_eq!(sum, generator);
//! println!("{report}");
//!
//! let domain = ByteDomain::new(&accelerator, curve.scalar_field(), 3)?;
//! let mut zeros = [0; 8 * 32];
//! domain.run(Direction::Forward, &mut [&mut zeros], None)?;
//! assert_eq!(zeros, [0; 8 * 32]);
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! Lengths and limbs are checked: limbs that are not below the modulus are an error. Memory that is aligned to 8 bytes is
//! used as it is; other memory is copied.

mod bases;
mod curve_and_field_ids;
mod domain;

pub use bases::{ByteBases, msm};
pub use curve_and_field_ids::{CurveId, FieldId};
pub use domain::ByteDomain;
