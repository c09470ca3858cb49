//! Inclusions in Poseidon Merkle trees of arity 8, with Filecoin's parameters over the scalar field of
//! BLS12-381: width 9, 8 full and 57 partial rounds, x^5, domain tag 2^8 − 1.

use std::sync::Arc;

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use super::constraints;
use super::x5::fifth_power;

const ARITY: usize = 8;
const WIDTH: usize = ARITY + 1;
const FULL_ROUNDS: usize = 8;
const PARTIAL_ROUNDS: usize = 57;
/// Levels of a tree of 2^30 leaves, which is a sector of 32 GiB.
const LEVELS: usize = 10;

/// A path's level: the children of a node, and which of them comes from below.
#[derive(Clone)]
struct Level {
    children: [Scalar; ARITY],
    position: usize,
}

/// Knowledge of leaves and their paths to public roots.
#[derive(Clone)]
pub struct Inclusions {
    hash: Arc<Hash>,
    paths: Vec<Vec<Level>>,
    roots: Vec<Scalar>,
}

impl Inclusions {
    /// Creates as many paths of ten levels as `capacity` constraints allow, then a shorter path if one fits. Draws the
    /// witness from `rng`.
    ///
    /// # Errors
    /// Returns an error if the circuit cannot be synthesised.
    pub fn fitting(capacity: usize, rng: &mut ChaCha8Rng) -> Result<Self, SynthesisError> {
        let hash = Arc::new(Hash::new());
        let cost = |heights: &[usize]| constraints(Self::zeros(&hash, heights));
        let empty = cost(&[])?;
        let level = cost(&[2])? - cost(&[1])?;
        let root = cost(&[1])? - empty - level;
        let path = LEVELS * level + root;
        let left = capacity.saturating_sub(empty);
        let paths = left / path;
        let rest = (left - paths * path).saturating_sub(root) / level;
        let heights = std::iter::repeat_n(LEVELS, paths).chain((rest > 0).then_some(rest));
        let mut inclusions = Self::zeros(&hash, &heights.collect::<Vec<_>>());
        inclusions.draw_witness(rng);
        Ok(inclusions)
    }

    fn zeros(hash: &Arc<Hash>, heights: &[usize]) -> Self {
        let level = Level { children: [Scalar::ZERO; ARITY], position: 0 };
        let paths = heights.iter().map(|height| vec![level.clone(); *height]).collect();
        Self { hash: hash.clone(), paths, roots: vec![Scalar::ZERO; heights.len()] }
    }

    fn draw_witness(&mut self, rng: &mut ChaCha8Rng) {
        for (path, root) in self.paths.iter_mut().zip(&mut self.roots) {
            *root = Scalar::random(&mut *rng);
            for level in path {
                level.children = std::array::from_fn(|_| Scalar::random(&mut *rng));
                level.position = rng.next_u32() as usize % ARITY;
                level.children[level.position] = *root;
                *root = self.hash.digest(&level.children);
            }
        }
    }

    /// Returns the roots of all paths.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        self.roots.clone()
    }

    /// Describes the paths and their hashes.
    pub fn describe(&self) -> String {
        let hashes: usize = self.paths.iter().map(Vec::len).sum();
        format!("{} Poseidon Merkle paths, {hashes} hashes of arity {ARITY}", self.paths.len())
    }
}

impl Circuit<Scalar> for Inclusions {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        for (index, (path, root)) in self.paths.iter().zip(&self.roots).enumerate() {
            let mut cs = cs.namespace(|| format!("path {index}"));
            let leaf = cs.alloc(|| "leaf", || Ok(path[0].children[path[0].position]))?;
            let mut node = LinearCombination::from_variable(leaf);
            for (height, level) in path.iter().enumerate() {
                let mut cs = cs.namespace(|| format!("level {height}"));
                let children = allocate_children(&mut cs, level)?;
                select(cs.namespace(|| "position"), level, &children, node)?;
                node = self.hash.synthesize(cs.namespace(|| "hash"), children)?;
            }
            let root = cs.alloc_input(|| "root", || Ok(*root))?;
            cs.enforce(|| "root is the last hash", |_| node, |lc| lc + CS::one(), |lc| lc + root);
        }
        Ok(())
    }
}

/// A wire of the circuit. The pair holds its variable and its value.
type Wire = (Variable, Scalar);

fn allocate_children<CS: ConstraintSystem<Scalar>>(cs: &mut CS, level: &Level) -> Result<Vec<Wire>, SynthesisError> {
    let children = level.children.iter().enumerate();
    children.map(|(index, child)| Ok((cs.alloc(|| format!("child {index}"), || Ok(*child))?, *child))).collect()
}

/// Enforces that the child at the secret position of `level` equals `node`: Σ sᵢ·childᵢ = node with bits sᵢ. Exactly
/// one bit is set.
fn select<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    level: &Level,
    children: &[Wire],
    node: LinearCombination<Scalar>,
) -> Result<(), SynthesisError> {
    let mut one = LinearCombination::zero();
    let mut selected = LinearCombination::zero();
    for (index, (child, value)) in children.iter().enumerate() {
        let set = Scalar::from(u64::from(index == level.position));
        let bit = cs.alloc(|| format!("bit {index}"), || Ok(set))?;
        let product = cs.alloc(|| format!("product {index}"), || Ok(set * value))?;
        cs.enforce(|| format!("bit {index} is 0 or 1"), |lc| lc + bit, |lc| lc + CS::one() - bit, |lc| lc);
        cs.enforce(|| format!("bit times child {index}"), |lc| lc + bit, |lc| lc + *child, |lc| lc + product);
        one = one + bit;
        selected = selected + product;
    }
    cs.enforce(|| "one bit", |_| one, |lc| lc + CS::one(), |lc| lc + CS::one());
    cs.enforce(|| "selected", |_| selected, |lc| lc + CS::one(), |_| node);
    Ok(())
}

/// Σ coefficient · wire + constant, over the wires of one hash: its inputs, then the outputs of its S-boxes.
#[derive(Clone, Default)]
struct Row {
    coefficients: Vec<Scalar>,
    constant: Scalar,
}

impl Row {
    fn wire(index: usize) -> Self {
        let coefficients = (0..=index).map(|other| Scalar::from(u64::from(other == index))).collect();
        Self { coefficients, constant: Scalar::ZERO }
    }

    fn add_scaled(&mut self, other: &Self, factor: Scalar) {
        let length = self.coefficients.len().max(other.coefficients.len());
        self.coefficients.resize(length, Scalar::ZERO);
        self.coefficients.iter_mut().zip(&other.coefficients).for_each(|(sum, term)| *sum += *term * factor);
        self.constant += other.constant * factor;
    }

    fn terms(&self) -> impl Iterator<Item = (usize, Scalar)> {
        self.coefficients.iter().copied().enumerate().filter(|(_, coefficient)| !bool::from(coefficient.is_zero()))
    }

    fn combination(&self, one: Variable, wires: &[Wire]) -> LinearCombination<Scalar> {
        let constant = LinearCombination::from_coeff(one, self.constant);
        self.terms().fold(constant, |sum, (index, coefficient)| sum + (coefficient, wires[index].0))
    }

    fn value(&self, wires: &[Wire]) -> Scalar {
        self.terms().fold(self.constant, |sum, (index, coefficient)| sum + coefficient * wires[index].1)
    }
}

/// The Poseidon permutation in the form that a circuit needs. `s_boxes` holds the input of each S-box as an affine
/// combination of earlier wires.
///
/// Only S-boxes cost constraints. The layers between them are affine and equal in every hash, so they are multiplied
/// out once.
struct Hash {
    constants: Vec<Scalar>,
    mds: [[Scalar; WIDTH]; WIDTH],
    s_boxes: Vec<Row>,
    output: Row,
}

impl Hash {
    fn new() -> Self {
        let mut hash = Self { constants: constants(), mds: mds(), s_boxes: Vec::new(), output: Row::default() };
        let mut state = vec![Row { constant: domain_tag(), ..Row::default() }];
        state.extend((0..ARITY).map(Row::wire));
        for round in 0..FULL_ROUNDS + PARTIAL_ROUNDS {
            for (row, constant) in state.iter_mut().zip(hash.round_constants(round)) {
                row.constant += constant;
            }
            for row in &mut state[..boxes_in(round)] {
                let output = Row::wire(ARITY + hash.s_boxes.len());
                hash.s_boxes.push(std::mem::replace(row, output));
            }
            state = hash.mix(&state);
        }
        hash.output = state.swap_remove(1);
        hash
    }

    fn round_constants(&self, round: usize) -> Vec<Scalar> {
        self.constants[round * WIDTH..][..WIDTH].to_vec()
    }

    fn mix(&self, state: &[Row]) -> Vec<Row> {
        let mix_row = |factors: &[Scalar; WIDTH]| {
            let mut sum = Row::default();
            state.iter().zip(factors).for_each(|(row, factor)| sum.add_scaled(row, *factor));
            sum
        };
        self.mds.iter().map(mix_row).collect()
    }

    /// Returns the hash of `children`, computed by the definition of the permutation.
    fn digest(&self, children: &[Scalar; ARITY]) -> Scalar {
        let mut state = [domain_tag(); WIDTH];
        state[1..].copy_from_slice(children);
        for round in 0..FULL_ROUNDS + PARTIAL_ROUNDS {
            state.iter_mut().zip(self.round_constants(round)).for_each(|(value, constant)| *value += constant);
            state[..boxes_in(round)].iter_mut().for_each(|value| *value *= value.square().square());
            state = self.mds.map(|row| row.iter().zip(&state).map(|(factor, value)| *factor * *value).sum());
        }
        state[1]
    }

    /// Synthesises the hash of the eight `wires`. Returns its output as an affine combination of wires.
    fn synthesize<CS: ConstraintSystem<Scalar>>(
        &self,
        mut cs: CS,
        mut wires: Vec<Wire>,
    ) -> Result<LinearCombination<Scalar>, SynthesisError> {
        for (index, row) in self.s_boxes.iter().enumerate() {
            let (input, value) = (row.combination(CS::one(), &wires), row.value(&wires));
            wires.push(fifth_power(cs.namespace(|| format!("S-box {index}")), &input, value)?);
        }
        Ok(self.output.combination(CS::one(), &wires))
    }
}

/// Returns the number of S-boxes in `round`. Half of the full rounds come first, the other half last.
fn boxes_in(round: usize) -> usize {
    let partial = FULL_ROUNDS / 2..FULL_ROUNDS / 2 + PARTIAL_ROUNDS;
    if partial.contains(&round) { 1 } else { WIDTH }
}

/// Returns the domain tag of a Merkle tree's hashes, which separates them from other hashes. It has a set bit for
/// each child.
fn domain_tag() -> Scalar {
    Scalar::from((1 << ARITY) - 1)
}

/// Returns the MDS matrix, a Cauchy matrix: entry (i, j) is 1 / (xᵢ + yⱼ) with xᵢ = i, yⱼ = width + j.
fn mds() -> [[Scalar; WIDTH]; WIDTH] {
    let entry = |i: usize, j: usize| Scalar::from((WIDTH + i + j) as u64).invert().unwrap_or(Scalar::ZERO);
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// Returns the round constants of the Poseidon paper's generator (Grassi et al. 2019, appendix E).
fn constants() -> Vec<Scalar> {
    let mut grain = Grain::new();
    std::iter::repeat_with(|| grain.next_scalar()).take((FULL_ROUNDS + PARTIAL_ROUNDS) * WIDTH).collect()
}

/// The Grain LFSR in self-shrinking mode.
struct Grain {
    state: u128,
}

impl Grain {
    fn new() -> Self {
        let field = [(2, 1), (4, 1), (12, u128::from(Scalar::NUM_BITS)), (12, WIDTH as u128)];
        let rounds = [(10, FULL_ROUNDS as u128), (10, PARTIAL_ROUNDS as u128), (30, (1 << 30) - 1)];
        // The first bit of the state is its highest.
        let state = field.iter().chain(&rounds).fold(0, |state, (bits, value)| state << bits | value);
        let mut grain = Self { state };
        for _ in 0..160 {
            grain.step();
        }
        grain
    }

    fn step(&mut self) -> bool {
        let taps = [62, 51, 38, 23, 13, 0];
        let bit = taps.iter().fold(0, |sum, tap| sum ^ (self.state >> (79 - tap)) & 1);
        self.state = (self.state << 1 | bit) & ((1 << 80) - 1);
        bit == 1
    }

    fn next_bit(&mut self) -> bool {
        loop {
            let (keep, bit) = (self.step(), self.step());
            if keep {
                return bit;
            }
        }
    }

    /// Draws integers of the modulus's length until one is below the modulus.
    fn next_scalar(&mut self) -> Scalar {
        loop {
            let mut bytes = [0; 32];
            for index in (0..Scalar::NUM_BITS as usize).rev() {
                bytes[index / 8] |= u8::from(self.next_bit()) << (index % 8);
            }
            if let Some(scalar) = Option::from(Scalar::from_repr(bytes)) {
                return scalar;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test vector of Filecoin's Poseidon: the hash of 0, 1, …, 7.
    #[test]
    fn digest_is_filecoins() {
        let digest = Hash::new().digest(&std::array::from_fn(|index| Scalar::from(index as u64)));
        let words = [0x2a99_34f5_6d38_a5e6_u64, 0x4b68_2e9d_9cc4_aed9, 0x1201_0042_1167_7077, 0x2394_611d_a3a5_de55];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(digest.to_repr().as_slice(), bytes);
    }
}
