//! Groups terms so that each group reads a bounded number of columns, and adds each group's terms to one sum.
//!
//! Terms are added in any order, each times its own challenge. Those with a common column factor, such as a selector or
//! l₀, are added before they are multiplied by it.

use std::collections::{BTreeMap, BTreeSet};

use ff::PrimeField;

use super::dag::{Dag, Node, NodeId, SignedNode};

/// Partitions terms into groups, and returns the indices of each group's terms, in ascending order. `columns[i]` are
/// the columns that term i reads. A group reads at most `most` different columns, unless a single term reads more by
/// itself. 0 stands for no bound.
///
/// The terms that read most columns are assigned first. Each joins the group to which it adds the fewest columns.
pub(super) fn group_terms_by_columns(columns: &[BTreeSet<usize>], most: usize) -> Vec<Vec<usize>> {
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

/// Holds a challenge and the value that it multiplies.
type ChallengeTerm = (SignedNode, SignedNode);

/// Returns a node for the previous value of output 0 plus Σ challenge·value over all `terms`. Adds the nodes that it
/// needs to `dag`.
pub(super) fn add_terms<F: PrimeField>(dag: &mut Dag<F>, terms: &[ChallengeTerm]) -> NodeId {
    let mut sum = dag.add_leaf(Node::Output(0));
    for (factor, terms) in group_by_common_factor(dag, terms) {
        let mut inner = dag.add_constant(F::ZERO);
        for (challenge, value) in terms {
            let term = dag.add_product(challenge, value);
            inner = dag.add_sum(inner, term);
        }
        let factor = factor.map(|node| SignedNode { node, negative: false });
        let product = factor.map_or(inner, |factor| dag.add_product(factor, inner));
        sum = dag.add_sum(sum, product);
    }
    dag.unsigned_node(sum)
}

/// Groups `terms` by a column that is a factor of several of them. Returns each such factor, and its terms divided by
/// it, in the order of the first term of each group. Every other term is a group by itself, with `None` as factor.
fn group_by_common_factor<F: PrimeField>(
    dag: &Dag<F>,
    terms: &[ChallengeTerm],
) -> Vec<(Option<NodeId>, Vec<ChallengeTerm>)> {
    let mut counts = BTreeMap::new();
    let all = terms.iter().flat_map(|(_, value)| column_factors(dag, value.node));
    all.for_each(|(factor, _)| *counts.entry(factor).or_insert(0) += 1);
    let mut sums: Vec<(Option<NodeId>, Vec<ChallengeTerm>)> = Vec::new();
    let mut places = BTreeMap::new();
    for (challenge, value) in terms {
        let shared = column_factors(dag, value.node).filter(|(factor, _)| counts[factor] > 1);
        let Some((factor, node)) = shared.max_by_key(|(factor, _)| counts[factor]) else {
            sums.push((None, vec![(*challenge, *value)]));
            continue;
        };
        let place = *places.entry(factor).or_insert(sums.len());
        if place == sums.len() {
            sums.push((Some(factor), Vec::new()));
        }
        sums[place].1.push((*challenge, SignedNode { node, ..*value }));
    }
    sums
}

/// Returns the factors of node `id` that are columns, each with the other factor; none if the node is no product.
fn column_factors<F: PrimeField>(dag: &Dag<F>, id: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> + use<F> {
    let pairs = match dag.node(id) {
        Node::Product(a, b) => [Some((a, b)), Some((b, a)).filter(|_| a != b)],
        _ => [None, None],
    };
    let columns = pairs.map(|pair| pair.filter(|(factor, _)| matches!(dag.node(*factor), Node::Query(_))));
    columns.into_iter().flatten()
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
