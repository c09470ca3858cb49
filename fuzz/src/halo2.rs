//! A small circuit of halo2-axiom's, with the bytes of its key and setup.

use std::io::{self, Read};
use std::sync::LazyLock;

use proofwarp_halo2::halo2_axiom::SerdeFormat;
use proofwarp_halo2::halo2_axiom::circuit::{Layouter, SimpleFloorPlanner, Value};
use proofwarp_halo2::halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use proofwarp_halo2::halo2_axiom::plonk::{
    Advice, Circuit, Column, ConstraintSystem, Error, Fixed, ProvingKey, Selector, verify_proof,
};
use proofwarp_halo2::halo2_axiom::poly::Rotation;
use proofwarp_halo2::halo2_axiom::poly::commitment::ParamsProver;
use proofwarp_halo2::halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use proofwarp_halo2::halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK, VerifierGWC, VerifierSHPLONK};
use proofwarp_halo2::halo2_axiom::poly::kzg::strategy::SingleStrategy;
use proofwarp_halo2::halo2_axiom::transcript::{
    Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer,
};
use proofwarp_halo2::{Options, create_proof_with, keygen_pk2};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const K: u32 = 4;
const FORMAT: SerdeFormat = SerdeFormat::RawBytesUnchecked;

type Kzg = KZGCommitmentScheme<Bn256>;
/// A setup.
pub type Setup = ParamsKZG<Bn256>;

/// Squares that are looked up, two cells of which are equal.
#[derive(Clone, Copy, Default)]
pub struct Squares;

impl Circuit<Fr> for Squares {
    type Config = (Selector, [Column<Advice>; 2], Column<Fixed>);
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        *self
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
        let (on, columns, table) = (meta.selector(), [(); 2].map(|()| meta.advice_column()), meta.fixed_column());
        meta.create_gate("square", |meta| {
            let [root, square] = columns.map(|column| meta.query_advice(column, Rotation::cur()));
            vec![meta.query_selector(on) * (root.square() - square)]
        });
        meta.lookup_any("squares", |meta| {
            vec![(meta.query_advice(columns[1], Rotation::cur()), meta.query_fixed(table, Rotation::cur()))]
        });
        columns.iter().for_each(|column| meta.enable_equality(*column));
        (on, columns, table)
    }

    fn synthesize(&self, (on, columns, table): Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        layouter.assign_region(
            || "squares",
            |mut region| {
                for row in 0..5 {
                    let root = Fr::from(row as u64);
                    region.assign_fixed(table, row, root.square());
                    on.enable(&mut region, row)?;
                    let one = region.assign_advice(columns[0], row, Value::known(root)).cell();
                    let other = region.assign_advice(columns[1], row, Value::known(root.square())).cell();
                    if row < 2 {
                        region.constrain_equal(one, other);
                    }
                }
                Ok(())
            },
        )
    }
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// The bytes of a setup.
pub static SETUP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut bytes = Vec::new();
    Setup::setup(K, rng()).write_custom(&mut bytes, FORMAT).expect("memory");
    bytes
});

/// The bytes of the circuit's key.
pub static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let setup = setup_of(&SETUP).expect("the whole setup");
    keygen_pk2::<G1Affine, _, _>(&setup, &Squares, false).expect("a key").to_bytes(FORMAT)
});

/// Places of the lengths in the key: halo2-axiom takes memory for as many elements as they say.
static KEY_LENGTHS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut reader = LengthReader { bytes: &KEY, read: 0, lengths: Vec::new() };
    ProvingKey::<G1Affine>::read::<_, Squares>(&mut reader, FORMAT, ()).expect("the whole key");
    reader.lengths
});

/// Notes where numbers of four bytes are read.
struct LengthReader<'a> {
    bytes: &'a [u8],
    read: usize,
    lengths: Vec<usize>,
}

impl Read for LengthReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.len() == 4 {
            self.lengths.push(self.read);
        }
        let count = (&self.bytes[self.read..]).read(to)?;
        self.read += count;
        Ok(count)
    }
}

/// Whether a damaged key has the lengths of the whole one, as far as it goes.
pub fn has_lengths(key: &[u8]) -> bool {
    KEY_LENGTHS.iter().all(|at| key.get(*at..at + 4).is_none_or(|length| length == &KEY[*at..at + 4]))
}

/// What halo2-axiom reads of a setup's bytes.
pub fn setup_of(mut bytes: &[u8]) -> Option<Setup> {
    Setup::read_custom(&mut bytes, FORMAT).ok()
}

/// What it reads of a key's.
pub fn key_of(bytes: &[u8]) -> Option<ProvingKey<G1Affine>> {
    ProvingKey::from_bytes::<Squares>(bytes, FORMAT, ()).ok()
}

/// A proof of the circuit.
pub fn prove(setup: &Setup, key: &ProvingKey<G1Affine>, gwc: bool, checked: bool) -> Result<Vec<u8>, Error> {
    let options = Options { check: Some(checked), ..Options::default() };
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    let to = &mut transcript;
    match gwc {
        true => create_proof_with::<Kzg, ProverGWC<'_, Bn256>, _, _, _, _>(
            &options,
            setup,
            key,
            &[Squares],
            &[&[]],
            rng(),
            to,
        ),
        false => create_proof_with::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _, _>(
            &options,
            setup,
            key,
            &[Squares],
            &[&[]],
            rng(),
            to,
        ),
    }?;
    Ok(transcript.finalize())
}

/// Whether halo2-axiom's verifier takes a proof.
pub fn verifies(setup: &Setup, key: &ProvingKey<G1Affine>, gwc: bool, proof: &[u8]) -> bool {
    let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof);
    let (strategy, params) = (SingleStrategy::new(setup), setup.verifier_params());
    let key = key.get_vk();
    let result = match gwc {
        true => verify_proof::<Kzg, VerifierGWC<'_, Bn256>, _, _, _>(params, key, strategy, &[&[]], &mut transcript),
        false => {
            verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(params, key, strategy, &[&[]], &mut transcript)
        }
    };
    result.is_ok()
}
