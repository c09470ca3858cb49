//! Rotations that go around the rows, and queries of one point.

use halo2_axiom::circuit::{Layouter, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Advice, Circuit, Column, ConstraintSystem, Error, Fixed, Selector};
use halo2_axiom::poly::Rotation;
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp_halo2::{Kind, create_proof, keygen_pk2};
use rand_core::OsRng;

use crate::described::{setup, verify};
use crate::logged::logged;

const K: u32 = 4;

/// Which column is queried at which rotations. The witness is zeros, which satisfies all.
#[derive(Debug, Clone, Default)]
struct Rotations {
    advice: Vec<i32>,
    fixed: Vec<i32>,
    /// Whether the advice column is in the permutation, which queries it at 0.
    equal: bool,
    /// At which the advice column is looked up in the fixed one.
    looked_up: Option<i32>,
}

impl Circuit<Fr> for Rotations {
    type Config = (Selector, Column<Advice>, Column<Fixed>);
    type FloorPlanner = SimpleFloorPlanner;
    type Params = Self;

    fn params(&self) -> Self {
        self.clone()
    }

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
        Self::configure_with_params(meta, Self::default())
    }

    fn configure_with_params(meta: &mut ConstraintSystem<Fr>, rotations: Self) -> Self::Config {
        let (on, advice, fixed) = (meta.selector(), meta.advice_column(), meta.fixed_column());
        meta.create_gate("zeros", |meta| {
            let mut all: Vec<_> = rotations.advice.iter().map(|at| meta.query_advice(advice, Rotation(*at))).collect();
            all.extend(rotations.fixed.iter().map(|at| meta.query_fixed(fixed, Rotation(*at))));
            let on = meta.query_selector(on);
            all.into_iter().map(|one| on.clone() * one).collect::<Vec<_>>()
        });
        if rotations.equal {
            meta.enable_equality(advice);
        }
        if let Some(at) = rotations.looked_up {
            meta.lookup_any("zeros", |meta| {
                let input = meta.query_advice(advice, Rotation(at));
                // Rows that hide the column are looked up too, where it is rotated.
                vec![(input * Fr::zero(), meta.query_fixed(fixed, Rotation::cur()))]
            });
        }
        (on, advice, fixed)
    }

    fn synthesize(&self, (on, advice, _): Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        layouter.assign_region(
            || "zeros",
            |mut region| {
                on.enable(&mut region, 1)?;
                region.assign_advice(advice, 0, Value::known(Fr::zero()));
                Ok(())
            },
        )
    }
}

fn proof(circuit: &Rotations, kind: Kind) -> Result<bool, Error> {
    let setup = setup(K);
    let key = keygen_pk2::<G1Affine, _, _>(&*setup, circuit, false).expect("a key");
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    let circuits = std::slice::from_ref(circuit);
    let to = &mut transcript;
    match kind {
        Kind::Shplonk => create_proof::<KZGCommitmentScheme<Bn256>, ProverSHPLONK<'_, Bn256>, _, _, _, _>(
            &setup,
            &key,
            circuits,
            &[&[]],
            OsRng,
            to,
        ),
        Kind::Gwc => create_proof::<KZGCommitmentScheme<Bn256>, ProverGWC<'_, Bn256>, _, _, _, _>(
            &setup,
            &key,
            circuits,
            &[&[]],
            OsRng,
            to,
        ),
    }?;
    Ok(verify(kind, K, key.get_vk(), &[Vec::new()], &transcript.finalize()))
}

/// Both openings refuse, and the log names column and rotations.
fn is_refused(circuit: &Rotations, column: &str, rotations: [i32; 2]) {
    for kind in [Kind::Shplonk, Kind::Gwc] {
        let (result, lines) = logged(|| proof(circuit, kind));
        assert!(matches!(result, Err(Error::ConstraintSystemFailure)), "{circuit:?}: {result:?}");
        let [first, second] = rotations;
        let expected = format!("no proof can be made: {column} is queried at rotations {first} and {second}, which");
        assert!(lines.iter().any(|line| line.contains(&expected)), "{expected}: {lines:?}");
    }
}

#[test]
fn two_rotations_of_one_point() {
    for far in [16, -16, 1 << 20, -(1 << 20), 1 << 30, i32::MIN] {
        is_refused(&Rotations { advice: vec![0, far], ..Rotations::default() }, "advice column 0", [0, far]);
    }
    is_refused(&Rotations { advice: vec![1, 2, -14], ..Rotations::default() }, "advice column 0", [2, -14]);
    is_refused(&Rotations { fixed: vec![-1, 15], ..Rotations::default() }, "fixed column 0", [-1, 15]);
    // The permutation's own query, and a lookup's.
    is_refused(&Rotations { advice: vec![32], equal: true, ..Rotations::default() }, "advice column 0", [32, 0]);
    let looked_up = Rotations { advice: vec![3], looked_up: Some(-13), ..Rotations::default() };
    is_refused(&looked_up, "advice column 0", [3, -13]);
    let table = Rotations { fixed: vec![16], looked_up: Some(0), ..Rotations::default() };
    is_refused(&table, "fixed column 0", [16, 0]);
}

/// One query of a point is proved, however often it goes around.
#[test]
fn far_rotations() {
    for far in [16, -(1 << 20), i32::MAX, i32::MIN] {
        for kind in [Kind::Shplonk, Kind::Gwc] {
            let alone = Rotations { advice: vec![far, 1], fixed: vec![far], ..Rotations::default() };
            assert!(proof(&alone, kind).expect("a proof"), "{far}");
        }
    }
}

/// A key can be made, and the log says that it proves nothing.
#[test]
fn keys_are_made_with_a_warning() {
    let circuit = Rotations { advice: vec![0, 16], ..Rotations::default() };
    let (key, lines) = logged(|| keygen_pk2::<G1Affine, _, _>(&*setup(K), &circuit, false));
    assert!(
        key.is_ok() && lines.iter().any(|line| line.contains("no proof can be made with this key: advice column 0"))
    );
}
