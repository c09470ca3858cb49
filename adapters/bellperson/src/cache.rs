//! Caches provers between calls, and evicts the least recently used ones if their keys take too much memory.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bellperson::groth16::ParameterSource;
use pairing::MultiMillerLoop;
use proofwarp::Accelerator;
use proofwarp::groth16::{Circuit, Engine};
use proofwarp::settings::Settings;

use crate::cached_prover::CachedProver;

/// Default limit of the key cache: 1/SHARE of device memory.
const SHARE: u64 = 2;
/// Default limit without a device, 4 GiB.
const ON_HOST: u64 = 4 << 30;

static CACHE: Mutex<Cache> = Mutex::new(Cache { entries: Vec::new(), limit: None, hits: 0, misses: 0, evictions: 0 });

/// Holds the provers that [`crate::create_proof`] and its variants keep.
#[derive(Debug)]
struct Cache {
    /// Provers, the least recently used first.
    entries: Vec<Arc<dyn Entry>>,
    /// Limit in bytes, set by [`limit_key_cache`].
    limit: Option<u64>,
    hits: u64,
    misses: u64,
    evictions: u64,
}

/// Abstracts cached provers over their engines.
trait Entry: Any + Send + Sync + std::fmt::Debug {
    fn bytes(&self) -> u64;
}

impl<E: Engine + MultiMillerLoop> Entry for CachedProver<E> {
    /// Returns the larger of the prover's bytes on the devices and the bytes of the key's points on the host.
    fn bytes(&self) -> u64 {
        let (key, circuit) = (self.prover.key(), self.prover.circuit());
        (key.bytes() + circuit.bytes()).max(key.parameters().bytes())
    }
}

/// Holds counters and the current size of the key cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyCache {
    /// Cached provers.
    pub entries: usize,
    /// Bytes that the provers take, on the devices or on the host, whichever is more for each prover.
    pub bytes: u64,
    /// Calls that found a cached prover.
    pub hits: u64,
    /// Calls that had to make a prover.
    pub misses: u64,
    /// Provers evicted to make room.
    pub evictions: u64,
}

/// Returns the counters and the current size of the key cache.
pub fn key_cache() -> KeyCache {
    let cache = lock();
    let (entries, bytes) = (cache.entries.len(), cache.bytes());
    KeyCache { entries, bytes, hits: cache.hits, misses: cache.misses, evictions: cache.evictions }
}

/// Sets the limit of the key cache to `bytes` from the next proof on, whatever `PROOFWARP_KEY_CACHE` says. `None`
/// restores that setting.
pub fn limit_key_cache(bytes: Option<u64>) {
    lock().limit = bytes;
}

/// Removes all cached keys. Their memory is freed once no proof uses it.
pub fn clear_key_cache() {
    let entries = std::mem::take(&mut lock().entries);
    drop(entries);
}

/// Returns the cached prover for the parameters `source` and for circuits such as `circuit`, if there is one.
pub fn find<E, P>(source: &P, circuit: &Circuit<E::Fr>) -> Option<Arc<CachedProver<E>>>
where
    E: Engine + MultiMillerLoop,
    P: ParameterSource<E>,
{
    // Not under the lock: a comparison may take a while.
    let entries = lock().entries.clone();
    for entry in entries.iter().rev() {
        let any: Arc<dyn Any + Send + Sync> = entry.clone();
        let Ok(held) = any.downcast::<CachedProver<E>>() else { continue };
        // Parameters that cannot be read as this key are another key.
        if held.accepts_circuit(circuit) && held.matches_params(source).unwrap_or(false) {
            lock().used(entry);
            return Some(held);
        }
    }
    None
}

/// Removes a prover whose points may no longer be those of its key.
pub fn evict<E: Engine + MultiMillerLoop>(held: &Arc<CachedProver<E>>) {
    let held: Arc<dyn Entry> = held.clone();
    log::warn!("key cache: a key goes: a proof by it does not verify");
    let gone = lock().take(&held);
    drop(gone);
}

/// Counts a call as a hit or a miss.
pub fn count(hit: bool) {
    let mut cache = lock();
    *(if hit { &mut cache.hits } else { &mut cache.misses }) += 1;
}

/// Evicts provers until a new one of `bytes` fits within the limit.
pub fn make_room(accelerator: &Accelerator, bytes: u64) {
    let (bound, _) = bound(accelerator);
    let gone = lock().shrink(bound.saturating_sub(bytes), 0);
    drop(gone);
}

/// Evicts all provers and returns whether there were any.
pub fn evict_all() -> bool {
    let gone = lock().shrink(0, 0);
    !gone.is_empty()
}

/// Caches `held` and evicts others for it, unless it exceeds a limit that was set explicitly.
pub fn keep<E: Engine + MultiMillerLoop>(accelerator: &Accelerator, held: Arc<CachedProver<E>>) {
    let (bound, strict) = bound(accelerator);
    let bytes = held.bytes();
    if strict && bytes > bound {
        log::info!("key cache: a key of {bytes} bytes is not kept: {bound} are allowed");
        return;
    }
    let mut cache = lock();
    let gone = cache.shrink(bound.saturating_sub(bytes), 0);
    cache.entries.push(held);
    drop(cache);
    drop(gone);
}

/// Evicts provers until the rest are within the limit: a cached prover grows once its key is on further devices.
pub fn enforce_limit(accelerator: &Accelerator) {
    let (bound, strict) = bound(accelerator);
    let gone = lock().shrink(bound, usize::from(!strict));
    drop(gone);
}

/// Returns the limit in bytes, and whether it also applies to a single key.
fn bound(accelerator: &Accelerator) -> (u64, bool) {
    // Malformed settings would have failed when `accelerator` was made.
    let asked = || Settings::get().ok().and_then(|settings| settings.key_cache);
    if let Some(bytes) = lock().limit.or_else(asked) {
        return (bytes, true);
    }
    let devices = accelerator.devices();
    let memory: u64 = devices.iter().map(|device| device.info().memory).sum();
    (if devices.is_empty() { ON_HOST } else { memory / SHARE }, false)
}

impl Cache {
    fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes()).sum()
    }

    fn used(&mut self, entry: &Arc<dyn Entry>) {
        let entry = self.take(entry);
        self.entries.extend(entry);
    }

    fn take(&mut self, entry: &Arc<dyn Entry>) -> Option<Arc<dyn Entry>> {
        let place = self.entries.iter().position(|other| Arc::ptr_eq(other, entry))?;
        Some(self.entries.remove(place))
    }

    /// Removes the least recently used provers while they take more than `bytes` and more than `fewest` are left. The
    /// caller drops them after it has released the lock.
    fn shrink(&mut self, bytes: u64, fewest: usize) -> Vec<Arc<dyn Entry>> {
        let mut gone = Vec::new();
        while self.entries.len() > fewest && self.bytes() > bytes {
            let entry = self.entries.remove(0);
            log::info!("key cache: {} bytes go", entry.bytes());
            gone.push(entry);
        }
        self.evictions += gone.len() as u64;
        gone
    }
}

fn lock() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}
