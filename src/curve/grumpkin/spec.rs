//! Declares Grumpkin (Aztec's Barretenberg) to the kernels: the curve whose fields are those of BN254 in exchange.

use crate::kernels::bn254::{FQ, FR};
use crate::kernels::spec::{CurveSpec, Declarations};

/// Declares the curve, y² = x³ − 17.
pub static GRUMPKIN: CurveSpec = CurveSpec {
    name: "grumpkin",
    coordinates: &FR,
    scalars: &FQ,
    generator: [&["1"], &["2cf135e7506a45d632d270d45f1181294833fc48d823f272c"]],
    has_cofactor: false,
    has_gpu_decode: false,
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { curves: &[&GRUMPKIN], ..Declarations::NONE };
