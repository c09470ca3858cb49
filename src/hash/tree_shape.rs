//! Computes the layers of a Merkle tree over matrices of several heights, as `p3-merkle-tree` builds it.
//!
//! Leaf r is the hash of row r of all matrices of the greatest height h. Each layer has half as many nodes as its
//! children, which an odd one out completes by a zero digest. A matrix of ⌈h/2^k⌉ rows is injected k layers above the
//! leaves. There node r is compressed with the hash of row r of all such matrices.

use crate::{Error, Result};

const ERROR_CONTEXT: &str = "merkle tree";

/// Maximum number of digests of a tree: kernels count them in 32 bits.
const MAX_DIGESTS: usize = u32::MAX as usize;

/// Describes a layer of nodes above the leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layer {
    /// Index of the first child among the digests of the tree.
    pub from: usize,
    /// Index of the first node among the digests of the tree.
    pub to: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of digests, which an additional zero makes even.
    pub padded: usize,
    /// Indices of the matrices whose rows are injected, in the order in which they are hashed.
    pub matrices: Vec<usize>,
    /// Number of rows that are injected.
    pub rows: usize,
    /// Index of the first row among all injected ones.
    pub row_from: usize,
}

/// Describes the layers of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeShape {
    heights: Vec<usize>,
    /// Indices of the matrices whose rows are the leaves, in the order in which they are hashed.
    pub leaves: Vec<usize>,
    /// Number of digests of the leaves, which an additional zero makes even.
    pub padded: usize,
    /// Layers from the leaves' parents to the root.
    pub layers: Vec<Layer>,
}

fn pad_to_even(digests: usize) -> usize {
    if digests > 1 { digests.next_multiple_of(2) } else { digests }
}

fn log2_ceil(height: usize) -> u32 {
    height.next_power_of_two().trailing_zeros()
}

impl TreeShape {
    /// Computes the shape of the tree over matrices of these `heights`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no matrix, or a matrix without rows.
    /// - [`Error::Invalid`]: a height is not ⌈h/2^k⌉ for the greatest height h.
    /// - [`Error::Invalid`]: the tree has 2^32 digests or more.
    pub(super) fn new(heights: &[usize]) -> Result<Self> {
        let height = check_heights(heights)?;
        let of_height = |rows: usize| heights.iter().enumerate().filter(move |one| *one.1 == rows).map(|one| one.0);
        let mut shape = Self {
            heights: heights.to_vec(),
            leaves: of_height(height).collect(),
            padded: pad_to_even(height),
            layers: Vec::new(),
        };
        let (mut from, mut children, mut row_from) = (0, shape.padded, 0);
        for k in 1..=log2_ceil(height) {
            let (to, nodes, rows) = (from + children, children / 2, height.div_ceil(1 << k));
            let matrices: Vec<usize> = of_height(rows).collect();
            let rows = if matrices.is_empty() { 0 } else { rows };
            shape.layers.push(Layer { from, to, nodes, padded: pad_to_even(nodes), matrices, rows, row_from });
            (from, children, row_from) = (to, pad_to_even(nodes), row_from + rows);
        }
        if shape.digest_count() > MAX_DIGESTS {
            let expected = format!("at most {MAX_DIGESTS}");
            return Err(Error::invalid(ERROR_CONTEXT, "digests of the tree", expected, shape.digest_count()));
        }
        Ok(shape)
    }

    /// Returns the greatest height of a matrix.
    pub(super) fn height(&self) -> usize {
        self.heights[self.leaves[0]]
    }

    /// Returns the number of digests of the leaves and of all layers.
    pub(super) fn digest_count(&self) -> usize {
        self.layers.last().map_or(self.padded, |root| root.to + root.padded)
    }

    /// Returns the number of rows that all layers inject.
    pub(super) fn injected_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.rows).sum()
    }

    /// Returns the first index of the cap among the digests, and its number of digests. The cap is the layer `height`
    /// layers below the root, or the leaves if there are fewer layers.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the number of digests of that layer is no power of two.
    pub(super) fn cap(&self, height: usize) -> Result<(usize, usize)> {
        let count = self.proof_length(height);
        let (first, digests) = match count.checked_sub(1) {
            None => (0, self.padded),
            Some(layer) => (self.layers[layer].to, self.layers[layer].padded),
        };
        let roots = digests.min(1 << (self.layers.len() - count));
        if roots.is_power_of_two() {
            return Ok((first, roots));
        }
        Err(Error::invalid(ERROR_CONTEXT, "digests of the cap", "a power of two", roots))
    }

    /// Returns the number of siblings that open a row below a cap of this `cap_height`.
    pub(super) fn proof_length(&self, cap_height: usize) -> usize {
        self.layers.len().saturating_sub(cap_height)
    }

    /// Returns the indices, among the digests, of the siblings of leaf `index` and of its ancestors below the cap.
    pub(super) fn siblings(&self, index: usize, cap_height: usize) -> impl Iterator<Item = usize> {
        let below = self.layers[..self.proof_length(cap_height)].iter().enumerate();
        below.map(move |(number, layer)| layer.from + ((index >> number) ^ 1))
    }

    /// Returns the row of matrix number `matrix` that is opened with leaf `index`.
    pub(super) fn row(&self, matrix: usize, index: usize) -> usize {
        index >> (log2_ceil(self.height()) - log2_ceil(self.heights[matrix]))
    }

    /// Checks that there is a leaf `index`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `index` is not below the greatest height.
    pub(super) fn check_index(&self, index: usize) -> Result<()> {
        let expected = || format!("below {}", self.height());
        if index < self.height() { Ok(()) } else { Err(Error::invalid(ERROR_CONTEXT, "index", expected(), index)) }
    }
}

/// Checks that each of `heights` is ⌈h/2^k⌉ for the greatest height h and some k, and returns h.
fn check_heights(heights: &[usize]) -> Result<usize> {
    let Some(height) = heights.iter().copied().max() else {
        return Err(Error::invalid(ERROR_CONTEXT, "matrices", "at least one", 0));
    };
    if let Some(empty) = heights.iter().position(|rows| *rows == 0) {
        return Err(Error::invalid(ERROR_CONTEXT, format!("rows of matrix {empty}"), "at least one", 0));
    }
    if height > MAX_DIGESTS {
        return Err(Error::invalid(ERROR_CONTEXT, "greatest height", format!("at most {MAX_DIGESTS}"), height));
    }
    for (number, rows) in heights.iter().enumerate() {
        let expected = height.div_ceil(1 << (log2_ceil(height) - log2_ceil(*rows)));
        if *rows != expected {
            let expected = format!("{expected}, a power of two below {height}, rounded up");
            return Err(Error::invalid(ERROR_CONTEXT, format!("rows of matrix {number}"), expected, rows));
        }
    }
    Ok(height)
}
