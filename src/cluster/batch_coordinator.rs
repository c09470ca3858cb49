//! Hands out a batch, number by number, to whichever rank is ready.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use mpi::Rank;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::traits::{Communicator, Destination, Source};

use super::checkpoint::CheckpointDir;
use super::cluster_handle::Cluster;
use crate::{Error, Result};

/// MPI tag of the reports that ranks send to the root.
const REPORT: i32 = 2;
/// MPI tag of the lists of result numbers that the root sends to ranks.
const ORDER: i32 = 3;
/// Time between two polls of the root for messages. The root also makes results itself.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Describes a batch of results, such as proofs, that the ranks of a cluster make and rank 0 keeps in a folder.
#[derive(Debug, Clone)]
pub struct ClusterBatch {
    /// Name of the batch, one line. A folder that was made for another name is refused.
    pub name: String,
    /// Number of results of the whole batch.
    pub count: usize,
    /// Folder to which rank 0 writes the results, one file each. Other ranks need no access to it.
    pub folder: PathBuf,
    /// Maximum number of results that a rank is given to make at a time, fewer towards the end of the batch. With 2, a
    /// device can begin one result while it ends another.
    pub at_once: usize,
}

/// Counts the results of a batch: those found at the start, and those that each rank made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOutcome {
    /// Number of results that existed before this run.
    pub found: usize,
    /// Number of results that each rank made, indexed by rank.
    pub made: Vec<usize>,
}

/// Lists results, each as its number in the batch and its bytes.
type Results = Vec<(usize, Vec<u8>)>;

impl ClusterBatch {
    /// Makes the missing results of the batch. Rank 0 hands out result numbers, also to itself, and writes each result
    /// to the folder as it arrives. Called by all ranks. A job that is started again with the same folder makes only
    /// the missing results.
    ///
    /// `make` is called with a list of result numbers, and returns one result for each, in the same order.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: the batch differs between ranks.
    /// - [`Error::Rank`] on all ranks: the folder is another batch's, or cannot be written to.
    /// - [`Error::Rank`] on all ranks: `make` failed or panicked on a rank, or returned another number of results.
    /// - [`Error::Aborted`]: `make` returned it on this rank.
    /// - The error itself: there is only one rank ([`Cluster::all_or_error`]).
    ///
    /// After a failure of `make`, the results finished until then are in the folder.
    pub fn run(
        &self,
        cluster: &Cluster,
        make: impl Fn(&[usize]) -> Result<Vec<Vec<u8>>> + Sync,
    ) -> Result<BatchOutcome> {
        cluster.check_replicated("batch", format!("{} {}", self.name, self.count).as_bytes())?;
        let is_root = cluster.rank() == 0;
        let folder = is_root.then(|| CheckpointDir::open(&self.folder, &self.batch_label())).transpose();
        let folder = cluster.all_or_error(folder)?;
        let make = |numbers: &[usize]| make_results_catching(&make, numbers);
        let result = match &folder {
            Some(folder) => Coordinator::new(self, cluster, folder).run(&make),
            None => run_worker_rank(cluster, &make),
        };
        let counts = cluster.all_or_error(result)?;
        let counts = cluster.broadcast(0, &counts.iter().flat_map(|n| (*n as u64).to_le_bytes()).collect::<Vec<_>>());
        let mut counts = decode_numbers(&counts);
        let found = counts.pop().unwrap_or(0);
        Ok(BatchOutcome { found, made: counts })
    }

    /// Reads result `number` from the folder. Called on rank 0, which has the folder.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: it does not exist.
    /// - [`Error::Invalid`]: the folder is another batch's, or cannot be read or written to.
    pub fn result(&self, number: usize) -> Result<Vec<u8>> {
        CheckpointDir::open(&self.folder, &self.batch_label())?.get(number)
    }

    fn batch_label(&self) -> String {
        format!("{}, {} results\n", self.name, self.count)
    }
}

/// Runs a rank other than the root. It receives result numbers from the root, makes these results by `make` and sends
/// them, until it receives an empty list. Returns an empty list.
fn run_worker_rank(cluster: &Cluster, make: &dyn Fn(&[usize]) -> Result<Results>) -> Result<Vec<usize>> {
    let root = cluster.communicator().process_at_rank(0);
    let mut report = encode_report(&Ok(Vec::new()));
    loop {
        let order = cluster.time_mpi(|| {
            root.send_with_tag(&report[..], REPORT);
            root.receive_vec_with_tag::<u8>(ORDER).0
        });
        cluster.update_stats(|ledger| ledger.sent += report.len() as u64);
        let order = decode_numbers(&order);
        if order.is_empty() {
            return Ok(Vec::new());
        }
        let results = cluster.time_compute(|| make(&order));
        report = encode_report(&results);
        if let Err(error) = results {
            // The root sends nothing more to a rank that failed.
            cluster.time_mpi(|| root.send_with_tag(&report[..], REPORT));
            return Err(error);
        }
    }
}

/// Holds the state of the root, the rank that hands out result numbers and stores results.
struct Coordinator<'a> {
    batch: &'a ClusterBatch,
    cluster: &'a Cluster,
    folder: &'a CheckpointDir,
    missing: VecDeque<usize>,
    found: usize,
    made: Vec<usize>,
    /// Whether the root hands out no more numbers, because a rank failed.
    stopped: bool,
    /// First error on this rank, if any; other ranks report their own errors.
    failure: Option<Error>,
}

impl<'a> Coordinator<'a> {
    fn new(batch: &'a ClusterBatch, cluster: &'a Cluster, folder: &'a CheckpointDir) -> Self {
        let missing: VecDeque<usize> = folder.missing(batch.count).into();
        let (found, made) = (batch.count - missing.len(), vec![0; cluster.size()]);
        Self { batch, cluster, folder, missing, found, made, stopped: false, failure: None }
    }

    /// Serves the other ranks while a thread makes the root's own results by `make`. Returns the number of results that
    /// each rank made, indexed by rank, then the number found at the start.
    fn run(mut self, make: &(dyn Fn(&[usize]) -> Result<Results> + Sync)) -> Result<Vec<usize>> {
        let (orders, to_do) = channel::<Vec<usize>>();
        let (done, results) = channel();
        thread::scope(|scope| {
            let own = thread::Builder::new().spawn_scoped(scope, move || root_worker(&to_do, &done, make));
            if let Err(error) = own {
                self.stopped = true;
                self.failure = Some(Error::device("host", "thread", error));
            }
            self.serve(orders, &results);
        });
        self.made.push(self.found);
        self.failure.map_or(Ok(self.made), Err)
    }

    fn serve(&mut self, orders: Sender<Vec<usize>>, results: &Receiver<(Result<Results>, Duration)>) {
        let mut others = self.cluster.size() - 1;
        let mut own = self.dispatch_own_work(Some(orders));
        while others > 0 || own.is_some() {
            let mut idle = true;
            if let Some((rank, report)) = self.next_report() {
                idle = false;
                others -= usize::from(!self.handle_report(rank, &report));
            }
            match results.try_recv() {
                Ok((result, time)) => {
                    idle = false;
                    self.cluster.update_stats(|ledger| ledger.work += time);
                    self.store_results(0, result);
                    own = self.dispatch_own_work(own);
                }
                Err(TryRecvError::Disconnected) => own = None,
                Err(TryRecvError::Empty) => {}
            }
            if idle {
                thread::sleep(POLL_INTERVAL);
            }
        }
    }

    /// Sends the next result numbers to the root's own thread by the channel `own`, and returns `own`. Returns `None`
    /// if no numbers are left, which ends the thread.
    fn dispatch_own_work(&mut self, own: Option<Sender<Vec<usize>>>) -> Option<Sender<Vec<usize>>> {
        let numbers = self.take_next_numbers();
        own.filter(|own| !numbers.is_empty() && own.send(numbers).is_ok())
    }

    /// Returns the next report of a rank and that rank, or `None` if no report has arrived.
    fn next_report(&self) -> Option<(Rank, Vec<u8>)> {
        let found = self.cluster.communicator().any_process().immediate_matched_probe_with_tag(REPORT)?;
        let (report, status) = self.cluster.time_mpi(|| found.matched_receive_vec::<u8>());
        Some((status.source_rank(), report))
    }

    /// Stores the results in `report`, which `rank` sent, and sends `rank` its next result numbers. Returns whether
    /// there were numbers to send. Returns false, and sends nothing, if `report` is that of a failure or does not
    /// decode.
    fn handle_report(&mut self, rank: Rank, report: &[u8]) -> bool {
        let Ok(results) = decode_report(report) else {
            self.stopped = true;
            return false;
        };
        self.store_results(rank as usize, Ok(results));
        let next = self.take_next_numbers();
        let order: Vec<u8> = next.iter().flat_map(|number| (*number as u64).to_le_bytes()).collect();
        let process = self.cluster.communicator().process_at_rank(rank);
        self.cluster.time_mpi(|| process.send_with_tag(&order[..], ORDER));
        self.cluster.update_stats(|ledger| ledger.sent += order.len() as u64);
        !next.is_empty()
    }

    fn store_results(&mut self, rank: usize, result: Result<Results>) {
        let put = |results: Results| -> Result<usize> {
            results.iter().try_for_each(|(number, bytes)| self.folder.put(*number, bytes))?;
            Ok(results.len())
        };
        match result.and_then(put) {
            Ok(count) => self.made[rank] += count,
            Err(error) => {
                self.stopped = true;
                self.failure = self.failure.take().or(Some(error));
            }
        }
    }

    /// Removes and returns the next result numbers for a rank that is ready. Returns fewer if few are left, so that all
    /// ranks end at about the same time, and none after a failure.
    fn take_next_numbers(&mut self) -> Vec<usize> {
        if self.stopped {
            return Vec::new();
        }
        let left = self.missing.len();
        let count = (left / (2 * self.cluster.size())).clamp(1, self.batch.at_once.max(1)).min(left);
        self.missing.drain(..count).collect()
    }
}

/// Runs the root's own thread, which does not call MPI. It makes the results of each list of numbers from `to_do`, and
/// sends them to `done` with the time that they took.
fn root_worker(
    to_do: &Receiver<Vec<usize>>,
    done: &Sender<(Result<Results>, Duration)>,
    make: &(dyn Fn(&[usize]) -> Result<Results> + Sync),
) {
    for numbers in to_do {
        let start = std::time::Instant::now();
        let result = make(&numbers);
        if done.send((result, start.elapsed())).is_err() {
            return;
        }
    }
}

/// Calls `make` with `numbers`, and returns each result with its number. A panic becomes an error, because the other
/// ranks would wait forever for a rank that ended.
fn make_results_catching(make: &impl Fn(&[usize]) -> Result<Vec<Vec<u8>>>, numbers: &[usize]) -> Result<Results> {
    let made = catch_unwind(AssertUnwindSafe(|| make(numbers)));
    let made = made.unwrap_or_else(|panic| Err(Error::worker_panicked("cluster batch", &*panic)))?;
    if made.len() != numbers.len() {
        return Err(Error::invalid("cluster batch", "results of a piece of work", numbers.len(), made.len()));
    }
    Ok(numbers.iter().copied().zip(made).collect())
}

/// Encodes the results of a rank as a message to the root. An error is encoded as a flag only, because
/// [`Cluster::all_or_error`] sends its text later.
fn encode_report(results: &Result<Results>) -> Vec<u8> {
    let Ok(results) = results else { return vec![1] };
    let mut bytes = vec![0];
    for (number, result) in results {
        bytes.extend((*number as u64).to_le_bytes());
        bytes.extend((result.len() as u64).to_le_bytes());
        bytes.extend(result);
    }
    bytes
}

fn decode_report(report: &[u8]) -> Result<Results> {
    let failed = || Error::device("host", "cluster batch", "another rank failed");
    let Some((0, mut rest)) = report.split_first().map(|(mark, rest)| (*mark, rest)) else { return Err(failed()) };
    let mut results = Vec::new();
    while let Some((head, tail)) = rest.split_at_checked(16) {
        let head = decode_numbers(head);
        let (result, next) = tail.split_at_checked(head[1]).ok_or_else(failed)?;
        results.push((head[0], result.to_vec()));
        rest = next;
    }
    if rest.is_empty() { Ok(results) } else { Err(failed()) }
}

/// Decodes little-endian integers of eight bytes each. Ignores a remainder of fewer bytes.
fn decode_numbers(bytes: &[u8]) -> Vec<usize> {
    bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_as_they_went() {
        for results in [vec![], vec![(7, vec![1, 2, 3])], vec![(0, vec![]), (1 << 40, vec![9; 100])]] {
            assert_eq!(decode_report(&encode_report(&Ok(results.clone()))).expect("no error"), results);
        }
        assert!(decode_report(&encode_report(&Err(Error::Aborted))).is_err() && decode_report(&[]).is_err());
        let cut = &encode_report(&Ok(vec![(1, vec![5; 9])]))[..20];
        assert!(decode_report(cut).is_err());
        let longer = [encode_report(&Ok(vec![(1, vec![5; 9])])), vec![0; 15]].concat();
        assert!(decode_report(&longer).is_err());
    }

    #[test]
    fn a_panic_is_an_error() {
        let result = make_results_catching(&|_: &[usize]| panic!("on purpose"), &[1]);
        assert!(result.is_err_and(|error| error.to_string().contains("on purpose")));
        assert!(make_results_catching(&|_: &[usize]| Ok(vec![]), &[1]).is_err());
    }
}
