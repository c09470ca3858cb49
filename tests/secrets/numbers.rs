//! Secrets, and the bytes by which they are known.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use ff::PrimeField;
use proofwarp::field::{NttField, as_bytes_mut};

use crate::COUNT;

/// Secrets in memory that is cleared.
pub struct Secrets<F: NttField>(pub Vec<F>);

impl<F: NttField> Secrets<F> {
    /// The operation's, written where they are: no register or stack has one that this makes.
    pub fn new() -> Self {
        let mut secrets = Self::zeros(COUNT);
        // SAFETY: limbs are below the moduli of the fields of these tests.
        let bytes = unsafe { as_bytes_mut(&mut secrets.0) };
        for (number, bytes) in bytes.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&limb(number).to_le_bytes());
        }
        secrets
    }

    /// Room for results.
    pub fn zeros(count: usize) -> Self {
        Self(vec![F::ZERO; count])
    }
}

impl<F: NttField> Deref for Secrets<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        &self.0
    }
}

impl<F: NttField> DerefMut for Secrets<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.0
    }
}

impl<F: NttField> Drop for Secrets<F> {
    fn drop(&mut self) {
        self.0.fill(F::ZERO);
        std::hint::black_box(&self.0);
    }
}

/// Numbers that no memory has by chance (splitmix64), the highest of an element below those of the moduli.
fn limb(number: usize) -> u64 {
    let mut limb = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed;
    limb = (limb ^ limb >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    limb = (limb ^ limb >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    limb ^= limb >> 31;
    if number % 4 == 3 { limb >> 4 } else { limb }
}

/// Words of 32 bits, in the order of memory.
type Words = [u32; 8];

/// Elements in their memory's form, as numbers, and in the form of which the memory is the number.
pub fn forms<F: NttField>(elements: &[F]) -> Vec<Words> {
    let mut forms = Vec::new();
    for element in elements {
        let memory = words(proofwarp::field::as_bytes(std::slice::from_ref(element)));
        forms.push(memory);
        forms.push(words(element.to_repr().as_ref()));
        forms.push(words(&as_repr::<F>(memory)));
    }
    forms
}

/// The memory of the element that a memory is the number of.
fn as_repr<F: NttField>(memory: Words) -> Vec<u8> {
    let mut repr = <F as PrimeField>::Repr::default();
    repr.as_mut().copy_from_slice(&memory.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
    let element = Option::<F>::from(F::from_repr(repr)).expect("below the modulus");
    proofwarp::field::as_bytes(&[element]).to_vec()
}

fn words(bytes: &[u8]) -> Words {
    std::array::from_fn(|word| u32::from_le_bytes(bytes[4 * word..][..4].try_into().expect("four bytes")))
}

/// Low bits of a first word that are looked up before anything else.
const LOW: u32 = (1 << 18) - 1;

/// What secrets look like: an element's eight words, or one word of eight elements that are side by side in pieces.
pub struct Patterns {
    low: Vec<bool>,
    known: HashMap<u64, Vec<(Words, usize)>>,
}

impl Patterns {
    /// Of secrets in their forms, three for each.
    pub fn of(forms: &[Words]) -> Self {
        let mut all: Vec<(Words, usize)> = forms.iter().copied().enumerate().map(|(n, words)| (words, n / 3)).collect();
        for form in 0..3 {
            let column: Vec<_> = forms.iter().skip(form).step_by(3).collect();
            for (number, eight) in column.windows(8).enumerate() {
                all.extend((0..8).map(|word| (std::array::from_fn(|element| eight[element][word]), number)));
            }
        }
        let mut patterns = Self { low: vec![false; LOW as usize + 1], known: HashMap::new() };
        for (words, number) in all {
            patterns.low[(words[0] & LOW) as usize] = true;
            patterns.known.entry(start(words[0], words[1])).or_default().push((words, number));
        }
        patterns
    }

    /// The secret that eight words are.
    pub fn secret(&self, words: &[u32]) -> Option<usize> {
        if !self.low[(words[0] & LOW) as usize] {
            return None;
        }
        let known = self.known.get(&start(words[0], words[1]))?;
        known.iter().find(|(pattern, _)| pattern == words).map(|(_, number)| *number)
    }
}

fn start(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}
