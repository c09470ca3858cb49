//! Groups terms so that each group reads a bounded number of columns.

use std::collections::BTreeSet;

/// Partitions terms into groups, and returns the indices of each group's terms, in ascending order. `columns[i]` are
/// the columns that term i reads. A group reads at most `most` different columns, unless a single term reads more by
/// itself. 0 stands for no bound.
///
/// The terms that read most columns are assigned first. Each joins the group to which it adds the fewest columns.
pub fn group_terms_by_columns(columns: &[BTreeSet<usize>], most: usize) -> Vec<Vec<usize>> {
    let most = if most == 0 { usize::MAX } else { most };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|term| std::cmp::Reverse(columns[*term].len()));
    let mut groups: Vec<(BTreeSet<usize>, Vec<usize>)> = Vec::new();
    for term in order {
        let adds = |group: &BTreeSet<usize>| columns[term].difference(group).count();
        let fits = |(group, _): &&mut (BTreeSet<usize>, _)| adds(group) == 0 || group.len() + adds(group) <= most;
        match groups.iter_mut().filter(fits).min_by_key(|(group, _)| adds(group)) {
            Some((group, terms)) => {
                group.extend(&columns[term]);
                terms.push(term);
            }
            None => groups.push((columns[term].clone(), vec![term])),
        }
    }
    groups.into_iter().map(|(_, terms)| sort_terms(terms)).collect()
}

fn sort_terms(mut terms: Vec<usize>) -> Vec<usize> {
    terms.sort_unstable();
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group_columns(columns: &[&[usize]], most: usize) -> Vec<Vec<usize>> {
        group_terms_by_columns(
            &columns.iter().map(|columns| columns.iter().copied().collect()).collect::<Vec<_>>(),
            most,
        )
    }

    #[test]
    fn terms_go_where_their_columns_are() {
        assert_eq!(group_columns(&[], 3), Vec::<Vec<usize>>::new());
        assert_eq!(group_columns(&[&[0], &[], &[5]], 0), [[0, 1, 2]]);
        assert_eq!(group_columns(&[&[0, 1], &[2, 3], &[1], &[3, 2], &[]], 2), [vec![0, 2, 4], vec![1, 3]]);
        // A term above the bound is a group. Terms that add no columns may join it.
        assert_eq!(group_columns(&[&[0], &[1, 2, 3], &[3, 1]], 2), [vec![1, 2], vec![0]]);
    }
}
