//! Makes keys and a proof of a circuit of halo2-axiom's on proofwarp, and has halo2-axiom verify the proof.
//!
//! `cargo run --release --example halo2` in `adapters/halo2`; `PROOFWARP_BACKEND` forces a backend.

use std::error::Error;
use std::time::Instant;

use halo2_axiom::circuit::{Layouter, Region, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{self, Advice, Circuit, Column, ConstraintSystem, Fixed, verify_proof};
use halo2_axiom::poly::Rotation;
use halo2_axiom::poly::commitment::ParamsProver;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{ProverSHPLONK, VerifierSHPLONK};
use halo2_axiom::poly::kzg::strategy::SingleStrategy;
use halo2_axiom::transcript::{Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer};
use proofwarp::Accelerator;
use proofwarp_halo2::{create_proof, keygen_pk, keygen_vk};
use rand::rngs::OsRng;

type Kzg = KZGCommitmentScheme<Bn256>;
type Prover<'a> = ProverSHPLONK<'a, Bn256>;
type Verifier<'a> = VerifierSHPLONK<'a, Bn256>;

/// Binary logarithm of the number of rows.
const K: u32 = 14;

/// A chain of squares: x ← x² from row to row, from a secret start.
#[derive(Clone)]
struct Squares(Fr);

impl Circuit<Fr> for Squares {
    type Config = (Column<Advice>, Column<Fixed>);
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
        let (x, on) = (meta.advice_column(), meta.fixed_column());
        meta.create_gate("square", |meta| {
            let [now, next] = [0, 1].map(|row| meta.query_advice(x, Rotation(row)));
            vec![meta.query_fixed(on, Rotation::cur()) * (now.square() - next)]
        });
        (x, on)
    }

    fn synthesize(&self, (x, on): Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), plonk::Error> {
        let rows = |mut region: Region<'_, Fr>| {
            // The last rows are random, so that the proof is zero-knowledge.
            let squares = std::iter::successors(Some(self.0), |value| Some(value.square()));
            for (row, value) in squares.take((1 << K) - 10).enumerate() {
                region.assign_advice(x, row, Value::known(value));
                region.assign_fixed(on, row, if row + 11 < 1 << K { Fr::one() } else { Fr::zero() });
            }
            Ok(())
        };
        layouter.assign_region(|| "squares", rows)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Accelerator::global()?.devices().first().map(|device| device.info().name.clone());
    println!("proving on {}", device.as_deref().unwrap_or("the CPU"));
    // A setup from a random secret. Real ones come from a ceremony.
    let (setup, circuit) = (ParamsKZG::<Bn256>::setup(K, OsRng), Squares(Fr::from(3)));
    let key = keygen_pk(&setup, keygen_vk(&setup, &circuit)?, &circuit)?;
    let start = Instant::now();
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    create_proof::<Kzg, Prover<'_>, _, _, _, _>(&setup, &key, &[circuit], &[&[]], OsRng, &mut transcript)?;
    let proof = transcript.finalize();
    println!("proof of {} bytes in {:.1?}", proof.len(), start.elapsed());
    let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof.as_slice());
    let (strategy, verifier) = (SingleStrategy::new(&setup), setup.verifier_params());
    verify_proof::<Kzg, Verifier<'_>, _, _, _>(verifier, key.get_vk(), strategy, &[&[]], &mut transcript)?;
    println!("halo2-axiom accepts the proof");
    Ok(())
}
