//! What a circuit is like, drawn from a seed.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// A column that gates, copies and lookups name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A column of the witness whose values are free.
    Free(usize),
    Fixed(usize),
    Instance(usize),
}

#[derive(Debug, Clone, Copy)]
pub enum Factor {
    Query(Kind, i32),
    Challenge(usize),
}

#[derive(Debug, Clone)]
pub struct Term {
    pub coefficient: u64,
    pub factors: Vec<Factor>,
}

/// selector·(Σ terms − output(rotation)) = 0, in the rows where no query reaches a row that hides its column.
#[derive(Debug, Clone)]
pub struct Gate {
    pub terms: Vec<Term>,
    pub rotation: i32,
}

#[derive(Debug, Clone)]
pub struct Lookup {
    pub width: usize,
    /// Whether the table is in columns of the witness.
    pub in_witness: bool,
    /// Whether inputs are multiplied by a selector; only then they are rotated.
    pub selected: bool,
    pub rotation: i32,
}

/// The most that a plan may have.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub log_rows: (u32, u32),
    pub degree: usize,
    pub lookups: usize,
    pub circuits: usize,
    pub phases: u8,
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub k: u32,
    pub circuits: usize,
    /// Phases of free columns, ascending, without gaps.
    pub free: Vec<u8>,
    pub fixed: usize,
    /// Values of each instance column.
    pub instances: Vec<usize>,
    /// The phase after which each challenge is known.
    pub challenges: Vec<u8>,
    pub gates: Vec<Gate>,
    pub lookups: Vec<Lookup>,
    /// Columns of the permutation.
    pub equal: Vec<Kind>,
    /// Pairs of cells, by numbers that are taken modulo the rows there are.
    pub copies: Vec<[(Kind, usize); 2]>,
    /// Whether the circuit says where its phases end.
    pub says_phases: bool,
    pub compresses: bool,
}

/// Draws from a source.
struct Draw(ChaCha20Rng);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u32() as usize % bound.max(1)
    }

    fn between(&mut self, (from, to): (usize, usize)) -> usize {
        from + self.below(to - from + 1)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Mostly near by; else a whole number of times around.
    fn rotation(&mut self, k: u32) -> i32 {
        let near = self.of(&[-3, -2, -1, 0, 1, 2, 3]);
        let far = [1 << k, -(1 << k), 2 << k, 5 - (1 << k)];
        if self.one_in(6) { near + self.of(&far) } else { near }
    }
}

impl Plan {
    pub fn new(seed: u64, bounds: Bounds) -> Self {
        let mut draw = Draw(ChaCha20Rng::seed_from_u64(seed));
        let k = draw.between((bounds.log_rows.0 as usize, bounds.log_rows.1 as usize)) as u32;
        let phases = if draw.one_in(2) { 1 } else { draw.between((1, bounds.phases.into())) as u8 };
        let mut free: Vec<u8> = (0..phases).collect();
        free.extend((0..draw.below(4)).map(|_| draw.below(phases.into()) as u8));
        free.sort_unstable();
        let circuits = if draw.one_in(2) { 1 } else { draw.between((1, bounds.circuits)) };
        let mut plan = Self {
            seed,
            k,
            circuits,
            free,
            fixed: draw.below(4),
            instances: (0..draw.below(3)).map(|_| draw.below(5)).collect(),
            challenges: (0..phases - 1).flat_map(|phase| (0..draw.between((1, 2))).map(move |_| phase)).collect(),
            gates: Vec::new(),
            lookups: Vec::new(),
            equal: Vec::new(),
            copies: Vec::new(),
            says_phases: draw.one_in(2),
            compresses: draw.one_in(2),
        };
        plan.gates = (0..draw.below(4)).map(|_| plan.gate(&mut draw, bounds.degree)).collect();
        let lookups = if draw.one_in(12) { bounds.lookups } else { bounds.lookups.min(3) };
        plan.lookups = (0..draw.below(lookups + 1)).map(|_| lookup(&mut draw, k)).collect();
        plan.equal = plan.columns().into_iter().filter(|_| draw.one_in(2)).take(6).collect();
        let pairs = if plan.equal.is_empty() { 0 } else { draw.below(12) };
        plan.copies = (0..pairs).map(|_| [(); 2].map(|()| (draw.of(&plan.equal), draw.below(1 << k)))).collect();
        plan
    }

    pub fn phases(&self) -> u8 {
        self.free.last().map_or(1, |last| last + 1)
    }

    /// Free columns, fixed ones and instances.
    pub fn columns(&self) -> Vec<Kind> {
        let free = (0..self.free.len()).map(Kind::Free);
        let instances = (0..self.instances.len()).map(Kind::Instance);
        free.chain((0..self.fixed).map(Kind::Fixed)).chain(instances).collect()
    }

    /// The phase in which a gate's output can be computed.
    pub fn phase_of(&self, gate: &Gate) -> u8 {
        let phase = |factor: &Factor| match factor {
            Factor::Query(Kind::Free(column), _) => self.free[*column],
            Factor::Query(..) => 0,
            Factor::Challenge(number) => self.challenges[*number] + 1,
        };
        gate.terms.iter().flat_map(|term| &term.factors).map(phase).max().unwrap_or(0)
    }

    /// The degree of the gates, selectors included.
    pub fn degree(&self) -> usize {
        let degree = |term: &Term| term.factors.iter().filter(|factor| matches!(factor, Factor::Query(..))).count();
        1 + self.gates.iter().flat_map(|gate| &gate.terms).map(degree).max().unwrap_or(0)
    }

    fn gate(&self, draw: &mut Draw, degree: usize) -> Gate {
        let highest = if draw.one_in(12) { degree - 1 } else { draw.between((1, degree.min(9) - 1)) };
        let terms = (0..draw.between((1, 3))).map(|_| {
            let mut factors: Vec<_> = (0..draw.between((0, highest))).map(|_| self.factor(draw)).collect();
            if !self.challenges.is_empty() && draw.one_in(2) {
                factors.push(Factor::Challenge(draw.below(self.challenges.len())));
            }
            Term { coefficient: 1 + u64::from(draw.0.next_u32()), factors }
        });
        Gate { terms: terms.collect(), rotation: draw.rotation(self.k) }
    }

    fn factor(&self, draw: &mut Draw) -> Factor {
        let column = draw.of(&self.columns());
        Factor::Query(column, draw.rotation(self.k))
    }
}

fn lookup(draw: &mut Draw, k: u32) -> Lookup {
    let selected = draw.one_in(2);
    let rotation = if selected { draw.rotation(k) } else { 0 };
    Lookup { width: draw.between((1, 4)), in_witness: draw.one_in(2), selected, rotation }
}
