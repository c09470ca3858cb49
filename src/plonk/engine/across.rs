//! What an engine does for another one's proof: on its device or not at all.

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
    /// The same for shares of other engines' proofs: the host never does what the device cannot, since the proof's own device
    /// is faster.
    #[must_use]
    pub fn without_host(self) -> Self {
        Self { accelerator: self.accelerator.without_host(), ..self }
    }

    /// How columns come here from another engine's device.
    pub fn link_from(&self, other: &Self) -> Link {
        match (self.accelerator.devices().first(), other.accelerator.devices().first()) {
            (Some(own), Some(other)) if own.is_linked_to(other) => Link::Direct,
            (Some(own), Some(other)) if own.reaches(other) => Link::Driver,
            _ => Link::Host,
        }
    }

    /// Copies of columns that are another engine's, or anywhere, on this one's device.
    ///
    /// # Errors
    /// A column has another length, there is no device, or one failed.
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

    /// [`Engine::commit`] to columns on the device, which does it or fails.
    ///
    /// # Errors
    /// A column is not on the device or has another length, or the device failed.
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
