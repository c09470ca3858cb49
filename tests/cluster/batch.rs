//! Batches of proofs.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halo2curves::bn256::Bn256;
use proofwarp::Result;
use proofwarp::cluster::{BatchOutcome, ClusterBatch, OwnedWitness, proof_from_bytes, proof_to_bytes, prove_batch};
use proofwarp::groth16::ProvingKeyOnDevice;

use crate::proof::{Setup, split};
use crate::tools::Checks;

const COUNT: usize = 23;
/// Proofs that a rank makes before it dies.
const BEFORE_DEATH: usize = 2;

fn batch(folder: &Path, at_once: usize) -> ClusterBatch {
    ClusterBatch { name: "proofs of a test".to_owned(), count: COUNT, folder: folder.to_owned(), at_once }
}

fn make(checks: &Checks, batch: &ClusterBatch, before: impl Fn() + Sync) -> Result<BatchOutcome> {
    let setup = Setup::new(45);
    let key = ProvingKeyOnDevice::<Bn256>::new(checks.cluster.accelerator(), setup.parameters.clone()).expect("a key");
    prove_batch(checks.cluster, batch, &key, &setup.circuit, |number| {
        before();
        let (assignment, r, s) = Setup::witness(number);
        let (inputs, aux) = split(&assignment);
        Ok(OwnedWitness { inputs: inputs.to_vec(), aux: aux.to_vec(), evaluations: None, r, s })
    })
}

fn check_all(checks: &Checks, batch: &ClusterBatch) {
    if checks.cluster.rank() == 0 {
        let setup = Setup::new(45);
        for number in 0..COUNT {
            let bytes = batch.result(number).expect("a proof");
            let proof = proof_from_bytes::<Bn256>(&bytes).expect("a proof");
            checks.check("proof", proof == setup.expected(checks, number), number);
            assert_eq!(bytes, proof_to_bytes(&proof));
        }
    }
}

/// A batch, and a second one that finds all done.
pub fn twice(checks: &Checks) {
    for at_once in [1, 3] {
        let temp = tempfile::tempdir().expect("a folder");
        let batch = batch(temp.path(), at_once);
        let outcome = make(checks, &batch, || ()).expect("proofs");
        let made: usize = outcome.made.iter().sum();
        checks.check("all are made once", outcome.found == 0 && made == COUNT, format!("{outcome:?}"));
        check_all(checks, &batch);
        let again = make(checks, &batch, || ()).expect("nothing to do");
        checks.check(
            "nothing is made twice",
            again.found == COUNT && again.made.iter().sum::<usize>() == 0,
            format!("{again:?}"),
        );
        let other = ClusterBatch { count: COUNT + 1, ..batch };
        checks.failed("a folder of another batch", 0, "proofs of a test", make(checks, &other, || ()));
    }
}

/// A batch in a folder, in which one rank dies half way through; without such a rank it must be finished.
pub fn killed(checks: &Checks, folder: &str, dead: Option<usize>) {
    let (batch, made, rank) = (batch(folder.as_ref(), 1), AtomicUsize::new(0), checks.cluster.rank());
    let before = || {
        std::thread::sleep(Duration::from_millis(100));
        if dead == Some(rank) && made.fetch_add(1, Ordering::Relaxed) == BEFORE_DEATH {
            // As the kernel ends a process that has no memory left: nothing is told to anybody.
            std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status().expect("kill");
            std::thread::sleep(Duration::from_secs(50));
        }
    };
    let outcome = make(checks, &batch, before).expect("proofs");
    checks.check("some were made before", outcome.found > 0 && outcome.found < COUNT, format!("{outcome:?}"));
    let made: usize = outcome.made.iter().sum();
    checks.check("the rest is made", outcome.found + made == COUNT, format!("{outcome:?}"));
    check_all(checks, &batch);
}
