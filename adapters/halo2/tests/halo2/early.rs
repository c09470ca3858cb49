//! Columns are committed to while a circuit is synthesized, and proofs are the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ff::Field;
use halo2_axiom::circuit::{Layouter, Region, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Advice, Assigned, Circuit, Column, ConstraintSystem, Error, Fixed, ProvingKey};
use halo2_axiom::poly::Rotation;
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::ProverSHPLONK;
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp::Accelerator;
use proofwarp::backend::BackendKind;
use proofwarp::plonk::AbortHook;
use proofwarp_halo2::{Kind, Options, create_proof_with, keygen_pk2};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;

use crate::described::{Shape, setup, verify};
use crate::devices::{Expected, reason};

const K: u32 = 6;
const COLUMNS: usize = 5;
/// Rows that the circuit assigns: the rest is for blinding.
const ROWS: usize = 54;

/// The order in which a circuit assigns its cells, and how that ends.
#[derive(Debug, Clone)]
enum Order {
    Columns,
    /// A cell of each column is wrong until all columns are full.
    ComesBack,
    Rows,
    /// After three columns.
    Fails,
    Panics,
    /// Until the hook has been called.
    Waits(Arc<AtomicU32>),
}

/// Squares from column to column.
#[derive(Clone)]
struct Squares(Order);

#[derive(Clone)]
struct Config {
    advice: Vec<Column<Advice>>,
    on: Column<Fixed>,
}

/// The value of a cell, as a fraction in one of the columns.
fn cell(column: usize, row: usize) -> Assigned<Fr> {
    let value = Fr::from(row as u64 + 2).pow([1 << column]);
    if column == 2 { Assigned::Rational(value.double(), Fr::from(2)) } else { value.into() }
}

impl Squares {
    fn assign(&self, config: &Config, region: &mut Region<'_, Fr>) -> Result<(), Error> {
        (0..ROWS).for_each(|row| _ = region.assign_fixed(config.on, row, Fr::ONE));
        let mut put = |column: usize, row: usize, value: Assigned<Fr>| {
            region.assign_advice(config.advice[column], row, Value::known(value));
        };
        if matches!(self.0, Order::Rows) {
            (0..ROWS).for_each(|row| (0..COLUMNS).for_each(|column| put(column, row, cell(column, row))));
            return Ok(());
        }
        if let Order::Waits(asked) = &self.0 {
            asked.store(0, Ordering::SeqCst);
        }
        for column in 0..COLUMNS {
            (0..ROWS).for_each(|row| put(column, row, cell(column, row)));
            match &self.0 {
                Order::ComesBack => put(column, 3, Fr::from(99).into()),
                Order::Fails if column == 3 => return Err(Error::Synthesis),
                Order::Panics if column == 3 => panic!("the circuit's own words"),
                Order::Waits(asked) if column == 3 => wait_for(asked),
                _ => {}
            }
        }
        if matches!(self.0, Order::ComesBack) {
            (0..COLUMNS).for_each(|column| put(column, 3, cell(column, 3)));
        }
        Ok(())
    }
}

fn wait_for(asked: &AtomicU32) {
    let start = Instant::now();
    while asked.load(Ordering::SeqCst) == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "no commitment while the circuit is synthesized");
        sleep(Duration::from_millis(1));
    }
}

impl Circuit<Fr> for Squares {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Config {
        let advice: Vec<_> = (0..COLUMNS).map(|_| meta.advice_column()).collect();
        let on = meta.fixed_column();
        meta.create_gate("squares", |meta| {
            let values: Vec<_> = advice.iter().map(|column| meta.query_advice(*column, Rotation::cur())).collect();
            let on = meta.query_fixed(on, Rotation::cur());
            values.windows(2).map(|pair| on.clone() * (pair[0].clone().square() - pair[1].clone())).collect::<Vec<_>>()
        });
        Config { advice, on }
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        layouter.assign_region(|| "squares", |mut region| self.assign(&config, &mut region))
    }
}

fn key() -> ProvingKey<G1Affine> {
    keygen_pk2(&*setup(K), &Squares(Order::Rows), false).expect("a key")
}

fn prove(key: &ProvingKey<G1Affine>, order: Order, options: &Options) -> Result<Vec<u8>, Error> {
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    let (setup, rng) = (setup(K), ChaCha20Rng::seed_from_u64(7));
    create_proof_with::<KZGCommitmentScheme<Bn256>, ProverSHPLONK<'_, Bn256>, _, _, _, _>(
        options,
        &setup,
        key,
        &[Squares(order)],
        &[&[]],
        rng,
        &mut transcript,
    )?;
    Ok(transcript.finalize())
}

/// The backend of the environment, then the host.
fn both() -> [Options; 2] {
    let host = Accelerator::with_backend(BackendKind::Cpu).ok();
    [Options::default(), Options { accelerator: host, ..Options::default() }]
        .map(|options| Options { min_early_rows: Some(1), ..options })
}

#[test]
fn no_order_changes_a_proof() {
    let (key, late) = (key(), Options { min_early_rows: Some(usize::MAX), ..Options::default() });
    let expected = prove(&key, Order::Rows, &late).expect("a proof");
    assert!(verify(Kind::Shplonk, K, key.get_vk(), &[vec![]], &expected));
    for order in [Order::Columns, Order::ComesBack, Order::Rows] {
        for options in &both() {
            assert!(prove(&key, order.clone(), options).expect("a proof") == expected, "{order:?}: {options:?}");
        }
    }
}

#[test]
fn columns_are_committed_to_meanwhile() {
    let (key, asked) = (key(), Arc::new(AtomicU32::new(0)));
    let count = asked.clone();
    let counts = move || count.fetch_add(1, Ordering::SeqCst) == u32::MAX;
    let [_, host] = both();
    let options = Options { abort: Some(AbortHook::new(counts)), ..host };
    prove(&key, Order::Waits(asked), &options).expect("a proof");
}

/// Callers that are workers, in pools of few threads: nothing waits for itself.
#[test]
fn workers_of_pools() {
    let (key, [device, host]) = (key(), both());
    let expected = prove(&key, Order::Columns, &host).expect("a proof");
    let proves = |order: Order| {
        for options in [&device, &host] {
            assert!(prove(&key, order.clone(), options).expect("a proof") == expected, "{order:?}");
        }
    };
    let orders = || [Order::Columns, Order::ComesBack, Order::Columns].into_par_iter();
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| orders().for_each(proves));
    }
    (0..2).into_par_iter().for_each(|_| orders().for_each(proves));
}

/// Proves two circuits on the only worker of rayon's global pool, which the thread that commits needs too.
#[test]
fn circuits_of_a_worker_of_the_global_pool() {
    // Another test of this process may have started it.
    _ = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    let expected = Expected::new(&Shape::base(), K, 2);
    let [_, host] = both();
    (0..2).into_par_iter().for_each(|_| assert!(expected.prove(&host).expect("a proof") == expected.proof));
}

#[test]
fn a_circuit_may_fail_meanwhile() {
    let key = key();
    for options in &both() {
        let expected = prove(&key, Order::Columns, options).expect("a proof");
        assert!(matches!(prove(&key, Order::Fails, options), Err(Error::Synthesis)));
        let panic = catch_unwind(AssertUnwindSafe(|| prove(&key, Order::Panics, options))).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the circuit's own words"));
        assert!(prove(&key, Order::Columns, options).expect("a proof") == expected);
    }
}

#[test]
fn stops_at_any_question() {
    let (key, [_, host]) = (key(), both());
    let expected = prove(&key, Order::Columns, &host).expect("a proof");
    let mut stops = 0;
    for questions in 0_u32.. {
        let left = AtomicU32::new(questions);
        let says_stop =
            move || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err();
        let options = Options { abort: Some(AbortHook::new(says_stop)), ..host.clone() };
        match prove(&key, Order::Columns, &options) {
            Ok(proof) => {
                assert!(proof == expected);
                break;
            }
            Err(error) => assert!(matches!(reason(&error), proofwarp::Error::Aborted), "{error}"),
        }
        stops += 1;
    }
    assert!(stops > 2, "{stops} stops");
}
