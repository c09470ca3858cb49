//! Describes a constraint system as plain data, and the curves that proofs are made over.

use std::collections::HashMap;

use group::Curve;

use super::columns_layout_and_key::{ColumnId, ColumnLayout};
use crate::curve::MsmCurve;
use crate::expression::Expression;
use crate::field::NttField;
use crate::{Error, Result};

const PLACE: &str = "plonk circuit";
/// Maximum number of cosets, and of pieces, of a quotient, 256. With it the matrix of the pieces has 2 MiB, and a row
/// takes 2^16 multiplications.
pub const MAX_COSETS: usize = 1 << 8;

/// Describes a lookup argument: in every usable row, the values of `inputs` together must be a row of the table.
#[derive(Debug, Clone)]
pub struct Lookup<F> {
    /// Name of the lookup in warnings.
    pub name: String,
    /// Expressions whose values in each usable row, taken together, must be a row of the table.
    pub inputs: Vec<Expression<F>>,
    /// Expressions whose values are the columns of the table, one for each of `inputs`.
    pub tables: Vec<Expression<F>>,
}

/// Holds a constraint system over columns of 2^log_n rows.
///
/// Expressions name columns by [`ColumnLayout::column_number`] and the circuit's challenges by their index.
#[derive(Debug, Clone)]
pub struct Circuit<F> {
    /// Binary logarithm of the number n of rows.
    pub log_n: u32,
    /// Maximum degree of a constraint, at least 3. Constraints of the permutation and of lookups count too.
    pub degree: usize,
    /// Number of blinding rows at the end of each column. Grand products end in the row before them.
    pub blinding: usize,
    /// Number of columns of each kind.
    pub layout: ColumnLayout,
    /// Phase in which each advice column is committed to, counted from 0.
    pub advice_phases: Vec<u8>,
    /// Phase after which each of the circuit's own challenges is known.
    pub challenge_phases: Vec<u8>,
    /// Gate constraints: expressions that must be 0 in every row.
    pub gates: Vec<Expression<F>>,
    /// Lookup arguments.
    pub lookups: Vec<Lookup<F>>,
    /// Columns of the permutation argument: fixed, advice or instance columns.
    pub permutation: Vec<ColumnId>,
    /// Advice columns and the rotations at which they are opened, in transcript order.
    pub advice_queries: Vec<(usize, i32)>,
    /// Fixed columns and the rotations at which they are opened, in transcript order.
    pub fixed_queries: Vec<(usize, i32)>,
}

/// Describes two queries of one column whose rotations are equal modulo the number of rows. Both ask for the column's
/// value at the same point. halo2's prover makes no proof with such queries, and its verifier accepts none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateQueries {
    /// The column.
    pub column: ColumnId,
    /// Both rotations, in the queries' order.
    pub rotations: [i32; 2],
}

impl DuplicateQueries {
    /// Returns the first two of `queries` that ask for the same value of a column, or `None` if no two do. A query is a
    /// column and a rotation. Columns have `rows` rows.
    pub fn find(queries: impl IntoIterator<Item = (ColumnId, i32)>, rows: usize) -> Option<Self> {
        let mut seen = HashMap::new();
        let rows = i64::try_from(rows.max(1)).unwrap_or(i64::MAX);
        queries.into_iter().find_map(|(column, rotation)| {
            let first = seen.insert((column, i64::from(rotation).rem_euclid(rows)), rotation)?;
            Some(Self { column, rotations: [first, rotation] })
        })
    }
}

impl<F> Circuit<F> {
    /// Returns the number of rows, n = 2^`log_n`, or 0 if it exceeds `usize`. [`Self::check`] refuses such a circuit.
    pub fn rows(&self) -> usize {
        1_usize.checked_shl(self.log_n).unwrap_or(0)
    }

    /// Returns the number of rows that a witness may use. Grand products end in the row after them.
    pub fn usable_rows(&self) -> usize {
        self.rows().saturating_sub(self.blinding).saturating_sub(1)
    }

    /// Returns the negative rotation that leads from row 0 back to the row where grand products end.
    pub fn rotation_to_last(&self) -> i32 {
        0_i32.wrapping_sub_unsigned((self.blinding as u32).wrapping_add(1))
    }

    /// Returns the maximum number of permutation columns in one grand product, which the degree limits: degree − 2, at
    /// least 1.
    pub fn permutation_chunk_len(&self) -> usize {
        self.degree.saturating_sub(2).max(1)
    }

    /// Returns the number of pieces, polynomials of degree below n, that the quotient is split into: degree − 1. The
    /// quotient is evaluated on as many cosets.
    pub fn quotient_piece_count(&self) -> usize {
        self.degree.saturating_sub(1)
    }

    /// Returns the first two advice or fixed queries that ask for one column's value at the same point. Returns `None`
    /// if no two do.
    pub fn find_duplicate_queries(&self) -> Option<DuplicateQueries> {
        let advice = self.advice_queries.iter().map(|(column, rotation)| (ColumnId::Advice(*column), *rotation));
        let fixed = self.fixed_queries.iter().map(|(column, rotation)| (ColumnId::Fixed(*column), *rotation));
        DuplicateQueries::find(advice.chain(fixed), self.rows())
    }

    /// Returns the numbers of the advice columns of `phase`, in ascending order.
    pub fn advice_in_phase(&self, phase: u8) -> Vec<usize> {
        indices_in_phase(&self.advice_phases, phase)
    }

    /// Returns the indices of the challenges that are known after `phase`, in ascending order.
    pub fn challenges_of_phase(&self, phase: u8) -> Vec<usize> {
        indices_in_phase(&self.challenge_phases, phase)
    }

    /// Returns the number of phases of advice columns, at least one.
    pub fn phase_count(&self) -> u8 {
        self.advice_phases.iter().max().map_or(1, |last| last.saturating_add(1))
    }

    /// Checks that the circuit's counts agree, and that the columns of queries and of the permutation exist. No two
    /// queries may ask for the same value.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `advice_phases` does not have `layout.advice` phases.
    /// - [`Error::Invalid`]: `layout.permuted` is not the number of permutation columns.
    /// - [`Error::Invalid`]: `layout.lookups` is not the number of lookups.
    /// - [`Error::Invalid`]: `layout.sets` is not the number of sets that the permutation makes.
    /// - [`Error::Invalid`]: the degree is below 3, or above `MAX_COSETS` + 1.
    /// - [`Error::Invalid`]: a circuit has 2^32 columns or more.
    /// - [`Error::Invalid`]: there are fewer rows than `blinding` + 3.
    /// - [`Error::Invalid`]: a query or the permutation names a missing column.
    /// - [`Error::Invalid`]: a lookup has more or fewer tables than inputs.
    /// - [`Error::Invalid`]: two queries ask for the same value.
    ///
    /// The error names the first violation.
    pub fn check(&self) -> Result<()> {
        self.check_counts()?;
        self.check_size()?;
        self.check_column_ids()?;
        self.lookups.iter().try_for_each(|lookup| {
            Error::check_eq(PLACE, "tables of a lookup", lookup.inputs.len(), lookup.tables.len())
        })?;
        let Some(DuplicateQueries { column, rotations: [first, second] }) = self.find_duplicate_queries() else {
            return Ok(());
        };
        let expected = format!("different modulo {}", self.rows());
        Err(Error::invalid(PLACE, format!("rotations of {column}"), expected, format!("{first} and {second}")))
    }

    fn check_counts(&self) -> Result<()> {
        let ColumnLayout { permuted, advice, sets, lookups, .. } = self.layout;
        Error::check_eq(PLACE, "phases of advice columns", advice, self.advice_phases.len())?;
        Error::check_eq(PLACE, "columns of the permutation", permuted, self.permutation.len())?;
        Error::check_eq(PLACE, "lookups", lookups, self.lookups.len())?;
        let degrees = 3..=MAX_COSETS + 1;
        if !degrees.contains(&self.degree) {
            let expected = format!("{} to {}", degrees.start(), degrees.end());
            return Err(Error::invalid(PLACE, "degree", expected, self.degree));
        }
        Error::check_eq(PLACE, "sets", permuted.div_ceil(self.permutation_chunk_len()), sets)?;
        if self.layout.checked_column_count().is_none() {
            return Err(Error::invalid(PLACE, "columns", "fewer than 2^32", self.layout));
        }
        Ok(())
    }

    fn check_size(&self) -> Result<()> {
        let least = self.blinding.saturating_add(3);
        if self.rows() >= least {
            return Ok(());
        }
        Err(Error::invalid(PLACE, "rows", format!("at least {least}"), format!("2^{}", self.log_n)))
    }

    fn check_column_ids(&self) -> Result<()> {
        let ColumnLayout { fixed, advice, instances, .. } = self.layout;
        let is_there = |name: ColumnId| match name {
            ColumnId::Fixed(number) => number < fixed,
            ColumnId::Advice(number) => number < advice,
            ColumnId::Instance(number) => number < instances,
            _ => false,
        };
        let queries = self.advice_queries.iter().map(|(column, _)| ColumnId::Advice(*column));
        let queries = queries.chain(self.fixed_queries.iter().map(|(column, _)| ColumnId::Fixed(*column)));
        match queries.chain(self.permutation.iter().copied()).find(|name| !is_there(*name)) {
            Some(name) => {
                let expected = format!("one of {fixed} fixed, {advice} advice and {instances} instance columns");
                Err(Error::invalid(PLACE, "column of a query or the permutation", expected, name))
            }
            None => Ok(()),
        }
    }
}

fn indices_in_phase(phases: &[u8], phase: u8) -> Vec<usize> {
    (0..phases.len()).filter(|number| phases[*number] == phase).collect()
}

/// Returns the powers of `base`, from the exponent 0 on.
pub(super) fn iterate_powers<F: NttField>(base: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(F::ONE), move |power| Some(*power * base))
}

/// Describes a curve with MSMs whose scalar field has number-theoretic transforms.
pub trait ProofCurve: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = Self>> + 'static {}

impl<C: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = C>> + 'static> ProofCurve for C {}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;

    use super::*;
    use crate::plonk::engine::MemoryEstimate;

    fn sample_circuit() -> Circuit<Fr> {
        Circuit {
            log_n: 4,
            degree: 3,
            blinding: 5,
            layout: ColumnLayout { fixed: 1, permuted: 1, advice: 1, instances: 1, sets: 1, lookups: 0 },
            advice_phases: vec![0],
            challenge_phases: Vec::new(),
            gates: Vec::new(),
            lookups: Vec::new(),
            permutation: vec![ColumnId::Advice(0)],
            advice_queries: vec![(0, 0), (0, 1)],
            fixed_queries: vec![(0, -1)],
        }
    }

    fn assert_refused(change: impl FnOnce(&mut Circuit<Fr>), what: &str) {
        let mut changed = sample_circuit();
        change(&mut changed);
        // Neither the estimate nor the check panics, whatever the circuit is.
        let memory = MemoryEstimate::for_circuit(&changed, usize::MAX);
        assert!(memory.peak_unsplit_bytes(false, |_| 0) > 0 && memory.min_bytes() > 0);
        let error = changed.check().expect_err(what).to_string();
        assert!(error.contains(what), "{what}: {error}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        sample_circuit().check().expect("a circuit");
        assert_refused(|circuit| circuit.log_n = 2, "rows: expected at least 8, got 2^2");
        for log_n in [32, 63, 64, u32::MAX] {
            // Columns of these lengths take as many bytes as memory has, or more.
            let rows = Circuit { log_n, ..sample_circuit() }.rows();
            assert_eq!(rows, 1_usize.checked_shl(log_n).unwrap_or(0));
        }
        assert_refused(|circuit| circuit.log_n = u32::MAX, "rows: expected at least 8, got 2^4294967295");
        assert_refused(|circuit| circuit.blinding = usize::MAX, "rows: expected at least 18446744073709551615");
        for degree in [0, 1, 2, 258, usize::MAX] {
            assert_refused(|circuit| circuit.degree = degree, "degree: expected 3 to 257");
        }
        assert_refused(
            |circuit| circuit.layout.instances = usize::MAX,
            "columns: expected fewer than 2^32, got 1 fixed",
        );
        assert_refused(
            |circuit| circuit.permutation = vec![ColumnId::Advice(1)],
            "column of a query or the permutation",
        );
        assert_refused(|circuit| circuit.permutation = vec![ColumnId::Set(0)], "column of a query or the permutation");
        assert_refused(
            |circuit| circuit.advice_queries.push((usize::MAX, 0)),
            "got advice column 18446744073709551615",
        );
        assert_refused(|circuit| circuit.fixed_queries.push((1, 0)), "got fixed column 1");
    }

    #[test]
    fn queries_of_one_point() {
        for far in [16, -16, 32, i32::MIN] {
            assert_refused(
                |circuit| circuit.advice_queries.push((0, far)),
                "rotations of advice column 0: expected different modulo 16",
            );
        }
        assert_refused(|circuit| circuit.fixed_queries.push((0, 15)), "got -1 and 15");
        assert_refused(|circuit| circuit.fixed_queries.push((0, -1)), "got -1 and -1");
        // Queries of different columns ask for different values.
        let mut other = sample_circuit();
        other.fixed_queries.push((0, 1));
        assert_eq!(other.find_duplicate_queries(), None);
        other.check().expect("a circuit");
    }
}
