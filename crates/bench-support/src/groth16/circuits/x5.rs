//! A chain of x ← (x + c)^5: three constraints a round, and every value of the witness is full-size.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Seeds the round constants, which are part of the shape.
const CONSTANTS_SEED: u64 = 5;
/// Constraints beside the rounds, 3: the circuit enforces the output, and Groth16 adds one for the output and one for
/// the constant 1.
const FIXED_CONSTRAINTS: usize = 3;

/// Knowledge of a start value that ends in the public output.
#[derive(Clone)]
pub struct Chain {
    start: Scalar,
    constants: Vec<Scalar>,
}

impl Chain {
    /// Creates the longest chain of at most `capacity` constraints. Its start value is drawn from `rng`.
    pub fn fitting(capacity: usize, rng: &mut ChaCha8Rng) -> Self {
        let rounds = capacity.saturating_sub(FIXED_CONSTRAINTS) / 3;
        let mut shape = ChaCha8Rng::seed_from_u64(CONSTANTS_SEED);
        let constants = (0..rounds).map(|_| Scalar::random(&mut shape)).collect();
        Self { start: Scalar::random(rng), constants }
    }

    /// Returns the output.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        let round = |x: Scalar, c: &Scalar| (x + c).square().square() * (x + c);
        vec![self.constants.iter().fold(self.start, round)]
    }

    /// Describes the chain by its number of rounds.
    pub fn describe(&self) -> String {
        format!("{} rounds of x ← (x + c)^5", self.constants.len())
    }
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.start;
        let mut x = cs.alloc(|| "start", || Ok(value))?;
        for (round, constant) in self.constants.iter().enumerate() {
            let sum = LinearCombination::from_variable(x) + (*constant, CS::one());
            (x, value) = fifth_power(cs.namespace(|| format!("round {round}")), &sum, value + constant)?;
        }
        let output = cs.alloc_input(|| "output", || Ok(value))?;
        cs.enforce(|| "end", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + output);
        Ok(())
    }
}

/// Allocates `base`^5 in three constraints. `value` is the value of `base`. Returns the variable and its value.
pub(super) fn fifth_power<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    base: &LinearCombination<Scalar>,
    value: Scalar,
) -> Result<(Variable, Scalar), SynthesisError> {
    let square = value.square();
    let fourth = square.square();
    let fifth = fourth * value;
    let x2 = cs.alloc(|| "x^2", || Ok(square))?;
    let x4 = cs.alloc(|| "x^4", || Ok(fourth))?;
    let x5 = cs.alloc(|| "x^5", || Ok(fifth))?;
    cs.enforce(|| "square", |_| base.clone(), |_| base.clone(), |lc| lc + x2);
    cs.enforce(|| "fourth power", |lc| lc + x2, |lc| lc + x2, |lc| lc + x4);
    cs.enforce(|| "fifth power", |lc| lc + x4, |_| base.clone(), |lc| lc + x5);
    Ok((x5, fifth))
}
