//! Constraint systems that proptest makes: halo2-axiom's verifier accepts their proofs.

use proofwarp_halo2::Kind;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::described::{Described, Gate, Lookup, Shape, TableKind, Term, instances_of, keys, prove, verify};

/// Columns that gates compute with: three inputs, two fixed ones.
const COLUMNS: usize = 5;

fn gate() -> impl Strategy<Value = Gate> {
    let factors = vec((0..COLUMNS, -2..=2), 0..=5);
    let term = (1..100u64, factors).prop_map(|(coefficient, factors)| Term { coefficient, factors });
    vec(term, 1..=3).prop_map(|terms| Gate { terms })
}

fn lookup() -> impl Strategy<Value = Lookup> {
    let table = prop_oneof![Just(TableKind::Fixed), Just(TableKind::Shuffled)];
    (1..=3usize, table, any::<bool>()).prop_map(|(columns, table, selected)| Lookup {
        columns,
        table,
        // A shuffled table has all values of its inputs, and 0 in rows without any.
        selected,
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let cell = (0..3usize, 0..10usize);
    let copies = vec((cell.clone(), cell).prop_map(|(left, right)| [left, right]), 0..12);
    let phases = (any::<bool>(), any::<bool>());
    (vec(gate(), 0..=3), vec(lookup(), 0..=3), 0..=1usize, copies, vec(0..=4usize, 0..=3), phases, 6..=9usize).prop_map(
        |(gates, lookups, copied, copies, instances, (second_phase, says_phases), degree)| Shape {
            inputs: 3,
            fixed: 2,
            gates,
            lookups,
            copied: 3 * copied,
            copies: if copied == 0 { Vec::new() } else { copies },
            instances,
            no_constant: false,
            second_phase,
            says_phases,
            // halo2-axiom takes no degree above 5 unless it is asked for; that of these gates is up to 6.
            minimum_degree: Some(degree),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verifies(shape in shape(), circuits in 1..=3u64, k in 5..=7u32, gwc: bool, at: prop::sample::Index) {
        let key = keys(&shape, k);
        let kind = if gwc { Kind::Gwc } else { Kind::Shplonk };
        let circuits: Vec<_> = (1..=circuits).map(|seed| Described::new(&shape, seed)).collect();
        let instances = instances_of(&circuits);
        let mut proof = prove(kind, k, &key, &circuits, &instances, 3).expect("a proof");
        prop_assert!(verify(kind, k, key.get_vk(), &instances, &proof));
        let at = at.index(proof.len());
        proof[at] ^= 1;
        prop_assert!(!verify(kind, k, key.get_vk(), &instances, &proof));
    }
}
