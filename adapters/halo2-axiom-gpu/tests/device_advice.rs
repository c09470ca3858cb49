//! Proofs from advice columns in device memory. They need an NVIDIA GPU.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use halo2_axiom_gpu::circuit::{Layouter, SimpleFloorPlanner, Value};
use halo2_axiom_gpu::cuda::utils::{CommWrapper, HALO2_COMM_STREAM, HALO2_GPU_CTX};
use halo2_axiom_gpu::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom_gpu::plonk::{
    Advice, AdviceColumns, Circuit, Column, ConstraintSystem, Error, GpuError, ProvingKey, Selector, TableColumn,
    create_proof_from_advice, keygen_pk2, verify_proof,
};
use halo2_axiom_gpu::poly::Rotation;
use halo2_axiom_gpu::poly::commitment::{Params, ParamsProver};
use halo2_axiom_gpu::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom_gpu::poly::kzg::multiopen::{ProverSHPLONK, VerifierSHPLONK};
use halo2_axiom_gpu::poly::kzg::strategy::SingleStrategy;
use halo2_axiom_gpu::transcript::{
    Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer,
};
use openvm_cuda_common::copy::{MemCopyD2H, MemCopyH2D, cuda_memcpy_on};
use openvm_cuda_common::d_buffer::DeviceBuffer;
use openvm_cuda_common::stream::{CudaEvent, GpuDeviceCtx};
use proofwarp_halo2::proofwarp::Accelerator;
use proofwarp_halo2::proofwarp::backend::{BackendKind, ForeignMemory};
use proofwarp_halo2::proofwarp::report::observe;
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, SeedableRng};

/// Held by each test that proves, for one of them counts what proofs upload.
static PROVING: Mutex<()> = Mutex::new(());

/// Bytes that proofs' steps have uploaded.
static UPLOADED: AtomicU64 = AtomicU64::new(0);

fn alone() -> MutexGuard<'static, ()> {
    PROVING.lock().unwrap_or_else(PoisonError::into_inner)
}

type Kzg = KZGCommitmentScheme<Bn256>;

/// Number of advice columns: more than a launch has parameters for.
const COLUMNS: usize = 12;
/// Values of the first column are below it.
const TABLE: u64 = 16;
/// Rows that stay free for blinding and for the ends of products.
const FREE: usize = 10;

/// In each row the last column is the product of the first two, plus all between. The third equals the second by a copy,
/// and the first is in a table.
#[derive(Clone)]
struct Wide {
    rows: usize,
}

#[derive(Clone)]
struct WideColumns {
    on: Selector,
    advice: [Column<Advice>; COLUMNS],
    table: TableColumn,
}

/// Returns the value of each column in `row`.
fn row_values(row: usize) -> [Fr; COLUMNS] {
    let mut values: [Fr; COLUMNS] = std::array::from_fn(|column| Fr::from((row * column + 7 * column) as u64));
    values[0] = Fr::from(row as u64 % TABLE);
    values[2] = values[1];
    let between: Fr = values[2..COLUMNS - 1].iter().sum();
    values[COLUMNS - 1] = values[0] * values[1] + between;
    values
}

impl Circuit<Fr> for Wide {
    type Config = WideColumns;
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> WideColumns {
        let (on, table) = (meta.complex_selector(), meta.lookup_table_column());
        let advice = std::array::from_fn(|_| meta.advice_column());
        advice[1..3].iter().for_each(|column| meta.enable_equality(*column));
        meta.create_gate("wide", |meta| {
            let on = meta.query_selector(on);
            let values = advice.map(|column| meta.query_advice(column, Rotation::cur()));
            let between = values[2..COLUMNS - 1]
                .iter()
                .fold(values[0].clone() * values[1].clone(), |sum, value| sum + value.clone());
            vec![on * (between - values[COLUMNS - 1].clone())]
        });
        meta.lookup("small", |meta| vec![(meta.query_advice(advice[0], Rotation::cur()), table)]);
        WideColumns { on, advice, table }
    }

    fn synthesize(&self, columns: WideColumns, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        layouter.assign_table(
            || "table",
            |mut table| {
                let mut assign =
                    |value| table.assign_cell(|| "", columns.table, value as usize, || Value::known(Fr::from(value)));
                (0..TABLE).try_for_each(&mut assign)
            },
        )?;
        layouter.assign_region(
            || "rows",
            |mut region| {
                for row in 0..self.rows {
                    columns.on.enable(&mut region, row)?;
                    let cells: Vec<_> = columns
                        .advice
                        .iter()
                        .zip(row_values(row))
                        .map(|(column, value)| region.assign_advice(*column, row, Value::known(value)).cell())
                        .collect();
                    region.constrain_equal(cells[1], cells[2]);
                }
                Ok(())
            },
        )
    }
}

/// Holds a setup, a key and the advice columns of [`Wide`].
struct Setup {
    params: ParamsKZG<Bn256>,
    pk: ProvingKey<G1Affine>,
    columns: Vec<Vec<Fr>>,
}

impl Setup {
    fn new(k: u32) -> Self {
        let rows = (1 << k) - FREE;
        let params = ParamsKZG::<Bn256>::setup(k, OsRng);
        let pk = keygen_pk2(&params, &Wide { rows }, false).expect("a key");
        let mut columns = vec![vec![Fr::zero(); 1 << k]; COLUMNS];
        for row in 0..rows {
            columns.iter_mut().zip(row_values(row)).for_each(|(column, value)| column[row] = value);
        }
        Self { params, pk, columns }
    }

    fn upload(&self) -> AdviceColumns<Fr> {
        self.columns.iter().map(|column| column.to_device_on(&HALO2_GPU_CTX).expect("a column")).collect()
    }

    fn prove_on_device(&self, columns: AdviceColumns<Fr>) -> Result<Vec<u8>, GpuError> {
        let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
        let rng = ChaCha20Rng::seed_from_u64(5);
        create_proof_from_advice::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _>(
            &self.params,
            &self.pk,
            &[],
            columns,
            rng,
            &mut transcript,
        )?;
        Ok(transcript.finalize())
    }

    fn prove_on_host(&self) -> Vec<u8> {
        let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
        let rng = ChaCha20Rng::seed_from_u64(5);
        proofwarp_halo2::create_proof_from_advice::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _>(
            &self.params,
            &self.pk,
            &[],
            self.columns.clone(),
            rng,
            &mut transcript,
        )
        .expect("a proof");
        transcript.finalize()
    }

    fn is_valid(&self, proof: &[u8]) -> bool {
        let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof);
        let strategy = SingleStrategy::new(&self.params);
        verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(
            self.params.verifier_params(),
            self.pk.get_vk(),
            strategy,
            &[&[]],
            &mut transcript,
        )
        .is_ok()
    }
}

#[test]
fn proofs_are_those_of_host_columns() {
    let _alone = alone();
    for k in [6, 10, 14, 16] {
        let setup = Setup::new(k);
        let proof = setup.prove_on_device(setup.upload()).expect("a proof");
        assert!(setup.is_valid(&proof), "k = {k}");
        assert!(proof == setup.prove_on_host(), "k = {k}: the same bytes");
    }
}

/// Queues fills of 400 GB on `context`, which take longer than a proof's first steps. The memory is freed after them.
fn keep_busy(context: &GpuDeviceCtx) {
    let slow = DeviceBuffer::<u8>::with_capacity_on(4 << 30, context);
    for _ in 0..100 {
        slow.fill_zero_on(context).expect("a command");
    }
}

/// Checks that a proof whose key is on the device waits for commands that the caller has queued.
#[test]
fn queued_writes_come_first() {
    let _alone = alone();
    let setup = Setup::new(12);
    setup.prove_on_device(setup.upload()).expect("a proof");
    let finished = setup.upload();
    let columns: AdviceColumns<Fr> =
        finished.iter().map(|column| DeviceBuffer::with_capacity_on(column.len(), &HALO2_GPU_CTX)).collect();
    keep_busy(&HALO2_GPU_CTX);
    for (to, from) in columns.iter().zip(&finished) {
        let bytes = from.len() * size_of::<Fr>();
        // SAFETY: both buffers have these bytes.
        unsafe { cuda_memcpy_on::<true, true>(to.as_mut_raw_ptr(), from.as_raw_ptr(), bytes, &HALO2_GPU_CTX) }
            .expect("a copy");
    }
    let written = CudaEvent::new().expect("an event");
    written.record_on(&HALO2_GPU_CTX.stream).expect("an event");
    assert!(!written.completed(), "the copies still wait");
    let proof = setup.prove_on_device(columns).expect("a proof");
    assert!(setup.is_valid(&proof));
}

/// Checks that no advice column goes through the host. A second proof, whose key is on the device, uploads the random
/// polynomial and kernels' parameters.
#[test]
fn columns_are_not_uploaded() {
    let _alone = alone();
    let setup = Setup::new(16);
    let columns = [setup.upload(), setup.upload()];
    let mut sizes = Vec::new();
    observe(|report| {
        if report.operation.starts_with("plonk") {
            UPLOADED.fetch_add(report.traffic.bytes_up, Ordering::Relaxed);
        }
    });
    for columns in columns {
        let before = UPLOADED.load(Ordering::Relaxed);
        setup.prove_on_device(columns).expect("a proof");
        sizes.push(UPLOADED.load(Ordering::Relaxed) - before);
    }
    let column = (size_of::<Fr>() << 16) as u64;
    println!("bytes uploaded: {sizes:?}, a column has {column}");
    assert!(sizes[1] < column + column / 4, "{sizes:?}");
}

#[test]
fn a_witness_that_does_not_hold_gives_a_proof_that_does_not_verify() {
    let _alone = alone();
    let mut setup = Setup::new(8);
    setup.columns[COLUMNS - 1][3] += Fr::one();
    let proof = setup.prove_on_device(setup.upload()).expect("a proof");
    assert!(!setup.is_valid(&proof));
    assert!(proof == setup.prove_on_host());
}

#[test]
fn other_shapes_are_refused() {
    let _alone = alone();
    let setup = Setup::new(6);
    let fewer = setup.upload().into_iter().skip(1).collect();
    assert!(matches!(setup.prove_on_device(fewer), Err(GpuError::Canonical(Error::BoundsFailure))));
    let mut longer = setup.upload();
    longer[3] = vec![Fr::one(); 128].to_device_on(&HALO2_GPU_CTX).expect("a column");
    assert!(matches!(setup.prove_on_device(longer), Err(GpuError::Canonical(Error::BoundsFailure))));
    assert!(setup.is_valid(&setup.prove_on_device(setup.upload()).expect("a proof")), "k = {}", setup.params.k());
}

/// Checks that memory of a witness, when it is allocated again, does not show it.
#[test]
fn columns_are_cleared() {
    let _alone = alone();
    let setup = Setup::new(16);
    setup.prove_on_device(setup.upload()).expect("a proof");
    for _ in 0..4 * COLUMNS {
        let buffer = DeviceBuffer::<Fr>::with_capacity_on(1 << 16, &HALO2_GPU_CTX);
        let elements = buffer.to_host_on(&HALO2_GPU_CTX).expect("a copy");
        let shown = setup.columns.iter().position(|column| column[100..200] == elements[100..200]);
        assert_eq!(shown, None);
        std::mem::forget(buffer);
    }
}

#[test]
fn wrapped_values_are_there_at_the_first_use() {
    let elements: Vec<Fr> = (0..1 << 16).map(Fr::from).collect();
    let from = elements.to_device_on(&HALO2_COMM_STREAM).expect("a copy");
    let to = DeviceBuffer::<Fr>::with_capacity_on(from.len(), &HALO2_COMM_STREAM);
    HALO2_COMM_STREAM.stream.synchronize().expect("an idle stream");
    keep_busy(&HALO2_COMM_STREAM);
    let bytes = from.len() * size_of::<Fr>();
    // SAFETY: both buffers have these bytes.
    unsafe { cuda_memcpy_on::<true, true>(to.as_mut_raw_ptr(), from.as_raw_ptr(), bytes, &HALO2_COMM_STREAM) }
        .expect("a copy");
    let wrapped = CommWrapper::new(to);
    assert!(format!("{wrapped:?}").contains("waited: false"));
    assert_eq!(wrapped.to_host_on(&HALO2_GPU_CTX).expect("a copy"), elements);
    assert!(format!("{wrapped:?}").contains("waited: true"));
}

/// Describes memory that no stream may adopt, and counts its drops.
#[derive(Debug)]
struct Described {
    address: usize,
    bytes: usize,
    ordinal: usize,
    stream: usize,
}

static DROPS: AtomicU64 = AtomicU64::new(0);

impl Drop for Described {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: the memory is refused, so nothing uses it.
unsafe impl ForeignMemory for Described {
    fn address(&self) -> usize {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn ordinal(&self) -> usize {
        self.ordinal
    }

    fn stream(&self) -> usize {
        self.stream
    }
}

#[test]
fn memory_that_no_kernel_can_use_is_refused() {
    let accelerator = Accelerator::with_backend(BackendKind::Cuda).expect("CUDA");
    let stream = accelerator.devices()[0].stream().expect("a stream");
    let [address, bytes, created] = [1 << 20, 4096, HALO2_GPU_CTX.stream.as_raw().addr()];
    for (memory, expected) in [
        (Described { address, bytes, ordinal: 99, stream: created }, "number of the device: expected 0, got 99"),
        (Described { address: 0, bytes, ordinal: 0, stream: created }, "expected words at a multiple of 256"),
        (
            Described { address: address + 32, bytes, ordinal: 0, stream: created },
            "expected words at a multiple of 256",
        ),
        (Described { address, bytes: 0, ordinal: 0, stream: created }, "expected words at a multiple of 256"),
        (Described { address, bytes, ordinal: 0, stream: 2 }, "stream: expected one that was created, got 2"),
    ] {
        let error = stream.adopt(Box::new(memory)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(DROPS.load(Ordering::Relaxed), 5);
}
