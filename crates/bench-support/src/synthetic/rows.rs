//! Rows of matrices in pieces made by different cores, and the matrices joined from them.

use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use proofwarp::matrix::Csr;
use rayon::prelude::*;

use crate::Failure;

/// Rows of each piece but the last, 2^14. One task makes a piece.
pub const ROWS: usize = 1 << 14;
/// Number of powers of two among the coefficients of A, B and C. If there are few, the device holds a non-zero in four
/// bytes.
const POWERS: [u32; 3] = [256, 4, 4];

/// Consecutive rows of a matrix.
#[derive(Debug, Default)]
pub struct Piece {
    columns: Vec<u32>,
    coefficients: Vec<u32>,
    /// Where each row ends.
    ends: Vec<u32>,
}

impl Piece {
    /// Index of the coefficient 1 in a matrix's dictionary. All matrices share it.
    pub const ONE: u32 = 0;
    /// Index of the coefficient −1, which all matrices share too.
    pub const MINUS_ONE: u32 = 1;

    /// Returns the index of the coefficient 2^`exponent` in a matrix's dictionary.
    pub fn power(exponent: u32) -> u32 {
        if exponent == 0 { Self::ONE } else { exponent + 1 }
    }

    /// Adds a non-zero to the current row.
    pub fn term(&mut self, column: u32, coefficient: u32) {
        self.columns.push(column);
        self.coefficients.push(coefficient);
    }

    /// Goes on to the next row.
    pub fn end_row(&mut self) {
        self.ends.push(self.columns.len() as u32);
    }
}

/// The pieces of A, B and C in order of their rows, all but the last of [`ROWS`].
pub struct Matrices(pub Vec<[Piece; 3]>);

impl Matrices {
    /// Joins the pieces into matrices with `columns` columns. The pieces of a matrix are freed before the next one is
    /// joined.
    ///
    /// # Errors
    /// Returns an error if a matrix has 2^32 non-zeros or more, or if the engine refuses it.
    pub fn join(self, columns: usize) -> Result<[Arc<Csr<Scalar>>; 3], Failure> {
        let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
        for [in_a, in_b, in_c] in self.0 {
            a.push(in_a);
            b.push(in_b);
            c.push(in_c);
        }
        Ok([join(columns, a, POWERS[0])?, join(columns, b, POWERS[1])?, join(columns, c, POWERS[2])?])
    }
}

fn join(columns: usize, pieces: Vec<Piece>, powers: u32) -> Result<Arc<Csr<Scalar>>, Failure> {
    let mut starts = Vec::with_capacity(pieces.len());
    let mut nonzeros = 0u32;
    for piece in &pieces {
        starts.push(nonzeros);
        nonzeros = nonzeros.checked_add(piece.columns.len() as u32).ok_or("matrix: 2^32 non-zeros or more")?;
    }
    let rows: usize = pieces.iter().map(|piece| piece.ends.len()).sum();
    let mut pointers = vec![0; rows + 1];
    pointers[1..].par_chunks_mut(ROWS).zip(&pieces).zip(&starts).for_each(|((pointers, piece), start)| {
        pointers.iter_mut().zip(&piece.ends).for_each(|(pointer, end)| *pointer = start + end);
    });
    let column_indices = concatenate(nonzeros, pieces.iter().map(|piece| piece.columns.as_slice()));
    let coefficients = concatenate(nonzeros, pieces.iter().map(|piece| piece.coefficients.as_slice()));
    drop(pieces);
    let matrix = Csr::with_dictionary(columns, pointers, column_indices, coefficients, dictionary(powers))?;
    Ok(Arc::new(matrix))
}

/// Concatenates `slices`, which have `total` elements together. All cores copy.
fn concatenate<'a>(total: u32, slices: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    let mut all = vec![0; total as usize];
    let mut rest = all.as_mut_slice();
    let mut pairs = Vec::new();
    for from in slices {
        let (to, after) = rest.split_at_mut(from.len());
        pairs.push((to, from));
        rest = after;
    }
    pairs.into_par_iter().for_each(|(to, from)| to.copy_from_slice(from));
    all
}

/// Returns the coefficients 1, −1, 2, 4, …, 2^(`powers` − 1).
fn dictionary(powers: u32) -> Vec<Scalar> {
    let twos = std::iter::successors(Some(Scalar::from(2)), |power| Some(power.double()));
    [Scalar::ONE, -Scalar::ONE].into_iter().chain(twos.take(powers as usize - 1)).collect()
}
