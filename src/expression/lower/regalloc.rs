//! Allocates slots to values between instructions.
//!
//! A slot is free from its value's last use on. If slots run out, the value that is needed longest spills to scratch
//! memory for its whole live range (linear scan; Poletto and Sarkar, 1999).

use std::collections::{BTreeSet, HashMap};

use crate::expression::program::{Instruction, Operand, REGISTERS, Target};

/// Counts the slots and the elements of scratch memory that instructions use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allocation {
    pub slots: u32,
    pub scratch: u32,
}

/// Describes a value's live range: from the index of the instruction that writes it to that of the last one that reads
/// it.
#[derive(Debug, Clone, Copy)]
struct LiveRange {
    value: u32,
    start: usize,
    end: usize,
}

/// Replaces virtual slots, one per value, by slots below [`REGISTERS`] and scratch memory. Each virtual slot is written
/// once. Returns the numbers of slots and of elements of scratch memory.
pub(super) fn allocate_registers(instructions: &mut [Instruction]) -> Allocation {
    let lives = live_ranges(instructions);
    let (at_hand, others) = choose_spills(&lives);
    let (slots, scratch) = (color_intervals(&at_hand), color_intervals(&others));
    for instruction in instructions {
        replace_virtual_slots(instruction, &slots, &scratch);
    }
    let count = |colours: &HashMap<u32, u32>| colours.values().max().map_or(0, |most| most + 1);
    Allocation { slots: count(&slots), scratch: count(&scratch) }
}

/// Returns the live ranges of all values, in the order in which `instructions` write them. Every value that is written
/// is read.
fn live_ranges(instructions: &[Instruction]) -> Vec<LiveRange> {
    let mut lives: Vec<LiveRange> = Vec::new();
    let mut places = HashMap::new();
    for (at, instruction) in instructions.iter().enumerate() {
        for operand in instruction.operands() {
            if let Operand::Slot(value) = operand
                && let Some(place) = places.get(&value)
            {
                lives[*place as usize].end = at;
            }
        }
        if let Target::Slot(value) = instruction.target {
            places.insert(value, lives.len() as u32);
            lives.push(LiveRange { value, start: at, end: at });
        }
    }
    lives
}

/// Splits `lives` into the ranges that get slots, which are first in the result, and those that spill to scratch
/// memory. At most [`REGISTERS`] of the former overlap.
fn choose_spills(lives: &[LiveRange]) -> (Vec<LiveRange>, Vec<LiveRange>) {
    let mut out = BTreeSet::new();
    // Live values, ordered by the ends of their ranges.
    let mut alive: BTreeSet<(usize, u32)> = BTreeSet::new();
    for life in lives {
        // An instruction reads before it writes.
        alive.retain(|(end, _)| *end > life.start);
        alive.insert((life.end, life.value));
        if alive.len() > REGISTERS as usize
            && let Some((_, value)) = alive.pop_last()
        {
            out.insert(value);
        }
    }
    lives.iter().partition(|life| !out.contains(&life.value))
}

/// Returns a number for each value in `lives`, the lowest that is free when the value is written. Values that are live
/// at the same time have different numbers.
fn color_intervals(lives: &[LiveRange]) -> HashMap<u32, u32> {
    let mut color_intervals = HashMap::new();
    let (mut free, mut alive, mut next) = (BTreeSet::new(), BTreeSet::new(), 0);
    for life in lives {
        let ended: Vec<(usize, u32)> = alive.range(..=(life.start, u32::MAX)).copied().collect();
        for (end, colour) in ended {
            alive.remove(&(end, colour));
            free.insert(colour);
        }
        let colour = free.pop_first().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        alive.insert((life.end, colour));
        color_intervals.insert(life.value, colour);
    }
    color_intervals
}

fn replace_virtual_slots(instruction: &mut Instruction, slots: &HashMap<u32, u32>, scratch: &HashMap<u32, u32>) {
    let place = |value: &u32| slots.get(value).map(|slot| (true, *slot)).or(scratch.get(value).map(|at| (false, *at)));
    let read = |operand: &mut Operand| {
        if let Operand::Slot(value) = operand
            && let Some((at_hand, number)) = place(value)
        {
            *operand = if at_hand { Operand::Slot(number) } else { Operand::Scratch(number) };
        }
    };
    read(&mut instruction.a);
    instruction.b.iter_mut().for_each(read);
    instruction.c.iter_mut().for_each(|(_, operand)| read(operand));
    if let Target::Slot(value) = instruction.target
        && let Some((at_hand, number)) = place(&value)
    {
        instruction.target = if at_hand { Target::Slot(number) } else { Target::Scratch(number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns instructions that write `values` values, then read them in the same order.
    fn write_then_read(values: u32) -> Vec<Instruction> {
        let write = |value| Instruction { target: Target::Slot(value), a: Operand::X, b: None, c: None };
        let read = |value| Instruction { target: Target::Output(value), a: Operand::Slot(value), b: None, c: None };
        (0..values).map(write).chain((0..values).map(read)).collect()
    }

    #[test]
    fn slots_first_and_then_scratch() {
        for (values, slots, scratch) in [(0, 0, 0), (1, 1, 0), (8, 8, 0), (9, 8, 1), (20, 8, 12)] {
            let mut instructions = write_then_read(values);
            assert_eq!(allocate_registers(&mut instructions), Allocation { slots, scratch });
            // Each value is read from where it is written.
            let (writes, reads) = instructions.split_at(values as usize);
            for (write, read) in writes.iter().zip(reads) {
                match (write.target, read.a) {
                    (Target::Slot(a), Operand::Slot(b)) | (Target::Scratch(a), Operand::Scratch(b)) => assert_eq!(a, b),
                    other => panic!("{other:?}"),
                }
            }
            let different: BTreeSet<_> = writes.iter().map(|write| format!("{:?}", write.target)).collect();
            assert_eq!(different.len(), values as usize);
        }
    }

    #[test]
    fn a_slot_is_free_from_the_last_use_on() {
        let chain = |value| Instruction { target: Target::Slot(value + 1), a: Operand::Slot(value), b: None, c: None };
        let mut instructions = write_then_read(1)[..1].to_vec();
        instructions.extend((0..50).map(chain));
        assert_eq!(allocate_registers(&mut instructions), Allocation { slots: 1, scratch: 0 });
        assert!(instructions.iter().all(|instruction| instruction.target == Target::Slot(0)));
    }
}
