//! Lists the moments of a proof at which it may have most memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::field::NttField;
use crate::plonk::circuit::{Circuit, MAX_COSETS};
use crate::plonk::columns_layout_and_key::ColumnLayout;

/// Columns of device memory that a grand product takes, 3: the product, its numerators and its denominators.
pub(crate) const FOR_PRODUCT: usize = 3;
/// Number of moments that [`MemoryEstimate::peaks`](super::MemoryEstimate::peaks) lists.
pub(super) const PEAKS: usize = 11;
/// Columns of tables for transforms: 2 of the subgroup, and 2 of each coset.
const TABLES: usize = 2;
/// Columns that the permutation of a lookup takes in addition to A, S, A' and S', 3: its hash table and its counts.
const TO_PERMUTE: usize = 3;
/// Columns of each rotation set of an opening, 2: the sum of its polynomials, and its quotient.
const TO_OPEN: usize = 2;

/// Maximum number of cosets for which a kernel keeps one element of each in registers, when it computes the pieces of a
/// quotient.
pub(crate) const MAX_IN_REGISTERS: usize = 16;

/// Returns the number of vectors of `count` columns that the device holds at once while it computes `count` pieces of a
/// quotient, the pieces included.
pub(super) fn device_vector_count(count: usize) -> usize {
    if count <= MAX_IN_REGISTERS { 1 } else { 3 }
}

/// Describes a moment of a proof, and the columns that are on the device then, without the setup's points and the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPeak {
    /// Step of the proof.
    pub step: &'static str,
    /// Columns on the device, if transforms need no second column.
    pub columns: usize,
    /// Columns of the step's largest batch of transforms. Each may need a second column.
    pub transformed: usize,
    /// Columns that the step commits to.
    pub commitments: usize,
}

impl MemoryPeak {
    /// Returns the moments of a proof of `circuits` circuits that are all `circuit`, if no step is split.
    pub(super) fn of_circuit<F: NttField>(
        circuit: &Circuit<F>,
        layout: ColumnLayout,
        circuits: usize,
    ) -> [Self; PEAKS] {
        let ColumnLayout { advice, instances, sets, lookups, .. } = layout;
        let pieces = circuit.quotient_piece_count().min(MAX_COSETS);
        let one = advice + instances + sets + 3 * lookups;
        let (opened, compressed, products) = (circuits * one, 2 * circuits * lookups, circuits * (sets + lookups));
        let values = circuits * (advice + instances);
        let permuted = values + 2 * compressed;
        // The random polynomial is one more, and so is the sum of the constraints of each circuit but the last.
        let coefficients = opened + 1;
        let others = circuits.saturating_sub(1);
        let shared = layout.shared_column_count();
        let on_cosets = coefficients + pieces + others + shared;
        let openings = coefficients + pieces + TO_OPEN * rotation_set_count(circuit);
        let peaks = [
            ("commit to advice", values, 0, advice),
            ("permute lookups", permuted + TO_PERMUTE * lookups, 0, 0),
            ("commit to lookups", permuted, 0, compressed),
            ("grand products", permuted + FOR_PRODUCT * products, 0, 0),
            ("commit to products", permuted + products, 0, products),
            ("interpolate", coefficients + others * (sets + lookups) + one, one, 0),
            ("transform the key", on_cosets, shared, 0),
            ("evaluate on cosets", on_cosets + one, one, 0),
            ("quotient pieces", coefficients + (pieces * (1 + device_vector_count(pieces))).max(3 * pieces), 0, 0),
            ("commit to pieces", coefficients + 2 * pieces, 0, pieces),
            ("open", openings, 0, 1),
        ];
        let tables = TABLES * (1 + pieces);
        peaks.map(|(step, columns, transformed, commitments)| Self {
            step,
            columns: columns + tables,
            transformed,
            commitments,
        })
    }

    /// Returns the bytes of the columns of this moment, for columns of `column` bytes. Transforms need no second column
    /// for each column if they are done `in_place`.
    pub(super) fn column_bytes(&self, column: u64, in_place: bool) -> u64 {
        let second = if in_place { 0 } else { self.transformed };
        column.saturating_mul((self.columns + second) as u64)
    }
}

/// Returns an upper bound for the number of different sets of rotations at which polynomials are opened. It counts
/// those of the columns of `circuit`, and three for the arguments of lookups and of the permutation.
fn rotation_set_count<F>(circuit: &Circuit<F>) -> usize {
    let advice = circuit.advice_queries.iter().map(|(column, rotation)| ((false, *column), *rotation));
    let fixed = circuit.fixed_queries.iter().map(|(column, rotation)| ((true, *column), *rotation));
    let mut of_columns = BTreeMap::<_, BTreeSet<i32>>::new();
    advice.chain(fixed).for_each(|(column, rotation)| _ = of_columns.entry(column).or_default().insert(rotation));
    of_columns.into_values().collect::<BTreeSet<_>>().len() + 3
}
