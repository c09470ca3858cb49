//! Holds the ranks of an MPI job, and the steps that their operations consist of.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use mpi::collective::SystemOperation;
use mpi::request::multiple_scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::stats::{RankRow, RankStats};
use crate::{Accelerator, BackendKind, Error, Result};

/// Maximum number of bytes of one message, 2^30: MPI counts them in 31 bits.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// MPI tag of messages between two ranks, which arrive in the order of sending.
const TAG: i32 = 1;
/// Bytes of each block that one core hashes for a digest, 16 MiB.
const BLOCK: usize = 16 << 20;

/// Configures one rank of a cluster. Either all ranks give a speed, or none does.
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    /// Accelerator of this rank; with `None`, its share of the node's devices ([`Cluster::new`]).
    pub accelerator: Option<Accelerator>,
    /// Backend whose devices are shared out if no accelerator is given; with `None`, the devices of
    /// [`Accelerator::from_env`].
    pub backend: Option<BackendKind>,
    /// Speed of this rank relative to the others, in any unit; measured if no rank gives one.
    pub speed: Option<f64>,
}

/// Holds the ranks of an MPI job, each with an [`Accelerator`].
///
/// **All ranks must call each method that is marked "Called by all ranks"**, in the same order. Then all of them return
/// an error, or none does. Only the thread that made the cluster calls MPI. The cluster must be dropped before MPI
/// ends.
pub struct Cluster {
    communicator: SimpleCommunicator,
    accelerator: Accelerator,
    speed: Option<f64>,
    /// Speeds of all ranks, by the name of the curve for which they were measured.
    speeds: RefCell<HashMap<&'static str, Vec<f64>>>,
    ledger: Cell<RankStats>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size) = (self.rank(), self.size());
        f.debug_struct("Cluster")
            .field("rank", &rank)
            .field("size", &size)
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Creates a cluster of the ranks of `communicator`, which it duplicates. The ranks of a node share out the devices
    /// of [`Accelerator::from_env`]; if there are more ranks than devices, ranks share devices. Called by all ranks.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: a rank has no accelerator ([`Accelerator::from_env`]).
    /// - [`Error::Rank`] on all ranks: a rank is of another version.
    /// - The error of [`Accelerator::from_env`]: there is only one rank.
    pub fn new(communicator: &impl Communicator) -> Result<Self> {
        Self::with_options(communicator, ClusterOptions::default())
    }

    /// Creates a cluster like [`Self::new`], with `options`. Called by all ranks.
    ///
    /// # Errors
    /// - The errors of [`Self::new`].
    /// - [`Error::Rank`] on all ranks: only some ranks give their speed.
    pub fn with_options(communicator: &impl Communicator, options: ClusterOptions) -> Result<Self> {
        let communicator = communicator.duplicate();
        let node = communicator.split_shared(communicator.rank());
        let (local, locals) = (node.rank() as usize, node.size() as usize);
        let accelerator = options.accelerator.map_or_else(|| share_of_node(options.backend, local, locals), Ok);
        // It has no devices until the ranks all_or_error, since this rank's error must become one of all ranks.
        let mut cluster = Self::from_communicator(communicator, Accelerator::cpu_only(), options.speed);
        cluster.accelerator = cluster.all_or_error(accelerator)?;
        cluster.check_replicated("version of proofwarp", env!("CARGO_PKG_VERSION").as_bytes())?;
        let says = if options.speed.is_some() { "given" } else { "to be measured" };
        cluster.check_replicated("speeds", says.as_bytes())?;
        Ok(cluster)
    }

    fn from_communicator(communicator: SimpleCommunicator, accelerator: Accelerator, speed: Option<f64>) -> Self {
        Self { communicator, accelerator, speed, speeds: RefCell::default(), ledger: Cell::default() }
    }

    /// Returns the number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.communicator.rank() as usize
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.communicator.size() as usize
    }

    /// Returns the accelerator of this rank.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Returns the communicator that the cluster uses, for messages of the caller's own.
    pub fn communicator(&self) -> &SimpleCommunicator {
        &self.communicator
    }

    /// Returns the times and the sent bytes of this rank so far.
    pub fn stats(&self) -> RankStats {
        self.ledger.get()
    }

    /// Gathers the statistics of all ranks so far, in the order of the ranks. Called by all ranks.
    pub fn gather_stats(&self) -> Vec<RankRow> {
        let names: Vec<_> = self.accelerator.devices().iter().map(|device| device.info().name.clone()).collect();
        let names = if names.is_empty() { "cpu".to_owned() } else { names.join(", ") };
        let mine = [&self.stats().to_bytes()[..], names.as_bytes()].concat();
        let line = |(rank, bytes): (usize, Vec<u8>)| {
            let (ledger, names) = bytes.split_at_checked(32).unwrap_or_default();
            let devices = String::from_utf8_lossy(names).into_owned();
            RankRow { rank, devices, ledger: RankStats::from_bytes(ledger) }
        };
        self.gather(&mine).into_iter().enumerate().map(line).collect()
    }

    /// Returns `result` if all ranks succeeded. Otherwise all ranks return an error with the text of the first rank
    /// that failed. A rank whose own hook aborted returns [`Error::Aborted`] instead. Called by all ranks.
    ///
    /// Call it before every step in which ranks wait for each other, so that no rank waits for one that failed.
    ///
    /// # Errors
    /// - [`Error::Rank`]: a rank failed.
    /// - [`Error::Aborted`]: this rank's own abort hook aborted.
    /// - The error of `result`: there is only one rank.
    pub fn all_or_error<T>(&self, result: Result<T>) -> Result<T> {
        let size = self.communicator.size();
        if size == 1 {
            return result;
        }
        // The first that failed has the largest number.
        let mine = if result.is_err() { size - self.communicator.rank() } else { 0 };
        let mut first = 0;
        self.time_mpi(|| self.communicator.all_reduce_into(&mine, &mut first, SystemOperation::max()));
        if first == 0 {
            return result;
        }
        let rank = (size - first) as usize;
        let own = result.err();
        let text = own.as_ref().map(ToString::to_string).unwrap_or_default();
        let reason = String::from_utf8_lossy(&self.broadcast(rank, text.as_bytes())).into_owned();
        Err(own.filter(|own| matches!(own, Error::Aborted)).unwrap_or(Error::Rank { rank, reason }))
    }

    /// Checks by a digest that `bytes` are the same on all ranks. `what` names them in the error. Called by all ranks.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: it names the first rank whose bytes differ from rank 0's.
    pub fn check_replicated(&self, what: &str, bytes: &[u8]) -> Result<()> {
        if self.size() == 1 {
            return Ok(());
        }
        let digest = self.time_compute(|| digest(bytes));
        self.check_same_digest(what, &digest)
    }

    /// Checks that `digest` is the same on all ranks, with the error of [`Self::check_replicated`]. The caller computes
    /// the digest, because reading the bytes may fail.
    pub(super) fn check_same_digest(&self, what: &str, digest: &[u8]) -> Result<()> {
        let all = self.gather(digest);
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(rank) => {
                let name = |rank: usize| -> String { hex(&all[rank]) };
                let reason = Error::invalid("cluster", what, format!("{}…, as rank 0 has", name(0)), name(rank) + "…");
                Err(Error::Rank { rank, reason: reason.to_string() })
            }
        }
    }

    /// Returns the speed of each rank, as given by its options, or else in elements per second as `measure` returns.
    /// The speeds are kept under the name `of` for later calls.
    pub(super) fn speeds(&self, of: &'static str, measure: impl FnOnce() -> Result<f64>) -> Result<Vec<f64>> {
        if self.size() == 1 {
            return Ok(vec![1.0]);
        }
        if let Some(known) = self.speeds.borrow().get(of) {
            return Ok(known.clone());
        }
        let mine = self.all_or_error(self.speed.map_or_else(measure, Ok))?;
        let number = |bytes: Vec<u8>| bytes.try_into().map_or(0.0, f64::from_le_bytes);
        let speeds: Vec<f64> = self.gather(&mine.to_le_bytes()).into_iter().map(number).collect();
        self.speeds.borrow_mut().insert(of, speeds.clone());
        Ok(speeds)
    }

    /// Returns, on every rank, the bytes `mine` of each rank, in the order of the ranks. Their lengths may differ.
    pub(super) fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        if self.size() == 1 {
            return vec![mine.to_vec()];
        }
        let mut counts = vec![0i32; self.size()];
        self.time_mpi(|| self.communicator.all_gather_into(&to_mpi_int(mine.len()), &mut counts[..]));
        let total = counts.iter().sum::<i32>() as usize;
        if total == 0 {
            // Some MPI implementations reject the address of an empty buffer.
            return vec![Vec::new(); self.size()];
        }
        let mut rest = vec![0u8; total];
        let starts: Vec<i32> =
            counts.iter().scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect();
        let mut all = mpi::datatype::PartitionMut::new(&mut rest[..], &counts[..], &starts[..]);
        self.time_mpi(|| self.communicator.all_gather_varcount_into(mine, &mut all));
        self.count_sent(mine.len() * (self.size() - 1));
        let range = |(start, count): (&i32, &i32)| *start as usize..(start + count) as usize;
        starts.iter().zip(&counts).map(|place| rest[range(place)].to_vec()).collect()
    }

    /// Gathers the bytes `mine` like [`Self::gather`], but only on rank `root`. Other ranks get an empty list.
    pub(super) fn gather_to(&self, root: usize, mine: &[u8]) -> Vec<Vec<u8>> {
        // Sending these bytes takes less time than a message itself, so a separate gather to one rank would not pay.
        let all = self.gather(mine);
        if self.rank() == root { all } else { Vec::new() }
    }

    /// Sends `bytes` of rank `root` to all ranks, and returns them on every rank. The `bytes` of other ranks are
    /// ignored.
    pub(super) fn broadcast(&self, root: usize, bytes: &[u8]) -> Vec<u8> {
        let process = self.communicator.process_at_rank(to_mpi_int(root));
        let mut length = bytes.len() as u64;
        self.time_mpi(|| process.broadcast_into(&mut length));
        let mut all = if root == self.rank() { bytes.to_vec() } else { vec![0; length as usize] };
        self.time_mpi(|| all.chunks_mut(MAX_MESSAGE_BYTES).for_each(|chunk| process.broadcast_into(chunk)));
        self.count_sent(if root == self.rank() { bytes.len() * (self.size() - 1) } else { 0 });
        all
    }

    /// Sends and receives concurrently, and waits for all messages. Each element of `sends` and `receives` names
    /// another rank and its bytes. Messages of one rank arrive in the order in which it sends them. Returns the elapsed
    /// time.
    pub(super) fn exchange(&self, sends: Vec<(usize, &[u8])>, receives: Vec<(usize, &mut [u8])>) -> Duration {
        let (start, bytes) = (Instant::now(), sends.iter().map(|(_, bytes)| bytes.len()).sum());
        multiple_scope(sends.len() + receives.len(), |scope, requests| {
            for (rank, bytes) in receives {
                let process = self.communicator.process_at_rank(to_mpi_int(rank));
                for chunk in bytes.chunks_mut(MAX_MESSAGE_BYTES) {
                    requests.add(process.immediate_receive_into_with_tag(scope, chunk, TAG));
                }
            }
            for (rank, bytes) in sends {
                let process = self.communicator.process_at_rank(to_mpi_int(rank));
                for chunk in bytes.chunks(MAX_MESSAGE_BYTES) {
                    requests.add(process.immediate_send_with_tag(scope, chunk, TAG));
                }
            }
            requests.wait_all(&mut Vec::new());
        });
        self.count_sent(bytes);
        start.elapsed()
    }

    /// Runs `work`, which is computation of this rank alone, and records its time.
    pub(super) fn time_compute<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = work();
        self.update_stats(|ledger| ledger.work += start.elapsed());
        value
    }

    /// Runs `call`, which calls MPI, and records its time as waiting and as messages.
    pub(super) fn time_mpi<T>(&self, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = call();
        self.update_stats(|ledger| {
            ledger.waiting += start.elapsed();
            ledger.messages += start.elapsed();
        });
        value
    }

    pub(super) fn update_stats(&self, add: impl FnOnce(&mut RankStats)) {
        let mut ledger = self.ledger.get();
        add(&mut ledger);
        self.ledger.set(ledger);
    }

    fn count_sent(&self, bytes: usize) {
        self.update_stats(|ledger| ledger.sent += bytes as u64);
    }
}

/// Returns a SHA-256 digest of `bytes` that all cores compute. It is the digest of the length and of the digests of all
/// blocks, not the plain SHA-256 of `bytes`.
pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
    let blocks: Vec<[u8; 32]> = bytes.par_chunks(BLOCK).map(|block| Sha256::digest(block).into()).collect();
    let length = (bytes.len() as u64).to_le_bytes();
    Sha256::new().chain_update(length).chain_update(blocks.as_flattened()).finalize().into()
}

/// Returns an accelerator with this rank's share of the node's devices. This is rank `local` of the `locals` ranks on
/// the node. With `None` for `backend`, the environment chooses the devices.
fn share_of_node(backend: Option<BackendKind>, local: usize, locals: usize) -> Result<Accelerator> {
    let whole = backend.map_or_else(Accelerator::from_env, Accelerator::with_backend)?;
    let count = whole.devices().len();
    let share: Vec<_> = device_range(count, local, locals).map(|number| whole.devices()[number].clone()).collect();
    log::info!("cluster: {} of the node's {count} devices for local rank {local} of {locals}", share.len());
    Ok(whole.with_devices(share))
}

/// Converts a rank, or the length of a short message, to MPI's integer type. Larger values become `i32::MAX`.
fn to_mpi_int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Formats the first eight bytes of `digest` in hexadecimal.
fn hex(digest: &[u8]) -> String {
    digest.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Returns the indices of the devices, out of `devices` on the node, that belong to rank `local` of the node's `locals`
/// ranks. Ranks share devices if there are more ranks than devices.
fn device_range(devices: usize, local: usize, locals: usize) -> Range<usize> {
    match devices {
        0 => 0..0,
        _ if devices < locals => local % devices..local % devices + 1,
        _ => local * devices / locals..(local + 1) * devices / locals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_shared_out() {
        for devices in 1..9 {
            for locals in 1..=devices {
                let ends = (0..locals).fold(0, |end, local| {
                    let share = device_range(devices, local, locals);
                    assert!(share.start == end && !share.is_empty());
                    share.end
                });
                assert_eq!(ends, devices);
            }
            assert!((devices..20).all(|locals| (0..locals).all(|l| device_range(devices, l, locals).len() == 1)));
        }
        assert!(device_range(0, 3, 4).is_empty());
    }

    #[test]
    fn digests_tell_bytes_apart() {
        let bytes = vec![7; BLOCK + 5];
        let mut other = bytes.clone();
        other[BLOCK + 1] ^= 1;
        assert!(digest(&bytes) != digest(&other) && digest(&bytes) != digest(&bytes[1..]));
        assert_eq!(digest(&bytes), digest(&bytes.clone()));
    }
}
