//! Constraint systems that proptest makes: halo2-axiom's verifier accepts their proofs, and none with a changed byte.

use std::env;
use std::process::Command;

use proofwarp::Accelerator;
use proofwarp_halo2::Kind;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::described::{Described, Gate, Lookup, Shape, TableKind, Term, instances_of, keys, prove, verify};

/// Free columns, and fixed ones that gates compute with.
const COLUMNS: [usize; 2] = [3, 2];

/// A product of so many cells.
fn term(factors: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Term> {
    let factors = vec((0..COLUMNS[0] + COLUMNS[1], -2..=2), factors);
    (1..100u64, factors).prop_map(|(coefficient, factors)| Term { coefficient, factors })
}

/// A gate of any degree from 2 to 9, its selector included.
fn gate() -> impl Strategy<Value = Gate> {
    (1..=8usize).prop_flat_map(|highest| {
        let terms = (term(highest), vec(term(0..=highest), 0..=2));
        terms.prop_map(|(first, mut terms)| {
            terms.push(first);
            Gate { terms }
        })
    })
}

/// A shuffled table has all values of its inputs, and 0 in rows without any; a fixed one has duplicates, and 0 by default.
fn lookup() -> impl Strategy<Value = Lookup> {
    let table = prop_oneof![Just(TableKind::Fixed), Just(TableKind::Shuffled)];
    (1..=3usize, table, any::<bool>(), -2..=2).prop_map(|(columns, table, selected, rotation)| Lookup {
        columns,
        table,
        selected,
        rotation,
    })
}

/// Columns, and pairs of their cells that are equal: cycles of any length over any of them.
fn copies() -> impl Strategy<Value = (usize, Vec<[(usize, usize); 2]>)> {
    (0..=6usize).prop_flat_map(|columns| {
        let cell = (0..columns.max(1), 0..10usize);
        let pairs = vec([cell.clone(), cell], if columns == 0 { 0..=0 } else { 0..=16 });
        (Just(columns), pairs)
    })
}

/// The most rows: a GPU is fast.
fn most() -> u32 {
    let accelerator = Accelerator::global().expect("an accelerator");
    if accelerator.devices().first().is_some_and(|device| !device.info().is_cpu) { 13 } else { 8 }
}

fn shape() -> impl Strategy<Value = Shape> {
    let parts = (vec(gate(), 0..=3), vec(lookup(), 0..=3), copies(), vec(0..=4usize, 0..=3), 0..=2usize, any::<bool>());
    parts.prop_map(|(gates, lookups, (copied, copies), instances, later_phases, says_phases)| {
        let degree = |gate: &Gate| 1 + gate.terms.iter().map(|term| term.factors.len()).max().unwrap_or(0);
        // halo2-axiom takes no degree above 5 unless it is asked for.
        let minimum_degree = gates.iter().map(degree).max().filter(|degree| *degree > 5);
        let [inputs, fixed] = COLUMNS;
        Shape {
            inputs,
            fixed,
            gates,
            lookups,
            copied,
            copies,
            instances,
            no_constant: false,
            later_phases,
            says_phases,
            minimum_degree,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verifies(
        shape in shape(),
        circuits in 1..=3u64,
        k in 5..=most(),
        gwc: bool,
        seed: u64,
        (at, flipped) in (any::<prop::sample::Index>(), 1..=u8::MAX),
    ) {
        let key = keys(&shape, k);
        let kind = if gwc { Kind::Gwc } else { Kind::Shplonk };
        let circuits: Vec<_> = (1..=circuits).map(|seed| Described::new(&shape, seed)).collect();
        let instances = instances_of(&circuits);
        let mut proof = prove(kind, k, &key, &circuits, &instances, seed).expect("a proof");
        prop_assert!(verify(kind, k, key.get_vk(), &instances, &proof));
        let at = at.index(proof.len());
        proof[at] ^= flipped;
        prop_assert!(!verify(kind, k, key.get_vk(), &instances, &proof), "byte {at} of {}", proof.len());
    }
}

/// The same on the CPU, where it is a device above.
#[test]
fn verifies_on_the_cpu() {
    if Accelerator::global().expect("an accelerator").devices().is_empty() {
        return;
    }
    let mut child = Command::new(env::current_exe().expect("this program"));
    let output = child.args(["--exact", "random::verifies"]).env("PROOFWARP_BACKEND", "cpu").output().expect("a child");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
