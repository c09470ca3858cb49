//! Lowers trees to programs, without a device: finds equal parts, groups terms, orders instructions, and allocates
//! slots to values.

mod dag;
mod regalloc;
mod schedule;
mod term_groups;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use ff::PrimeField;

use super::ast::{Expression, Query, Term};
use super::program::{Group, Instruction, Operand, Program, RowConstant, Target};
use dag::{Dag, Node, NodeId, SignedNode};
use schedule::Root;
use term_groups::group_terms_by_columns;

/// Lowers `terms` to a program that adds their sum to output 0. A group reads at most `columns_at_once` columns; 0 is
/// no bound.
pub(super) fn lower_sum<F: PrimeField>(terms: &[Term<F>], columns_at_once: usize) -> Program<F> {
    let mut dag = Dag::new();
    let mut factors: Vec<(SignedNode, SignedNode)> = terms.iter().map(|term| add_term(&mut dag, term)).collect();
    factors.retain(|(_, value)| !dag.is_zero(*value));
    let columns: Vec<_> = factors.iter().map(|(_, value)| node_columns(&dag, value.node)).collect();
    let groups = group_terms_by_columns(&columns, columns_at_once);
    let root = |group: Vec<usize>| -> Vec<Root> {
        let terms: Vec<_> = group.into_iter().map(|term| factors[term]).collect();
        vec![(0, term_groups::add_terms(&mut dag, &terms))]
    };
    let roots: Vec<Vec<Root>> = groups.into_iter().map(root).collect();
    build_program(&dag, &roots, 1)
}

/// Lowers `expressions` to a program that sets output k to expression k. A group reads at most `columns_at_once`
/// columns; 0 is no bound.
pub(super) fn lower_vectors<F: PrimeField>(expressions: &[Expression<F>], columns_at_once: usize) -> Program<F> {
    let mut dag = Dag::new();
    let value = |tree| {
        let value = dag.add_tree(tree);
        dag.unsigned_node(value)
    };
    let ids: Vec<NodeId> = expressions.iter().map(value).collect();
    let columns: Vec<_> = ids.iter().map(|id| node_columns(&dag, *id)).collect();
    let root = |output: usize| (output as u32, ids[output]);
    let groups = group_terms_by_columns(&columns, columns_at_once).into_iter();
    let roots: Vec<Vec<Root>> = groups.map(|outputs| outputs.into_iter().map(root).collect()).collect();
    build_program(&dag, &roots, expressions.len())
}

fn add_term<F: PrimeField>(dag: &mut Dag<F>, term: &Term<F>) -> (SignedNode, SignedNode) {
    (dag.add_leaf(Node::Challenge(term.challenge)), dag.add_tree(&term.expression))
}

fn node_columns<F: PrimeField>(dag: &Dag<F>, id: NodeId) -> BTreeSet<usize> {
    dag.queries(id).into_iter().map(|query| query.column).collect()
}

fn build_program<F: PrimeField>(dag: &Dag<F>, roots: &[Vec<Root>], outputs: usize) -> Program<F> {
    let mut groups: Vec<Group> = roots.iter().map(|roots| build_group(dag, roots)).collect();
    let values = collect_row_constants(dag, &mut groups);
    let needed = |value: &RowConstant<F>| if let RowConstant::Challenge(number) = value { number + 1 } else { 0 };
    let challenges = values.iter().map(needed).max().unwrap_or(0);
    Program { values, groups, outputs, challenges }
}

/// Returns the group that computes `roots`. Its operands `Operand::Value` are still node ids, which [`collect_row_constants`]
/// replaces.
fn build_group<F: PrimeField>(dag: &Dag<F>, roots: &[Root]) -> Group {
    let (mut queries, mut numbers) = (Vec::new(), HashMap::new());
    let mut number = |query: Query| {
        *numbers.entry(query).or_insert_with(|| {
            queries.push(query);
            queries.len() as u32 - 1
        })
    };
    let leaf = |id| match dag.node(id) {
        Node::Query(query) => Operand::Query(number(query)),
        Node::X => Operand::X,
        Node::Output(output) => Operand::Output(output),
        _ => Operand::Value(id),
    };
    let mut instructions = schedule::schedule_instructions(dag, roots, leaf);
    let room = regalloc::allocate_registers(&mut instructions);
    let columns: BTreeSet<usize> = queries.iter().map(|query| query.column).collect();
    let outputs = roots.iter().map(|(output, _)| *output).collect();
    let (slots, scratch) = (room.slots, room.scratch);
    Group { instructions, queries, columns: columns.into_iter().collect(), outputs, slots, scratch }
}

/// Returns the elements that are the same in every row and that `groups` read, with those that they are computed from.
/// Replaces node ids in `groups` by indices of the returned list.
fn collect_row_constants<F: PrimeField>(dag: &Dag<F>, groups: &mut [Group]) -> Vec<RowConstant<F>> {
    let instructions = || groups.iter().flat_map(|group| &group.instructions);
    let read = instructions().flat_map(Instruction::operands).filter_map(|operand| match operand {
        Operand::Value(id) => Some(id),
        _ => None,
    });
    let (mut needed, mut ahead) = (BTreeSet::new(), read.collect::<Vec<NodeId>>());
    while let Some(id) = ahead.pop() {
        if needed.insert(id) {
            ahead.extend(dag.node(id).parts());
        }
    }
    let numbers: HashMap<NodeId, u32> = needed.iter().copied().zip(0..).collect();
    groups
        .iter_mut()
        .flat_map(|group| &mut group.instructions)
        .for_each(|instruction| renumber_row_constants(instruction, &numbers));
    needed.into_iter().filter_map(|id| row_constant(dag, &numbers, id)).collect()
}

/// Returns node `id` as an element that is the same in every row. `numbers` are the indices of its operands. Returns
/// `None` for X, columns and outputs, which differ from row to row.
fn row_constant<F: PrimeField>(dag: &Dag<F>, numbers: &HashMap<NodeId, u32>, id: NodeId) -> Option<RowConstant<F>> {
    let of = |part| numbers[&part];
    match dag.node(id) {
        Node::Constant(number) => Some(RowConstant::Constant(dag.constant_by_number(number))),
        Node::Challenge(number) => Some(RowConstant::Challenge(number)),
        Node::Sum(a, b) => Some(RowConstant::Sum(of(a), of(b))),
        Node::Difference(a, b) => Some(RowConstant::Difference(of(a), of(b))),
        Node::Product(a, b) => Some(RowConstant::Product(of(a), of(b))),
        Node::X | Node::Query(_) | Node::Output(_) => None,
    }
}

fn renumber_row_constants(instruction: &mut Instruction, numbers: &HashMap<NodeId, u32>) {
    let place = |operand: &mut Operand| {
        if let Operand::Value(id) = operand {
            *id = numbers[id];
        }
    };
    place(&mut instruction.a);
    instruction.b.iter_mut().for_each(place);
    instruction.c.iter_mut().for_each(|(_, operand)| place(operand));
    debug_assert!(!matches!(instruction.target, Target::Slot(slot) if slot >= super::program::REGISTERS));
}
