//! Freivalds' check of a product: C·r = A·(B·r) for random vectors r.
//!
//! Source: R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977. If C ≠ A·B, a row of C − A·B is
//! not zero, and a vector of random elements is orthogonal to it with probability 1/p.

use rand_core::RngCore;

use super::element::{DenseField, Entry, MatMulElement};
use super::host_or_device_storage::ZeroizingVec;
use super::resident_matrix::{DenseMatrix, expect_equal};
use crate::Result;

/// Holds the result of Freivalds' check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreivaldsResult {
    /// Index of the first row that differs from the product; `None` if the product passed the check.
    pub wrong_row: Option<usize>,
    /// Bound on the error: a wrong product passes the check with probability at most 2^−error_bits.
    pub error_bits: u32,
}

impl FreivaldsResult {
    /// Returns whether the product passed the check. A wrong product does so with probability at most 2^−`error_bits`.
    pub fn is_valid(&self) -> bool {
        self.wrong_row.is_none()
    }
}

impl<C: Entry> DenseMatrix<C> {
    /// Checks that this matrix equals `a`·`b`, with `rounds` random vectors from `rng`. A round takes 3·n²
    /// multiplications for n × n matrices, instead of the n³ of a product. A wrong product passes a round with
    /// probability at most 1/p, where p is the modulus of the field. For an error of 2^-120 or less, fields of 255 bits
    /// need one round, Goldilocks two and BabyBear four.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the shapes do not fit.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    /// - Other errors are those of [`DenseMatrix::times_vector`].
    pub fn check_product<F, A, B>(
        &self,
        a: &DenseMatrix<A>,
        b: &DenseMatrix<B>,
        rounds: u32,
        rng: &mut impl RngCore,
    ) -> Result<FreivaldsResult>
    where
        F: DenseField,
        A: MatMulElement<F, Product = F>,
        B: MatMulElement<F, Product = F>,
        C: MatMulElement<F, Product = F>,
    {
        expect_equal("rows of the product", a.rows(), self.rows())?;
        expect_equal("columns of the product", b.columns(), self.columns())?;
        expect_equal("rows of the second factor", a.columns(), b.rows())?;
        let mut verdict = FreivaldsResult { wrong_row: None, error_bits: 0 };
        for _ in 0..rounds {
            let random: Vec<F> = (0..self.columns()).map(|_| F::random(&mut *rng)).collect();
            let r = DenseMatrix::upload_vector(self.accelerator(), &random)?;
            let direct = ZeroizingVec(self.times_vector(&r)?.download()?);
            let by_factors = ZeroizingVec(a.times_vector(&b.times_vector(&r)?)?.download()?);
            verdict.wrong_row = direct.0.iter().zip(&by_factors.0).position(|(a, b)| a != b);
            // The probability 1/p is below 2^−(bits of p − 1).
            verdict.error_bits += F::NUM_BITS - 1;
            if verdict.wrong_row.is_some() {
                break;
            }
        }
        Ok(verdict)
    }
}
