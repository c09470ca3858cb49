//! halo2-axiom's verifier accepts what is proved, and nothing else.

use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::plonk::Error;
use proofwarp_halo2::{Kind, keygen_pk2};

use crate::described::{Described, Shape, instances_of, keys, prove, setup, verify};
use crate::logged::logged;

const K: u32 = 6;

/// Proofs of so many circuits of a shape verify, by both openings.
fn proves(shape: &Shape, circuits: u64) {
    let key = keys(shape, K);
    let circuits: Vec<_> = (1..=circuits).map(|seed| Described::new(shape, seed)).collect();
    let instances = instances_of(&circuits);
    for kind in [Kind::Shplonk, Kind::Gwc] {
        let proof = prove(kind, K, &key, &circuits, &instances, 7).expect("a proof");
        assert!(verify(kind, K, key.get_vk(), &instances, &proof), "{kind:?}, {} circuits: {shape:?}", circuits.len());
    }
}

#[test]
fn something_of_everything() {
    proves(&Shape::base(), 1);
}

#[test]
fn several_circuits() {
    (2..=3).for_each(|circuits| proves(&Shape::base(), circuits));
}

#[test]
fn no_columns_at_all() {
    proves(&Shape::default(), 1);
}

#[test]
fn few_kinds_of_columns() {
    proves(&Shape { lookups: Vec::new(), ..Shape::base() }, 1);
    proves(&Shape { copied: 0, copies: Vec::new(), instances: Vec::new(), ..Shape::base() }, 2);
    proves(&Shape { gates: Vec::new(), ..Shape::base() }, 1);
    proves(&Shape { instances: vec![1, 0, 4], ..Shape::base() }, 2);
}

#[test]
fn degrees() {
    for degree in 3..=9 {
        let gates = vec![Shape::gate(degree)];
        proves(&Shape { gates, lookups: Vec::new(), minimum_degree: Some(degree), ..Shape::base() }, 1);
    }
}

fn of_degree(degree: usize) -> Shape {
    let gates = vec![Shape::gate(degree)];
    Shape {
        inputs: 2,
        gates,
        copied: 2,
        copies: vec![[(0, 0), (1, 1)]],
        minimum_degree: Some(degree),
        ..Shape::default()
    }
}

/// More pieces of the quotient than a kernel keeps in registers.
#[test]
fn high_degrees() {
    proves(&of_degree(33), 1);
}

#[test]
#[ignore = "a minute"]
fn every_degree() {
    (18..=66).chain([100, 129, 257]).for_each(|degree| proves(&of_degree(degree), 1));
}

#[test]
fn degrees_that_cannot_be_proved() {
    for (degree, k) in [(258, K), (usize::MAX, K), ((1 << 32) + 5, K)] {
        let circuit = Described::new(&Shape { minimum_degree: Some(degree), ..of_degree(3) }, 0);
        let (key, lines) = logged(|| keygen_pk2::<G1Affine, _, _>(&*setup(k), &circuit, false));
        assert!(matches!(key, Err(Error::BoundsFailure)), "{degree}");
        let expected = format!("the circuit's degree is {degree}: expected 3 to 257");
        assert!(lines.iter().any(|line| line.contains(&expected)), "{lines:?}");
    }
}

#[test]
fn several_phases() {
    // Of several circuits, each has to end its first phase before any starts its second.
    for (later_phases, says_phases, circuits) in
        [(1, false, 1), (1, true, 1), (1, false, 2), (1, true, 2), (2, true, 1), (2, false, 2)]
    {
        proves(&Shape { later_phases, says_phases, ..Shape::base() }, circuits);
    }
}

/// The proof is about the key's columns, whatever fixed columns the circuit has that is proved.
#[test]
fn circuits_without_the_keys_constants() {
    let shape = Shape::base();
    let key = keys(&shape, K);
    let circuit = Described::new(&Shape { no_constant: true, ..shape }, 1);
    let (circuits, kind) = ([circuit], Kind::Shplonk);
    let instances = instances_of(&circuits);
    let proof = prove(kind, K, &key, &circuits, &instances, 7).expect("a proof");
    assert!(verify(kind, K, key.get_vk(), &instances, &proof));
}

#[test]
fn changed_bytes() {
    let (shape, k) = (Shape::base(), K);
    let key = keys(&shape, k);
    let circuits = [Described::new(&shape, 1)];
    let instances = instances_of(&circuits);
    for kind in [Kind::Shplonk, Kind::Gwc] {
        let proof = prove(kind, k, &key, &circuits, &instances, 7).expect("a proof");
        // A byte in each point and scalar, another one each time.
        for at in (0..proof.len() / 32).map(|element| element * 32 + element * 5 % 32) {
            let mut changed = proof.clone();
            changed[at] ^= 1;
            assert!(!verify(kind, k, key.get_vk(), &instances, &changed), "{kind:?}, byte {at}");
        }
        let mut others = instances.clone();
        others[0][1][0] = others[0][1][0].double();
        assert!(!verify(kind, k, key.get_vk(), &others, &proof));
    }
}

#[test]
fn blinding_is_the_callers() {
    let shape = Shape::base();
    let (key, circuits) = (keys(&shape, K), [Described::new(&shape, 1)]);
    let instances = instances_of(&circuits);
    let [one, again, other] =
        [7, 7, 8].map(|seed| prove(Kind::Gwc, K, &key, &circuits, &instances, seed).expect("a proof"));
    assert!(one == again, "all randomness is from the caller");
    // No point or scalar of one proof is in the other: every column is blinded, the random polynomial is one.
    let elements: std::collections::HashSet<_> = one.chunks(32).collect();
    let shared = other.chunks(32).filter(|element| elements.contains(element)).count();
    // Values of fixed columns and σ differ too, for x does.
    assert_eq!(shared, 0);
}
