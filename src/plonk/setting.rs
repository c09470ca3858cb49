//! What a proof works with, and on: its own device, and others that take a share.

use std::panic::resume_unwind;
use std::thread;

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::{Basis, Constraints, Cosets, Engine};
use super::key::Key;
use super::lowered::Lowered;
use crate::{Error, Result};

/// What all steps of a proof look at.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a, C: ProofCurve> {
    /// What does the work.
    pub engine: &'a Engine<C>,
    /// The constraint system, lowered within the engine's plan.
    pub circuit: &'a Lowered<C::Scalar>,
    /// The columns that are the same in every proof.
    pub key: &'a Key<'a, C::Scalar>,
    /// Other devices that take shares of commitments and of the quotient; mostly none.
    pub peers: &'a [Peer<'a, C>],
}

/// An engine of another device, and the key there. What it cannot do, the proof's own engine does.
#[derive(Debug, Clone, Copy)]
pub struct Peer<'a, C: ProofCurve> {
    /// Its setup is that of the proof's own engine.
    pub engine: &'a Engine<C>,
    /// The columns of the proof's key, rather on the engine's device.
    pub key: &'a Key<'a, C::Scalar>,
}

impl<C: ProofCurve> Setting<'_, C> {
    /// Σ columnᵢ·baseᵢ of each column, in their order, on all devices: each takes neighbours.
    ///
    /// # Errors
    /// As [`Engine::commit`].
    pub(super) fn commit(&self, basis: Basis, columns: &[View<'_, C::Scalar>]) -> Result<Vec<C>> {
        let share = columns.len() / (1 + self.peers.len());
        if self.peers.is_empty() || share == 0 {
            return self.engine.commit(basis, columns);
        }
        let (own, others) = columns.split_at(columns.len() - share * self.peers.len());
        thread::scope(|scope| {
            let others = self.peers.iter().zip(others.chunks(share));
            let others: Vec<_> = others
                .map(|(peer, columns)| (scope.spawn(|| peer.commit(self.engine, basis, columns)), columns))
                .collect();
            let mut points = self.engine.commit(basis, own)?;
            for (share, columns) in others {
                let theirs = share.join().unwrap_or_else(|panic| resume_unwind(panic));
                points.extend(unless_done(theirs, || self.engine.commit(basis, columns))?);
            }
            Ok(points)
        })
    }

    /// The sum of all constraints in every row of each coset, on all devices: they take turns.
    ///
    /// # Errors
    /// As [`Engine::on_coset`].
    pub(super) fn on_cosets(
        &self,
        cosets: &Cosets<C::Scalar>,
        constraints: &Constraints<'_, C::Scalar>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        // Columns go to those that have a turn.
        let peers = self.peers.iter().take(cosets.count().saturating_sub(1));
        let copies: Vec<_> = peers.map(|peer| (peer, peer.copies(self.engine, constraints.own))).collect();
        let turns = 1 + copies.len();
        // First all are queued, then fetched.
        let queued: Vec<_> = (0..cosets.count())
            .map(|number| match (number % turns).checked_sub(1).map(|turn| &copies[turn]) {
                Some((peer, Ok(own))) => (Some(peer), peer.on_coset(number, constraints, own)),
                Some((_, Err(error))) => (None, Err(error.clone())),
                None => (None, self.engine.on_coset(cosets, number, constraints)),
            })
            .collect();
        let fetched = queued.into_iter().enumerate().map(|(number, (peer, part))| match peer {
            None if number % turns == 0 => part,
            None => unless_done(part, || self.engine.on_coset(cosets, number, constraints)),
            Some(peer) => {
                let part = part.and_then(|part| one(self.engine.copies_from(peer.engine, &[part.view()])?));
                unless_done(part, || self.engine.on_coset(cosets, number, constraints))
            }
        });
        fetched.collect()
    }
}

impl<C: ProofCurve> Peer<'_, C> {
    fn commit(&self, of: &Engine<C>, basis: Basis, columns: &[View<'_, C::Scalar>]) -> Result<Vec<C>> {
        let copies = self.engine.copies_from(of, columns)?;
        self.engine.commit(basis, &copies.iter().map(Column::view).collect::<Vec<_>>())
    }

    fn copies(&self, of: &Engine<C>, columns: &[Vec<Column<C::Scalar>>]) -> Result<Vec<Vec<Column<C::Scalar>>>> {
        let copies = |columns: &Vec<Column<C::Scalar>>| {
            self.engine.copies_from(of, &columns.iter().map(Column::view).collect::<Vec<_>>())
        };
        columns.iter().map(copies).collect()
    }

    fn on_coset(
        &self,
        number: usize,
        constraints: &Constraints<'_, C::Scalar>,
        own: &[Vec<Column<C::Scalar>>],
    ) -> Result<Column<C::Scalar>> {
        let cosets = self.engine.cosets(constraints.pieces)?;
        let shared = self.key.coefficients();
        self.engine.on_coset(&cosets, number, &Constraints { shared: &shared, own, ..*constraints })
    }
}

fn one<T>(all: Vec<T>) -> Result<T> {
    all.into_iter().next().ok_or_else(|| Error::lost("plonk"))
}

/// A peer's result, or where it failed the engine's own.
fn unless_done<T>(theirs: Result<T>, own: impl FnOnce() -> Result<T>) -> Result<T> {
    match theirs {
        Err(error) if !matches!(error, Error::Aborted | Error::Invalid { .. }) => {
            log::warn!("plonk: the proof's own device does another one's share: {error}");
            own()
        }
        theirs => theirs,
    }
}
