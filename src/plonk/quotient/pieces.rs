//! Computes the pieces of a quotient from its values on as few cosets as it has pieces.

use rayon::prelude::*;

use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::plonk::{Pieces4, Pieces8, Pieces16, PiecesLayout};
use crate::ntt::{Powers, VectorLayout, multiply_by_powers};
use crate::plonk::circuit::MAX_COSETS;
use crate::plonk::column_places_and_checks::{DeviceColumn, StridedColumns, check_disjoint, check_length};
use crate::plonk::combine::{self, LinearCombination};
use crate::plonk::engine::memory_peaks::MAX_IN_REGISTERS;
use crate::plonk::step_launches::{allocate_columns, launch, upload_params};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

const STEP: &str = "pieces";
/// Number of rows that one CPU task handles, 1024.
const BLOCK: usize = 1 << 10;
/// Describes q cosets of the subgroup of order n, with representatives c_j = ζ·Ω^j. Values there determine a polynomial
/// (X^n − 1)·Σ h_i·X^(n·i) that has q pieces h_i.
///
/// [`crate::ntt::ExtendedDomain`] with coset ζ has these as its first cosets. Ω is the root of unity of its whole
/// domain.
#[derive(Debug, Clone)]
pub struct Cosets<F> {
    log_n: u32,
    zeta: F,
    zeta_inverse: F,
    omega_inverse: F,
    /// Inverse of the Vandermonde matrix of the c_j^n, column j times 1/(c_j^n − 1): q rows of q elements.
    matrix: Vec<F>,
    q: usize,
}

impl<F: NttField> Cosets<F> {
    /// Creates the first `q` cosets of order 2^`log_n` in the coset `zeta`·H. H is the subgroup of order 2^(`log_n` +
    /// `log_factor`).
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the sum of the logarithms is above the field's two-adicity.
    /// - [`Error::Invalid`]: `q` is 0, or above [`MAX_COSETS`] or 2^`log_factor`.
    /// - [`Error::Invalid`]: ζ is zero.
    /// - [`Error::Invalid`]: X^n − 1 is zero on a coset.
    pub fn new(log_n: u32, log_factor: u32, zeta: F, q: usize) -> Result<Self> {
        let log_whole = log_n.saturating_add(log_factor);
        if log_whole > F::S {
            return Err(Error::invalid(
                STEP,
                "log_n + log_factor",
                format!("at most the two-adicity {}", F::S),
                log_whole,
            ));
        }
        let most = MAX_COSETS.min(1 << log_factor.min(MAX_COSETS.ilog2()));
        if q == 0 || q > most {
            return Err(Error::invalid(STEP, "number of cosets", format!("1 to {most}"), q));
        }
        let refused = || Error::invalid(STEP, "zeta", "nonzero and outside the cosets' subgroup", "another element");
        let omega = (log_whole..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
        let inverse = |x: F| Option::<F>::from(x.invert()).ok_or_else(refused);
        let nth = |x: F| (0..log_n).fold(x, |power, _| power.square());
        let step = nth(omega);
        let nodes: Vec<F> = std::iter::successors(Some(nth(zeta)), |node| Some(*node * step)).take(q).collect();
        let scales = nodes.iter().map(|node| inverse(*node - F::ONE)).collect::<Result<Vec<F>>>()?;
        let matrix = scaled_inverse_vandermonde(&nodes, &scales).ok_or_else(refused)?;
        Ok(Self { log_n, zeta, zeta_inverse: inverse(zeta)?, omega_inverse: inverse(omega)?, matrix, q })
    }

    /// Returns the number of cosets, which is also the number of pieces.
    pub fn count(&self) -> usize {
        self.q
    }

    /// Returns ζ, the shift of the first coset.
    pub fn zeta(&self) -> F {
        self.zeta
    }

    fn n(&self) -> usize {
        1 << self.log_n
    }

    /// Queues the computation of the pieces, lowest first, in place of `parts`. Part j is the inverse transform, over
    /// the subgroup of order n, of the values on coset j in the order of its elements c_j·ω^i. The caller must not
    /// divide the values by those of X^n − 1: the matrix does.
    ///
    /// Each row takes q² + 2q + 2 multiplications and 64·q bytes. From 17 cosets on it takes 32·q² bytes.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not q parts.
    /// - [`Error::Invalid`]: parts overlap, exceed the vector, or are on another device.
    /// - [`Error::Invalid`]: n is above 2^30.
    /// - [`Error::OutOfMemory`]: the device has too little memory.
    /// - [`Error::Device`]: the driver failed.
    pub fn enqueue(&self, stream: &mut Stream, parts: &mut DeviceVector<F>, place: StridedColumns) -> Result<()> {
        let n = check_length(STEP, self.n())?;
        parts.wait_before_write(stream)?;
        Error::check_eq(STEP, "number of parts", self.q, place.count)?;
        check_disjoint(STEP, parts.len(), place, self.n())?;
        if self.q > MAX_IN_REGISTERS {
            return self.enqueue_large(stream, parts, place);
        }
        self.enqueue_in_registers(stream, n, parts, place)
    }

    /// Does the work of [`Self::enqueue`] for as many parts as registers hold.
    fn enqueue_in_registers(
        &self,
        stream: &mut Stream,
        n: u32,
        parts: &DeviceVector<F>,
        place: StridedColumns,
    ) -> Result<()> {
        let (matrix, _) = upload_params(stream, &self.matrix, &[])?;
        let zeta = Powers::new(stream, self.zeta_inverse, self.log_n)?;
        let omega = Powers::new(stream, self.omega_inverse, self.log_n)?;
        let (first, stride) = (place.first as u64, place.stride as u64);
        let layout = PiecesLayout { first, stride, n, q: self.q as u32, low_log: zeta.low_log, padding: 0 };
        let (layout, matrix, data) = (Value(&layout), In::<F>::new(&matrix), Out::new(parts.buffer()));
        let [zeta_low, zeta_high, omega_low, omega_high] =
            [&zeta.low, &zeta.high, &omega.low, &omega.high].map(|table| In::new(table));
        macro_rules! launch_pieces {
            ($kernel:ident) => {{
                let pieces = $kernel { layout, matrix, data, zeta_low, zeta_high, omega_low, omega_high };
                launch::<F>(stream, n.into(), pieces)
            }};
        }
        match self.q {
            ..=4 => launch_pieces!(Pieces4),
            5..=8 => launch_pieces!(Pieces8),
            _ => launch_pieces!(Pieces16),
        }
    }

    /// Does the work of [`Self::enqueue`] for more parts than registers hold. It scales a copy of the parts, then sums
    /// multiples of the copy for each piece.
    fn enqueue_large(&self, stream: &mut Stream, parts: &mut DeviceVector<F>, place: StridedColumns) -> Result<()> {
        let n = self.n();
        let scaled = allocate_columns(stream, self.q, n)?;
        enqueue_column_copies(stream, n, (&scaled, StridedColumns::packed(n, self.q)), (parts, place))?;
        self.enqueue_scaling(stream, &scaled)?;
        let columns = StridedColumns::packed(n, self.q).columns(&scaled);
        let sum = |line: &[F]| LinearCombination {
            terms: columns.iter().copied().zip(line.iter().copied()).collect(),
            minus: vec![],
        };
        let sums: Vec<LinearCombination<DeviceColumn<'_, F>, F>> = self.matrix.chunks(self.q).map(sum).collect();
        let pieces = combine::enqueue(stream, n, &sums)?;
        enqueue_column_copies(stream, n, (parts, place), (&pieces, StridedColumns::packed(n, self.q)))
    }

    /// Queues the multiplication of element r of part j by c_j^−r. The parts follow one another in `parts`.
    fn enqueue_scaling(&self, stream: &mut Stream, parts: &DeviceVector<F>) -> Result<()> {
        let layout = VectorLayout { vectors: self.q as u32, stride: self.n() as u64 };
        let of_parts = (&**parts.buffer(), layout, self.log_n);
        multiply_by_powers(stream, of_parts, (self.zeta_inverse, self.log_n), (1, 0))?;
        // Exponents r·j are below n·q, which is at most the order of Ω's subgroup.
        multiply_by_powers(stream, of_parts, (self.omega_inverse, self.log_n + self.log_q()), (0, 1))
    }

    /// Returns the binary logarithm of the number of cosets, rounded up.
    fn log_q(&self) -> u32 {
        self.q.next_power_of_two().ilog2()
    }

    /// Computes the pieces, lowest first, in place of `parts` on the host. Parts are those of [`Self::enqueue`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not q parts.
    /// - [`Error::Invalid`]: a part does not have n elements.
    pub fn on_cpu(&self, parts: &mut [&mut [F]]) -> Result<()> {
        Error::check_eq(STEP, "number of parts", self.q, parts.len())?;
        parts.iter().try_for_each(|part| Error::check_eq(STEP, "length of a part", self.n(), part.len()))?;
        let mut shift = self.zeta_inverse;
        for part in parts.iter_mut() {
            scale_by_powers(part, shift);
            shift *= self.omega_inverse;
        }
        let mut blocks: Vec<Vec<&mut [F]>> = (0..self.n().div_ceil(BLOCK)).map(|_| Vec::new()).collect();
        for part in parts {
            blocks.iter_mut().zip(part.chunks_mut(BLOCK)).for_each(|(block, rows)| block.push(rows));
        }
        blocks.par_iter_mut().for_each(|block| self.multiply_rows_by_matrix(block));
        Ok(())
    }

    /// Multiplies each row of `block` by the matrix, in place. A row has one element of each part.
    fn multiply_rows_by_matrix(&self, block: &mut [&mut [F]]) {
        let mut values = SecretVec(vec![F::ZERO; self.q]);
        for row in 0..block[0].len() {
            values.iter_mut().zip(&*block).for_each(|(value, part)| *value = part[row]);
            for (line, part) in self.matrix.chunks(self.q).zip(&mut *block) {
                part[row] = line.iter().zip(values.iter()).map(|(factor, value)| *value * factor).sum();
            }
        }
    }
}

/// Multiplies the element with index i of `values` by `base`^i.
fn scale_by_powers<F: NttField>(values: &mut [F], base: F) {
    const TASK: usize = 1 << 12;
    values.par_chunks_mut(TASK).enumerate().for_each(|(task, values)| {
        let first = base.pow_vartime([(task * TASK) as u64]);
        values.iter_mut().fold(first, |power, value| {
            *value *= power;
            power * base
        });
    });
}

/// Queues copies of columns of `n` elements each, from the vector `from` to the vector `to`.
fn enqueue_column_copies<F: NttField>(
    stream: &mut Stream,
    n: usize,
    (to, to_place): (&DeviceVector<F>, StridedColumns),
    (from, from_place): (&DeviceVector<F>, StridedColumns),
) -> Result<()> {
    let bytes = |elements: usize| elements * size_of::<F>();
    (0..to_place.count).try_for_each(|k| {
        let [to_at, from_at] = [to_place, from_place].map(|place| bytes(place.start(k)));
        stream.copy((to.buffer(), to_at), (from.buffer(), from_at), bytes(n))
    })
}

/// Returns the inverse of the Vandermonde matrix of `nodes`, row by row, with column j multiplied by `scales[j]`.
/// Before that, column j holds the coefficients of the Lagrange polynomial that is 1 at node j and 0 at the others.
/// Returns `None` if two nodes are equal.
fn scaled_inverse_vandermonde<F: NttField>(nodes: &[F], scales: &[F]) -> Option<Vec<F>> {
    let q = nodes.len();
    let vanishing = nodes.iter().fold(vec![F::ONE], |polynomial, node| multiply_by_linear(polynomial, *node));
    let mut matrix = vec![F::ZERO; q * q];
    for (j, node) in nodes.iter().enumerate() {
        let others = nodes.iter().enumerate().filter(|(other, _)| *other != j).map(|(_, other)| *other);
        let denominator: F = others.map(|other| *node - other).product();
        let factor = scales[j] * Option::<F>::from(denominator.invert())?;
        for (i, coefficient) in divide_by_linear(&vanishing, *node).into_iter().enumerate() {
            matrix[i * q + j] = coefficient * factor;
        }
    }
    Some(matrix)
}

/// Multiplies `polynomial` by X − `root`.
fn multiply_by_linear<F: NttField>(polynomial: Vec<F>, root: F) -> Vec<F> {
    let shifted = std::iter::once(F::ZERO).chain(polynomial.iter().copied());
    shifted.zip(polynomial.iter().copied().chain([F::ZERO])).map(|(above, own)| above - own * root).collect()
}

/// Divides `polynomial` by X − `root`, which must divide it without remainder.
fn divide_by_linear<F: NttField>(polynomial: &[F], root: F) -> Vec<F> {
    let mut quotient = vec![F::ZERO; polynomial.len().saturating_sub(1)];
    polynomial.iter().skip(1).zip(&mut quotient).rfold(F::ZERO, |carry, (coefficient, place)| {
        *place = *coefficient + carry * root;
        *place
    });
    quotient
}
