//! Adds a group's terms to one sum.
//!
//! Terms are added in any order, each times its own challenge. Those with a common column factor, such as a selector or
//! l₀, are added before they are multiplied by it.

use std::collections::BTreeMap;

use ff::PrimeField;

use super::dag::{Dag, Node, NodeId, SignedNode};

/// Holds a challenge and the value that it multiplies.
type ChallengeTerm = (SignedNode, SignedNode);

/// Returns a node for the previous value of output 0 plus Σ challenge·value over all `terms`. Adds the nodes that it
/// needs to `dag`.
pub fn add_terms<F: PrimeField>(dag: &mut Dag<F>, terms: &[ChallengeTerm]) -> NodeId {
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
    dag.to_unsigned_node(sum)
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
