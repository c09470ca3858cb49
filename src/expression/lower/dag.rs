//! Represents expressions as a graph in which equal parts are one node.
//!
//! A part is a node with a sign, so that negation costs nothing, and a − b and b − a are one node. Parts that are known
//! are computed when the graph is made.

use std::collections::{BTreeSet, HashMap, HashSet};

use ff::PrimeField;

use crate::expression::ast::{Expression, ExpressionNode, Query};

/// Index of a node in the graph, greater than the indices of its operands.
pub(super) type NodeId = u32;

/// Describes a node: a leaf, or an operation on other nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// Constant that [`Dag::constant_by_number`] returns for this index.
    Constant(u32),
    Challenge(usize),
    X,
    Query(Query),
    /// Value that the output of this index has before the program writes it.
    Output(u32),
    /// Sum of two nodes, the smaller index first.
    Sum(NodeId, NodeId),
    Difference(NodeId, NodeId),
    /// Product of two nodes, the smaller index first.
    Product(NodeId, NodeId),
}

impl Node {
    /// Returns the operands of a sum, difference or product; none for a leaf.
    pub(super) fn parts(self) -> impl Iterator<Item = NodeId> {
        let parts = match self {
            Self::Sum(a, b) | Self::Difference(a, b) | Self::Product(a, b) => [Some(a), Some(b)],
            _ => [None, None],
        };
        parts.into_iter().flatten()
    }
}

/// Refers to a node, or to its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SignedNode {
    pub node: NodeId,
    pub negative: bool,
}

impl SignedNode {
    pub(super) fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

/// Holds expressions as a directed acyclic graph, in which equal nodes exist once.
#[derive(Debug)]
pub(super) struct Dag<F> {
    nodes: Vec<Node>,
    /// For each node, whether its value is the same in every row.
    uniform: Vec<bool>,
    numbers: HashMap<Node, NodeId>,
    constants: Vec<F>,
    /// Indices in `constants` by a constant's canonical bytes.
    constant_numbers: HashMap<Vec<u8>, u32>,
}

impl<F: PrimeField> Dag<F> {
    pub(super) fn new() -> Self {
        let (nodes, uniform, constants) = (Vec::new(), Vec::new(), Vec::new());
        Self { nodes, uniform, numbers: HashMap::new(), constants, constant_numbers: HashMap::new() }
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: NodeId) -> Node {
        self.nodes[id as usize]
    }

    /// Returns whether the value of node `id` is the same in every row: a constant, a challenge, or computed from these
    /// alone.
    pub(super) fn is_uniform(&self, id: NodeId) -> bool {
        self.uniform[id as usize]
    }

    /// Returns whether instructions compute node `id`: it has operands, and its value differs from row to row.
    pub(super) fn is_computed(&self, id: NodeId) -> bool {
        !self.is_uniform(id) && self.node(id).parts().next().is_some()
    }

    pub(super) fn constant_by_number(&self, number: u32) -> F {
        self.constants[number as usize]
    }

    /// Adds the nodes of `tree` that are not in the graph yet. Returns the node for the whole tree.
    pub(super) fn add_tree(&mut self, tree: &Expression<F>) -> SignedNode {
        tree.fold(|part: ExpressionNode<F, SignedNode>| match part {
            ExpressionNode::Constant(value) => self.add_constant(value),
            ExpressionNode::Challenge(number) => self.add_leaf(Node::Challenge(number)),
            ExpressionNode::X => self.add_leaf(Node::X),
            ExpressionNode::Column(query) => self.add_leaf(Node::Query(query)),
            ExpressionNode::Negated(a) => a.negated(),
            ExpressionNode::Sum(a, b) => self.add_sum(a, b),
            ExpressionNode::Product(a, b) => self.add_product(a, b),
            ExpressionNode::Scaled(a, factor) => {
                let factor = self.add_constant(factor);
                self.add_product(a, factor)
            }
        })
    }

    pub(super) fn add_constant(&mut self, value: F) -> SignedNode {
        let next = self.constants.len() as u32;
        let number = *self.constant_numbers.entry(value.to_repr().as_ref().to_vec()).or_insert(next);
        if number == next {
            self.constants.push(value);
        }
        self.add_leaf(Node::Constant(number))
    }

    /// Adds `node`, which has no operands, if it is not in the graph yet. Returns it without negation.
    pub(super) fn add_leaf(&mut self, node: Node) -> SignedNode {
        SignedNode { node: self.find_or_insert(node), negative: false }
    }

    pub(super) fn add_sum(&mut self, a: SignedNode, b: SignedNode) -> SignedNode {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(a), Some(b)) => self.add_constant(a + b),
            (Some(zero), _) if zero == F::ZERO => b,
            (_, Some(zero)) if zero == F::ZERO => a,
            _ if a.negative == b.negative => {
                let node = self.find_or_insert(Node::Sum(a.node.min(b.node), a.node.max(b.node)));
                SignedNode { node, negative: a.negative }
            }
            _ if a.negative => self.add_difference(b.node, a.node),
            _ => self.add_difference(a.node, b.node),
        }
    }

    fn add_difference(&mut self, a: NodeId, b: NodeId) -> SignedNode {
        if a == b {
            return self.add_constant(F::ZERO);
        }
        match self.numbers.get(&Node::Difference(b, a)) {
            Some(node) => SignedNode { node: *node, negative: true },
            None => SignedNode { node: self.find_or_insert(Node::Difference(a, b)), negative: false },
        }
    }

    pub(super) fn add_product(&mut self, a: SignedNode, b: SignedNode) -> SignedNode {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(a), Some(b)) => self.add_constant(a * b),
            (Some(factor), _) => self.add_constant_multiple(b, factor, a),
            (_, Some(factor)) => self.add_constant_multiple(a, factor, b),
            _ => self.add_nonconstant_product(a, b),
        }
    }

    /// Returns `a` times the constant `factor`. `signed` is the node of that constant.
    fn add_constant_multiple(&mut self, a: SignedNode, factor: F, signed: SignedNode) -> SignedNode {
        if factor == F::ZERO {
            return self.add_constant(F::ZERO);
        }
        if factor == F::ONE || factor == -F::ONE {
            return if factor == F::ONE { a } else { a.negated() };
        }
        if factor == F::ONE.double() || factor == -F::ONE.double() {
            let twice = self.add_sum(a, a);
            return if factor == F::ONE.double() { twice } else { twice.negated() };
        }
        self.add_nonconstant_product(a, signed)
    }

    /// Returns a·b for factors that are not both constant. If u and v are the same in every row, (u·c)·v becomes
    /// (u·v)·c, so that no row computes u·v.
    fn add_nonconstant_product(&mut self, a: SignedNode, b: SignedNode) -> SignedNode {
        let negative = a.negative != b.negative;
        for (factor, other) in [(a.node, b.node), (b.node, a.node)] {
            let Some((inner, rest)) = self.is_uniform(factor).then(|| self.split_uniform_factor(other)).flatten()
            else {
                continue;
            };
            let positive = |node| SignedNode { node, negative };
            let joined = self.add_product(positive(factor), SignedNode { node: inner, negative: false });
            return self.add_product(joined, SignedNode { node: rest, negative: false });
        }
        let node = self.find_or_insert(Node::Product(a.node.min(b.node), a.node.max(b.node)));
        SignedNode { node, negative }
    }

    /// Splits a product into a factor that is the same in every row and the other one. Returns `None` if node `id` is
    /// no product, has no such factor, or is itself the same in every row.
    fn split_uniform_factor(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        match self.node(id) {
            Node::Product(a, b) if !self.is_uniform(id) && self.is_uniform(a) => Some((a, b)),
            Node::Product(a, b) if !self.is_uniform(id) && self.is_uniform(b) => Some((b, a)),
            _ => None,
        }
    }

    /// Returns a node for `value` that includes its sign: the negation of a node becomes 0 minus the node.
    pub(super) fn unsigned_node(&mut self, value: SignedNode) -> NodeId {
        match self.as_constant(value) {
            Some(constant) => self.add_constant(constant).node,
            None if value.negative => {
                let zero = self.add_constant(F::ZERO);
                self.find_or_insert(Node::Difference(zero.node, value.node))
            }
            None => value.node,
        }
    }

    /// Returns whether `value` is the constant 0.
    pub(super) fn is_zero(&self, value: SignedNode) -> bool {
        self.as_constant(value) == Some(F::ZERO)
    }

    /// Returns the queries, pairs of a column and a rotation, that node `id` depends on.
    pub(super) fn queries(&self, id: NodeId) -> BTreeSet<Query> {
        let (mut seen, mut ahead, mut queries) = (HashSet::new(), vec![id], BTreeSet::new());
        while let Some(id) = ahead.pop() {
            if let Node::Query(query) = self.node(id) {
                queries.insert(query);
            }
            ahead.extend(self.node(id).parts().filter(|part| seen.insert(*part)));
        }
        queries
    }

    /// Returns the constant, with its sign; `None` if the node is no constant.
    fn as_constant(&self, SignedNode { node, negative }: SignedNode) -> Option<F> {
        match self.node(node) {
            Node::Constant(number) if negative => Some(-self.constant_by_number(number)),
            Node::Constant(number) => Some(self.constant_by_number(number)),
            _ => None,
        }
    }

    fn find_or_insert(&mut self, node: Node) -> NodeId {
        let next = self.nodes.len() as NodeId;
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            let mut parts = node.parts().peekable();
            let made_of_uniform = parts.peek().is_some() && parts.all(|part| self.is_uniform(part));
            self.uniform.push(made_of_uniform || matches!(node, Node::Constant(_) | Node::Challenge(_)));
            self.nodes.push(node);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use halo2curves::bn256::Fr;

    fn column(column: usize) -> Expression<Fr> {
        Expression::column(column, 0)
    }

    fn constant(value: u64) -> Expression<Fr> {
        Expression::Constant(Fr::from(value))
    }

    #[test]
    fn equal_parts_are_one_node() {
        let mut dag = Dag::new();
        let one = dag.add_tree(&((column(0) + column(1)) * (column(2) - column(3))));
        let before = dag.len();
        let other = dag.add_tree(&((column(3) - column(2)) * (column(1) + column(0))));
        assert_eq!(other, one.negated());
        assert_eq!(dag.add_tree(&(-(-column(0)))), dag.add_tree(&column(0)));
        assert_eq!(dag.len(), before);
        let rotated = dag.add_tree(&Expression::column(0, 1));
        assert_ne!(rotated, dag.add_tree(&column(0)));
    }

    #[test]
    fn what_is_known_is_computed() {
        let mut dag = Dag::new();
        let [zero, one, a] = [constant(0), constant(1), column(0)].map(|tree| dag.add_tree(&tree));
        for (tree, expected) in [
            (column(0) - column(0), zero),
            (column(0) * constant(0), zero),
            (column(0) * Fr::ZERO + constant(0), zero),
            (constant(0) + column(0) * Fr::ONE, a),
            (column(0) * -Fr::ONE, a.negated()),
            (constant(3) - constant(2), one),
            (constant(3) * constant(2) - constant(5), one),
            (-constant(1) * -constant(1), one),
        ] {
            assert_eq!(dag.add_tree(&tree), expected, "{tree:?}");
        }
        let twice = dag.add_tree(&(column(0) * Fr::from(2)));
        assert_eq!(dag.node(twice.node), Node::Sum(a.node, a.node));
        assert_eq!(dag.add_tree(&(column(0) * -Fr::from(2))), twice.negated());
    }

    #[test]
    fn what_is_the_same_in_every_row_is_joined() {
        let mut dag = Dag::new();
        let (beta, delta) = (Expression::Challenge(0), Fr::from(7));
        let one = dag.add_tree(&((beta.clone() * column(0)) * delta));
        let factor = dag.add_tree(&(beta.clone() * delta));
        let a = dag.add_tree(&column(0));
        assert!(dag.is_uniform(factor.node) && !dag.is_uniform(one.node));
        assert_eq!(one, dag.add_product(factor, a));
        assert_eq!(dag.add_tree(&-((column(0) * delta) * -beta)), one);
    }
}
