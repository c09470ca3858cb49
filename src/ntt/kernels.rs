//! Declares the kernels of transforms.

use crate::kernels::field_sources::{SHOUP, SHOUP_PTX};
use crate::kernels::spec::{Constant, Declarations, KernelFamily, Part, source};

/// Transforms, their twiddles, and pointwise operations.
pub static FAMILY: KernelFamily = KernelFamily {
    field_sources: &[SHOUP, SHOUP_PTX],
    sources: &[
        Part::always(source!("cl/ntt_common.cl")),
        Part::always(source!("cl/ntt_twiddles.cl")),
        Part::always(source!("cl/ntt_columns.cl")),
        Part::always(source!("cl/ntt_rows.cl")),
        Part::always(source!("cl/ntt_multi_gpu.cl")),
        Part::always(source!("cl/ntt_pointwise.cl")),
    ],
    ..KernelFamily::new("ntt")
};

/// Passes, over small tiles, of a transform whose tiles all run at once.
pub static SMALL: KernelFamily = KernelFamily {
    constants: &[&[Constant { name: "SMALL_TILES", value: 1, kind: "u32" }]],
    field_sources: &[SHOUP, SHOUP_PTX],
    sources: &[Part::always(source!("cl/ntt_common.cl")), Part::always(source!("cl/ntt_single_wave.cl"))],
    ..KernelFamily::new("ntt_small")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY, &SMALL], ..Declarations::NONE };
