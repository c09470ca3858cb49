//! The multiplicative subgroup of order 2^k and its coset, as provers use them.

use super::{Order, Transform, transform_many};
use crate::field::NttField;
use crate::{Accelerator, Error, Report, Result};

/// A subgroup of order `2^log_n` and a coset of it, with the transforms between coefficients and values.
#[derive(Debug, Clone)]
pub struct NttDomain<F> {
    log_n: u32,
    omega: F,
    omega_inverse: F,
    length_inverse: F,
    coset: F,
    coset_inverse: F,
    order: Order,
}

impl<F: NttField> NttDomain<F> {
    /// The subgroup of order `2^log_n`, with the field's multiplicative generator for the coset.
    ///
    /// # Errors
    /// `log_n` is above the field's two-adicity.
    pub fn new(log_n: u32) -> Result<Self> {
        if log_n > F::S {
            return Err(Error::invalid("NttDomain::new", "log_n", format!("at most the two-adicity {}", F::S), log_n));
        }
        let omega = (log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
        let omega_inverse = (log_n..F::S).fold(F::ROOT_OF_UNITY_INV, |root, _| root.square());
        let length_inverse = (0..log_n).fold(F::ONE, |power, _| power * F::TWO_INV);
        let domain = Self {
            log_n,
            omega,
            omega_inverse,
            length_inverse,
            coset: F::ONE,
            coset_inverse: F::ONE,
            order: Order::Natural,
        };
        domain.with_coset(F::MULTIPLICATIVE_GENERATOR)
    }

    /// The same subgroup with another coset.
    ///
    /// # Errors
    /// The generator is zero.
    pub fn with_coset(self, generator: F) -> Result<Self> {
        let inverse = Option::<F>::from(generator.invert());
        let coset_inverse =
            inverse.ok_or_else(|| Error::invalid("NttDomain::with_coset", "generator", "a nonzero element", "zero"))?;
        Ok(Self { coset: generator, coset_inverse, ..self })
    }

    /// The same domain with forward transforms giving their values in `order`.
    #[must_use]
    pub fn with_output_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// A primitive `2^log_n`-th root of unity.
    pub fn omega(&self) -> F {
        self.omega
    }

    /// Coefficients to values on the subgroup, in place.
    ///
    /// # Errors
    /// The slice is not `2^log_n` long, or a forced backend failed; the slice is then as it was.
    pub fn forward(&self, accelerator: &Accelerator, values: &mut [F]) -> Result<Report> {
        run(accelerator, values, Transform { order: self.order, ..Transform::new(self.log_n, self.omega) })
    }

    /// Values on the subgroup, in natural order, to coefficients, in place.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn inverse(&self, accelerator: &Accelerator, values: &mut [F]) -> Result<Report> {
        let plain = Transform::new(self.log_n, self.omega_inverse);
        run(accelerator, values, Transform { scale: Some(self.length_inverse), ..plain })
    }

    /// Coefficients to values on the coset, in place.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn coset_forward(&self, accelerator: &Accelerator, values: &mut [F]) -> Result<Report> {
        let plain = Transform::new(self.log_n, self.omega);
        run(accelerator, values, Transform { order: self.order, shift_in: Some(self.coset), ..plain })
    }

    /// Values on the coset, in natural order, to coefficients, in place.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn coset_inverse(&self, accelerator: &Accelerator, values: &mut [F]) -> Result<Report> {
        let plain = Transform::new(self.log_n, self.omega_inverse);
        let transform = Transform { shift_out: Some(self.coset_inverse), scale: Some(self.length_inverse), ..plain };
        run(accelerator, values, transform)
    }
}

fn run<F: NttField>(accelerator: &Accelerator, values: &mut [F], transform: Transform<F>) -> Result<Report> {
    transform_many(accelerator, &mut [values], &[transform], None)
}
