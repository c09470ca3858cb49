//! Columns of a lookup, put in the order that its argument is about.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::field::{NttField, SecretVec, as_bytes};

/// A' and S', as many as the rows they came from.
pub struct PermutedColumns<F> {
    /// The input's values, equal ones next to each other.
    pub input: Vec<F>,
    /// The table's values: each run of equal ones in `input` starts beside an equal one, the rest fill the other rows.
    pub table: Vec<F>,
    /// The first row of the input whose value is not in the table.
    pub missing: Option<usize>,
}

/// Puts input and table of a lookup in order. A value that is not in the table gets any other beside it.
pub fn permute<F: NttField>(input: &[F], table: &[F]) -> PermutedColumns<F> {
    let (sorted_input, sorted_table) = (sorted(input), SecretVec(sorted(table)));
    let Matched { starts, left, unmatched } = matched(&sorted_input, &sorted_table);
    let mut left = left.iter();
    let place = |(value, start): (&F, &bool)| if *start { *value } else { *left.next().unwrap_or(value) };
    let table = sorted_input.iter().zip(&starts).map(place).collect();
    let missing = unmatched.and_then(|at| input.iter().position(|value| *value == sorted_input[at]));
    PermutedColumns { input: sorted_input, table, missing }
}

/// What two sorted columns have to do with each other.
struct Matched<F: NttField> {
    /// Rows of the input that start a run whose value is in the table.
    starts: Vec<bool>,
    /// The table without one value for each of them.
    left: SecretVec<F>,
    /// The first row that starts a run whose value is not in the table.
    unmatched: Option<usize>,
}

fn matched<F: NttField>(input: &[F], table: &[F]) -> Matched<F> {
    let (mut starts, mut unmatched) = (vec![false; input.len()], None);
    let (mut left, mut next) = (SecretVec(Vec::with_capacity(table.len())), 0);
    for (row, value) in input.iter().enumerate().filter(|(row, value)| *row == 0 || **value != input[row - 1]) {
        let below = table[next..].iter().take_while(|entry| compare::<F>(entry, value) == Ordering::Less).count();
        left.0.extend_from_slice(&table[next..next + below]);
        next += below;
        if table.get(next) == Some(value) {
            starts[row] = true;
            next += 1;
        } else {
            unmatched = unmatched.or(Some(row));
        }
    }
    left.0.extend_from_slice(&table[next..]);
    Matched { starts, left, unmatched }
}

/// The values in any fixed order of all elements.
fn sorted<F: NttField>(values: &[F]) -> Vec<F> {
    let mut sorted = values.to_vec();
    sorted.par_sort_unstable_by(compare);
    sorted
}

/// By limbs, which are one form of each element.
fn compare<F: NttField>(a: &F, b: &F) -> Ordering {
    as_bytes(std::slice::from_ref(a)).cmp(as_bytes(std::slice::from_ref(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halo2curves::bn256::Fr;

    fn permuted(input: &[u64], table: &[u64]) -> PermutedColumns<Fr> {
        let [input, table] = [input, table].map(|values| values.iter().map(|v| Fr::from(*v)).collect::<Vec<_>>());
        let result = permute(&input, &table);
        assert_eq!(sorted(&result.input), sorted(&input));
        result
    }

    fn holds(result: &PermutedColumns<Fr>) -> bool {
        let (a, s) = (&result.input, &result.table);
        (0..a.len()).all(|i| a[i] == s[i] || i > 0 && a[i] == a[i - 1])
    }

    #[test]
    fn runs_start_beside_equals() {
        for (input, table) in [
            (&[3, 1, 3, 3, 0, 1, 0][..], &[1, 1, 3, 3, 0, 9, 0][..]),
            (&[5, 5, 5], &[5, 7, 9]),
            (&[0, 0, 0], &[0, 0, 0]),
            (&[2, 1, 0], &[0, 1, 2]),
            (&[], &[]),
        ] {
            let result = permuted(input, table);
            assert!(holds(&result) && result.missing.is_none());
            let table: Vec<_> = table.iter().map(|v| Fr::from(*v)).collect();
            assert_eq!(sorted(&result.table), sorted(&table));
        }
    }

    #[test]
    fn missing_values_are_named() {
        let result = permuted(&[1, 4, 1, 6], &[1, 2, 3, 1]);
        assert!(matches!(result.missing, Some(1 | 3)));
        assert!(!holds(&result));
        assert_eq!(result.table.len(), 4);
    }
}
