//! Declares the kernels of Groth16.

use crate::kernels::spec::{Declarations, KernelFamily, Part, kernels, shared_constants, source};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group.
    GROTH16_GROUP: u32 = 128;
}

kernels! {
    pub KERNELS:
    /// Computes out\[i\] = x\[indices\[i\]\].
    groth16_gather[GROTH16_GROUP] => Gather<F> {
        n: u32,
        indices: In<u32>,
        x: In<F>,
        out: Out<F>,
    }
    /// Computes a = a·b·factor.
    groth16_multiply[GROTH16_GROUP] => Multiply<F> {
        n: u32,
        factor: In<F>,
        a: Out<F>,
        b: In<F>,
    }
    /// Computes a = a − c·factor.
    groth16_subtract[GROTH16_GROUP] => Subtract<F> {
        n: u32,
        factor: In<F>,
        a: Out<F>,
        c: In<F>,
    }
    /// Computes c = a·b.
    groth16_product[GROTH16_GROUP] => Product<F> {
        n: u32,
        c: Out<F>,
        a: In<F>,
        b: In<F>,
    }
    /// Computes a = a·b − c.
    groth16_numerator[GROTH16_GROUP] => Numerator<F> {
        n: u32,
        a: Out<F>,
        b: In<F>,
        c: In<F>,
    }
}

/// Computes the steps of a Groth16 proof between its NTTs and its MSMs.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS],
    kernels: &[KERNELS],
    sources: &[Part::always(source!("cl/groth16.cl"))],
    ..KernelFamily::new("groth16")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
