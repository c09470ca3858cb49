//! Values that satisfy the circuit in every usable row.

use ff::Field;
use halo2_axiom::halo2curves::bn256::Fr;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::shape::Shape;

/// Number of rows whose value in the first column is constrained to a constant, 16.
pub const CONSTANTS: usize = 16;

/// Values of a circuit's columns in every usable row.
#[derive(Debug)]
pub struct Tables {
    pub advice: Vec<Vec<Fr>>,
    /// Fixed columns that gates multiply by.
    pub coefficients: Vec<Vec<Fr>>,
}

impl Tables {
    pub fn new(shape: &Shape, rows: usize) -> Self {
        let random = |number| {
            let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
            (0..rows).map(|_| Fr::random(&mut rng)).collect()
        };
        let coefficients: Vec<Vec<Fr>> = (0..shape.coefficients()).into_par_iter().map(random).collect();
        let mut advice = inputs(shape, rows);
        for gate in 0..shape.gates() {
            let output = output(shape, gate, &advice, &coefficients);
            advice.push(output);
        }
        Self { advice, coefficients }
    }
}

/// Returns the row of the first column whose value is in `row` of `column`. Columns have `rows` rows.
pub fn source(shape: &Shape, rows: usize, column: usize, row: usize) -> usize {
    (row + column * (rows / shape.lookups)) % rows
}

/// Returns the columns that are looked up. The first begins with constants. The others have its values in other rows,
/// which [`source`] gives.
fn inputs(shape: &Shape, rows: usize) -> Vec<Vec<Fr>> {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::MAX);
    let mask = shape.table() as u64 - 1;
    let mut value = |row| if row < CONSTANTS { row as u64 } else { rng.next_u64() & mask };
    let first: Vec<_> = (0..rows).map(|row| Fr::from(value(row))).collect();
    let column = |column| (0..rows).map(|row| first[source(shape, rows, column, row)]).collect();
    (0..shape.lookups).into_par_iter().map(column).collect()
}

/// Returns the output column of `gate`: x·y + c·z', or x²·y² + c·z' if its degree is high. z' is the value of z in the
/// next row.
fn output(shape: &Shape, gate: usize, advice: &[Vec<Fr>], coefficients: &[Vec<Fr>]) -> Vec<Fr> {
    let [x, y, z] = operands(shape, gate).map(|column| &advice[column]);
    let c = &coefficients[gate % coefficients.len()];
    let value = |row: usize| {
        let product = x[row] * y[row];
        let product = if Shape::is_high(gate) { product.square() } else { product };
        product + c[row] * z[(row + 1) % z.len()]
    };
    (0..x.len()).into_par_iter().map(value).collect()
}

/// Returns the advice columns that `gate` computes with: the one before its own, and two that are looked up.
pub fn operands(shape: &Shape, gate: usize) -> [usize; 3] {
    [shape.lookups + gate - 1, gate % shape.lookups, (gate + 1) % shape.lookups]
}
