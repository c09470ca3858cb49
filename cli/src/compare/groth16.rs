//! Compares proofs of bellperson's by proofwarp's resident prover and by stock.

use anyhow::{Result, ensure};
use bellperson::groth16::{
    Parameters, Proof, create_proof, generate_random_parameters, prepare_verifying_key, verify_proof,
};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp_bellperson::Prover;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::measure::{STOCK, Session};
use crate::output::say;

const OPERATION: &str = "groth16 bls12_381, synthesis to proof";

/// A circuit that proves knowledge of an `x` which, squared `steps` times, gives the public result.
#[derive(Clone)]
struct Squares {
    x: Scalar,
    steps: usize,
}

impl Squares {
    fn result(&self) -> Scalar {
        (0..self.steps).fold(self.x, |value, _| value.square())
    }
}

impl Circuit<Scalar> for Squares {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.x;
        let mut x = cs.alloc(|| "x", || Ok(value))?;
        for step in 1..=self.steps {
            value = value.square();
            let next = match step < self.steps {
                true => cs.alloc(|| "square", || Ok(value))?,
                false => cs.alloc_input(|| "result", || Ok(value))?,
            };
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + next);
            x = next;
        }
        Ok(())
    }
}

/// Measures Groth16 proofs by proofwarp and by stock bellperson, at all sizes of `session`.
pub fn measure(session: &mut Session) -> Result<()> {
    let logs = session.logs.clone();
    session.expect(2 * logs.len());
    logs.into_iter().try_for_each(|log| one_size(session, log))
}

fn one_size(session: &mut Session, log: u32) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(log));
    // The two inputs add a constraint each.
    let circuit = Squares { x: Scalar::random(&mut rng), steps: (1 << log) - 2 };
    say(format_args!("generating parameters for 2^{log} constraints"));
    let parameters = generate_random_parameters::<Bls12, _, _>(circuit.clone(), &mut rng)?;
    let [r, s] = [(); 2].map(|()| Scalar::random(&mut rng));
    let ours = ours(session, log, &circuit, &parameters, (r, s))?;
    let stock_name = format!("bellperson 0.27.0, {STOCK}");
    let stock =
        session.timed((OPERATION, &stock_name, log), || Ok(create_proof(circuit.clone(), &parameters, r, s)?))?;
    ensure!(ours == stock, "2^{log}: proofs differ");
    let key = prepare_verifying_key(&parameters.vk);
    ensure!(verify_proof(&key, &ours, &[circuit.result()])?, "2^{log}: the proof does not verify");
    session.checked(format!("2^{log}: proof valid, and equal to stock's"));
    Ok(())
}

fn ours(
    session: &mut Session,
    log: u32,
    circuit: &Squares,
    parameters: &Parameters<Bls12>,
    (r, s): (Scalar, Scalar),
) -> Result<Proof<Bls12>> {
    let (prover, _) = Prover::new(&session.accelerator, circuit.clone(), &parameters)?;
    session.ours((OPERATION, "proofwarp, resident", log), || {
        let assignments = prover.assign(vec![circuit.clone()])?;
        let (mut proofs, report) = prover.prove(&assignments, &[r], &[s], None)?;
        Ok((proofs.remove(0), report))
    })
}
