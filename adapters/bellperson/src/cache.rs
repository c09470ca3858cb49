//! Provers kept between calls, the least recently used of which go where their keys take too much memory.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bellperson::groth16::ParameterSource;
use pairing::MultiMillerLoop;
use proofwarp::Accelerator;
use proofwarp::groth16::{Circuit, Engine};
use proofwarp::settings::Settings;

use crate::held::Held;

/// Without a bound of their own, keys take this part of the devices' memory: one in so many.
const SHARE: u64 = 2;
/// The bound where there is no device.
const ON_HOST: u64 = 4 << 30;

static CACHE: Mutex<Cache> = Mutex::new(Cache { entries: Vec::new(), limit: None, hits: 0, misses: 0, evictions: 0 });

/// What [`crate::create_proof`] and the like keep.
#[derive(Debug)]
struct Cache {
    /// The least recently used first.
    entries: Vec<Arc<dyn Entry>>,
    /// Bytes by [`limit_key_cache`].
    limit: Option<u64>,
    hits: u64,
    misses: u64,
    evictions: u64,
}

/// A prover of any engine.
trait Entry: Any + Send + Sync + std::fmt::Debug {
    fn bytes(&self) -> u64;
}

impl<E: Engine + MultiMillerLoop> Entry for Held<E> {
    /// On the devices, or, where that is more, of the key's points on the host.
    fn bytes(&self) -> u64 {
        let (key, circuit) = (self.prover.key(), self.prover.circuit());
        (key.bytes() + circuit.bytes()).max(key.parameters().bytes())
    }
}

/// What the keys' cache has done so far, and holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyCache {
    /// Provers kept now.
    pub entries: usize,
    /// Bytes they take, on the devices, or on the host where there is none.
    pub bytes: u64,
    /// Calls that found their prover.
    pub hits: u64,
    /// Calls that had to make it.
    pub misses: u64,
    /// Provers that went to make room.
    pub evictions: u64,
}

/// What the keys' cache has done so far, and holds.
pub fn key_cache() -> KeyCache {
    let cache = lock();
    let (entries, bytes) = (cache.entries.len(), cache.bytes());
    KeyCache { entries, bytes, hits: cache.hits, misses: cache.misses, evictions: cache.evictions }
}

/// Bytes that keys kept between calls may take from the next proof on, whatever `PROOFWARP_KEY_CACHE` says; without a
/// number what that says holds again.
pub fn limit_key_cache(bytes: Option<u64>) {
    lock().limit = bytes;
}

/// Lets go of all keys that are kept between calls, and of their memory once no proof uses it.
pub fn clear_key_cache() {
    let entries = std::mem::take(&mut lock().entries);
    drop(entries);
}

/// The prover of these parameters and circuits such as this, if it is kept.
pub fn find<E, P>(source: &P, circuit: &Circuit<E::Fr>) -> Option<Arc<Held<E>>>
where
    E: Engine + MultiMillerLoop,
    P: ParameterSource<E>,
{
    // Not under the lock: comparing may take a while.
    let entries = lock().entries.clone();
    for entry in entries.iter().rev() {
        let any: Arc<dyn Any + Send + Sync> = entry.clone();
        let Ok(held) = any.downcast::<Held<E>>() else { continue };
        // Parameters that cannot be read as this key are another.
        if held.takes(circuit) && held.has(source).unwrap_or(false) {
            lock().used(entry);
            return Some(held);
        }
    }
    None
}

/// Lets go of a prover whose points may not be those of its key any more.
pub fn forget<E: Engine + MultiMillerLoop>(held: &Arc<Held<E>>) {
    let held: Arc<dyn Entry> = held.clone();
    log::warn!("key cache: a key goes: a proof by it does not verify");
    let gone = lock().take(&held);
    drop(gone);
}

/// Counts a call that found its prover, or did not.
pub fn count(hit: bool) {
    let mut cache = lock();
    *(if hit { &mut cache.hits } else { &mut cache.misses }) += 1;
}

/// Lets provers go until one of so many bytes has its place.
pub fn make_room(accelerator: &Accelerator, bytes: u64) {
    let (bound, _) = bound(accelerator);
    let gone = lock().shrink(bound.saturating_sub(bytes), 0);
    drop(gone);
}

/// Lets all provers go, and tells whether there were any.
pub fn make_all_room() -> bool {
    let gone = lock().shrink(0, 0);
    !gone.is_empty()
}

/// Keeps a prover, if it may stay.
pub fn keep<E: Engine + MultiMillerLoop>(accelerator: &Accelerator, held: Arc<Held<E>>) {
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

/// Lets provers go until the others are within the bound: those that were there already take more once their keys have
/// gone to further devices.
pub fn settle(accelerator: &Accelerator) {
    let (bound, strict) = bound(accelerator);
    let gone = lock().shrink(bound, usize::from(!strict));
    drop(gone);
}

/// Bytes that keys may take, and whether even a single key is to keep to that.
fn bound(accelerator: &Accelerator) -> (u64, bool) {
    // Malformed settings are an error of the accelerator's, which there is.
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

    /// Takes provers out until they have at most so many bytes, or there are so few; they are to be dropped without the
    /// lock.
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
