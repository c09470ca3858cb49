//! Synthesizes the circuits of a proof of several, and commits to one while the next is synthesized.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread;

use halo2_axiom::plonk::Error;

use crate::arena::WitnessArena;
use crate::device_pick::InheritedReservation;
use crate::queue::prove_in_order;

/// Chooses the threads that synthesize circuits.
pub(crate) trait Schedule<C> {
    /// Calls `synthesize` with `circuits`, and with the index and the arena of each. Calls `commit` with the index and
    /// the arena of each, in order, while later circuits are synthesized.
    ///
    /// # Errors
    /// - The first error of `commit`, or else of `synthesize`.
    /// - `Transcript`: no thread could be started.
    fn run_all<'m>(
        &self,
        circuits: &[C],
        arenas: &'m mut [WitnessArena],
        synthesize: impl Fn(&[C], usize, &'m mut WitnessArena) -> Result<&'m mut WitnessArena, Error> + Sync,
        commit: impl FnMut(usize, &'m mut WitnessArena) -> Result<(), Error> + Send,
    ) -> Result<(), Error>;
}

/// Synthesizes on the caller's thread, since circuits need not be `Sync`. Another thread commits.
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
        thread::scope(|scope| {
            let commit_all = move || receiver.into_iter().try_for_each(|(number, arena)| commit(number, arena));
            let committed = thread::Builder::new().spawn_scoped(scope, commit_all)?;
            let synthesized = arenas.iter_mut().enumerate().try_for_each(|(number, arena)| {
                let arena = synthesize(circuits, number, arena)?;
                // Without a receiver there is an error already.
                _ = sender.send((number, arena));
                Ok(())
            });
            drop(sender);
            committed.join().unwrap_or_else(|panic| resume_unwind(panic)).and(synthesized)
        })
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
        let prove = |(number, arena)| {
            let _inherited = InheritedReservation::new();
            synthesize(circuits, number, arena).map(|arena| (number, arena))
        };
        let mut result = Ok(());
        prove_in_order(arenas.iter_mut().enumerate(), threads, prove, |synthesized| {
            if result.is_ok() {
                result = synthesized.and_then(|(number, arena)| commit(number, arena));
            }
        });
        result
    }
}
