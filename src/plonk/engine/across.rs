//! Works for another engine's proof, on the device only.

use std::sync::PoisonError;

use group::Curve as _;

use super::place::{self, check};
use super::{Basis, Engine, device_scalars};
use crate::backend::guarded;
use crate::plonk::column::{Column, View, Viewed};
use crate::plonk::curve::ProofCurve;
use crate::plonk::shares::Link;
use crate::{Error, Result};

impl<C: ProofCurve> Engine<C> {
    /// Returns the engine for shares of other engines' proofs. The host never does the device's work, since the proof's
    /// own device is faster.
    #[must_use]
    pub fn without_host(self) -> Self {
        Self { accelerator: self.accelerator.without_host(), ..self }
    }

    /// Returns how columns are copied here from the device of `other`.
    pub fn link_from(&self, other: &Self) -> Link {
        match (self.accelerator.devices().first(), other.accelerator.devices().first()) {
            (Some(own), Some(other)) if own.is_linked_to(other) => Link::Direct,
            (Some(own), Some(other)) if own.reaches(other) => Link::Driver,
            _ => Link::Host,
        }
    }

    /// Copies `columns`, which may be on the device of `other` or anywhere else, to this engine's device.
    ///
    /// # Errors
    /// Returns an error if a column has another length, there is no device, or one failed.
    pub(in crate::plonk) fn copies_from(
        &self,
        other: &Self,
        columns: &[View<'_, C::Scalar>],
    ) -> Result<Vec<Column<C::Scalar>>> {
        check(self.n(), columns)?;
        let (Some(device), Some(stream)) = (self.accelerator.devices().first(), &other.stream) else {
            return Err(Error::lost("plonk"));
        };
        let mark = stream.lock().unwrap_or_else(PoisonError::into_inner).mark()?;
        let reaches = other.accelerator.devices().iter().all(|other| device.reaches(other));
        let fetched = if reaches { Vec::new() } else { other.fetch_all(columns)? };
        let on_host: Vec<_> = fetched.iter().map(|column| View::new(column)).collect();
        self.run(
            "copy",
            columns.len(),
            |stream| {
                let vector = match reaches {
                    true => place::copies_across(stream, self.n(), columns, &mark)?,
                    false => place::copies(stream, self.n(), &on_host)?,
                };
                Ok(Column::of(vector, self.n()))
            },
            |_| Err(Error::lost("plonk")),
        )
    }

    /// Commits to `columns` on the device as [`Engine::commit`] does, or fails.
    ///
    /// # Errors
    /// Returns an error if a column is not on the device or has another length, or the device failed.
    pub(in crate::plonk) fn commit_there(&self, basis: Basis, columns: &[Column<C::Scalar>]) -> Result<Vec<C>> {
        let there = self.run(
            "scalars",
            columns.len(),
            |stream| {
                let scalars = columns.iter().map(|column| match column.view().0 {
                    Viewed::Device(resident) => device_scalars(stream, resident),
                    Viewed::Host(_) => Err(Error::lost("plonk")),
                });
                scalars.collect::<Result<Vec<_>>>()
            },
            |_| Err(Error::lost("plonk")),
        )?;
        let sums = guarded(self.abort(), |abort| self.bases(basis).sums(&there, abort));
        let (sums, _) = sums.map_err(|error| self.blamed(error))?;
        Ok(sums.into_iter().map(|sum| sum.to_affine()).collect())
    }
}
