//! Moves the cost of large host allocations to other threads: the system maps and unmaps pages slowly.

use rayon::prelude::*;

/// Returns `count` copies of `value`, in memory whose pages all cores touch first.
pub(crate) fn par_filled_vec<T: Clone + Send + Sync>(value: T, count: usize) -> Vec<T> {
    (0..count).into_par_iter().map(|_| value.clone()).collect()
}

/// Drops `gone` on another thread.
pub(crate) fn drop_in_background(gone: impl Send + 'static) {
    rayon::spawn(move || drop(gone));
}
