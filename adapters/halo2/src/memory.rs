//! Large pieces of host memory: the system takes its time to give pages and to take them back.

use rayon::prelude::*;

/// So many of one value, in memory whose pages all cores touch first.
pub fn filled<T: Clone + Send + Sync>(value: T, count: usize) -> Vec<T> {
    (0..count).into_par_iter().map(|_| value.clone()).collect()
}

/// Has another thread give back what nobody needs any more.
pub fn drop_later(gone: impl Send + 'static) {
    rayon::spawn(move || drop(gone));
}
