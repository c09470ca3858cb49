//! Splits work into groups that fit a device's memory.

use std::ops::Range;

/// Splits items with the given `costs` into groups of adjacent items that cost at most `most` in total. Returns the
/// groups as ranges of indices, in ascending order. An item that costs more than `most` is a group by itself.
pub(super) fn group_by_cost(costs: impl IntoIterator<Item = usize>, most: usize) -> Vec<Range<usize>> {
    let (mut groups, mut total) = (Vec::<Range<usize>>::new(), 0_usize);
    for (number, cost) in costs.into_iter().enumerate() {
        let sum = total.saturating_add(cost);
        match groups.last_mut() {
            Some(last) if sum <= most => {
                last.end = number + 1;
                total = sum;
            }
            _ => {
                groups.push(number..number + 1);
                total = cost;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::group_by_cost;

    #[test]
    fn nothing_is_lost() {
        assert_eq!(group_by_cost([], 3), []);
        assert_eq!(group_by_cost([1, 1, 1, 1, 1], 2), [0..2, 2..4, 4..5]);
        assert_eq!(group_by_cost([9, 1, 1, 9], 2), [0..1, 1..3, 3..4]);
        assert_eq!(group_by_cost([0, 0, 2, 0], 1), [0..2, 2..3, 3..4]);
        let all = group_by_cost([1, 2, 3], usize::MAX);
        assert!(all.len() == 1 && all[0] == (0..3));
    }
}
