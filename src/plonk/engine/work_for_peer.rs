//! Works for another engine's proof, on the device only.

use std::sync::PoisonError;

use group::Curve as _;

use super::transfer::{self, check_column_lengths, device_scalars};
use super::{Basis, Engine};
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnView, ViewStorage};
use crate::plonk::work_sharing::Link;
use crate::{Error, Result};

impl<C: ProofCurve> Engine<C> {
    /// Returns the engine without fallback to the CPU, for work on the proofs of other engines. If its device fails,
    /// the proof's own device is a faster substitute than the host.
    #[must_use]
    pub fn without_cpu_fallback(self) -> Self {
        Self { accelerator: self.accelerator.without_cpu_fallback(), ..self }
    }

    /// Returns the way in which columns are copied from the device of `other` to this engine's device.
    pub fn link_from(&self, other: &Self) -> Link {
        match (self.accelerator.devices().first(), other.accelerator.devices().first()) {
            (Some(own), Some(other)) if own.has_p2p_link(other) => Link::Direct,
            (Some(own), Some(other)) if own.can_access(other) => Link::Driver,
            _ => Link::Host,
        }
    }

    /// Copies `columns` to this engine's device, in the same order. The columns may be on the device of `other` or in
    /// host memory.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - [`Error::Device`]: there is no device.
    /// - A device failed: its error.
    pub(in crate::plonk) fn copy_columns_from(
        &self,
        other: &Self,
        columns: &[ColumnView<'_, C::Scalar>],
    ) -> Result<Vec<Column<C::Scalar>>> {
        check_column_lengths(self.n(), columns)?;
        let (Some(device), Some(stream)) = (self.accelerator.devices().first(), &other.stream) else {
            return Err(Error::internal("plonk"));
        };
        let mark = stream.lock().unwrap_or_else(PoisonError::into_inner).record_event()?;
        let reaches = other.accelerator.devices().iter().all(|other| device.can_access(other));
        let fetched = if reaches { Vec::new() } else { other.fetch_all_to_host(columns)? };
        let on_host: Vec<_> = fetched.iter().map(|column| ColumnView::new(column)).collect();
        self.run_on_device("copy", columns.len(), |stream, _| {
            let vector = if reaches {
                transfer::enqueue_peer_copies(stream, self.n(), columns, &mark)?
            } else {
                transfer::enqueue_copies(stream, self.n(), &on_host)?
            };
            Ok(Column::split_vector(vector, self.n()))
        })
    }

    /// Commits to `columns`, which are on the device, as [`Engine::commit`] does, but without fallback to the CPU.
    /// Returns the commitments in the order of `columns`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - [`Error::Device`]: a column is not on the device.
    /// - [`Error::Device`]: a scalar on the device is too long, a wrong result.
    /// - The device failed: its error.
    pub(in crate::plonk) fn commit_on_device(&self, basis: Basis, columns: &[Column<C::Scalar>]) -> Result<Vec<C>> {
        let sums = self.run_on_device("commit", columns.len(), |stream, ctx| {
            let scalars = columns.iter().map(|column| match column.view().0 {
                ViewStorage::Device(resident) => device_scalars(stream, resident),
                ViewStorage::Host(_) => Err(Error::internal("plonk")),
            });
            self.basis_msm(basis).run_without_fallback(&scalars.collect::<Result<Vec<_>>>()?, ctx)
        });
        let sums = sums.map_err(|error| self.scalar_error_to_device(error))?;
        Ok(sums.into_iter().map(|sum| sum.to_affine()).collect())
    }
}
