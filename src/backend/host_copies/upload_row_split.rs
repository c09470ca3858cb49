//! Splits small copies to a device into two rows.

/// Maximum bytes of a copy that is queued as two rows, 64 KiB. NVIDIA's driver puts small linear copies into its
/// command queue, and nothing clears that. Small is up to 16 KiB from page-locked memory, or 64 KiB from other memory.
/// It does not put copies of rows there (measured on driver 580: `benches/notes/trust.md`).
const MAX_BYTES: usize = 64 << 10;

/// Describes how a copy is split: two rows of equal width, and a rest behind them that is copied by one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TwoRows {
    /// Bytes of each of the two rows; zero if there are no rows.
    pub width: usize,
    /// Bytes behind the rows: all of a copy above 64 KiB, one byte of a smaller copy of odd size, else none.
    pub rest: usize,
}

impl TwoRows {
    /// Splits a copy of `bytes` into two rows and a rest.
    pub(crate) fn split(bytes: usize) -> Self {
        if bytes > MAX_BYTES { Self { width: 0, rest: bytes } } else { Self { width: bytes / 2, rest: bytes % 2 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_rest_are_all() {
        for bytes in [0, 1, 2, 31, 32, MAX_BYTES, MAX_BYTES + 1] {
            let TwoRows { width, rest } = TwoRows::split(bytes);
            assert_eq!(2 * width + rest, bytes);
            assert!(rest < 2 || bytes > MAX_BYTES);
        }
    }
}
