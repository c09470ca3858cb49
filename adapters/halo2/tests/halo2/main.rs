//! Keys and proofs on the backend of the environment, checked by halo2-axiom: one program, so that it is built once.

mod backends;
mod described;
mod kept;
mod keygen;
mod proofs;
mod random;
mod refused;
