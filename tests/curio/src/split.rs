//! Starts proofs and finishes them elsewhere, as the engine's workers do, with a, b, c in its page-locked memory.

use std::fs::File;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use bellperson::groth16::{
    Proof, ProvingAssignment, SendableGpuMutex, SuprasealParameters, alloc_gpu_mutex, free_gpu_mutex,
    generate_random_parameters, prepare_verifying_key, synthesize_circuits_batch_with_prover_factory, verify_proof,
};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use cuzk_core::pinned_pool::{PinnedBuffer, PinnedPool};
use cuzk_core::pipeline::{SynthesizedProof, gpu_prove, gpu_prove_finish, gpu_prove_start};
use cuzk_core::srs_manager::CircuitId;
use ff::Field;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use crate::timed::timed;

/// Number of squarings of the circuit.
const LINKS: usize = 1000;
/// Number of constraints: the squarings, and one for each input.
const CONSTRAINTS: usize = LINKS + 2;
/// Number of threads that prove at once with one lock, 2: the engine's workers of a card.
const WORKERS: u64 = 2;

/// Describes a chain of squares from a secret.
#[derive(Clone, Copy)]
struct Squares(u64);

impl Squares {
    fn result(self) -> Scalar {
        (0..LINKS).fold(Scalar::from(self.0), |x, _| x.square())
    }
}

impl Circuit<Scalar> for Squares {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = Scalar::from(self.0);
        let mut x = cs.alloc(|| "secret", || Ok(value))?;
        for link in 1..=LINKS {
            value = value.square();
            let next =
                if link < LINKS { cs.alloc(|| "x", || Ok(value))? } else { cs.alloc_input(|| "x", || Ok(value))? };
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + next);
            x = next;
        }
        Ok(())
    }
}

/// Proves on two threads, both ways.
pub fn prove() -> Result<()> {
    let made = generate_random_parameters::<Bls12, _, _>(Squares(3), &mut ChaCha20Rng::seed_from_u64(1))?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("parameters");
    made.write(File::create(&path)?)?;
    let (key, parameters) = (prepare_verifying_key(&made.vk), SuprasealParameters::<Bls12>::new(path)?);
    let (pool, lock) = (Arc::new(PinnedPool::new()), SendableGpuMutex(alloc_gpu_mutex()));
    let one = |seed: u64| -> Result<()> {
        let (circuit, lock) = (Squares(seed), lock);
        let verify =
            |bytes: &[u8]| Ok::<_, anyhow::Error>(verify_proof(&key, &Proof::read(bytes)?, &[circuit.result()])?);
        let whole = gpu_prove(synthesize(circuit, &pool)?, &parameters, lock.0, 0)?;
        ensure!(verify(&whole.proof_bytes)?, "a whole proof does not verify");
        let (pending, part, start) = gpu_prove_start(synthesize(circuit, &pool)?, &parameters, lock.0, -1)?;
        let finish = || gpu_prove_finish(pending, part, start);
        let finished = thread::scope(|scope| scope.spawn(finish).join().expect("no panic"))?;
        ensure!(verify(&finished.proof_bytes)?, "a proof that was started does not verify");
        Ok(())
    };
    timed("start and finish", || {
        thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|seed| scope.spawn(move || one(3 + seed))).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
        })
    })?;
    ensure!(pool.free_count() == 3 * WORKERS as usize, "the engine did not get its memory back");
    let bytes = pool.total_bytes();
    ensure!(pool.shrink(u64::MAX) == bytes && pool.total_bytes() == 0, "the engine's memory was not freed");
    // SAFETY: any pointer is allowed.
    unsafe { free_gpu_mutex(lock.0) };
    Ok(())
}

/// Synthesizes `circuit` into memory of `pool`.
fn synthesize(circuit: Squares, pool: &Arc<PinnedPool>) -> Result<SynthesizedProof> {
    let bytes = CONSTRAINTS * size_of::<Scalar>();
    let assignment = |_: usize, _| {
        let [a, b, c] = [(); 3].map(|()| pool.checkout(bytes).expect("memory"));
        let (buffers, to) = ([&a, &b, &c].map(|buffer| buffer.as_ptr().cast::<Scalar>()), pool.clone());
        let size = a.size();
        let give_back = move |a, b, c, size| [a, b, c].map(|start| to.checkin(PinnedBuffer::from_raw(start, size)));
        let give_back = Box::new(move |a, b, c, size| drop(give_back(a, b, c, size)));
        // SAFETY: the three buffers are page-aligned, have room for all constraints, and belong to the assignment until
        // it gives them back.
        Some(unsafe {
            ProvingAssignment::new_with_pinned(
                CONSTRAINTS,
                LINKS,
                2,
                buffers[0],
                buffers[1],
                buffers[2],
                size,
                give_back,
            )
        })
    };
    let (_, provers, input_assignments, aux_assignments) =
        synthesize_circuits_batch_with_prover_factory(vec![circuit], None, assignment)?;
    ensure!(provers[0].is_pinned(), "the assignment is not in the engine's memory");
    Ok(SynthesizedProof {
        circuit_id: CircuitId::WinningPost32G,
        provers,
        input_assignments,
        aux_assignments,
        r_s: vec![Scalar::from(5)],
        s_s: vec![Scalar::from(7)],
        synthesis_duration: Duration::ZERO,
        partition_index: None,
        total_partitions: 1,
    })
}
