//! What steps of a proof do to columns in host memory, on the host's cores.

mod permute;
mod polynomials;
mod products;

pub use permute::{PermutedColumns, permute};
pub use polynomials::{combine, divide, evaluate};
pub use products::{Set, lookup_ratios, permutation_ratios, running_product};

/// Rows of a parallel piece: enough work to outweigh handing it over.
const PIECE: usize = 1 << 10;
