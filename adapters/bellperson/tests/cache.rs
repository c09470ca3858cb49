//! Which keys are kept, found again, and let go.

mod common;

use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellperson::groth16::{MappedParameters, ParameterSource, Parameters};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use common::{Chain, Fixture, stock};
use proofwarp::Accelerator;
use proofwarp_bellperson::{KeyCache, Prover, clear_key_cache, groth16, key_cache, limit_key_cache};

/// Three keys of one length, two of them of circuits of one shape.
static FIXTURES: LazyLock<[Fixture; 3]> =
    LazyLock::new(|| stock(|| [Fixture::new(9, 2, 3), Fixture::new(9, 2, 4), Fixture::new(10, 2, 3)]));

/// One test at a time, with an empty cache.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    LazyLock::force(&FIXTURES);
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    clear_key_cache();
    turn
}

/// Proves, checks the proof, and gives hits, misses and evictions that came of it.
fn prove<P: ParameterSource<Bls12>>(fixture: &Fixture, source: P) -> [u64; 3] {
    let before = key_cache();
    let proof = groth16::create_proof(fixture.circuits[1], source, fixture.r[1], fixture.s[1]).expect("proof");
    assert!(proof == fixture.expected[1]);
    since(before)
}

fn since(before: KeyCache) -> [u64; 3] {
    let now = key_cache();
    [now.hits - before.hits, now.misses - before.misses, now.evictions - before.evictions]
}

const HIT: [u64; 3] = [1, 0, 0];
const MISS: [u64; 3] = [0, 1, 0];

#[test]
fn several_keys() {
    let _turn = turn();
    for expected in [MISS, HIT, HIT] {
        for fixture in &*FIXTURES {
            assert_eq!(prove(fixture, &fixture.key), expected);
        }
    }
    let cache = key_cache();
    assert_eq!(cache.entries, 3);
    assert!(cache.bytes > 0);
    clear_key_cache();
    assert_eq!((key_cache().entries, key_cache().bytes), (0, 0));
}

/// The same key in other memory is found by its points, then by its place.
#[test]
fn copies() {
    let _turn = turn();
    let fixture = &FIXTURES[0];
    let mut bytes = Vec::new();
    fixture.key.write(&mut bytes).expect("memory");
    let copy = Parameters::<Bls12>::read(bytes.as_slice(), false).expect("key");
    assert_eq!(prove(fixture, &fixture.key), MISS);
    assert_eq!([(); 3].map(|()| prove(fixture, &copy)), [HIT; 3]);
    // Of a key with one point changed nothing is taken, although its verifying key is the same.
    let mut other = copy.clone();
    let mut h = other.h.to_vec();
    h.swap(0, 1);
    other.h = h.into();
    let before = key_cache();
    groth16::create_proof(fixture.circuits[0], &other, fixture.r[0], fixture.s[0]).expect("a proof, of no use");
    assert_eq!(since(before), MISS);
    assert_eq!(prove(fixture, &copy), HIT);
    assert_eq!(key_cache().entries, 1, "a key whose proof does not verify is not kept");
}

#[test]
fn least_recently_used_goes() {
    let _turn = turn();
    let [first, second, third] = &*FIXTURES;
    prove(first, &first.key);
    let one = key_cache().bytes;
    limit_key_cache(Some(one * 5 / 2));
    assert_eq!(prove(second, &second.key), MISS);
    assert_eq!(prove(first, &first.key), HIT);
    assert_eq!(prove(third, &third.key), [0, 1, 1]);
    assert_eq!(prove(first, &first.key), HIT);
    assert_eq!(prove(second, &second.key), [0, 1, 1]);
    assert_eq!(key_cache().entries, 2);
    limit_key_cache(Some(one * 3 / 2));
    assert_eq!(prove(second, &second.key), [1, 0, 1]);
    limit_key_cache(None);
}

/// As [`Chain`], with other factors for the same number of constraints and variables.
#[derive(Clone, Copy)]
struct Other(Chain);

impl Circuit<Scalar> for Other {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.0.synthesize(cs)
    }
}

/// Circuits that a key is not of leave nothing behind that a later circuit would be proved by.
#[test]
fn circuits_of_another_key() {
    let _turn = turn();
    let [right, wrong, _] = &*FIXTURES;
    // Circuits of the other factor, with a witness of their own, by the right key: no valid proof, as with bellperson.
    let before = key_cache();
    groth16::create_proof(wrong.circuits[0], &right.key, right.r[0], right.s[0]).expect("a proof, of no use");
    assert_eq!(since(before), MISS);
    assert_eq!(prove(right, &right.key), MISS);
    // Another type of circuit with the same variables takes the same points.
    let before = key_cache();
    let proof = groth16::create_proof(Other(right.circuits[1]), &right.key, right.r[1], right.s[1]).expect("proof");
    assert!(proof == right.expected[1]);
    assert_eq!(since(before), HIT);
    // For a longer one the key has too few, whether it is kept or not.
    let longer = Chain { links: 11, ..right.circuits[0] };
    for kept in [true, false] {
        let result = groth16::create_proof(longer, &right.key, right.r[0], right.s[0]);
        assert!(matches!(result, Err(SynthesisError::MalformedSrs)), "{result:?}, kept: {kept}");
        assert_eq!(prove(right, &right.key), if kept { HIT } else { MISS });
        clear_key_cache();
    }
}

/// Circuits of one batch have the same sizes; else it is an error, whether their key is kept or not.
#[test]
fn batches_of_unequal_circuits() {
    let _turn = turn();
    let fixture = &FIXTURES[0];
    for _ in 0..2 {
        let circuits = vec![fixture.circuits[0], Chain { links: 8, ..fixture.circuits[1] }];
        let proofs = groth16::create_proof_batch(circuits, &fixture.key, fixture.r.clone(), fixture.s.clone());
        let error = proofs.expect_err("circuits of two lengths").to_string();
        assert!(error.contains("constraints of circuit 1: expected 12, got 11"), "{error}");
        prove(fixture, &fixture.key);
    }
}

fn map(path: &Path) -> MappedParameters<Bls12> {
    Parameters::<Bls12>::build_mapped_parameters(path.to_owned(), false).expect("mapped")
}

fn write(key: &Parameters<Bls12>, path: &Path) {
    let mut bytes = Vec::new();
    key.write(&mut bytes).expect("memory");
    std::fs::write(path, bytes).expect("written");
}

/// A file is found again, mapped once or anew; once it is written anew, by the same name and in the same place, it is
/// another.
#[test]
fn files() {
    let _turn = turn();
    let [first, second, _] = &*FIXTURES;
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("key");
    for settled in [false, true] {
        clear_key_cache();
        write(&first.key, &path);
        let mapped = map(&path);
        if settled {
            std::thread::sleep(Duration::from_millis(3100));
        }
        assert_eq!(prove(first, &mapped), MISS);
        assert_eq!(prove(first, &mapped), HIT);
        assert_eq!(prove(first, &map(&path)), HIT);
        drop(mapped);
        write(&second.key, &path);
        assert_eq!(prove(second, &map(&path)), MISS);
        assert_eq!(prove(second, &map(&path)), HIT);
        // In memory it is the same key.
        assert_eq!(prove(second, &second.key), HIT);
    }
}

/// (f·x + (8 − f)·w)·x = y. Where x is 0, or x is w, the factor does not matter.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    factor: u64,
    x: u64,
    w: u64,
}

impl Scaled {
    /// f·x·x = y.
    fn square(factor: u64, x: u64) -> Self {
        Self { factor, x, w: 0 }
    }

    fn y(&self) -> Scalar {
        Scalar::from((self.factor * self.x + (8 - self.factor) * self.w) * self.x)
    }

    /// Whether it satisfies the constraints of the factor three.
    fn is_of_three(&self) -> bool {
        self.y() == Self { factor: 3, ..*self }.y()
    }
}

impl Circuit<Scalar> for Scaled {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let [x, w] = [self.x, self.w].map(Scalar::from);
        let (x, w) = (cs.alloc(|| "x", || Ok(x))?, cs.alloc(|| "w", || Ok(w))?);
        let y = cs.alloc_input(|| "y", || Ok(self.y()))?;
        let [of_x, of_w] = [self.factor, 8 - self.factor].map(Scalar::from);
        cs.enforce(|| "y", |lc| lc + (of_x, x) + (of_w, w), |lc| lc + x, |lc| lc + y);
        Ok(())
    }
}

/// Which proofs of a batch verify; those that do are stock's, whose circuits are all of the key.
fn valid(key: &Parameters<Bls12>, batch: &[Scaled]) -> Vec<bool> {
    let [r, s] = [3, 5].map(|number| vec![Scalar::from(number); batch.len()]);
    let proofs = groth16::create_proof_batch(batch.to_vec(), key, r, s).expect("proofs");
    let verifying_key = groth16::prepare_verifying_key(&key.vk);
    let inputs = batch.iter().map(|one| [one.y()]);
    let verify = |(proof, input): (_, [Scalar; 1])| groth16::verify_proof(&verifying_key, proof, &input);
    proofs.iter().zip(inputs).map(|pair| verify(pair).expect("one input")).collect()
}

/// What a circuit gets depends neither on its place in a batch, nor on what was proved before: only those of another
/// constant than the key's, or without a coefficient that the key has, get proofs that do not verify.
#[test]
fn the_first_circuits_do_not_decide() {
    let _turn = turn();
    let key = groth16::generate_random_parameters::<Bls12, _, _>(Scaled::square(3, 1), &mut common::rng(1));
    let key = key.expect("key");
    // No coefficient of x in A, a factor of another key, the key's.
    let [zero, five, three] = [0, 5, 3].map(|factor| Scaled::square(factor, 2));
    // Witnesses that satisfy the other factors and the key's: they say nothing of the constants.
    let [nothing, both] = [0, 5].map(|factor| Scaled::square(factor, 0));
    let (equal, unequal) = (Scaled { factor: 5, x: 2, w: 2 }, Scaled { factor: 3, x: 2, w: 7 });
    let orders: [&[&[Scaled]]; 16] = [
        &[&[five, three, three], &[five, three, three], &[three, five], &[five, three]],
        &[&[three, five, three], &[five], &[three], &[five], &[three]],
        &[&[five], &[three], &[three], &[five], &[three]],
        &[&[both], &[three], &[three], &[three]],
        &[&[both, three, three], &[three], &[three]],
        &[&[three, both], &[both], &[three], &[five]],
        &[&[zero, three, three], &[three, zero], &[three], &[zero], &[three, zero, three]],
        &[&[three, zero, three], &[zero, zero], &[three], &[three]],
        &[&[zero], &[three], &[zero], &[three], &[three]],
        &[&[both], &[both], &[three], &[three]],
        &[&[both, both], &[three, five], &[three]],
        &[&[both, both, both], &[both, both], &[unequal, three]],
        &[&[nothing], &[nothing], &[three], &[three, nothing]],
        &[&[equal], &[equal], &[unequal], &[unequal]],
        &[&[equal, equal], &[equal, both], &[three], &[unequal]],
        &[&[both, equal], &[equal, both], &[unequal, equal, five], &[unequal]],
    ];
    for calls in orders {
        clear_key_cache();
        for (number, batch) in calls.iter().enumerate() {
            let expected: Vec<_> = batch.iter().map(Scaled::is_of_three).collect();
            assert_eq!(valid(&key, batch), expected, "call {number} of {}: {batch:?}", calls.len());
        }
    }
}

/// A prover of the caller's presumes that all circuits are its own; verified, another's proof is an error.
#[test]
fn provers_presume_their_circuit() {
    let _turn = turn();
    let [three, five] = [3, 5].map(|factor| Scaled::square(factor, 2));
    let key = groth16::generate_random_parameters::<Bls12, _, _>(three, &mut common::rng(1)).expect("key");
    let accelerator = Accelerator::global().expect("accelerator");
    let (prover, own) = Prover::<Bls12>::new(accelerator, three, &&key).expect("prover");
    let other = prover.assign(vec![five]).expect("assignment").remove(0);
    let (assignments, r) = ([own, other], [Scalar::from(3); 2]);
    let (proofs, _) = prover.prove(&assignments, &r, &r, None).expect("proofs that nobody checks");
    let verifying_key = groth16::prepare_verifying_key(&key.vk);
    let valid = proofs
        .iter()
        .zip([12, 20])
        .map(|(proof, y)| groth16::verify_proof(&verifying_key, proof, &[Scalar::from(y)]).expect("one input"));
    assert_eq!(valid.collect::<Vec<_>>(), [true, false]);
    let error = prover.verify(true).prove(&assignments, &r, &r, None).expect_err("another circuit").to_string();
    assert!(error.contains("proof 1 made on") && error.contains("does not verify"), "{error}");
}

/// With verification what does not verify is an error, be the key new or kept, and the kept prover goes, since the fault
/// might be its own.
#[test]
fn verified_proofs_of_another_circuit() {
    let program = std::env::current_exe().expect("this program");
    let mut command = std::process::Command::new(program);
    command.args(["--exact", "refuses_another_circuit", "--ignored"]).env("PROOFWARP_VERIFY", "1");
    assert!(command.status().expect("child").success());
}

/// Part of the test above.
#[test]
#[ignore = "started by another test"]
fn refuses_another_circuit() {
    let [three, five] = [3, 5].map(|factor| Scaled::square(factor, 2));
    let key = groth16::generate_random_parameters::<Bls12, _, _>(three, &mut common::rng(1)).expect("key");
    let prove = |one: Scaled| groth16::create_proof(one, &key, Scalar::from(3), Scalar::from(5));
    for kept in 0..4 {
        clear_key_cache();
        for _ in 0..kept {
            prove(three).expect("a proof of the key's circuit");
        }
        let error = prove(five).expect_err("another circuit").to_string();
        assert!(error.contains("proof 0 made on") && error.contains("does not verify"), "{error}");
        prove(three).expect("a proof of the key's circuit, again");
    }
}
