//! Declares kernels that only tests and benches use.

use crate::kernels::spec::{Declarations, Domain, KernelFamily, Part, Target, Variant, source};

/// Element-wise field operations.
pub static VECTOR: KernelFamily = KernelFamily {
    sources: &[Part::always(source!("cl/batch_inverse.cl")), Part::always(source!("cl/test_field.cl"))],
    is_for_tests: true,
    ..KernelFamily::new("vector")
};

/// Element-wise point operations.
pub static POINTS: KernelFamily = KernelFamily {
    domain: Domain::Curves,
    sources: &[Part::always(source!("cl/curve.cl")), Part::always(source!("cl/test_curve.cl"))],
    is_for_tests: true,
    ..KernelFamily::new("points")
};

/// Experiments of the bench `matrix_seed`.
pub static EXPERIMENTS: KernelFamily = KernelFamily {
    domain: Domain::Nothing,
    sources: &[Part::always(source!("cuda/experiments.cu"))],
    variants: &[Variant { suffix: "seed", define: "", target: Target::Cuda, condition: |_| true }],
    is_for_tests: true,
    ..KernelFamily::new("experiments")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations =
    Declarations { families: &[&VECTOR, &POINTS, &EXPERIMENTS], ..Declarations::NONE };
