//! A sample of candidates, by a written seed.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::candidates::{Candidate, KINDS};
use crate::modules::Module;

/// The number of the issue that asked for mutants, written down before anything was drawn.
const SEED: u64 = 53;
/// Mutants drawn for two of the sample: those that do not compile are passed over.
const DRAWN: usize = 3;

/// A mutant of the table.
pub struct Drawn {
    pub number: u32,
    pub module: &'static str,
    pub candidate: Candidate,
}

/// Takes from each kind in turn, in an order that the seed makes: otherwise literals would be most of the sample.
fn of_module(count: usize, candidates: &[Candidate], random: &mut ChaCha8Rng) -> Vec<Candidate> {
    let mut kinds: Vec<Vec<Candidate>> =
        KINDS.iter().map(|kind| candidates.iter().filter(|one| one.kind == *kind).cloned().collect()).collect();
    for kind in &mut kinds {
        kind.shuffle(random);
    }
    let mut taken = Vec::new();
    while taken.len() < count && kinds.iter().any(|kind| !kind.is_empty()) {
        taken.extend(kinds.iter_mut().filter_map(Vec::pop));
    }
    taken.truncate(count);
    taken
}

pub fn draw(modules: &[(&'static Module, Vec<Candidate>)]) -> Vec<Drawn> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut sample = Vec::new();
    for (module, candidates) in modules {
        println!("{}: {} candidates", module.name, candidates.len());
        let count = (module.count * DRAWN).div_ceil(2);
        let drawn = of_module(count, candidates, &mut random);
        sample.extend(drawn.into_iter().map(|candidate| (module.name, candidate)));
    }
    let numbered = (1..).zip(sample);
    numbered.map(|(number, (module, candidate))| Drawn { number, module, candidate }).collect()
}
