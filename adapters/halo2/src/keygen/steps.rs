//! What keys take their time for.

use proofwarp::report::own_work;

/// Does a step's work, and reports how long it took. Steps may run beside each other.
pub fn step<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    own_work(&format!("halo2 keygen: {name}"), elements, work)
}
