//! What is done to columns. Steps of a proof call nothing else.

use std::sync::Arc;

use ff::Field;
use group::Curve as _;

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::host;
use super::sums::Sum;
use crate::expression::Coset;
use crate::field::SecretVec;
use crate::msm::{Msm, Options, Scalars};
use crate::ntt::{Direction, NttDomain, Transform, transform_many};
use crate::{Accelerator, Error, Result};

/// Which polynomials the bases of a commitment stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Powers of X: a column is coefficients.
    Monomial,
    /// Lagrange polynomials of the subgroup: a column is values.
    Lagrange,
}

/// A setup's bases, uploaded once for any number of proofs.
#[derive(Debug)]
pub struct Srs<C: 'static> {
    monomial: Msm<'static, C>,
    lagrange: Msm<'static, C>,
}

impl<C: ProofCurve> Srs<C> {
    /// Uploads both bases, n points each. They are trusted as those of [`Msm`] are.
    ///
    /// # Errors
    /// Their numbers differ, or a forced backend failed.
    pub fn new(accelerator: &Accelerator, monomial: Vec<C>, lagrange: Vec<C>) -> Result<Self> {
        if monomial.len() != lagrange.len() {
            return Err(Error::invalid("plonk srs", "Lagrange bases", monomial.len(), lagrange.len()));
        }
        let upload = |bases: Vec<C>| Msm::shared(accelerator, bases, Options::default());
        Ok(Self { monomial: upload(monomial)?, lagrange: upload(lagrange)? })
    }
}

/// Commitments, transforms and the like over columns of 2^log_n elements, each on the accelerator as far as it does them.
#[derive(Debug)]
pub struct Engine<C: ProofCurve> {
    domain: NttDomain<C::Scalar>,
    accelerator: Accelerator,
    srs: Arc<Srs<C>>,
}

impl<C: ProofCurve> Engine<C> {
    /// An engine for columns of as many elements as there are bases.
    ///
    /// # Errors
    /// 2^log_n is above the field's two-adicity.
    pub fn new(accelerator: &Accelerator, log_n: u32, srs: Arc<Srs<C>>) -> Result<Self> {
        Ok(Self { domain: NttDomain::new(accelerator, log_n)?, accelerator: accelerator.clone(), srs })
    }

    /// The generator ω of the subgroup of order n.
    pub fn omega(&self) -> C::Scalar {
        self.domain.omega()
    }

    /// Σ column[i]·base[i] of each column, in their order.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub fn commit(&self, basis: Basis, columns: &[View<'_, C::Scalar>]) -> Result<Vec<C>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let bases = match basis {
            Basis::Monomial => &self.srs.monomial,
            Basis::Lagrange => &self.srs.lagrange,
        };
        let scalars: Vec<_> = columns.iter().map(|column| Scalars::elements(column.host())).collect();
        let (sums, _) = bases.run_batch(&scalars, None)?;
        Ok(sums.into_iter().map(|sum| sum.to_affine()).collect())
    }

    /// Coefficients of the polynomials with these values.
    ///
    /// # Errors
    /// A column has another length, or a forced backend failed.
    pub fn interpolate(&self, columns: &[View<'_, C::Scalar>]) -> Result<Vec<Column<C::Scalar>>> {
        self.transform(columns, &self.domain.transform(Direction::Inverse))
    }

    /// Values of polynomials at shift·ω^i.
    ///
    /// # Errors
    /// As [`Self::interpolate`].
    pub(super) fn on_coset(&self, columns: &[View<'_, C::Scalar>], shift: C::Scalar) -> Result<Vec<Column<C::Scalar>>> {
        self.transform(columns, &Transform { shift_in: Some(shift), ..self.domain.transform(Direction::Forward) })
    }

    /// `factor` times the coefficients of the polynomial with these values at shift·ω^i.
    ///
    /// # Errors
    /// As [`Self::interpolate`], or the shift is 0.
    pub(super) fn off_coset(
        &self,
        column: View<'_, C::Scalar>,
        shift: C::Scalar,
        factor: C::Scalar,
    ) -> Result<Column<C::Scalar>> {
        let plain = self.domain.transform(Direction::Inverse);
        let scale = plain.scale.map(|scale| scale * factor);
        let inverse = Option::<C::Scalar>::from(shift.invert());
        let inverse = inverse.ok_or_else(|| Error::invalid("plonk", "shift of a coset", "not 0", "0"))?;
        let columns = self.transform(&[column], &Transform { shift_out: Some(inverse), scale, ..plain })?;
        columns.into_iter().next().ok_or_else(|| Error::lost("plonk"))
    }

    fn transform(
        &self,
        columns: &[View<'_, C::Scalar>],
        transform: &Transform<C::Scalar>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let mut results: Vec<_> = columns.iter().map(|column| Column::new(column.host().to_vec())).collect();
        let mut slices: Vec<_> = results.iter_mut().map(Column::host_mut).collect();
        transform_many(&self.accelerator, &mut slices, &vec![*transform; columns.len()], None)?;
        drop(slices);
        Ok(results)
    }

    /// A sum's value in every row, X being shift·ω^row.
    ///
    /// # Errors
    /// The sum names a column or challenge that is not there, or a forced backend failed.
    pub(super) fn weighted_sum(
        &self,
        sum: &Sum<C::Scalar>,
        columns: &[View<'_, C::Scalar>],
        challenges: &[C::Scalar],
        shift: C::Scalar,
    ) -> Result<Column<C::Scalar>> {
        let columns: Vec<_> = columns.iter().map(View::host).collect();
        let coset = Coset { log_n: self.domain.log_n(), shift };
        let mut values = Column::new(vec![C::Scalar::ZERO; 1 << coset.log_n]);
        sum.program().run(&self.accelerator, &columns, challenges, coset, &mut [values.host_mut()], None)?;
        Ok(values)
    }

    /// A' and S' for the usable rows, random ones to follow; the first row whose value is not in the table, if one is not.
    pub(super) fn permute(
        &self,
        input: View<'_, C::Scalar>,
        table: View<'_, C::Scalar>,
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> ([Column<C::Scalar>; 2], Option<usize>) {
        let host::PermutedColumns { input, table, missing } =
            host::permute(&input.host()[..usable], &table.host()[..usable]);
        ([input, table].map(|values| self.blinded(values, random)), missing)
    }

    /// z of a set: it starts with `first`, and each usable row multiplies it by ∏(v + β·identity + γ)/∏(v + β·σ + γ) over the
    /// columns. Also its value where products end.
    pub(super) fn permutation_product(
        &self,
        set: &host::Set<'_, C::Scalar>,
        first: C::Scalar,
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> (Column<C::Scalar>, C::Scalar) {
        let ratios = host::permutation_ratios(set, self.omega(), usable);
        let product = host::running_product(first, &ratios);
        let last = product[usable];
        (self.blinded(product, random), last)
    }

    /// z of a lookup, from A, S, A' and S': each usable row multiplies it by (A + β)(S + γ)/((A' + β)(S' + γ)).
    pub(super) fn lookup_product(
        &self,
        columns: [View<'_, C::Scalar>; 4],
        beta: C::Scalar,
        gamma: C::Scalar,
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Column<C::Scalar> {
        let ratios = host::lookup_ratios(columns.map(|column| &column.host()[..usable]), beta, gamma);
        self.blinded(host::running_product(C::Scalar::ONE, &ratios), random)
    }

    /// The values, with random ones up to n.
    fn blinded(&self, values: Vec<C::Scalar>, random: &mut dyn FnMut() -> C::Scalar) -> Column<C::Scalar> {
        let (values, n) = (SecretVec(values), 1 << self.domain.log_n());
        // A vector that grows would leave values behind in memory.
        let mut column = Vec::with_capacity(n);
        column.extend_from_slice(&values);
        column.resize_with(n, random);
        Column::new(column)
    }

    /// Values of polynomials, each at a point of its own.
    #[expect(clippy::unused_self, reason = "columns may lie where only the engine knows")]
    pub(super) fn evaluate(&self, queries: &[(View<'_, C::Scalar>, C::Scalar)]) -> Vec<C::Scalar> {
        queries.iter().map(|(column, point)| host::evaluate(column.host(), *point)).collect()
    }

    /// Σ factor·column.
    pub(super) fn combine(&self, terms: &[(View<'_, C::Scalar>, C::Scalar)]) -> Column<C::Scalar> {
        let terms: Vec<_> = terms.iter().map(|(column, factor)| (column.host(), *factor)).collect();
        Column::new(host::combine(&terms, 1 << self.domain.log_n()))
    }

    /// The quotient by X − root, without the remainder, its leading coefficient 0.
    #[expect(clippy::unused_self, reason = "columns may lie where only the engine knows")]
    pub(super) fn divide(&self, mut column: Column<C::Scalar>, root: C::Scalar) -> Column<C::Scalar> {
        host::divide(column.host_mut(), root);
        column
    }
}
