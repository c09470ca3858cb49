//! Computes the quotient, coset by coset.

use super::pieces;
use crate::Result;
use crate::backend::Stream;
use crate::exec::ExecCtx;
use crate::expression::{Coset, DeviceColumn};
use crate::field::{DeviceVector, NttField};
use crate::ntt::{Direction, ExtendedDomain, Transform};
use crate::plonk::circuit::{ProofCurve, iterate_powers};
use crate::plonk::column_places_and_checks::StridedColumns;
use crate::plonk::columns_layout_and_key::{Column, ColumnView};
use crate::plonk::compiled_circuit::WeightedSum;
use crate::plonk::engine::transfer::{enqueue_copies, ensure_contiguous, select_columns};
use crate::plonk::engine::{Engine, exactly_one};
use crate::plonk::work_sharing::{PeerDevice, ProverContext, assign_coset_devices, retry_on_own_engine};

/// Holds the cosets of the subgroup of order n on which a quotient is evaluated. There are as many as the quotient has
/// pieces, so its values there determine it.
#[derive(Debug)]
pub(super) struct Cosets<F> {
    domain: ExtendedDomain<F>,
    pieces: pieces::Cosets<F>,
}

impl<F: NttField> Cosets<F> {
    /// Returns the number of cosets.
    fn count(&self) -> usize {
        self.pieces.count()
    }
}

/// Borrows the constraints of all circuits of a proof.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constraints<'a, F: NttField> {
    /// Sum of one circuit's constraints, weighed by powers of y. Columns of the key have the lowest numbers, then the
    /// circuit's own.
    pub sum: &'a WeightedSum<F>,
    /// Values of the challenges of the sum's program.
    pub challenges: &'a [F],
    /// Factor of a circuit's sum for each circuit after it, a power of y.
    pub step: F,
    /// Coefficients of the key's columns, which all circuits share.
    pub shared: &'a [ColumnView<'a, F>],
    /// Coefficients of each circuit's own columns.
    pub own: &'a [Vec<Column<F>>],
    /// Number of pieces that the quotient is split into.
    pub pieces: usize,
}

impl<F: NttField> Constraints<'_, F> {
    /// Returns the weight of each circuit's sum: `step`^(m−1−i) for circuit i of m.
    fn circuit_weights(&self) -> Vec<F> {
        let mut weights: Vec<_> = iterate_powers(self.step).take(self.own.len()).collect();
        weights.reverse();
        weights
    }
}

impl<C: ProofCurve> ProverContext<'_, C> {
    /// Computes the weighed sum of all constraints in every row of each coset, on all devices. Returns a column of n
    /// values for each coset. Each device evaluates whole cosets.
    ///
    /// # Errors
    /// - [`Engine::evaluate_on_coset`] failed: its error.
    pub(super) fn evaluate_on_cosets(
        &self,
        cosets: &Cosets<C::Scalar>,
        constraints: &Constraints<'_, C::Scalar>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let columns = [constraints.own.iter().map(Vec::len).sum(), constraints.shared.len()];
        let owners = assign_coset_devices(self.circuit.rows(), cosets.count(), columns, &self.peer_links());
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
}

impl<C: ProofCurve> PeerDevice<'_, C> {
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

impl<C: ProofCurve> Engine<C> {
    /// Creates `count` cosets of the subgroup of order n, for a quotient of `count` pieces.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): `count` is 0, or above
    ///   [`MAX_COSETS`](crate::plonk::circuit::MAX_COSETS).
    /// - [`Error::Invalid`](crate::Error::Invalid): the field has too few roots of unity.
    pub(super) fn create_cosets(&self, count: usize) -> Result<Cosets<C::Scalar>> {
        let (log_n, log_factor) =
            (self.domain.log_n(), count.checked_next_power_of_two().map_or(usize::BITS, usize::trailing_zeros));
        let domain = ExtendedDomain::new(&self.accelerator, log_n, log_factor)?;
        let pieces = pieces::Cosets::new(log_n, log_factor, domain.extended_domain().coset(), count)?;
        Ok(Cosets { domain, pieces })
    }

    /// Computes the weighed sum of all constraints of all circuits in every row of the coset with index `number`.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the sum names a missing column or challenge.
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(super) fn evaluate_on_coset(
        &self,
        cosets: &Cosets<C::Scalar>,
        number: usize,
        constraints: &Constraints<'_, C::Scalar>,
    ) -> Result<Column<C::Scalar>> {
        let coset = Coset { log_n: self.domain.log_n(), shift: cosets.domain.coset_shift(number) };
        let columns = constraints.shared.len() + constraints.own.iter().map(Vec::len).sum::<usize>();
        self.run_step(
            "coset",
            columns,
            |stream| {
                let sums = DeviceVector::allocate_uninit(stream, constraints.own.len() * self.n())?;
                stream.zero(sums.buffer())?;
                for group in 0..constraints.sum.program().groups().len() {
                    self.trim_before_step(stream);
                    self.add_term_group(stream, (cosets, number, coset), constraints, group, &sums)?;
                }
                self.sum_weighted_columns(stream, sums, &constraints.circuit_weights())
            },
            |ctx| self.evaluate_coset_on_host(coset, constraints, ctx),
        )
    }

    /// Adds the constraint terms of the program's group with index `group` to each circuit's sum in `sums`. Only that
    /// group's columns are evaluated, so that their values take less memory.
    fn add_term_group(
        &self,
        stream: &mut Stream,
        (cosets, number, coset): (&Cosets<C::Scalar>, usize, Coset<C::Scalar>),
        constraints: &Constraints<'_, C::Scalar>,
        group: usize,
        sums: &DeviceVector<C::Scalar>,
    ) -> Result<()> {
        let (program, first) = (constraints.sum.program(), constraints.shared.len());
        // Numbers ascend: those of shared columns come first.
        let numbers = program.groups()[group].columns();
        let (shared, own) = numbers.split_at(numbers.partition_point(|number| *number < first));
        let key = self.coset_values(stream, cosets, number, &select_columns(constraints.shared, shared, 0)?)?;
        for (circuit, columns) in constraints.own.iter().enumerate() {
            let columns: Vec<_> = columns.iter().map(Column::view).collect();
            let values = self.coset_values(stream, cosets, number, &select_columns(&columns, own, first)?)?;
            let all =
                split_device_columns(&key, self.n()).chain(split_device_columns(&values, self.n())).collect::<Vec<_>>();
            let output = DeviceColumn { vector: sums, first: circuit * self.n() };
            program.enqueue_group(stream, group, &all, constraints.challenges, coset, &[output])?;
        }
        Ok(())
    }

    /// Returns the values on the coset with index `number` of the polynomials with the coefficients `columns`, one
    /// polynomial after the other.
    fn coset_values(
        &self,
        stream: &mut Stream,
        cosets: &Cosets<C::Scalar>,
        number: usize,
        columns: &[ColumnView<'_, C::Scalar>],
    ) -> Result<DeviceVector<C::Scalar>> {
        let (from, place) = ensure_contiguous(stream, self.n(), columns)?;
        let whole = place.first == 0 && place.count * self.n() == from.vector.len();
        let vector = if whole { from.vector.clone() } else { enqueue_copies(stream, self.n(), columns)?.into() };
        cosets.domain.enqueue_coset_batch(stream, &vector, number)
    }

    /// Computes Σ weight·column over the columns of n elements in the vector `columns`. A single column is returned as
    /// it is.
    fn sum_weighted_columns(
        &self,
        stream: &mut Stream,
        columns: DeviceVector<C::Scalar>,
        weights: &[C::Scalar],
    ) -> Result<Column<C::Scalar>> {
        let mut columns = Column::split_vector(columns, self.n());
        if columns.len() > 1 {
            let terms: Vec<_> = columns.iter().map(Column::view).zip(weights.iter().copied()).collect();
            let sum = self.enqueue_linear_combination(stream, &terms)?;
            columns = Column::split_vector(sum, self.n());
        }
        exactly_one(columns)
    }

    fn evaluate_coset_on_host(
        &self,
        coset: Coset<C::Scalar>,
        constraints: &Constraints<'_, C::Scalar>,
        ctx: ExecCtx<'_>,
    ) -> Result<Column<C::Scalar>> {
        let plain = self.domain.transform(Direction::Forward);
        let transform = Transform { shift_in: Some(coset.shift), ..plain };
        let shared = self.transform_on_host(constraints.shared, transform, ctx)?;
        let mut sums = Vec::with_capacity(constraints.own.len());
        for own in constraints.own {
            let own: Vec<_> = own.iter().map(Column::view).collect();
            let own = self.transform_on_host(&own, transform, ctx)?;
            let columns: Vec<_> = shared.iter().chain(&own).map(Column::view).collect();
            sums.push(self.evaluate_sum_on_host(constraints.sum, &columns, constraints.challenges, coset, ctx)?);
        }
        self.combine_on_host(&sums.iter().map(Column::view).zip(constraints.circuit_weights()).collect::<Vec<_>>())
    }

    /// Computes the quotient by X^n − 1 from its dividend's `values` on `cosets`, one column of n values for each
    /// coset. Returns the quotient's coefficients, split into pieces of n coefficients. The lowest piece comes first.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the number of columns differs from the number of cosets.
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(super) fn interpolate_quotient_pieces(
        &self,
        cosets: &Cosets<C::Scalar>,
        values: &[ColumnView<'_, C::Scalar>],
    ) -> Result<Vec<Column<C::Scalar>>> {
        self.run_step(
            "pieces",
            values.len(),
            |stream| {
                let mut vector = enqueue_copies(stream, self.n(), values)?;
                self.domain.enqueue(Direction::Inverse, stream, &mut vector)?;
                cosets.pieces.enqueue(stream, &mut vector, StridedColumns::packed(self.n(), values.len()))?;
                self.collect_columns(stream, vector)
            },
            |ctx| {
                let mut parts = self.transform_on_host(values, self.domain.transform(Direction::Inverse), ctx)?;
                let mut slices = parts.iter_mut().map(Column::host_mut).collect::<Result<Vec<_>>>()?;
                cosets.pieces.on_cpu(&mut slices)?;
                Ok(parts)
            },
        )
    }
}

/// Returns the columns of `n` elements that follow one another in `vector`.
fn split_device_columns<F: NttField>(vector: &DeviceVector<F>, n: usize) -> impl Iterator<Item = DeviceColumn<'_, F>> {
    (0..vector.len() / n).map(move |k| DeviceColumn { vector, first: k * n })
}
