//! Proves witnesses one after the other, by a thread of their own.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use proofwarp_circom::{Error, ProofTexts, Witness};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::circuit::Circuit;
use super::failure::Failure;
use crate::output::say;

/// Maximum number of witnesses of one circuit that are proved together. Beyond a few, one device gains nothing, and the
/// first ones wait for the last.
const MAX_BATCH: usize = 4;

/// Takes witnesses for the thread that proves.
#[derive(Debug)]
pub(super) struct ProofQueue {
    capacity: usize,
    places: Arc<Semaphore>,
    jobs: mpsc::UnboundedSender<ProofJob>,
}

/// Holds one of the queue's places for a request.
pub(super) struct QueuePlace {
    circuit: Arc<Circuit>,
    _permit: OwnedSemaphorePermit,
}

/// Holds a witness to prove, and the channel for its proof.
#[derive(Debug)]
struct ProofJob {
    place: QueuePlace,
    witness: Witness,
    queued: Instant,
    reply: oneshot::Sender<Result<ProofTexts, Failure>>,
}

impl std::fmt::Debug for QueuePlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a place for {}", self.circuit.name)
    }
}

impl QueuePlace {
    fn new(circuit: &Arc<Circuit>, permit: OwnedSemaphorePermit) -> Self {
        circuit.metrics.queued.fetch_add(1, Ordering::Relaxed);
        Self { circuit: circuit.clone(), _permit: permit }
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        self.circuit.metrics.queued.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ProofQueue {
    /// Starts the thread that proves, with places for `capacity` requests that wait. The thread ends when the queue is
    /// dropped.
    ///
    /// # Errors
    /// Returns an error if the system starts no thread.
    pub(super) fn start(capacity: usize) -> io::Result<(Self, JoinHandle<()>)> {
        let (jobs, receiver) = mpsc::unbounded_channel();
        let worker = thread::Builder::new().name("prover".to_owned()).spawn(move || prove_all(receiver))?;
        Ok((Self { capacity, places: Arc::new(Semaphore::new(capacity)), jobs }, worker))
    }

    /// Returns whether the thread that proves is alive.
    pub(super) fn is_alive(&self) -> bool {
        !self.jobs.is_closed()
    }

    /// Takes a place for a request for `circuit`.
    ///
    /// # Errors
    /// - [`Failure::QueueFull`]: there is none.
    pub(super) fn reserve(&self, circuit: &Arc<Circuit>) -> Result<QueuePlace, Failure> {
        let full = |_| Failure::QueueFull(format!("queue: expected a free place, but all {} are taken", self.capacity));
        let permit = self.places.clone().try_acquire_owned().map_err(full)?;
        Ok(QueuePlace::new(circuit, permit))
    }

    /// Queues `witness`, and waits for its proof. A proof that has not begun is left out if the caller stops waiting.
    ///
    /// # Errors
    /// - [`Failure::InvalidProof`]: the proof does not verify.
    /// - [`Failure::Internal`]: the engine failed, or the thread that proves has ended.
    pub(super) async fn prove(&self, place: QueuePlace, witness: Witness) -> Result<ProofTexts, Failure> {
        let (reply, proof) = oneshot::channel();
        let ended = || Failure::Internal("the thread that proves has ended".to_owned());
        let job = ProofJob { place, witness, queued: Instant::now(), reply };
        self.jobs.send(job).map_err(|_| ended())?;
        proof.await.map_err(|_| ended())?
    }
}

/// Proves all jobs, until no more can come.
fn prove_all(mut jobs: mpsc::UnboundedReceiver<ProofJob>) {
    let mut waiting = VecDeque::new();
    while let Some(first) = waiting.pop_front().or_else(|| jobs.blocking_recv()) {
        while let Ok(job) = jobs.try_recv() {
            waiting.push_back(job);
        }
        prove_together(take_batch(first, &mut waiting));
    }
}

/// Removes jobs of the circuit of `first` from `waiting`, and returns them behind `first`.
fn take_batch(first: ProofJob, waiting: &mut VecDeque<ProofJob>) -> Vec<ProofJob> {
    let circuit = first.place.circuit.clone();
    let mut batch = vec![first];
    for job in std::mem::take(waiting) {
        let joins = batch.len() < MAX_BATCH && Arc::ptr_eq(&job.place.circuit, &circuit);
        if joins { batch.push(job) } else { waiting.push_back(job) }
    }
    batch
}

/// Proves the witnesses of `batch`, which are of one circuit, and replies. Jobs without a receiver are left out.
fn prove_together(mut batch: Vec<ProofJob>) {
    batch.retain(|job| !job.reply.is_closed());
    let Some(circuit) = batch.first().map(|job| job.place.circuit.clone()) else { return };
    let start = Instant::now();
    let started = batch.into_iter().map(|job| {
        circuit.metrics.wait.record(start - job.queued);
        // Its place is free for another request now.
        (job.witness, job.reply)
    });
    let (witnesses, replies): (Vec<_>, Vec<_>) = started.unzip();
    // A panic is the end of these proofs, not of the thread.
    let results = catch_unwind(AssertUnwindSafe(|| prove_each(&circuit, &witnesses)));
    drop(witnesses);
    let time = start.elapsed();
    let Ok(results) = results else {
        say(format_args!("{}: the prover panicked", circuit.name));
        let panicked = || Failure::Internal("the prover panicked".to_owned());
        // A client may have gone.
        for reply in replies {
            let _ = reply.send(Err(panicked()));
        }
        return;
    };
    for (reply, result) in replies.into_iter().zip(results) {
        circuit.metrics.prove.record(time);
        // The client may have gone.
        let _ = reply.send(result.map_err(|error| to_failure(&circuit.name, &error)));
    }
}

/// Proves `witnesses` together. If one of them has no valid proof, each is proved alone.
fn prove_each(circuit: &Circuit, witnesses: &[Witness]) -> Vec<Result<ProofTexts, Error>> {
    let together: Vec<&Witness> = witnesses.iter().collect();
    match circuit.key.prove_batch_to_json(&together, true, None) {
        Ok(texts) => texts.into_iter().map(Ok).collect(),
        Err(error) if witnesses.len() == 1 => vec![Err(error)],
        Err(_) => witnesses.iter().map(|witness| circuit.key.prove_to_json(witness)).collect(),
    }
}

/// Converts `error` to the answer for the client. Faults of the server are shown on standard error too.
fn to_failure(circuit: &str, error: &Error) -> Failure {
    match error {
        Error::InvalidProof { .. } => Failure::InvalidProof(error.to_string()),
        Error::OtherCurve { .. } | Error::WitnessLength { .. } => Failure::BadWitness(error.to_string()),
        _ => {
            say(format_args!("{circuit}: {error}"));
            Failure::Internal(error.to_string())
        }
    }
}
