//! Reports the time that each step of key generation takes.

use proofwarp::report::record_host_work;

/// Runs `work`, the step `name` of key generation, and reports how long it took. `elements` is the number of elements
/// that it processes. Steps may run concurrently.
pub(super) fn record_keygen_step<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    record_host_work(&format!("halo2 keygen: {name}"), elements, work)
}
