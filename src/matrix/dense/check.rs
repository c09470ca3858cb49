//! Freivalds' check of a product: C·r = A·(B·r) for random vectors r.
//!
//! Source: R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977. If C ≠ A·B, a row of C − A·B is not
//! zero, and a vector of random elements is orthogonal to it with probability 1/p.

use rand_core::RngCore;

use super::entry::{DenseField, Entry, Times};
use super::matrix::{Dense, expect_equal};
use super::storage::Cleared;
use crate::Result;

/// What a check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The first row in which the product is wrong; `None` where it holds.
    pub wrong_row: Option<usize>,
    /// A wrong product passes with probability 2^−bits at most.
    pub error_bits: u32,
}

impl Verdict {
    /// Whether the product holds, but for that probability.
    pub fn holds(&self) -> bool {
        self.wrong_row.is_none()
    }
}

impl<C: Entry> Dense<C> {
    /// Whether this is a·b, by so many random vectors: 3·n² products a round in place of n³. A wrong product passes a round with
    /// probability 1/p: for 2^-120 and less one round is enough in fields of 255 bits, two in Goldilocks, four in BabyBear.
    ///
    /// # Errors
    /// Shapes do not fit, or a forced backend has too little memory or failed.
    pub fn check_product<F, A, B>(
        &self,
        a: &Dense<A>,
        b: &Dense<B>,
        rounds: u32,
        rng: &mut impl RngCore,
    ) -> Result<Verdict>
    where
        F: DenseField,
        A: Times<F, Product = F>,
        B: Times<F, Product = F>,
        C: Times<F, Product = F>,
    {
        expect_equal("rows of the product", a.rows(), self.rows())?;
        expect_equal("columns of the product", b.columns(), self.columns())?;
        expect_equal("rows of the second factor", a.columns(), b.rows())?;
        let mut verdict = Verdict { wrong_row: None, error_bits: 0 };
        for _ in 0..rounds {
            let random: Vec<F> = (0..self.columns()).map(|_| F::random(&mut *rng)).collect();
            let r = Dense::vector(self.accelerator(), &random)?;
            let direct = Cleared(self.times_vector(&r)?.download()?);
            let by_factors = Cleared(a.times_vector(&b.times_vector(&r)?)?.download()?);
            verdict.wrong_row = direct.0.iter().zip(&by_factors.0).position(|(a, b)| a != b);
            // 1/p < 2^−(bits of p − 1).
            verdict.error_bits += F::NUM_BITS - 1;
            if verdict.wrong_row.is_some() {
                break;
            }
        }
        Ok(verdict)
    }
}
