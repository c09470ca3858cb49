//! Proves with zkeys that are on the devices.

pub(crate) mod any_proving_key;
pub(crate) mod key_cache;
pub(crate) mod matrices;
pub(crate) mod proving_key;
pub(crate) mod resident_prover;
pub(crate) mod roots;
pub(crate) mod secret_scalars;
