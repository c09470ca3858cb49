//! Groth16 by functions of bellperson's signatures, which prove on the process's own accelerator: bellperson's own on the drop-in,
//! and the adapter's.

use bellperson::groth16::create_random_proof_batch;
use proofwarp::Accelerator;

use crate::common::rng;
use crate::groth16::{Fixture, LINKS, refusal};
use crate::hook::Questions;
use crate::subject::{Refusal, Subject};

/// bellperson computes what is small by itself.
const STOCK_LINKS: usize = 100;

/// bellperson's prover, whose operations are the drop-in's.
struct Stock(Fixture);

impl Subject for Stock {
    fn name(&self) -> String {
        "bellperson on the drop-in".to_owned()
    }

    /// docs/troubleshooting.md: where bellperson would transform on the CPU, a forced backend that failed is a panic.
    fn may_panic_with(&self, text: &str) -> bool {
        text.contains("is forced, and")
    }

    fn is_checked(&self) -> bool {
        false
    }

    fn prove(&self, _: &Accelerator, _: &Questions) -> Result<bool, Refusal> {
        let proved = create_random_proof_batch(self.0.circuits.clone(), &self.0.key, &mut rng(1));
        Ok(self.0.verify(&proved.map_err(|error| refusal(&error))?))
    }
}

/// The adapter's functions, which keep the last keys on the devices.
struct Adapter(Fixture);

impl Subject for Adapter {
    fn name(&self) -> String {
        "bellperson by the adapter".to_owned()
    }

    fn is_checked(&self) -> bool {
        false
    }

    fn prove(&self, _: &Accelerator, _: &Questions) -> Result<bool, Refusal> {
        let proved = proofwarp_bellperson::create_random_proof_batch(self.0.circuits.clone(), &self.0.key, &mut rng(1));
        Ok(self.0.verify(&proved.map_err(|error| refusal(&error))?))
    }
}

/// All that this group proves.
pub fn subjects() -> Vec<Box<dyn Subject>> {
    let subjects: Vec<Box<dyn Subject>> =
        vec![Box::new(Stock(Fixture::new(STOCK_LINKS))), Box::new(Adapter(Fixture::new(LINKS)))];
    // Making keys, bellperson was kept from devices.
    // SAFETY: the worker has no other thread that reads the environment yet.
    unsafe { std::env::remove_var("BELLMAN_NO_GPU") };
    subjects
}
