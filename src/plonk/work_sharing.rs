//! Shares the work of a proof among its own device and others.

use std::panic::resume_unwind;
use std::thread;

use super::column_storage::{Column, ColumnView};
use super::compiled::CompiledCircuit;
use super::curve::ProofCurve;
use super::device_shares::{self, Link};
use super::engine::{Basis, Constraints, Cosets, Engine};
use super::key::Key;
use crate::{Error, Result};

/// Holds the inputs of all stages of a proof: engine, circuit, key and peer devices.
#[derive(Debug, Clone, Copy)]
pub struct ProverContext<'a, C: ProofCurve> {
    /// The proof's own engine.
    pub engine: &'a Engine<C>,
    /// The constraint system, compiled for the engine's memory plan.
    pub circuit: &'a CompiledCircuit<C::Scalar>,
    /// Columns that are the same in every proof.
    pub key: &'a Key<'a, C::Scalar>,
    /// Other devices that do a share of the commitments and of the quotient. Usually there are none.
    pub peers: &'a [PeerDevice<'a, C>],
}

/// Holds the engine of another device, and the proof's key there. The proof's own engine takes over if this one fails.
/// This one should therefore be made by [`Engine::without_cpu_fallback`].
#[derive(Debug, Clone, Copy)]
pub struct PeerDevice<'a, C: ProofCurve> {
    /// Engine of the other device, with the setup of the proof's own engine.
    pub engine: &'a Engine<C>,
    /// Columns of the proof's key, preferably on the engine's device.
    pub key: &'a Key<'a, C::Scalar>,
    /// Way in which columns are copied to the device ([`Engine::link_from`]). It limits the device's share of the work
    /// to what is worthwhile. If it is `None`, shares are even, whatever copies cost.
    pub link: Option<Link>,
}

impl<C: ProofCurve> ProverContext<'_, C> {
    /// Commits to each of `columns` in `basis`, on all devices. Returns the commitments in the order of `columns`. Each
    /// device takes adjacent columns.
    ///
    /// # Errors
    /// - [`Engine::commit`] failed: its error.
    pub(super) fn commit(&self, basis: Basis, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<C>> {
        let counts = device_shares::assign_commitment_counts(self.circuit.rows(), columns.len(), &self.peer_links());
        let (own, mut rest) = columns.split_at(counts[0]);
        if rest.is_empty() {
            return self.engine.commit(basis, columns);
        }
        // Goes first: peers that fetch columns hold the engine's stream.
        let own = self.engine.prepare_scalars(own)?;
        let shares = self.peers.iter().zip(&counts[1..]).filter(|(_, count)| **count > 0).map(|(peer, count)| {
            let (share, others) = rest.split_at(*count);
            rest = others;
            (peer, share)
        });
        let shares: Vec<_> = shares.collect();
        thread::scope(|scope| {
            let start = |(peer, columns)| {
                let work = move || PeerDevice::commit_copies(peer, self.engine, basis, columns);
                (thread::Builder::new().spawn_scoped(scope, work), columns)
            };
            let others: Vec<_> = shares.into_iter().map(start).collect();
            let mut points = self.engine.commit_scalars(basis, &own)?;
            for (share, columns) in others {
                let theirs = match share {
                    Ok(share) => share.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    Err(error) => Err(Error::device("host", "thread", error)),
                };
                points.extend(retry_on_own_engine(theirs, || self.engine.commit(basis, columns))?);
            }
            Ok(points)
        })
    }

    /// Computes the weighed sum of all constraints in every row of each coset, on all devices. Returns a column of n
    /// values for each coset. Each device evaluates whole cosets.
    ///
    /// # Errors
    /// - [`Engine::on_coset`] failed: its error.
    pub(super) fn evaluate_on_cosets(
        &self,
        cosets: &Cosets<C::Scalar>,
        constraints: &Constraints<'_, C::Scalar>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let columns = [constraints.own.iter().map(Vec::len).sum(), constraints.shared.len()];
        let owners =
            device_shares::assign_coset_devices(self.circuit.rows(), cosets.count(), columns, &self.peer_links());
        // Goes first: copies would wait for cosets that are queued on the engine's stream.
        let copies = self.peers.iter().enumerate().map(|(number, peer)| {
            let takes_part = owners.contains(&(1 + number));
            takes_part.then(|| (peer, peer.copy_columns(self.engine, constraints.own)))
        });
        let copies: Vec<_> = copies.collect();
        // All cosets are queued before any is fetched.
        let queued = owners.iter().enumerate().map(|(number, owner)| {
            let peer = owner.checked_sub(1).and_then(|peer| copies[peer].as_ref());
            let part = match peer {
                Some((peer, Ok(own))) => peer.evaluate_on_coset(number, constraints, own),
                Some((_, Err(error))) => Err(error.clone()),
                None => self.engine.evaluate_on_coset(cosets, number, constraints),
            };
            (peer.map(|(peer, _)| *peer), part)
        });
        let queued: Vec<_> = queued.collect();
        let fetched = queued.into_iter().enumerate().map(|(number, (peer, part))| match peer {
            Some(peer) => {
                let part =
                    part.and_then(|part| exactly_one(self.engine.copy_columns_from(peer.engine, &[part.view()])?));
                retry_on_own_engine(part, || self.engine.evaluate_on_coset(cosets, number, constraints))
            }
            None => part,
        });
        fetched.collect()
    }

    fn peer_links(&self) -> Vec<Option<Link>> {
        self.peers.iter().map(|peer| peer.link).collect()
    }
}

impl<C: ProofCurve> PeerDevice<'_, C> {
    fn commit_copies(&self, of: &Engine<C>, basis: Basis, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<C>> {
        self.engine.commit_on_device(basis, &self.engine.copy_columns_from(of, columns)?)
    }

    fn copy_columns(&self, of: &Engine<C>, columns: &[Vec<Column<C::Scalar>>]) -> Result<Vec<Vec<Column<C::Scalar>>>> {
        let copies = |columns: &Vec<Column<C::Scalar>>| {
            self.engine.copy_columns_from(of, &columns.iter().map(Column::view).collect::<Vec<_>>())
        };
        columns.iter().map(copies).collect()
    }

    fn evaluate_on_coset(
        &self,
        number: usize,
        constraints: &Constraints<'_, C::Scalar>,
        own: &[Vec<Column<C::Scalar>>],
    ) -> Result<Column<C::Scalar>> {
        let cosets = self.engine.create_cosets(constraints.pieces)?;
        let shared = self.key.coefficients();
        self.engine.evaluate_on_coset(&cosets, number, &Constraints { shared: &shared, own, ..*constraints })
    }
}

fn exactly_one<T>(all: Vec<T>) -> Result<T> {
    all.into_iter().next().ok_or_else(|| Error::internal("plonk"))
}

/// Returns the result `theirs` of a peer, or the result of `own` if the peer failed. After an abort or an invalid
/// argument, `own` is not called, and the peer's error is returned.
fn retry_on_own_engine<T>(theirs: Result<T>, own: impl FnOnce() -> Result<T>) -> Result<T> {
    match theirs {
        Err(error) if !matches!(error, Error::Aborted | Error::Invalid { .. }) => {
            log::warn!("plonk: the proof's own device does another one's share: {error}");
            own()
        }
        theirs => theirs,
    }
}
