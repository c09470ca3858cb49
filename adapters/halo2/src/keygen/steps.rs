//! Reports the time that each step of key generation takes.

use proofwarp::report::record_host_work;

/// Runs the `work` of a step, and reports how long it took. Steps may run concurrently.
pub fn step<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    record_host_work(&format!("halo2 keygen: {name}"), elements, work)
}
