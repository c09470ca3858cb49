//! Declares the kernel of expressions.

use crate::kernels::spec::{Declarations, KernelFamily, Part, source};

/// Polynomial expressions over columns.
pub static FAMILY: KernelFamily =
    KernelFamily { sources: &[Part::always(source!("cl/expression.cl"))], ..KernelFamily::new("expression") };

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
