//! Names the curves, and converts their points and scalars.

pub(crate) mod affine_point;
pub(crate) mod bls12_381_points;
pub(crate) mod bn254_points;
pub(crate) mod curve_id;
pub(crate) mod scalars;
