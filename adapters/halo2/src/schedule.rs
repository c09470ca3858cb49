//! Synthesizes the circuits of a proof of several, and commits to one while the next is synthesized.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use halo2_axiom::plonk::Error;
use proofwarp::rayon_waits::{block_in_place, join};

use crate::arena::WitnessArena;
use crate::device_pick::InheritedReservation;
use crate::queue::prove_in_order;

/// Chooses the threads that synthesize circuits.
pub(crate) trait Schedule<C> {
    /// Calls `synthesize` with `circuits`, and with the index and the arena of each. Calls `commit` with the index and
    /// the arena of each, in order, while later circuits are synthesized.
    ///
    /// # Errors
    /// Returns the first error of `commit`, or else of `synthesize`.
    fn run_all<'m>(
        &self,
        circuits: &[C],
        arenas: &'m mut [WitnessArena],
        synthesize: impl Fn(&[C], usize, &'m mut WitnessArena) -> Result<&'m mut WitnessArena, Error> + Sync,
        commit: impl FnMut(usize, &'m mut WitnessArena) -> Result<(), Error> + Send,
    ) -> Result<(), Error>;
}

/// Synthesizes on the caller's thread, since circuits need not be `Sync`. A helper thread commits.
pub(crate) struct InTurn;

/// Synthesizes on other threads, one per core at most. The caller's thread commits.
pub(crate) struct OnAllCores;

impl<C> Schedule<C> for InTurn {
    fn run_all<'m>(
        &self,
        circuits: &[C],
        arenas: &'m mut [WitnessArena],
        synthesize: impl Fn(&[C], usize, &'m mut WitnessArena) -> Result<&'m mut WitnessArena, Error> + Sync,
        mut commit: impl FnMut(usize, &'m mut WitnessArena) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let (sender, receiver) = mpsc::channel();
        let (receiver, caller) = (Mutex::new(Some(receiver)), thread::current().id());
        let take = || receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut commit_ready = || take().into_iter().flatten().try_for_each(|(number, arena)| commit(number, arena));
        let mine = || {
            let result = arenas.iter_mut().enumerate().try_for_each(|(number, arena)| {
                let arena = synthesize(circuits, number, arena)?;
                // The receiver goes after an error of `commit`, which is returned.
                sender.send((number, arena)).map_err(|_| Error::Synthesis)
            });
            drop(sender);
            result
        };
        // Without a helper thread this one commits, after all synthesis.
        let theirs = || if thread::current().id() == caller { Ok(()) } else { commit_ready() };
        let (committed, synthesized) = join(theirs, mine);
        committed.unwrap_or_else(|panic| resume_unwind(panic)).and(synthesized)?;
        commit_ready()
    }
}

impl<C: Sync> Schedule<C> for OnAllCores {
    fn run_all<'m>(
        &self,
        circuits: &[C],
        arenas: &'m mut [WitnessArena],
        synthesize: impl Fn(&[C], usize, &'m mut WitnessArena) -> Result<&'m mut WitnessArena, Error> + Sync,
        mut commit: impl FnMut(usize, &'m mut WitnessArena) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = NonZeroUsize::new(circuits.len()).map_or(cores, |circuits| circuits.min(cores));
        let failed = AtomicBool::new(false);
        let prove = |(number, arena)| {
            let _inherited = InheritedReservation::new();
            synthesize(circuits, number, arena).map(|arena| (number, arena))
        };
        let jobs = arenas.iter_mut().enumerate().take_while(|_| !failed.load(Relaxed));
        // A worker of a pool serves its pool meanwhile, which circuits may use.
        block_in_place(|| {
            let mut result = Ok(());
            prove_in_order(jobs, threads, prove, |synthesized| {
                if result.is_ok() {
                    result = synthesized.and_then(|(number, arena)| commit(number, arena));
                    failed.store(result.is_err(), Relaxed);
                }
            });
            result
        })
    }
}
