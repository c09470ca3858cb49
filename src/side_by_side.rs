//! One piece of work for each device, at the same time.

use crate::{Error, Result};

/// The results of all pieces, in their order. A single one is done by the caller's thread: another would cost as much
/// as a small operation.
pub(crate) fn side_by_side<P: Send, T: Send>(
    operation: &str,
    pieces: impl Iterator<Item = P>,
    work: impl Fn(P) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let pieces: Vec<P> = pieces.collect();
    if pieces.len() < 2 {
        return pieces.into_iter().map(work).collect();
    }
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = pieces.into_iter().map(|piece| scope.spawn(move || work(piece))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(Error::panicked(operation)))).collect()
    })
}
