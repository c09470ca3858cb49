//! Keys and proofs on the backend of the environment, checked by halo2-axiom: one program, so that it is built once.

mod abort;
mod backends;
mod bound;
mod described;
mod devices;
mod early;
mod faults;
mod generated;
mod generator;
mod kept;
mod keygen;
mod limits;
mod logged;
mod points;
mod proofs;
mod random;
mod refused;
mod shared;
mod silent;
