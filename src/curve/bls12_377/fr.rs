//! Defines the scalar field of BLS12-377.

use ff::PrimeField;

/// Represents an element of the scalar field, 253 bits, of BLS12-377: the order r of G1 and G2. It is in Montgomery
/// form, R = 2^256.
#[derive(PrimeField)]
#[PrimeFieldModulus = "8444461749428370424248824938781546531375899335154063827935233455917409239041"]
#[PrimeFieldGenerator = "22"]
#[PrimeFieldReprEndianness = "little"]
#[repr(transparent)]
#[allow(clippy::expl_impl_clone_on_copy, reason = "the derive macro implements both")]
pub struct Fr([u64; 4]);
