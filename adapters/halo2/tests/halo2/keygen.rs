//! Keys are halo2-axiom's to the last byte.

use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::plonk::{self, ProvingKey};

use crate::described::{Described, Shape, setup};

const K: u32 = 6;

fn shapes() -> Vec<Shape> {
    vec![
        Shape::default(),
        Shape::base(),
        Shape { later_phases: 1, says_phases: true, ..Shape::base() },
        Shape { minimum_degree: Some(8), gates: vec![Shape::gate(7), Shape::gate(3), Shape::gate(3)], ..Shape::base() },
        Shape { lookups: Vec::new(), ..Shape::base() },
    ]
}

fn same(ours: &ProvingKey<G1Affine>, stock: &ProvingKey<G1Affine>) {
    assert_eq!(ours.get_vk().transcript_repr(), stock.get_vk().transcript_repr());
    let bytes = |key: &ProvingKey<G1Affine>| key.to_bytes(SerdeFormat::RawBytes);
    assert!(bytes(ours) == bytes(stock), "bytes of the keys");
}

#[test]
fn bytes_of_proving_keys() {
    for (shape, compress) in shapes().iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let circuit = Described::new(shape, 1);
        let ours = proofwarp_halo2::keygen_pk2(&*setup(K), &circuit, compress).expect("our key");
        same(&ours, &plonk::keygen_pk2(&*setup(K), &circuit, compress).expect("the stock key"));
    }
}

#[test]
fn bytes_of_both_keys_in_turn() {
    for (shape, compress) in shapes().iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let (circuit, setup) = (Described::new(shape, 1), setup(K));
        let ours = proofwarp_halo2::keygen_vk_custom(&*setup, &circuit, compress).expect("our key");
        let stock = plonk::keygen_vk_custom(&*setup, &circuit, compress).expect("the stock key");
        assert!(ours.to_bytes(SerdeFormat::Processed) == stock.to_bytes(SerdeFormat::Processed));
        let ours = proofwarp_halo2::keygen_pk(&*setup, ours, &circuit).expect("our key");
        same(&ours, &plonk::keygen_pk(&*setup, stock, &circuit).expect("the stock key"));
    }
}

#[test]
fn too_few_rows() {
    let (circuit, setup) = (Described::new(&Shape::base(), 1), setup(3));
    let few = |error| matches!(error, plonk::Error::NotEnoughRowsAvailable { current_k: 3 });
    assert!(few(proofwarp_halo2::keygen_vk::<G1Affine, _, _>(&*setup, &circuit).expect_err("too few rows")));
    assert!(few(proofwarp_halo2::keygen_pk2::<G1Affine, _, _>(&*setup, &circuit, false).expect_err("too few rows")));
    // Enough for blinding, too few for the synthesis, where the stock crate panics.
    let setup = crate::described::setup(4);
    let error = proofwarp_halo2::keygen_vk::<G1Affine, _, _>(&*setup, &circuit).expect_err("too few rows");
    assert!(matches!(error, plonk::Error::NotEnoughRowsAvailable { current_k: 4 }), "{error}");
}
