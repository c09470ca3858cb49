//! Proofs of PLONKish circuits with everything on the device, as plain data: no framework's types.

pub mod steps;
