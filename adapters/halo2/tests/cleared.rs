//! Memory that is freed during a proof has no value of the witness in it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ff::Field;
use halo2_axiom::circuit::{Layouter, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Advice, Circuit, Column, ConstraintSystem, Error};
use halo2_axiom::poly::Rotation;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::ProverSHPLONK;
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp::Accelerator;
use proofwarp::backend::BackendKind;
use proofwarp_halo2::{Options, clear_setups, create_proof_with, keygen_pk2};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const K: u32 = 9;
/// Limbs of the witness's value in memory, which is Montgomery form: no element has them by chance.
const SECRET: [u64; 4] = [0x0123_4567_89ab_cdef, 0x1357_9bdf_0246_8ace, 0x0f1e_2d3c_4b5a_6978, 0x0101_2323_4545_6767];

/// Maximum alignment of memory that is searched, 16 bytes. Channels are aligned to cache lines. Their padding holds old
/// contents of the stack.
const ALIGNMENT: usize = 16;
/// Bytes of the buckets of an MSM of halo2curves on the host: 32 of a projective point and a tag. Such memory is not
/// searched, because padding of the buckets holds old contents of the stack.
const BUCKETS: usize = 32 * 104;

/// Looks at what is freed.
struct Looking;

static LOOKS: AtomicBool = AtomicBool::new(false);
/// Bytes of the first allocation that was freed with the value in it.
static FOUND: AtomicUsize = AtomicUsize::new(0);
/// Allocations that were looked at.
static SEEN: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Looking = Looking;

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on from the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if LOOKS.load(Ordering::Relaxed) && layout.align() <= ALIGNMENT && layout.size() != BUCKETS {
            // SAFETY: it has so many bytes, and the system aligns all memory to 16.
            unsafe { look(memory.cast(), layout.size()) };
        }
        // SAFETY: passed on from the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// # Safety
/// There are so many bytes.
unsafe fn look(memory: *const u64, bytes: usize) {
    SEEN.fetch_add(1, Ordering::Relaxed);
    for start in 0..(bytes / 8).saturating_sub(3) {
        // SAFETY: within the bytes; what nobody has written may be anything, and is only compared.
        let is = |limb: usize| unsafe { memory.add(start + limb).read_volatile() } == SECRET[limb];
        if (0..4).all(is) {
            FOUND.fetch_max(bytes, Ordering::Relaxed);
        }
    }
}

/// Two columns of the value, each looked up in the other.
#[derive(Clone)]
struct Same {
    value: Value<Fr>,
    /// Whether it panics once both columns are assigned.
    panics: bool,
}

impl Circuit<Fr> for Same {
    type Config = [Column<Advice>; 2];
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        Self { value: Value::unknown(), panics: false }
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
        let columns = [(); 2].map(|()| meta.advice_column());
        for column in columns {
            meta.enable_equality(column);
        }
        for [input, table] in [columns, [columns[1], columns[0]]] {
            meta.lookup_any("the other column", |meta| {
                let [input, table] = [input, table].map(|column| meta.query_advice(column, Rotation::cur()));
                vec![(input, table)]
            });
        }
        columns
    }

    fn synthesize(&self, columns: Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        layouter.assign_region(
            || "all",
            |mut region| {
                for (column, row) in columns.iter().flat_map(|column| (0..400).map(move |row| (column, row))) {
                    region.assign_advice(*column, row, self.value);
                }
                assert!(!self.panics, "the circuit's own words");
                Ok(())
            },
        )
    }
}

fn prove(setup: &ParamsKZG<Bn256>, circuit: &Same, options: &Options) {
    let key = keygen_pk2(setup, &circuit.without_witnesses(), false).expect("a key");
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    LOOKS.store(true, Ordering::Relaxed);
    let proof = catch_unwind(AssertUnwindSafe(|| {
        create_proof_with::<KZGCommitmentScheme<Bn256>, ProverSHPLONK<'_, Bn256>, _, _, _, _>(
            options,
            setup,
            &key,
            std::slice::from_ref(circuit),
            &[&[]],
            ChaCha20Rng::seed_from_u64(1),
            &mut transcript,
        )
    }));
    assert_eq!(proof.is_err(), circuit.panics);
    if let Ok(proof) = proof {
        proof.expect("a proof");
    }
    LOOKS.store(false, Ordering::Relaxed);
}

#[test]
fn no_value_of_the_witness_is_freed() {
    // SAFETY: an element is four limbs below the modulus, whose highest one is larger.
    let secret = unsafe { std::mem::transmute::<[u64; 4], Fr>(SECRET) };
    assert_eq!(secret + Fr::ZERO, secret);
    let setup = ParamsKZG::setup(K, ChaCha20Rng::seed_from_u64(2));
    let late = Options::default();
    // Columns are committed to during synthesis.
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).ok();
    let early = Options { accelerator, min_early_rows: Some(1), ..late.clone() };
    let circuit = Same { value: Value::known(secret), panics: false };
    prove(&setup, &circuit, &late);
    prove(&setup, &circuit, &early);
    prove(&setup, &Same { panics: true, ..circuit }, &early);
    LOOKS.store(true, Ordering::Relaxed);
    clear_setups();
    LOOKS.store(false, Ordering::Relaxed);
    assert!(SEEN.load(Ordering::Relaxed) > 100);
    assert_eq!(FOUND.load(Ordering::Relaxed), 0, "bytes of what was freed with a value in it");
    // It would be seen.
    LOOKS.store(true, Ordering::Relaxed);
    drop(std::hint::black_box(vec![secret; 10]));
    LOOKS.store(false, Ordering::Relaxed);
    assert_eq!(FOUND.load(Ordering::Relaxed), 10 * size_of::<Fr>());
}
