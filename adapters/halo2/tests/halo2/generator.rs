//! Circuits from seeds: keys are halo2-axiom's, its verifier takes the proofs, and what it refuses to prove is refused
//! here.

use std::collections::HashSet;
use std::sync::Mutex;

use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{self, Circuit, ConstraintSystem, Error, ProvingKey};
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp::Accelerator;
use proofwarp::backend::BackendKind;
use proofwarp::plonk::MemoryPlan;
use proofwarp_halo2::{Kind, Options, create_proof_in_parallel, create_proof_with, keygen_pk2};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::described::{setup, slices, verify};
use crate::generated::{Bounds, Break, Generated, Plan};

type Kzg = KZGCommitmentScheme<Bn256>;
type Instances = Vec<Vec<Vec<Fr>>>;

/// Seeds below this one have one broken witness each.
const SINGLE_BREAK_SEEDS: usize = 1000;
const SMALL: Bounds = Bounds { log_rows: (3, 4), degree: 12, lookups: 2, circuits: 2, phases: 3 };
const LARGE: Bounds = Bounds { log_rows: (3, 7), degree: 40, lookups: 24, circuits: 3, phases: 3 };

/// What became of some circuits.
#[derive(Debug, Default)]
struct Outcomes {
    proved: usize,
    refused: usize,
    /// Those that halo2-axiom refused too, of those that it can run.
    refused_by_both: usize,
    too_few_rows: usize,
    broken: usize,
}

impl Outcomes {
    fn add(&mut self, others: &Self) {
        self.proved += others.proved;
        self.refused += others.refused;
        self.refused_by_both += others.refused_by_both;
        self.too_few_rows += others.too_few_rows;
        self.broken += others.broken;
    }
}

/// Whether one thread synthesizes a proof's circuits, or several do.
#[derive(Clone, Copy)]
enum Schedule {
    InTurn,
    OnAllCores,
}

/// A plan's key and what to prove with it.
struct Case {
    plan: Plan,
    kind: Kind,
    key: ProvingKey<G1Affine>,
}

impl Case {
    /// `None` if there are too few rows for its keys, by both crates.
    fn new(plan: Plan) -> Option<Self> {
        let (circuit, setup) = (Generated::new(&plan, 0, Break::Nothing), setup(plan.k));
        let stock = plonk::keygen_pk2::<G1Affine, _, _>(&*setup, &circuit, plan.compresses);
        let ours = keygen_pk2(&*setup, &circuit, plan.compresses);
        let key = match (ours, stock) {
            (Ok(ours), Ok(stock)) => {
                let bytes = |key: &ProvingKey<G1Affine>| key.to_bytes(SerdeFormat::RawBytes);
                assert!(bytes(&ours) == bytes(&stock), "keys of {plan:?}");
                ours
            }
            (Err(ours), Err(stock)) => {
                assert_eq!(format!("{ours:?}"), format!("{stock:?}"), "{plan:?}");
                return None;
            }
            (ours, stock) => panic!("ours: {:?}, stock: {:?}, {plan:?}", ours.err(), stock.err()),
        };
        let kind = if plan.seed.is_multiple_of(2) { Kind::Shplonk } else { Kind::Gwc };
        Some(Self { plan, kind, key })
    }

    /// Circuits, the last of which breaks something.
    fn circuits(&self, broken: Break) -> (Vec<Generated>, Instances) {
        let last = self.plan.circuits as u64;
        let of = |witness| if witness == last { broken } else { Break::Nothing };
        let circuits: Vec<_> = (1..=last).map(|witness| Generated::new(&self.plan, witness, of(witness))).collect();
        let instances = circuits.iter().map(Generated::instances).collect();
        (circuits, instances)
    }

    fn prove(&self, options: &Options, circuits: &[Generated], instances: &Instances) -> Result<Vec<u8>, Error> {
        self.prove_by(Schedule::InTurn, options, circuits, instances)
    }

    fn prove_by(
        &self,
        schedule: Schedule,
        options: &Options,
        circuits: &[Generated],
        instances: &Instances,
    ) -> Result<Vec<u8>, Error> {
        let (setup, rng) = (setup(self.plan.k), ChaCha20Rng::seed_from_u64(self.plan.seed));
        let columns = slices(instances);
        let instances: Vec<_> = columns.iter().map(Vec::as_slice).collect();
        let mut transcript = Blake2bWrite::<_, _, Challenge255<_>>::init(Vec::new());
        let (to, key) = (&mut transcript, &self.key);
        let prove = match (self.kind, schedule) {
            (Kind::Shplonk, Schedule::InTurn) => create_proof_with::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _, _>,
            (Kind::Shplonk, Schedule::OnAllCores) => {
                create_proof_in_parallel::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _, _>
            }
            (Kind::Gwc, Schedule::InTurn) => create_proof_with::<Kzg, ProverGWC<'_, Bn256>, _, _, _, _>,
            (Kind::Gwc, Schedule::OnAllCores) => create_proof_in_parallel::<Kzg, ProverGWC<'_, Bn256>, _, _, _, _>,
        };
        prove(options, &setup, key, circuits, &instances, rng, to)?;
        Ok(transcript.finalize())
    }

    fn prove_by_stock(&self, circuits: &[Generated], instances: &Instances) -> Result<(), Error> {
        let (setup, rng) = (setup(self.plan.k), ChaCha20Rng::seed_from_u64(self.plan.seed));
        let columns = slices(instances);
        let instances: Vec<_> = columns.iter().map(Vec::as_slice).collect();
        let mut transcript = Blake2bWrite::<_, _, Challenge255<_>>::init(Vec::new());
        let (to, key) = (&mut transcript, &self.key);
        match self.kind {
            Kind::Shplonk => plonk::create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _, _>(
                &setup, key, circuits, &instances, rng, to,
            ),
            Kind::Gwc => {
                plonk::create_proof::<Kzg, ProverGWC<'_, Bn256>, _, _, _, _>(&setup, key, circuits, &instances, rng, to)
            }
        }
    }

    fn verifies(&self, instances: &Instances, proof: &[u8]) -> bool {
        verify(self.kind, self.plan.k, self.key.get_vk(), instances, proof)
    }

    /// Whether a column is queried twice at one point.
    fn asks_twice(&self) -> bool {
        let (system, rows) = (self.key.get_vk().cs(), 1_i64 << self.plan.k);
        let advice = system.advice_queries().iter().map(|(column, at)| (0, column.index(), at.0));
        let fixed = system.fixed_queries().iter().map(|(column, at)| (1, column.index(), at.0));
        let mut seen = HashSet::new();
        advice.chain(fixed).any(|(kind, column, at)| !seen.insert((kind, column, i64::from(at).rem_euclid(rows))))
    }

    /// Returns whether halo2-axiom's prover can run the circuits: one of several phases has to say where they end. It
    /// panics at the end of a third phase, which it counts on from.
    fn runs_on_stock(&self) -> bool {
        let phases = self.plan.phases();
        self.plan.circuits == 1 && (phases == 1 || (phases == 2 && self.plan.says_phases))
    }

    fn run(&self, outcomes: &mut Outcomes) {
        let (circuits, instances) = self.circuits(Break::Nothing);
        let proof = self.prove(&Options::default(), &circuits, &instances);
        if self.asks_twice() {
            assert!(matches!(proof, Err(Error::ConstraintSystemFailure)), "{:?}: {:?}", self.plan, proof.err());
            outcomes.refused += 1;
            if self.runs_on_stock() {
                let stock = self.prove_by_stock(&circuits, &instances);
                assert!(matches!(stock, Err(Error::ConstraintSystemFailure)), "{:?}: {stock:?}", self.plan);
                outcomes.refused_by_both += 1;
            }
            return;
        }
        let proof = proof.unwrap_or_else(|error| panic!("{error}: {:?}", self.plan));
        assert!(self.verifies(&instances, &proof), "{:?}", self.plan);
        outcomes.proved += 1;
        let schedule = Schedule::OnAllCores;
        let again = self.prove_by(schedule, &self.other_way(), &circuits, &instances).expect("another way");
        assert!(again == proof, "other bytes another way: {:?}", self.plan);
        let kinds = [Break::Gate, Break::Lookup, Break::Copy];
        let which = self.plan.seed as usize;
        for broken in kinds.iter().cycle().skip(which).take(if which < SINGLE_BREAK_SEEDS { 1 } else { kinds.len() }) {
            let (circuits, instances) = self.circuits(*broken);
            if circuits.last().is_some_and(Generated::is_broken) {
                let proof = self.prove(&Options::default(), &circuits, &instances).expect("a proof that is wrong");
                assert!(!self.verifies(&instances, &proof), "{broken:?}: {:?}", self.plan);
                outcomes.broken += 1;
            }
        }
    }

    /// On the host, or in groups of columns. Columns are committed to while the circuit is synthesized.
    fn other_way(&self) -> Options {
        let plan = MemoryPlan { columns_resident: self.plan.seed.is_multiple_of(3), max_columns: 9 };
        let min_early_rows = Some(1);
        match self.plan.seed % 4 {
            0 | 1 => Options {
                accelerator: Accelerator::with_backend(BackendKind::Cpu).ok(),
                min_early_rows,
                ..Options::default()
            },
            _ => Options { plan: Some(plan), min_early_rows, ..Options::default() },
        }
    }
}

fn run(seeds: std::ops::Range<u64>, bounds: Bounds) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for seed in seeds {
        match Case::new(Plan::new(seed, bounds)) {
            Some(case) => case.run(&mut outcomes),
            None => outcomes.too_few_rows += 1,
        }
    }
    println!("{outcomes:?}");
    outcomes
}

#[test]
fn some_circuits() {
    let Outcomes { proved, refused, refused_by_both, broken, .. } = run(0..10, SMALL);
    assert!(proved > 2 && broken > 1 && refused > 0 && refused_by_both > 0, "a generator of other circuits");
}

#[test]
#[ignore = "minutes"]
fn hundreds_of_circuits() {
    let Outcomes { proved, refused, refused_by_both, too_few_rows, broken } = run(1000..1500, LARGE);
    assert!(proved > 250 && broken > 300 && refused > 20 && refused_by_both > 10 && too_few_rows > 0);
}

/// Two thousand others, by threads that share the devices.
#[test]
#[ignore = "minutes on a GPU"]
fn thousands_of_circuits() {
    const BLOCK: u64 = 25;
    let (blocks, total) = (Mutex::new((2000..4000).step_by(BLOCK as usize)), Mutex::new(Outcomes::default()));
    let next = || blocks.lock().expect("no proof was refused").next();
    let work = || {
        while let Some(first) = next() {
            let outcomes = run(first..first + BLOCK, LARGE);
            let mut total = total.lock().expect("no proof was refused");
            total.add(&outcomes);
            println!("in all {total:?}");
        }
    };
    std::thread::scope(|scope| (0..16).for_each(|_| _ = scope.spawn(work)));
    let Outcomes { proved, refused, refused_by_both, broken, .. } = total.into_inner().expect("no proof was refused");
    assert!(proved > 1000 && broken > 1200 && refused > 80 && refused_by_both > 40);
}

/// A plan's phases, columns and degrees are what the constraint system has.
#[test]
fn a_plan_is_its_circuit() {
    for seed in 0..50 {
        let plan = Plan::new(seed, LARGE);
        let mut system = ConstraintSystem::<Fr>::default();
        Generated::configure_with_params(&mut system, plan.clone());
        let phases = system.advice_column_phase().into_iter().max().map_or(0, |last| last + 1);
        assert_eq!((phases, system.num_challenges()), (plan.phases(), plan.challenges.len()));
        assert!(system.degree() >= plan.degree(), "{} of {plan:?}", system.degree());
    }
}
