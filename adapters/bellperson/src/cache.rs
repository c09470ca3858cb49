//! Caches provers between calls, and evicts the least recently used ones if their keys take too much memory.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bellperson::groth16::ParameterSource;
use pairing::MultiMillerLoop;
use proofwarp::Accelerator;
use proofwarp::groth16::{Circuit, Engine};
use proofwarp::lru::LruList;
use proofwarp::settings::Settings;

use crate::cached_prover::CachedProver;

/// Divisor for the default limit of the key cache, which is 1/SHARE of the memory of all devices.
const SHARE: u64 = 2;
/// Default limit of the key cache in bytes if there is no device, 4 GiB.
const ON_HOST: u64 = 4 << 30;

static CACHE: Mutex<Cache> =
    Mutex::new(Cache { entries: LruList::new(), limit: None, hits: 0, misses: 0, evictions: 0 });

/// Holds the provers that [`crate::create_proof`] and its variants keep between calls.
#[derive(Debug)]
struct Cache {
    /// Provers, in order of last use.
    entries: LruList<Arc<dyn Entry>>,
    /// Limit in bytes, set by [`limit_key_cache`].
    limit: Option<u64>,
    hits: u64,
    misses: u64,
    evictions: u64,
}

/// Represents a cached prover of any pairing engine.
trait Entry: Any + Send + Sync + std::fmt::Debug {
    fn bytes(&self) -> u64;
}

impl<E: Engine + MultiMillerLoop> Entry for CachedProver<E> {
    /// Returns the larger of the prover's bytes on the devices and the bytes of the key's points on the host.
    fn bytes(&self) -> u64 {
        let (key, circuit) = (self.prover.key(), self.prover.circuit());
        (key.device_bytes() + circuit.device_bytes()).max(key.parameters().device_bytes())
    }
}

/// Holds counters and the current size of the key cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyCache {
    /// Number of cached provers.
    pub entries: usize,
    /// Total bytes of the cached provers. Each counts with its bytes on the devices or on the host, whichever are more.
    pub bytes: u64,
    /// Number of calls that found a cached prover.
    pub hits: u64,
    /// Number of calls that had to make a prover.
    pub misses: u64,
    /// Number of provers evicted so far, to make room.
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
    let entries = lock().entries.take_all();
    drop(entries);
}

/// Returns the cached prover whose key is the parameters `source` and whose circuit has the sizes and variables of
/// `circuit`, and marks it as used. Returns `None` if there is none.
pub(crate) fn find<E, P>(source: &P, circuit: &Circuit<E::Fr>) -> Option<Arc<CachedProver<E>>>
where
    E: Engine + MultiMillerLoop,
    P: ParameterSource<E>,
{
    // Not under the lock: a comparison may take a while.
    let entries: Vec<_> = lock().entries.iter().cloned().collect();
    for entry in entries.iter().rev() {
        let any: Arc<dyn Any + Send + Sync> = entry.clone();
        let Ok(held) = any.downcast::<CachedProver<E>>() else { continue };
        // Parameters that cannot be read as this key are another key.
        if held.accepts_circuit(circuit) && held.matches_params(source).unwrap_or(false) {
            lock().entries.find(|other| Arc::ptr_eq(other, entry));
            return Some(held);
        }
    }
    None
}

/// Removes `held` from the cache, after a proof by it did not verify: its points may no longer be those of its key.
pub(crate) fn evict<E: Engine + MultiMillerLoop>(held: &Arc<CachedProver<E>>) {
    let held: Arc<dyn Entry> = held.clone();
    log::warn!("key cache: a key goes: a proof by it does not verify");
    let gone = lock().entries.remove(|other| Arc::ptr_eq(other, &held));
    drop(gone);
}

/// Counts a call as a cache hit if `hit` is true, and otherwise as a miss.
pub(crate) fn count_lookup(hit: bool) {
    let mut cache = lock();
    *(if hit { &mut cache.hits } else { &mut cache.misses }) += 1;
}

/// Evicts the least recently used provers until a new one of `bytes` bytes fits within the cache's limit.
pub(crate) fn make_room(accelerator: &Accelerator, bytes: u64) {
    let (bound, _) = cache_limit(accelerator);
    let gone = lock().shrink(bound.saturating_sub(bytes), 0);
    drop(gone);
}

/// Evicts all cached provers, and returns whether there were any.
pub(crate) fn evict_all() -> bool {
    let gone = lock().shrink(0, 0);
    !gone.is_empty()
}

/// Adds `held` to the cache, and evicts the least recently used provers to make room for it. Does nothing if `held`
/// alone exceeds a limit that was set explicitly.
pub(crate) fn insert_prover<E: Engine + MultiMillerLoop>(accelerator: &Accelerator, held: Arc<CachedProver<E>>) {
    let (bound, strict) = cache_limit(accelerator);
    let bytes = held.bytes();
    if strict && bytes > bound {
        log::info!("key cache: a key of {bytes} bytes is not kept: {bound} are allowed");
        return;
    }
    let mut cache = lock();
    let gone = cache.shrink(bound.saturating_sub(bytes), 0);
    cache.entries.insert(held);
    drop(cache);
    drop(gone);
}

/// Evicts the least recently used provers until the rest are within the cache's limit. A cached prover grows once its
/// key is on further devices. Without an explicit limit, one prover always stays.
pub(crate) fn enforce_limit(accelerator: &Accelerator) {
    let (bound, strict) = cache_limit(accelerator);
    let gone = lock().shrink(bound, usize::from(!strict));
    drop(gone);
}

/// Returns the cache's limit in bytes, and whether a single prover must not exceed it either. That is so if the limit
/// was set explicitly.
fn cache_limit(accelerator: &Accelerator) -> (u64, bool) {
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

    /// Removes the least recently used provers while all take more than `bytes` bytes and more than `fewest` are left.
    /// Returns the removed provers, which the caller drops after it has released the lock.
    fn shrink(&mut self, bytes: u64, fewest: usize) -> Vec<Arc<dyn Entry>> {
        let gone = self.entries.evict(bytes, fewest, |entry| Some(entry.bytes()));
        for entry in &gone {
            log::info!("key cache: {} bytes go", entry.bytes());
        }
        self.evictions += gone.len() as u64;
        gone
    }
}

fn lock() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}
