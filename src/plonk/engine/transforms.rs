//! Between values and coefficients, and sums of terms in between.

use ff::Field;

use super::Engine;
use super::place::{copies, in_a_row, residents};
use crate::backend::Stream;
use crate::expression::{Coset, DeviceColumn, Group, Program};
use crate::field::{DeviceVector, NttField, SecretVec};
use crate::ntt::{Direction, ExtendedDomain, Transform, transform_many};
use crate::plonk::column::{Column, Resident, View};
use crate::plonk::curve::ProofCurve;
use crate::plonk::steps::{Place, pieces};
use crate::plonk::sums::Sum;
use crate::{Error, Result};

/// Vectors that the columns of a sum may lie in.
const VECTORS: usize = 4;

/// As many cosets of the subgroup of order n as a quotient has pieces: they tell it from all others of its degree.
#[derive(Debug)]
pub struct Cosets<F> {
    domain: ExtendedDomain<F>,
    pieces: pieces::Cosets<F>,
}

impl<F: NttField> Cosets<F> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.pieces.count()
    }

    /// c of the coset c·ω^i.
    pub fn shift(&self, coset: usize) -> F {
        self.domain.shift(coset)
    }
}

impl<C: ProofCurve> Engine<C> {
    /// So many cosets.
    ///
    /// # Errors
    /// They are more than 16, or than the field has roots of unity for.
    pub(in crate::plonk) fn cosets(&self, count: usize) -> Result<Cosets<C::Scalar>> {
        let (log_n, log_factor) = (self.domain.log_n(), count.next_power_of_two().trailing_zeros());
        let domain = ExtendedDomain::new(&self.accelerator, log_n, log_factor)?;
        let pieces = pieces::Cosets::new(log_n, log_factor, domain.whole().coset(), count)?;
        Ok(Cosets { domain, pieces })
    }

    /// Coefficients of the polynomials with these values.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub fn interpolate(&self, columns: &[View<'_, C::Scalar>]) -> Result<Vec<Column<C::Scalar>>> {
        self.run(
            "interpolate",
            columns.len(),
            |stream| {
                let mut vector = copies(stream, self.n(), columns)?;
                self.domain.enqueue(Direction::Inverse, stream, &mut vector)?;
                Ok(Column::of(vector, self.n()))
            },
            || self.transform_on_host(columns, self.domain.transform(Direction::Inverse)),
        )
    }

    /// Values of polynomials on a coset.
    ///
    /// # Errors
    /// As [`Self::interpolate`].
    pub(in crate::plonk) fn on_coset(
        &self,
        cosets: &Cosets<C::Scalar>,
        number: usize,
        columns: &[View<'_, C::Scalar>],
    ) -> Result<Vec<Column<C::Scalar>>> {
        self.run(
            "coset",
            columns.len(),
            |stream| {
                let (from, place) = in_a_row(stream, self.n(), columns)?;
                let whole = place.first == 0 && place.count * self.n() == from.vector.len();
                let vector = if whole { from.vector.clone() } else { copies(stream, self.n(), columns)?.into() };
                let vector = cosets.domain.enqueue_coset_of_all(stream, &vector, number)?;
                Ok(Column::of(vector, self.n()))
            },
            || {
                let plain = self.domain.transform(Direction::Forward);
                self.transform_on_host(columns, Transform { shift_in: Some(cosets.shift(number)), ..plain })
            },
        )
    }

    fn transform_on_host(
        &self,
        columns: &[View<'_, C::Scalar>],
        transform: Transform<C::Scalar>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let columns = self.fetch_all(columns)?.into_iter().map(super::OnHost::into_copy);
        let mut columns: Vec<SecretVec<_>> = columns.collect();
        let transforms = vec![transform; columns.len()];
        let mut slices: Vec<&mut [_]> = columns.iter_mut().map(|column| &mut **column).collect();
        transform_many(&self.accelerator, &mut slices, &transforms, None)?;
        Ok(columns.into_iter().map(|mut column| Column::new(std::mem::take(&mut column.0))).collect())
    }

    /// A sum's value in every row, X being shift·ω^row.
    ///
    /// # Errors
    /// The sum names a column or challenge that is not there, or a forced backend failed.
    pub(in crate::plonk) fn weighted_sum(
        &self,
        sum: &Sum<C::Scalar>,
        columns: &[View<'_, C::Scalar>],
        challenges: &[C::Scalar],
        shift: C::Scalar,
    ) -> Result<Column<C::Scalar>> {
        let coset = Coset { log_n: self.domain.log_n(), shift };
        let program = sum.program();
        let (read, views) = read(program, columns)?;
        self.run(
            "terms",
            views.len(),
            |stream| {
                let residents = in_few_vectors(stream, self.n(), &views)?;
                let to = DeviceVector::allocate(stream, self.n())?;
                stream.zero(to.buffer())?;
                let output = DeviceColumn { vector: &to, first: 0 };
                // A column that is not read may be any.
                let mut all = vec![output; columns.len()];
                for (number, Resident { vector, first, .. }) in read.iter().zip(&residents) {
                    all[*number] = DeviceColumn { vector, first: *first };
                }
                program.enqueue(stream, &all, challenges, coset, &[output])?;
                Ok(Column::of(to, self.n()))
            },
            || {
                let mut all: Vec<&[_]> = vec![&[]; columns.len()];
                let fetched = self.fetch_all(&views)?;
                read.iter().zip(&fetched).for_each(|(number, column)| all[*number] = column);
                let mut values = SecretVec(vec![C::Scalar::ZERO; self.n()]);
                program.run(&self.accelerator, &all, challenges, coset, &mut [&mut values], None)?;
                Ok(vec![Column::new(std::mem::take(&mut values.0))])
            },
        )
        .and_then(super::only)
    }

    /// The pieces of a quotient by X^n − 1, low ones first, from its dividend's values on the cosets.
    ///
    /// # Errors
    /// There are not as many values as cosets, or a forced backend failed.
    pub(in crate::plonk) fn pieces(
        &self,
        cosets: &Cosets<C::Scalar>,
        values: &[View<'_, C::Scalar>],
    ) -> Result<Vec<Column<C::Scalar>>> {
        self.run(
            "pieces",
            values.len(),
            |stream| {
                let mut vector = copies(stream, self.n(), values)?;
                self.domain.enqueue(Direction::Inverse, stream, &mut vector)?;
                cosets.pieces.enqueue(stream, &mut vector, Place::packed(self.n(), values.len()))?;
                Ok(Column::of(vector, self.n()))
            },
            || {
                let mut parts = self.transform_on_host(values, self.domain.transform(Direction::Inverse))?;
                let mut slices = parts.iter_mut().map(|part| part.host_mut()).collect::<Result<Vec<_>>>()?;
                cosets.pieces.on_cpu(&mut slices)?;
                Ok(parts)
            },
        )
    }
}

/// The columns that a program reads, with their numbers.
fn read<'v, F: NttField>(program: &Program<F>, columns: &[View<'v, F>]) -> Result<(Vec<usize>, Vec<View<'v, F>>)> {
    let mut numbers: Vec<usize> = program.groups().iter().flat_map(Group::columns).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let missing = || Error::invalid("plonk", "columns", format!("{}", program.columns()), columns.len());
    let view = |number: &usize| columns.get(*number).copied().ok_or_else(missing);
    let views = numbers.iter().map(view).collect::<Result<_>>()?;
    Ok((numbers, views))
}

/// Columns where they are, if they lie in as few vectors as programs know; else copies.
fn in_few_vectors<F: NttField>(stream: &mut Stream, n: usize, columns: &[View<'_, F>]) -> Result<Vec<Resident<F>>> {
    let mut residents = residents(stream, n, columns)?;
    let mut vectors: Vec<_> = residents.iter().map(|one| std::sync::Arc::as_ptr(&one.vector)).collect();
    vectors.sort_unstable();
    vectors.dedup();
    if vectors.len() > VECTORS {
        let vector = std::sync::Arc::new(copies(stream, n, columns)?);
        for (k, one) in residents.iter_mut().enumerate() {
            *one = Resident { vector: vector.clone(), first: k * n, len: n };
        }
    }
    Ok(residents)
}
