//! Plans a product: the method, the number of pieces and the memory. Touches no device.

use std::fmt;

use super::crt_params::{Basis, FieldParams, Operand};
use super::element_and_accumulator::ElementKind;
use super::layout::ERROR_CONTEXT;
use crate::kernels::gemm::{
    GEMM_COLUMNS, GEMM_ROWS, GEMM_TILE, GEMV_GROUP, INT8_COLUMNS, INT8_EXACT, INT8_PADDED, INT8_ROWS,
};
use crate::{Error, Result};

/// Rows, columns and depth to which a work-group on tensor cores pads its tile.
pub(super) const TENSOR_TILE: [usize; 3] = [INT8_ROWS, INT8_COLUMNS, INT8_PADDED];
/// Minimum number of multiplications for which the plan chooses [`Method::Crt`]. Fewer are not worth the computation of
/// residues and the reconstruction.
const CRT_MIN_PRODUCTS: u128 = 1 << 24;

/// Selects how entries of a product are summed. All methods give the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One Montgomery multiplication and one addition per term. It serves for comparison.
    Montgomery,
    /// Sums of unreduced products, each reduced once.
    Lazy,
    /// Residues modulo numbers up to 256, multiplied on tensor cores. It needs CUDA with compute capability 8.0 or
    /// later.
    Crt,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Montgomery => "montgomery",
            Self::Lazy => "lazy",
            Self::Crt => "crt",
        })
    }
}

/// Holds the caller's choices for a dense product. `None` leaves a choice to the plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DenseOptions {
    /// How the product is computed.
    pub method: Option<Method>,
    /// Maximum bytes of device memory for residues. `None` allows all free memory.
    pub bytes: Option<u64>,
    /// Maximum number of the accelerator's devices that share a product. `None` leaves the number to a cost model. A
    /// product of a batch of several runs on the device of its factors.
    pub devices: Option<usize>,
}

impl DenseOptions {
    /// Returns the options with the limit `bytes` of device memory for residues.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Returns the options with products shared by `devices` of the accelerator's devices, if it has as many.
    #[must_use]
    pub fn devices(self, devices: usize) -> Self {
        Self { devices: Some(devices), ..self }
    }

    /// Returns the options with `method` as the forced method.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }
}

/// Describes a product A·B for [`DensePlan::new`]. A has `rows` × `inner` entries and B has `inner` × `columns`.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub a: Operand,
    pub b: Operand,
    pub rows: usize,
    pub inner: usize,
    pub columns: usize,
    /// Field of the result.
    pub prime: FieldParams,
    /// `Ok` if the device has tensor cores that the kernels were built for, else the reason why not.
    pub tensor: std::result::Result<(), String>,
}

/// Holds the chosen method of a product, its moduli and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DensePlan {
    pub method: Method,
    /// Moduli of [`Method::Crt`]. `None` for other methods, and for products of bytes by bytes, which are their own
    /// residues.
    pub basis: Option<Basis>,
    pub reason: &'static str,
}

impl DensePlan {
    /// Chooses the method and the moduli for `problem`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: sums of bytes may exceed 32 bits.
    /// - [`Error::Invalid`]: the requested method is unavailable.
    pub(super) fn new(problem: &Problem, options: &DenseOptions) -> Result<Self> {
        let bytes = problem.a.kind == ElementKind::Byte && problem.b.kind != ElementKind::Field;
        if bytes && problem.inner >= INT8_EXACT {
            let expected = format!("below {INT8_EXACT} for sums of 32 bits");
            return Err(Error::invalid(ERROR_CONTEXT, "columns of the first factor", expected, problem.inner));
        }
        let basis = if bytes { None } else { Basis::new(&problem.prime.p, problem.a, problem.b, problem.inner) };
        let can = problem.check_crt_support(bytes, basis);
        let (method, reason) = match options.method {
            Some(method) => (problem.check_method(method, bytes, can)?, "the caller's choice"),
            None if can.is_ok() && problem.multiplication_count() >= CRT_MIN_PRODUCTS => {
                (Method::Crt, "tensor cores, and enough products")
            }
            None if can.is_ok() => (Method::Lazy, "too few products for residues"),
            None => (Method::Lazy, "no tensor cores"),
        };
        Ok(Self { method, basis: basis.filter(|_| method == Method::Crt), reason })
    }
}

/// Returns the rows and columns of the result that a work-group computes without residues. Entries of the result are of
/// `kind`, in a field of `words` 32-bit words.
pub(super) fn tile_shape(kind: ElementKind, words: usize) -> [usize; 2] {
    if kind == ElementKind::Field && words <= 2 { [GEMM_TILE; 2] } else { [GEMM_ROWS, GEMM_COLUMNS] }
}

impl Problem {
    /// Returns the number of multiplications of two entries: rows · inner · columns.
    pub(super) fn multiplication_count(&self) -> u128 {
        self.rows as u128 * self.inner as u128 * self.columns as u128
    }

    fn check_crt_support(&self, bytes: bool, basis: Option<Basis>) -> std::result::Result<(), String> {
        match basis {
            None if !bytes => Err(format!("sums of {} terms need more moduli than there are", self.inner)),
            _ => self.tensor.clone(),
        }
    }

    fn check_method(&self, method: Method, bytes: bool, can: std::result::Result<(), String>) -> Result<Method> {
        match (method, can) {
            (Method::Crt, Err(reason)) => {
                Err(Error::invalid(ERROR_CONTEXT, "method", format!("lazy, since {reason}"), method))
            }
            (Method::Montgomery, _) if bytes || self.a.kind != ElementKind::Field => {
                Err(Error::invalid(ERROR_CONTEXT, "method", "lazy or crt for numbers", method))
            }
            _ => Ok(method),
        }
    }
}

/// Describes the block of the result that is computed at a time, so that its residues fit in memory. All sizes are
/// multiples of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    pub rows: usize,
    pub columns: usize,
    /// Number of columns of the first factor, padded to a multiple of a tile.
    pub depth: usize,
    /// Bytes of the residues of both factors and of the result.
    pub bytes: u64,
}

impl Tiling {
    /// Chooses the block of a product of `sizes` (rows, inner, columns) whose residues fit in `most` bytes. It starts
    /// with the whole product and halves the longer side until the block fits. `products` is the number of byte
    /// products. `device` is the name for errors.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`]: not even one tile fits.
    pub(super) fn new(sizes: [usize; 3], products: usize, most: u64, device: &str) -> Result<Self> {
        let [tile_rows, tile_columns, tile_depth] = TENSOR_TILE;
        let depth = sizes[1].next_multiple_of(tile_depth).max(tile_depth);
        let [mut rows, mut columns] = [(sizes[0], tile_rows), (sizes[2], tile_columns)]
            .map(|(number, tile)| number.next_multiple_of(tile).max(tile));
        loop {
            let pairs = [(rows, depth), (columns, depth), (rows, columns)];
            let elements = pairs.map(|(a, b)| a as u128 * b as u128).iter().sum::<u128>();
            let bytes = u64::try_from(products as u128 * elements).unwrap_or(u64::MAX);
            if bytes <= most {
                return Ok(Self { rows, columns, depth, bytes });
            }
            if rows == tile_rows && columns == tile_columns {
                return Err(Error::OutOfMemory { device: device.to_owned(), requested: bytes, available: most });
            }
            match rows >= columns && rows > tile_rows || columns == tile_columns {
                true => rows = (rows / 2).next_multiple_of(tile_rows),
                false => columns = (columns / 2).next_multiple_of(tile_columns),
            }
        }
    }
}

/// Describes the launch of a matrix-vector product. A row is cut into `pieces` pieces, and `lanes` work-items sum each
/// piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GemvShape {
    pub lanes: u32,
    pub pieces: u32,
}

/// Number of work-groups that fill a device.
const ENOUGH_GROUPS: usize = 2048;
/// Minimum number of terms per work-item.
const TERMS: usize = 8;

impl GemvShape {
    /// Chooses the launch for `rows` rows of `inner` terms. If `neighbours` is true, entries of a row are adjacent in
    /// memory, and a whole work-group sums a piece of a row. Otherwise 4 work-items do, so that adjacent work-items
    /// read adjacent rows.
    pub(super) fn new(rows: usize, inner: usize, neighbours: bool) -> Self {
        let lanes = if neighbours { GEMV_GROUP } else { 4 };
        let groups = rows.div_ceil((GEMV_GROUP / lanes) as usize).max(1);
        let useful = inner.div_ceil(TERMS * lanes as usize).max(1);
        Self { lanes, pieces: ENOUGH_GROUPS.div_ceil(groups).min(useful) as u32 }
    }
}

/// Explains how a dense product is computed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseExplanation {
    /// Types of both factors, such as `i8 · bn254_fr`.
    pub entries: String,
    /// Rows of the result, terms per sum, and columns of the result.
    pub sizes: [usize; 3],
    /// Method that computes the product.
    pub method: Method,
    /// Reason for the choice of the method.
    pub reason: &'static str,
    /// Number of products of byte matrices; 0 if no residues are computed.
    pub products: usize,
    /// Number of moduli; 0 if no residues are computed.
    pub moduli: usize,
    /// Bytes of device memory for residues, besides the matrices.
    pub bytes: u64,
    /// Number of blocks of the result that are computed one after the other.
    pub pieces: usize,
}

impl fmt::Display for DenseExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entries, sizes: [rows, inner, columns], method, reason, products, moduli, bytes, pieces } = self;
        write!(f, "{entries}, {rows} × {inner} × {columns}: {method}, {reason}")?;
        if *products > 0 {
            write!(
                f,
                "; {products} products of residues by {moduli} moduli, {bytes} B beside the matrices, {pieces} pieces"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Operand = Operand { kind: ElementKind::Field, bits: None };
    const BYTE: Operand = Operand { kind: ElementKind::Byte, bits: None };

    fn problem(a: Operand, b: Operand, size: usize, tensor: bool) -> Problem {
        let one = num_bigint::BigUint::from(1u32);
        let prime = FieldParams { p: (one.clone() << 254u32) + 1u32, one, words: 8 };
        let tensor = if tensor { Ok(()) } else { Err("there are none".to_owned()) };
        Problem { a, b, rows: size, inner: size, columns: size, prime, tensor }
    }

    #[test]
    fn methods() {
        let method = |a, b, size, tensor| {
            DensePlan::new(&problem(a, b, size, tensor), &DenseOptions::default()).expect("plan").method
        };
        assert_eq!(method(FIELD, FIELD, 4096, true), Method::Crt);
        assert_eq!(method(FIELD, FIELD, 4096, false), Method::Lazy);
        assert_eq!(method(FIELD, FIELD, 64, true), Method::Lazy);
        assert_eq!(method(BYTE, BYTE, 4096, true), Method::Crt);
        let forced =
            |a, b, method, tensor| DensePlan::new(&problem(a, b, 64, tensor), &DenseOptions::default().method(method));
        assert_eq!(forced(FIELD, FIELD, Method::Crt, true).expect("plan").method, Method::Crt);
        let error = forced(FIELD, FIELD, Method::Crt, false).expect_err("none").to_string();
        assert_eq!(error, "dense: method: expected lazy, since there are none, got crt");
        assert!(forced(BYTE, FIELD, Method::Montgomery, true).is_err());
    }

    #[test]
    fn sums_of_bytes_are_exact() {
        let plan = |size| DensePlan::new(&problem(BYTE, BYTE, size, false), &DenseOptions::default());
        assert!(plan((1 << 17) - 1).is_ok());
        let error = plan(1 << 17).expect_err("too many").to_string();
        assert_eq!(error, "dense: columns of the first factor: expected below 131072 for sums of 32 bits, got 131072");
    }

    #[test]
    fn pieces_fit() {
        let sizes = [1000; 3];
        let whole = Tiling::new(sizes, 108, u64::MAX, "card").expect("all");
        assert_eq!((whole.rows, whole.columns, whole.depth), (1024, 1024, 1024));
        assert_eq!(whole.bytes, (108 * 3) << 20);
        let less = Tiling::new(sizes, 108, whole.bytes / 3, "card").expect("some");
        assert!(less.bytes <= whole.bytes / 3 && less.rows.is_multiple_of(128) && less.columns.is_multiple_of(256));
        assert!(matches!(Tiling::new(sizes, 108, 1 << 20, "card"), Err(Error::OutOfMemory { .. })));
    }

    #[test]
    fn lanes_fill_a_device() {
        assert_eq!(GemvShape::new(4096, 4096, true), GemvShape { lanes: 128, pieces: 1 });
        assert_eq!(GemvShape::new(4096, 4096, false), GemvShape { lanes: 4, pieces: 16 });
        assert_eq!(GemvShape::new(1, 1 << 20, true), GemvShape { lanes: 128, pieces: 1024 });
        assert_eq!(GemvShape::new(5, 0, true).pieces, 1);
    }
}
