//! Proves a circuit of circom, and prints the time of each step. `verification_key.json` is written beside the proof.
//!
//! usage: prove CIRCUIT.zkey WITNESS.wtns PROOF.json PUBLIC.json [PROOFS]

use std::path::Path;
use std::time::{Duration, Instant};

use proofwarp::Accelerator;
use proofwarp_circom::{
    CurveId, Groth16Engine, PreparedVerificationKey, ProveOptions, ProvingKey, Witness, Zkey, public_to_json,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (files, proofs) = match arguments.as_slice() {
        [files @ .., proofs] if files.len() == 4 => (files, proofs.parse::<usize>()?.max(1)),
        files => (files, 1_usize),
    };
    let [zkey, witness, proof, public] = files else {
        return Err("usage: prove CIRCUIT.zkey WITNESS.wtns PROOF.json PUBLIC.json [PROOFS]".into());
    };
    let accelerator = timed("start of the driver", Accelerator::from_env)?;
    let zkey = timed("zkey", || Zkey::open(zkey))?;
    let witness = timed("wtns", || Witness::open(witness))?;
    println!("{:?}", zkey.header());
    let texts = match zkey.header().curve {
        CurveId::Bn254 => prove::<halo2curves::bn256::Bn256>(&accelerator, &zkey, &witness, proofs)?,
        CurveId::Bls12_381 => prove::<blstrs::Bls12>(&accelerator, &zkey, &witness, proofs)?,
    };
    std::fs::write(proof, &texts[0])?;
    std::fs::write(public, &texts[1])?;
    std::fs::write(Path::new(proof).with_file_name("verification_key.json"), &texts[2])?;
    Ok(())
}

/// Proves `witness` `proofs` times, and returns the texts of the last proof and the public signals.
fn prove<E: Groth16Engine>(
    accelerator: &Accelerator,
    zkey: &Zkey,
    witness: &Witness,
    proofs: usize,
) -> Result<[String; 3]> {
    let key = timed("key", || ProvingKey::<E>::new(accelerator, zkey))?;
    println!("device memory of the key: {:.1} MB", key.device_bytes() as f64 / 1e6);
    let (public, mut proof) = (key.public_signals(witness)?, timed("first proof, verified", || key.prove(witness))?);
    for (what, verify) in [("proof without verification", false), ("verified proof", true)] {
        let mut times = Vec::with_capacity(proofs);
        for _ in 0..proofs {
            let start = Instant::now();
            proof = key.prove_with(&[witness], ProveOptions { verify, ..ProveOptions::default() })?.remove(0);
            times.push(start.elapsed());
        }
        print_times(what, times);
    }
    let verifier = PreparedVerificationKey::new(key.verification_key())?;
    if !timed("verification alone", || verifier.verify(&public, &proof))? {
        return Err("the proof does not verify".into());
    }
    Ok([proof.to_json(), public_to_json::<E>(&public), key.verification_key().to_json()])
}

/// Prints the least, the median and the greatest of `times`.
fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let [least, median, greatest] = [0, times.len() / 2, times.len() - 1].map(|index| times[index].as_secs_f64() * 1e3);
    println!("{what}, {} times: {least:.2} to {greatest:.2} ms, median {median:.2} ms", times.len());
}

/// Prints the time that `run` takes.
fn timed<T, E: Into<Box<dyn std::error::Error>>>(
    what: &str,
    run: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    let start = Instant::now();
    let result = run().map_err(Into::into)?;
    println!("{what}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(result)
}
