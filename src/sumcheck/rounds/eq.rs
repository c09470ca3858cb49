//! Computes the weights eq(point, x) of rows, as products of two tables (A. Gruen, "Some improvements for the PIOP for
//! ZeroCheck", 2024).
//!
//! When i variables are bound, row x has the weight Π eq(w_j, x_j) over the others. The low half of the variables has
//! one table, the high half the other. Each has about as many elements as the root of the number of rows. Tables for
//! fewer variables lie side by side.

use crate::secret_vec::SecretVec;
use crate::sumcheck::field::ComputeField;

/// Returns the values of eq for the last k coordinates of `point`, for all k from 0 on. The 2^k values for k begin at
/// index 2^k. Element 0 is unused.
fn eq_evals_all_levels<W: ComputeField>(point: &[W]) -> Vec<W> {
    let mut table = vec![W::ZERO, W::ONE];
    for w in point.iter().rev() {
        // The new variable is the highest bit.
        let last = table[table.len() / 2..].to_vec();
        table.extend(last.iter().map(|weight| *weight * (W::ONE - w)));
        table.extend(last.iter().map(|weight| *weight * w));
    }
    table
}

/// Holds the values of eq for the low half and for the high half of the variables. A row's weight eq(point, x) is a
/// product of one value of each.
#[derive(Debug)]
pub(crate) struct EqTables<W> {
    low: Vec<W>,
    high: Vec<W>,
    /// Number of variables of the low table.
    low_variables: u32,
}

/// Locates the weights for a number of variables in both tables of [`EqTables`]. A row's weight is `low[2^low_log + row
/// mod 2^low_log]` times `high[2^high_log + row/2^low_log]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EqLevel {
    pub low_log: u32,
    pub high_log: u32,
}

impl<W: ComputeField> EqTables<W> {
    pub(crate) fn new(point: &[W]) -> Self {
        let low_variables = point.len() / 2;
        let (high, low) = point.split_at(point.len() - low_variables);
        Self { low: eq_evals_all_levels(low), high: eq_evals_all_levels(high), low_variables: low_variables as u32 }
    }

    /// Returns where the tables hold the weights of 2^variables rows, given by the last `variables` variables.
    pub(crate) fn level(&self, variables: u32) -> EqLevel {
        let low_log = variables.min(self.low_variables);
        EqLevel { low_log, high_log: variables - low_log }
    }

    /// Returns both tables in one vector for a device: the low one, then the high one.
    pub(crate) fn concat_tables(&self) -> Vec<W> {
        [&self.low[..], &self.high].concat()
    }

    /// Returns the number of elements of the low table.
    pub(crate) fn low_length(&self) -> usize {
        self.low.len()
    }

    /// Writes the weights of consecutive rows to `weights`, beginning with row `first`. `level` is that of the number
    /// of rows.
    pub(crate) fn write_weights(&self, level: EqLevel, first: usize, weights: &mut [W]) {
        let EqLevel { low_log, high_log } = level;
        let (low, high) = (&self.low[1 << low_log..], &self.high[1 << high_log..]);
        for (number, weight) in weights.iter_mut().enumerate() {
            *weight = low[(first + number) & ((1 << low_log) - 1)];
        }
        let factors: Vec<W> = (0..weights.len()).map(|number| high[(first + number) >> low_log]).collect();
        W::multiply(weights, &SecretVec(factors));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_products() {
        type F = blstrs::Scalar;
        let point: Vec<F> = (3..10).map(F::from).collect();
        let weights = EqTables::new(&point);
        for variables in 0..=point.len() {
            let point = &point[point.len() - variables..];
            let mut all = vec![F::from(0); 1 << variables];
            let half = all.len() / 2;
            weights.write_weights(weights.level(variables as u32), 0, &mut all[..half]);
            weights.write_weights(weights.level(variables as u32), half, &mut all[half..]);
            for (row, weight) in all.iter().enumerate() {
                let factor = |i: usize| {
                    if row >> (variables - 1 - i) & 1 == 1 { point[i] } else { F::from(1) - point[i] }
                };
                assert_eq!(*weight, (0..variables).map(factor).product(), "row {row} of 2^{variables}");
            }
        }
    }
}
