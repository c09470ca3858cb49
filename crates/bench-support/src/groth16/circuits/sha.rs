//! A chain of SHA-256 compressions of secret blocks by bellperson's gadgets, which ends in the public state.

use std::array::from_fn;

use bellperson::gadgets::boolean::{AllocatedBit, Boolean};
use bellperson::gadgets::multieq::MultiEq;
use bellperson::gadgets::multipack;
use bellperson::gadgets::sha256::sha256_compression_function;
use bellperson::gadgets::uint32::UInt32;
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use super::constraints;

/// Rounds of a compression.
const ROUNDS: usize = 64;

/// Knowledge of blocks that take the initial state to the public one.
///
/// Whole compressions rarely fill a size, and the small sizes have no room for one: the last block goes
/// through the first rounds only.
#[derive(Clone)]
pub struct Chain {
    blocks: Vec<[u32; 16]>,
    last_rounds: usize,
}

impl Chain {
    /// Creates the longest chain of at most `capacity` constraints. Its blocks are drawn from `rng`.
    ///
    /// # Errors
    /// Returns an error if the circuit cannot be synthesised.
    pub fn fitting(capacity: usize, rng: &mut ChaCha8Rng) -> Result<Self, SynthesisError> {
        let cost = |whole: usize, last_rounds: usize| constraints(Self::zeros(whole, last_rounds));
        let first = cost(1, 0)?;
        // The first compression starts from constants; all others cost the same.
        let step = cost(2, 0)? - first;
        let further = capacity.saturating_sub(first) / step;
        let before = usize::from(capacity >= first);
        let last_rounds = (0..ROUNDS)
            .rev()
            .find(|&rounds| cost(before, rounds).is_ok_and(|cost| cost + further * step <= capacity))
            .unwrap_or(0);
        let mut chain = Self::zeros(before + further, last_rounds);
        chain.blocks.iter_mut().flatten().for_each(|word| *word = rng.next_u32());
        Ok(chain)
    }

    fn zeros(whole: usize, last_rounds: usize) -> Self {
        Self { blocks: vec![[0; 16]; whole + usize::from(last_rounds > 0)], last_rounds }
    }

    /// Returns each block with the number of rounds that it goes through.
    fn rounds(&self) -> impl Iterator<Item = (&[u32; 16], usize)> {
        let last = if self.last_rounds > 0 { self.blocks.len() - 1 } else { self.blocks.len() };
        let rounds = move |index| if index == last { self.last_rounds } else { ROUNDS };
        self.blocks.iter().enumerate().map(move |(index, block)| (block, rounds(index)))
    }

    /// Returns the final state, packed into scalars.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        let state = self.rounds().fold(initial_state(), |state, (block, rounds)| compress(&state, block, rounds));
        let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
        multipack::compute_multipacking(&multipack::bytes_to_bits(&bytes))
    }

    /// Describes the chain by its numbers of compressions and of further rounds.
    pub fn describe(&self) -> String {
        let whole = self.rounds().filter(|(_, rounds)| *rounds == ROUNDS).count();
        format!("{whole} SHA-256 compressions, and {} rounds of another", self.last_rounds)
    }
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut state: Vec<UInt32> = initial_state().map(UInt32::constant).to_vec();
        for (index, (block, rounds)) in self.rounds().enumerate() {
            let mut cs = cs.namespace(|| format!("block {index}"));
            let bits = allocate_bits(&mut cs, &block[..rounds.min(block.len())])?;
            state = match rounds {
                ROUNDS => sha256_compression_function(cs, &bits, &state)?,
                _ => first_rounds(cs, &bits, &state, rounds)?,
            };
        }
        let bits: Vec<Boolean> = state.into_iter().flat_map(UInt32::into_bits_be).collect();
        multipack::pack_into_inputs(cs.namespace(|| "state"), &bits)
    }
}

fn allocate_bits<CS: ConstraintSystem<Scalar>>(cs: &mut CS, words: &[u32]) -> Result<Vec<Boolean>, SynthesisError> {
    let bits = words.iter().flat_map(|word| (0..32).rev().map(move |bit| word >> bit & 1 == 1));
    bits.enumerate()
        .map(|(index, bit)| AllocatedBit::alloc(cs.namespace(|| format!("bit {index}")), Some(bit)).map(Boolean::from))
        .collect()
}

/// Synthesises the first `rounds` rounds of a compression that starts from the state `start`. `rounds` is less than
/// [`ROUNDS`]. `bits` holds the block's words that these rounds use.
fn first_rounds<CS: ConstraintSystem<Scalar>>(
    cs: CS,
    bits: &[Boolean],
    start: &[UInt32],
    rounds: usize,
) -> Result<Vec<UInt32>, SynthesisError> {
    let mut cs = MultiEq::new(cs);
    let mut words: Vec<UInt32> = bits.chunks(32).map(UInt32::from_bits_be).collect();
    for index in words.len()..rounds {
        let cs = cs.namespace(|| format!("word {index}"));
        let word = next_word(cs, &words)?;
        words.push(word);
    }
    let mut state = start.to_vec();
    for (index, (word, constant)) in words.iter().zip(round_constants()).enumerate() {
        state = round(cs.namespace(|| format!("round {index}")), &state, word, constant)?;
    }
    let sums =
        start.iter().zip(state).enumerate().map(|(index, (start, end))| {
            UInt32::addmany(cs.namespace(|| format!("sum {index}")), &[start.clone(), end])
        });
    sums.collect()
}

/// Synthesises the word that follows `words` in the message schedule.
fn next_word<CS, M>(mut cs: M, words: &[UInt32]) -> Result<UInt32, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
    M: ConstraintSystem<Scalar, Root = MultiEq<Scalar, CS>>,
{
    let [far, near] = [&words[words.len() - 15], &words[words.len() - 2]];
    let s0 = xor3(cs.namespace(|| "s0"), &[far.rotr(7), far.rotr(18), far.shr(3)])?;
    let s1 = xor3(cs.namespace(|| "s1"), &[near.rotr(17), near.rotr(19), near.shr(10)])?;
    let terms = [words[words.len() - 16].clone(), s0, words[words.len() - 7].clone(), s1];
    UInt32::addmany(cs.namespace(|| "sum"), &terms)
}

/// Synthesises one round with `word` and `constant`. Returns the state after `state`, which is (a, …, h).
fn round<CS, M>(mut cs: M, state: &[UInt32], word: &UInt32, constant: u32) -> Result<Vec<UInt32>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
    M: ConstraintSystem<Scalar, Root = MultiEq<Scalar, CS>>,
{
    let [a, b, c, d, e, f, g, h] = from_fn(|index| &state[index]);
    let s1 = xor3(cs.namespace(|| "s1"), &[e.rotr(6), e.rotr(11), e.rotr(25)])?;
    let ch = UInt32::sha256_ch(cs.namespace(|| "ch"), e, f, g)?;
    let s0 = xor3(cs.namespace(|| "s0"), &[a.rotr(2), a.rotr(13), a.rotr(22)])?;
    let maj = UInt32::sha256_maj(cs.namespace(|| "maj"), a, b, c)?;
    let first = [h.clone(), s1, ch, UInt32::constant(constant), word.clone()];
    let new_e = UInt32::addmany(cs.namespace(|| "e"), &[&first[..], std::slice::from_ref(d)].concat())?;
    let new_a = UInt32::addmany(cs.namespace(|| "a"), &[&first[..], &[s0, maj]].concat())?;
    Ok([&new_a, a, b, c, &new_e, e, f, g].map(UInt32::clone).to_vec())
}

fn xor3<CS: ConstraintSystem<Scalar>>(mut cs: CS, words: &[UInt32; 3]) -> Result<UInt32, SynthesisError> {
    let first = words[0].xor(cs.namespace(|| "first"), &words[1])?;
    first.xor(cs.namespace(|| "second"), &words[2])
}

/// Computes the compression function of `start` and `block`, cut after `rounds` rounds.
fn compress(start: &[u32; 8], block: &[u32; 16], rounds: usize) -> [u32; 8] {
    let mut words = block.to_vec();
    for index in 16..rounds {
        let [far, near] = [words[index - 15], words[index - 2]];
        let s0 = far.rotate_right(7) ^ far.rotate_right(18) ^ far >> 3;
        let s1 = near.rotate_right(17) ^ near.rotate_right(19) ^ near >> 10;
        words.push(words[index - 16].wrapping_add(s0).wrapping_add(words[index - 7]).wrapping_add(s1));
    }
    let steps = words.iter().zip(round_constants()).take(rounds);
    let end = steps.fold(*start, |state, (word, constant)| native_round(state, word.wrapping_add(constant)));
    from_fn(|index| start[index].wrapping_add(end[index]))
}

fn native_round([a, b, c, d, e, f, g, h]: [u32; 8], input: u32) -> [u32; 8] {
    let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
    let first = h.wrapping_add(s1).wrapping_add(e & f ^ !e & g).wrapping_add(input);
    let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
    let second = s0.wrapping_add(a & b ^ a & c ^ b & c);
    [first.wrapping_add(second), a, b, c, d.wrapping_add(first), e, f, g]
}

/// Returns the initial state: the first 32 bits of the fractional parts of the square roots of the first 8 primes.
fn initial_state() -> [u32; 8] {
    let mut primes = primes();
    from_fn(|_| (u128::from(primes.next().unwrap_or_default()) << 64).isqrt() as u32)
}

/// Returns the round constants: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
fn round_constants() -> impl Iterator<Item = u32> {
    primes().take(ROUNDS).map(|prime| {
        let scaled = u128::from(prime) << 96;
        // The root has at most 35 bits; find them from the highest down.
        (0..35).rev().fold(0u128, |root, bit| {
            let candidate = root | 1 << bit;
            if candidate.pow(3) <= scaled { candidate } else { root }
        }) as u32
    })
}

fn primes() -> impl Iterator<Item = u32> {
    (2u32..).filter(|number| (2..*number).all(|divisor| number % divisor != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_compressions_are_sha256() {
        let block: [u32; 16] = from_fn(|index| (index as u32 + 1).wrapping_mul(0x9e37_79b9));
        let bytes: Vec<u8> = block.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut expected = initial_state();
        sha2::compress256(&mut expected, &[*sha2::digest::generic_array::GenericArray::from_slice(&bytes)]);
        assert_eq!(compress(&initial_state(), &block, ROUNDS), expected);
    }
}
