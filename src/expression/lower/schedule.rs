//! Orders a group's instructions.
//!
//! The part that needs the most slots comes first. For trees this takes the fewest slots (Sethi and Ullman, "The
//! generation of optimal code for arithmetic expressions", 1970). Shared parts are computed once, when they are needed
//! first. A product that is only part of one sum or difference is fused with it into one instruction.

use ff::PrimeField;

use super::dag::{Dag, Node, NodeId};
use crate::expression::program::{FusedOp, Instruction, Operand, Target};

/// Holds the index of an output, and the node that is its value.
pub(super) type Root = (u32, NodeId);

/// Describes how one instruction computes a node: `a` or a·b, optionally combined with a third operand `c`.
#[derive(Debug, Clone, Copy)]
struct FusedNode {
    a: NodeId,
    b: Option<NodeId>,
    c: Option<(FusedOp, NodeId)>,
}

impl FusedNode {
    fn parts(&self) -> impl Iterator<Item = NodeId> {
        [Some(self.a), self.b, self.c.map(|(_, part)| part)].into_iter().flatten()
    }
}

/// Returns instructions that compute `roots` and write their outputs, in order. A node's slot is its id, and is written
/// once. `leaf` returns the operand for a node that no instruction computes.
pub(super) fn schedule_instructions<F: PrimeField>(
    dag: &Dag<F>,
    roots: &[Root],
    leaf: impl FnMut(NodeId) -> Operand,
) -> Vec<Instruction> {
    let uses = count_uses(dag, roots);
    let shapes = fuse_nodes(dag, &uses);
    let sethi_ullman_numbers = sethi_ullman_numbers(&shapes);
    let direct = direct_outputs(roots, &uses, &shapes, dag.len());
    let (done, instructions) = (vec![false; dag.len()], Vec::new());
    let mut writer = InstructionEmitter { shapes, sethi_ullman_numbers, direct, done, instructions, leaf };
    for root in roots {
        writer.emit_root(*root);
    }
    writer.instructions
}

/// Returns how often each node is used, as an operand of a computed node or as a root. Nodes that the `roots` do not
/// need have 0.
fn count_uses<F: PrimeField>(dag: &Dag<F>, roots: &[Root]) -> Vec<u32> {
    let mut uses = vec![0; dag.len()];
    for (_, id) in roots {
        uses[*id as usize] += 1;
    }
    for id in (0..dag.len() as NodeId).rev() {
        if uses[id as usize] > 0 && dag.is_computed(id) {
            dag.node(id).parts().for_each(|part| uses[part as usize] += 1);
        }
    }
    uses
}

/// Returns how an instruction computes each node. `None` stands for leaves, for nodes that are not needed, and for
/// products that are fused into a sum or difference.
fn fuse_nodes<F: PrimeField>(dag: &Dag<F>, uses: &[u32]) -> Vec<Option<FusedNode>> {
    let needed = |id: &NodeId| uses[*id as usize] > 0 && dag.is_computed(*id);
    let mut shapes = vec![None; dag.len()];
    for id in (0..dag.len() as NodeId).filter(needed) {
        shapes[id as usize] = fuse_node(dag, uses, id);
        if let Some(product) = fusable_product(dag, uses, id) {
            shapes[product as usize] = None;
        }
    }
    shapes
}

/// Returns whether `whole` is a sum or difference, and its operand `part` a product that nothing else uses.
fn can_fuse<F: PrimeField>(dag: &Dag<F>, uses: &[u32], whole: NodeId, part: NodeId) -> bool {
    let sum = matches!(dag.node(whole), Node::Sum(..) | Node::Difference(..));
    let product = matches!(dag.node(part), Node::Product(..));
    sum && product && uses[part as usize] == 1 && dag.is_computed(part)
}

/// Returns the operand of the sum or difference `id` that is a product to be fused with it, the second one if both
/// could be. Returns `None` if neither could be.
fn fusable_product<F: PrimeField>(dag: &Dag<F>, uses: &[u32], id: NodeId) -> Option<NodeId> {
    dag.node(id).parts().filter(|part| can_fuse(dag, uses, id, *part)).last()
}

fn fuse_node<F: PrimeField>(dag: &Dag<F>, uses: &[u32], id: NodeId) -> Option<FusedNode> {
    let (x, y, with_first, with_second) = match dag.node(id) {
        Node::Product(a, b) => return Some(FusedNode { a, b: Some(b), c: None }),
        Node::Sum(a, b) => (a, b, FusedOp::Add, FusedOp::Add),
        Node::Difference(a, b) => (a, b, FusedOp::Subtract, FusedOp::SubtractFrom),
        _ => return None,
    };
    let joined = fusable_product(dag, uses, id);
    let (first, rest, combination) = if joined == Some(y) { (y, x, with_second) } else { (x, y, with_first) };
    match (joined, dag.node(first)) {
        (Some(_), Node::Product(a, b)) => Some(FusedNode { a, b: Some(b), c: Some((combination, rest)) }),
        _ => Some(FusedNode { a: x, b: None, c: Some((with_first, y)) }),
    }
}

/// Returns the Sethi–Ullman number of each node: the slots that its computation takes if no operand is shared. It is 0
/// for nodes that no instruction computes.
fn sethi_ullman_numbers(shapes: &[Option<FusedNode>]) -> Vec<u32> {
    let mut sethi_ullman_numbers = vec![0; shapes.len()];
    for (id, shape) in shapes.iter().enumerate() {
        let Some(shape) = shape else { continue };
        let mut parts: Vec<u32> =
            shape.parts().map(|part| sethi_ullman_numbers[part as usize]).filter(|need| *need > 0).collect();
        parts.sort_unstable_by(|a, b| b.cmp(a));
        let peak = parts.iter().zip(0..).map(|(need, held)| need + held).max();
        sethi_ullman_numbers[id] = peak.unwrap_or(0).max(1);
    }
    sethi_ullman_numbers
}

/// Returns, for each node, the index of the output that its instruction may write directly. `None` stands for a node
/// that is no output, or that something else reads.
fn direct_outputs(roots: &[Root], uses: &[u32], shapes: &[Option<FusedNode>], nodes: usize) -> Vec<Option<u32>> {
    let mut direct = vec![None; nodes];
    for (output, id) in roots {
        if uses[*id as usize] == 1 && shapes[*id as usize].is_some() {
            direct[*id as usize] = Some(*output);
        }
    }
    direct
}

/// Emits instructions, those of operands before those that read them.
struct InstructionEmitter<L> {
    shapes: Vec<Option<FusedNode>>,
    sethi_ullman_numbers: Vec<u32>,
    direct: Vec<Option<u32>>,
    done: Vec<bool>,
    instructions: Vec<Instruction>,
    leaf: L,
}

/// Describes a step that remains in the traversal of the graph.
enum TraversalStep {
    Compute(NodeId),
    /// Emits the instruction of a node whose operands are computed.
    Write(NodeId, FusedNode),
}

impl<L: FnMut(NodeId) -> Operand> InstructionEmitter<L> {
    fn emit_root(&mut self, (output, root): Root) {
        let mut steps = vec![TraversalStep::Compute(root)];
        while let Some(step) = steps.pop() {
            match step {
                TraversalStep::Compute(id) => self.push_with_parts(id, &mut steps),
                TraversalStep::Write(id, shape) => self.emit_node(id, shape),
            }
        }
        if self.direct[root as usize].is_none() {
            let a = self.operand(root);
            self.instructions.push(Instruction { target: Target::Output(output), a, b: None, c: None });
        }
    }

    /// Pushes the steps that compute node `id` to `steps`: its instruction, then its operands, the one that needs most
    /// slots on top. Pushes nothing if no instruction is needed.
    fn push_with_parts(&self, id: NodeId, steps: &mut Vec<TraversalStep>) {
        let Some(shape) = self.shapes[id as usize].filter(|_| !self.done[id as usize]) else { return };
        steps.push(TraversalStep::Write(id, shape));
        let mut parts: Vec<NodeId> = shape.parts().filter(|part| self.shapes[*part as usize].is_some()).collect();
        // The first of equal parts is on top.
        parts.reverse();
        parts.sort_by_key(|part| self.sethi_ullman_numbers[*part as usize]);
        steps.extend(parts.into_iter().map(TraversalStep::Compute));
    }

    fn emit_node(&mut self, id: NodeId, FusedNode { a, b, c }: FusedNode) {
        if std::mem::replace(&mut self.done[id as usize], true) {
            return;
        }
        let target = self.direct[id as usize].map_or(Target::Slot(id), Target::Output);
        let (a, b) = (self.operand(a), b.map(|b| self.operand(b)));
        let c = c.map(|(combination, c)| (combination, self.operand(c)));
        self.instructions.push(Instruction { target, a, b, c });
    }

    fn operand(&mut self, id: NodeId) -> Operand {
        match self.shapes[id as usize] {
            Some(_) => Operand::Slot(id),
            None => (self.leaf)(id),
        }
    }
}
