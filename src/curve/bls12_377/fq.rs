//! Defines the base field of BLS12-377 and its quadratic extension.

use ff::PrimeField;

/// Represents an element of the base field, 377 bits, of BLS12-377. It is in Montgomery form, R = 2^384.
#[derive(PrimeField)]
#[PrimeFieldModulus = "258664426012969094010652733694893533536393512754914660539884262666720468348340822774968888139573360124440321458177"]
#[PrimeFieldGenerator = "15"]
#[PrimeFieldReprEndianness = "little"]
#[repr(transparent)]
#[allow(clippy::expl_impl_clone_on_copy, reason = "the derive macro implements both")]
pub struct Fq([u64; 6]);
