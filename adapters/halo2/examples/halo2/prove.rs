//! Keys and proofs by proofwarp, and by halo2-axiom's own functions.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{self, Circuit, ProvingKey, VerifyingKey};
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use rand_core::OsRng;

use crate::Failure;
use crate::marks::Marked;
use crate::measure::{Prover, Transcript};
use crate::options::Opening;
use crate::outcome::Step;
use crate::task::Setup;

type Kzg = KZGCommitmentScheme<Bn256>;

/// How reports of key generation begin.
const KEYGEN: &str = "halo2 keygen: ";

/// proofwarp.
pub struct Ours<'a> {
    setup: &'a Setup,
    opening: Opening,
    seen: Arc<Mutex<Seen>>,
}

/// What proofwarp reports.
#[derive(Default)]
struct Seen {
    /// Where its operations run.
    places: BTreeSet<String>,
    /// Of keys.
    steps: Vec<Step>,
}

impl<'a> Ours<'a> {
    /// Takes note of what proofwarp reports from now on.
    pub fn new(setup: &'a Setup, opening: Opening) -> Self {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let all = seen.clone();
        proofwarp::report::observe(move |report| {
            let mut seen = lock(&all);
            if let Some(name) = report.operation.strip_prefix(KEYGEN) {
                seen.steps.push(Step { name: name.to_owned(), ms: report.total.as_secs_f64() * 1e3 });
            } else {
                seen.places.insert(format!("{} ({})", report.backend, report.device));
            }
        });
        Self { setup, opening, seen }
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prover for Ours<'_> {
    fn name(&self) -> &'static str {
        "proofwarp"
    }

    fn keygen_vk<C: Circuit<Fr>>(&self, circuit: &C) -> Result<VerifyingKey<G1Affine>, Failure> {
        Ok(proofwarp_halo2::keygen_vk(self.setup, circuit)?)
    }

    fn keygen_pk<C: Circuit<Fr>>(
        &self,
        vk: VerifyingKey<G1Affine>,
        circuit: &C,
    ) -> Result<ProvingKey<G1Affine>, Failure> {
        Ok(proofwarp_halo2::keygen_pk(self.setup, vk, circuit)?)
    }

    fn prove<C: Circuit<Fr>>(
        &self,
        key: &ProvingKey<G1Affine>,
        circuit: &[C; 1],
        instances: &[&[Fr]],
    ) -> Result<Transcript, Failure> {
        let mut transcript = Marked::new(Blake2bWrite::init(Vec::new()));
        let out = &mut transcript;
        match self.opening {
            Opening::Shplonk => {
                proofwarp_halo2::create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, Challenge255<_>, _, _, _>(
                    self.setup,
                    key,
                    circuit,
                    &[instances],
                    OsRng,
                    out,
                )
            }
            Opening::Gwc => proofwarp_halo2::create_proof::<Kzg, ProverGWC<'_, Bn256>, Challenge255<_>, _, _, _>(
                self.setup,
                key,
                circuit,
                &[instances],
                OsRng,
                out,
            ),
        }?;
        Ok(transcript)
    }

    fn key_steps(&self) -> Vec<Step> {
        std::mem::take(&mut lock(&self.seen).steps)
    }

    fn ran_on(&self) -> Vec<String> {
        lock(&self.seen).places.iter().cloned().collect()
    }
}

/// halo2-axiom.
pub struct Stock<'a> {
    pub setup: &'a Setup,
    pub opening: Opening,
}

impl Prover for Stock<'_> {
    fn name(&self) -> &'static str {
        "halo2-axiom"
    }

    fn keygen_vk<C: Circuit<Fr>>(&self, circuit: &C) -> Result<VerifyingKey<G1Affine>, Failure> {
        Ok(plonk::keygen_vk(self.setup, circuit)?)
    }

    fn keygen_pk<C: Circuit<Fr>>(
        &self,
        vk: VerifyingKey<G1Affine>,
        circuit: &C,
    ) -> Result<ProvingKey<G1Affine>, Failure> {
        Ok(plonk::keygen_pk(self.setup, vk, circuit)?)
    }

    fn prove<C: Circuit<Fr>>(
        &self,
        key: &ProvingKey<G1Affine>,
        circuit: &[C; 1],
        instances: &[&[Fr]],
    ) -> Result<Transcript, Failure> {
        let mut transcript = Marked::new(Blake2bWrite::init(Vec::new()));
        let out = &mut transcript;
        match self.opening {
            Opening::Shplonk => plonk::create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, Challenge255<_>, _, _, _>(
                self.setup,
                key,
                circuit,
                &[instances],
                OsRng,
                out,
            ),
            Opening::Gwc => plonk::create_proof::<Kzg, ProverGWC<'_, Bn256>, Challenge255<_>, _, _, _>(
                self.setup,
                key,
                circuit,
                &[instances],
                OsRng,
                out,
            ),
        }?;
        Ok(transcript)
    }

    fn ran_on(&self) -> Vec<String> {
        vec![format!("the host's {} cores", rayon::current_num_threads())]
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use halo2_axiom::poly::kzg::commitment::ParamsKZG;

    use super::*;
    use crate::measure::measure;
    use crate::options::{Kind, Work};
    use crate::outcome::Outcome;
    use crate::shape::Shape;
    use crate::task::{Circuits, Task};

    fn both<C: Circuit<Fr>>(circuits: &Circuits<C>, work: &Work) -> [Outcome; 2] {
        let setup = ParamsKZG::setup(work.k, OsRng);
        let task = Task { setup: &setup, circuits, work };
        let ours = measure(&Ours::new(&setup, work.opening), &task).expect("proofs");
        [ours, measure(&Stock { setup: &setup, opening: work.opening }, &task).expect("proofs")]
    }

    #[test]
    fn both_provers_prove_and_steps_add_up() {
        for (opening, circuit) in Opening::value_variants().iter().zip([Kind::Measured, Kind::Base]) {
            let work = Work { circuit, k: 10, opening: *opening, proofs: 2 };
            let [ours, stock] = match circuit {
                Kind::Base => both(&Circuits::base(work.k), &work),
                _ => both(&Circuits::filled(Shape::measured(work.k)), &work),
            };
            assert_eq!((&ours.key, ours.proof_bytes), (&stock.key, stock.proof_bytes));
            assert!(!ours.ran_on.is_empty() && stock.ran_on[0].contains("cores"));
            for outcome in [ours, stock] {
                let sum: f64 = outcome.steps.iter().map(|step| step.ms).sum();
                assert!((sum - outcome.proof_ms).abs() < 0.01 && outcome.steps.iter().all(|step| step.ms > 0.0));
                assert_eq!((outcome.verified, outcome.runs_ms.len()), (3, 2));
            }
        }
    }

    #[test]
    fn another_proof_is_none() {
        let work = Work { circuit: Kind::Wide, k: 10, opening: Opening::Shplonk, proofs: 1 };
        let (setup, circuits) = (ParamsKZG::setup(10, OsRng), Circuits::filled(Shape::wide(10)));
        let (task, ours) = (Task { setup: &setup, circuits: &circuits, work: &work }, Ours::new(&setup, work.opening));
        let key =
            ours.keygen_pk(ours.keygen_vk(&circuits.for_keys).expect("a key"), &circuits.for_keys).expect("a key");
        let circuit = [circuits.for_keys.clone()];
        let mut proof = ours.prove(&key, &circuit, &[]).expect("a proof").inner.finalize();
        assert!(task.verify(key.get_vk(), &proof).is_ok());
        proof[40] ^= 1;
        assert!(task.verify(key.get_vk(), &proof).is_err());
    }
}
