//! Makes a stream of proofs with several threads: the device works on one while others are synthesized.
//!
//! `cargo run --release --example queue -- [LOG_ROWS [PROOFS [THREADS]...]]` in `adapters/halo2`; `PROOFWARP_BACKEND` forces
//! a backend. The defaults are 12 proofs of 2^14 rows, by one thread, by two, three and four.

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Instant;

use halo2_axiom::circuit::{Layouter, Region, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{self, Advice, Circuit, Column, ConstraintSystem, Fixed};
use halo2_axiom::poly::Rotation;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::ProverSHPLONK;
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp_halo2::{create_proof, keygen_pk2, prove_in_order};
use rand::rngs::OsRng;

type Kzg = KZGCommitmentScheme<Bn256>;

/// Each column has the squares of the one before. The first counts up from a secret. Ten rows are left for blinding.
#[derive(Clone)]
struct Squares {
    secret: u64,
    log_rows: u32,
}

impl Circuit<Fr> for Squares {
    type Config = (Vec<Column<Advice>>, Column<Fixed>);
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
        let (x, on): (Vec<_>, _) = ((0..12).map(|_| meta.advice_column()).collect(), meta.fixed_column());
        meta.create_gate("squares", |meta| {
            let values: Vec<_> = x.iter().map(|column| meta.query_advice(*column, Rotation::cur())).collect();
            let on = meta.query_fixed(on, Rotation::cur());
            values.windows(2).map(|pair| on.clone() * (pair[0].clone().square() - pair[1].clone())).collect::<Vec<_>>()
        });
        (x, on)
    }

    fn synthesize(&self, (x, on): Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), plonk::Error> {
        let rows = |mut region: Region<'_, Fr>| {
            let mut values: Vec<_> = (0..(1 << self.log_rows) - 10).map(|row| Fr::from(self.secret + row)).collect();
            (0..values.len()).for_each(|row| _ = region.assign_fixed(on, row, Fr::one()));
            for column in &x {
                values.iter().enumerate().for_each(|(row, x)| _ = region.assign_advice(*column, row, Value::known(*x)));
                for x in &mut values {
                    *x = x.square();
                }
            }
            Ok(())
        };
        layouter.assign_region(|| "squares", rows)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let log_rows = arguments.next().map_or(Ok(14), |rows| rows.parse::<u32>())?;
    let proofs = arguments.next().map_or(Ok(12), |proofs| proofs.parse::<u64>())?;
    let threads = arguments.map(|threads| threads.parse::<NonZeroUsize>()).collect::<Result<Vec<_>, _>>()?;
    let threads = if threads.is_empty() { (1..=4).filter_map(NonZeroUsize::new).collect() } else { threads };
    let setup = ParamsKZG::<Bn256>::setup(log_rows, OsRng);
    let key = keygen_pk2(&setup, &Squares { secret: 0, log_rows }, false)?;
    let prove = |secret| {
        let mut out = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
        let circuit = [Squares { secret, log_rows }];
        create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _, _>(&setup, &key, &circuit, &[&[]], OsRng, &mut out)?;
        Ok::<_, plonk::Error>(out.finalize())
    };
    prove(0)?;
    for threads in threads {
        let (start, mut made) = (Instant::now(), Vec::new());
        prove_in_order(0..proofs, threads, prove, |proof| made.push(proof));
        made.into_iter().collect::<Result<Vec<_>, _>>()?;
        println!("{threads} threads: {:.2} proofs a second", proofs as f64 / start.elapsed().as_secs_f64());
    }
    Ok(())
}
