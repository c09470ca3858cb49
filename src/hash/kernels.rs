//! Declares the kernels of Poseidon2 and of Merkle trees.

use crate::kernels::baby_bear::BABY_BEAR;
use crate::kernels::goldilocks::GOLDILOCKS;
use crate::kernels::koala_bear::KOALA_BEAR;
use crate::kernels::spec::{
    Declarations, Domain, FieldSpec, KernelFamily, Module, Part, kernels, shared_constants, shared_struct, source,
};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group.
    POSEIDON2_GROUP: u32 = 128;
    /// Flag of the first matrix among those whose rows are hashed one after the other.
    FIRST_MATRIX: u32 = 1;
    /// Flag of the last matrix among those whose rows are hashed one after the other.
    LAST_MATRIX: u32 = 2;
    /// Smallest entry of a diagonal that encodes a power of two: this plus k is 2^−k, and its negative −2^−k. Smaller
    /// entries, from −4 to 4, are the numbers themselves.
    DIAGONAL_SHIFT: u32 = 16;
}

shared_struct! {
    /// Describes a layer of a Merkle tree, whose digests are all in one buffer.
    pub struct MerkleLayer as merkle_layer_t {
        /// Index of the first child among the digests.
        pub from: u32,
        /// Index of the first node among the digests.
        pub to: u32,
        /// Number of nodes.
        pub nodes: u32,
        /// Number of digests of the layer. Those after the nodes are zero.
        pub padded: u32,
        /// Index of the first digest among those of all injected rows.
        pub row_from: u32,
        /// Number of rows that are injected.
        pub rows: u32,
        /// Number of additional compressions of a node: 1 if rows are injected.
        pub injections: u32,
    }
}

shared_struct! {
    /// Describes a launch that absorbs rows of a matrix.
    pub struct SpongePass as sponge_pass_t {
        /// Number of elements of a state that rows overwrite.
        pub rate: u32,
        /// Number of elements of a digest.
        pub length: u32,
        /// Number of rows.
        pub rows: u32,
        /// Number of digests. Those after the rows are zero.
        pub padded: u32,
        /// Number of elements of a row.
        pub columns: u32,
        /// Number of elements of the present block that precede the row.
        pub filled: u32,
        /// Sum of `FIRST_MATRIX` and `LAST_MATRIX`, or of neither.
        pub flags: u32,
        /// Index of the first row in the matrix.
        pub first: u32,
        /// Index of the first row's digest.
        pub to: u32,
    }
}

kernels! {
    pub KERNELS:
    /// Permutes states in place.
    poseidon2_permute[POSEIDON2_GROUP] => PermuteStates<F> {
        outer: u32,
        inner: u32,
        constants: In<F>,
        count: u32,
        states: Out<F>,
    }
    /// Absorbs rows of a matrix into sponges, one per row.
    poseidon2_hash_rows[POSEIDON2_GROUP] => HashRows<F> {
        outer: u32,
        inner: u32,
        constants: In<F>,
        pass: Value<SpongePass>,
        matrix: In<F>,
        states: Out<F>,
        digests: Out<F>,
    }
    /// Computes layers of a tree.
    merkle_layers[POSEIDON2_GROUP] => CompressLayers<F> {
        outer: u32,
        inner: u32,
        constants: In<F>,
        length: u32,
        first: u32,
        count: u32,
        layers: In<MerkleLayer>,
        digests: Out<F>,
        injected: In<F>,
    }
    /// Copies runs of elements to consecutive memory.
    merkle_gather[POSEIDON2_GROUP] => GatherRuns<F> {
        length: u32,
        count: u32,
        positions: In<u32>,
        from: In<F>,
        to: Out<F>,
    }
}

/// Describes Poseidon2 for states of one width over one field.
#[derive(Debug, Clone, Copy)]
pub struct Poseidon2Spec {
    /// Field of the elements.
    pub field: &'static FieldSpec,
    /// Exponent of the S-box.
    pub degree: u32,
    /// Diagonal which, plus a matrix of ones, is the internal matrix. [`DIAGONAL_SHIFT`] explains the entries.
    pub diagonal: &'static [i8],
}

/// Lists the permutations with kernels. Widths, S-boxes and matrices are those of Plonky3's crates for the fields.
pub static POSEIDON2: [Poseidon2Spec; 7] = [
    Poseidon2Spec { field: &GOLDILOCKS, degree: 7, diagonal: &GOLDILOCKS_8 },
    Poseidon2Spec { field: &GOLDILOCKS, degree: 7, diagonal: &GOLDILOCKS_12 },
    Poseidon2Spec { field: &GOLDILOCKS, degree: 7, diagonal: &GOLDILOCKS_16 },
    Poseidon2Spec { field: &BABY_BEAR, degree: 7, diagonal: &BABY_BEAR_16 },
    Poseidon2Spec { field: &BABY_BEAR, degree: 7, diagonal: &BABY_BEAR_24 },
    Poseidon2Spec { field: &KOALA_BEAR, degree: 3, diagonal: &KOALA_BEAR_16 },
    Poseidon2Spec { field: &KOALA_BEAR, degree: 3, diagonal: &KOALA_BEAR_24 },
];

/// Encodes 2^−`k` in a diagonal.
const fn inverse(k: i8) -> i8 {
    DIAGONAL_SHIFT as i8 + k
}

const HALF: i8 = inverse(1);

const GOLDILOCKS_8: [i8; 8] = [-2, 1, 2, HALF, 3, -HALF, -3, -4];

const GOLDILOCKS_12: [i8; 12] = [-2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(2), -inverse(2), inverse(3)];

#[rustfmt::skip]
const GOLDILOCKS_16: [i8; 16] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(3), inverse(4), inverse(5), -inverse(3), -inverse(4), -inverse(5),
    inverse(32),
];

#[rustfmt::skip]
const BABY_BEAR_16: [i8; 16] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(2), inverse(3), inverse(27), -inverse(8), -inverse(4),
    -inverse(27),
];

#[rustfmt::skip]
const BABY_BEAR_24: [i8; 24] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(2), inverse(3), inverse(4), inverse(7), inverse(9),
    inverse(27), -inverse(8), -inverse(2), -inverse(3), -inverse(4), -inverse(5), -inverse(6), -inverse(7), -inverse(27),
];

#[rustfmt::skip]
const KOALA_BEAR_16: [i8; 16] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(3), inverse(24), -inverse(8), -inverse(3), -inverse(4),
    -inverse(24),
];

#[rustfmt::skip]
const KOALA_BEAR_24: [i8; 24] = [
    -2, 1, 2, HALF, 3, 4, -HALF, -3, -4, inverse(8), inverse(2), inverse(3), inverse(4), inverse(5), inverse(6),
    inverse(24), -inverse(8), -inverse(3), -inverse(4), -inverse(5), -inverse(6), -inverse(7), -inverse(9), -inverse(24),
];

/// Returns the macros of the permutation of states of `WIDTH` over `module`'s field: WIDTH, SBOX_DEGREE, DIAGONAL.
fn definitions<const WIDTH: usize>(module: &Module) -> String {
    let is_of_module = |spec: &&Poseidon2Spec| Some(spec.field) == module.field && spec.diagonal.len() == WIDTH;
    let spec = POSEIDON2.iter().find(is_of_module);
    let (degree, diagonal) = spec.map_or((0, &[][..]), |spec| (spec.degree, spec.diagonal));
    let diagonal: Vec<String> = diagonal.iter().map(ToString::to_string).collect();
    let diagonal = diagonal.join(", ");
    format!("#define WIDTH {WIDTH}\n#define SBOX_DEGREE {degree}\n#define DIAGONAL {{{diagonal}}}\n")
}

/// Returns whether elements of the module's field have two words.
fn has_two_words(module: &Module) -> bool {
    module.field.is_some_and(|field| field.prime_limbs() == Some(2))
}

const SOURCES: &[Part] = &[
    Part::when(|module| !has_two_words(module), source!("cl/poseidon2_small_field.cl")),
    Part::when(has_two_words, source!("cl/poseidon2_goldilocks.cl")),
    Part::always(source!("cl/poseidon2.cl")),
    Part::always(source!("cl/merkle.cl")),
];

/// Describes permutations of states of `WIDTH` over `fields`, sponges and trees. `name` has the width in it.
const fn family<const WIDTH: usize>(name: &'static str, fields: &'static [&'static FieldSpec]) -> KernelFamily {
    KernelFamily {
        domain: Domain::Fields(fields),
        constants: &[CONSTANTS],
        structures: &[MerkleLayer::definition, SpongePass::definition],
        definitions: definitions::<WIDTH>,
        kernels: &[KERNELS],
        sources: SOURCES,
        ..KernelFamily::new(name)
    }
}

static POSEIDON2_8: KernelFamily = family::<8>("poseidon2_8", &[&GOLDILOCKS]);
static POSEIDON2_12: KernelFamily = family::<12>("poseidon2_12", &[&GOLDILOCKS]);
static POSEIDON2_16: KernelFamily = family::<16>("poseidon2_16", &[&GOLDILOCKS, &BABY_BEAR, &KOALA_BEAR]);
static POSEIDON2_24: KernelFamily = family::<24>("poseidon2_24", &[&BABY_BEAR, &KOALA_BEAR]);

/// Returns the kernels for states of `width`, if there are any.
pub fn family_of_width(width: usize) -> Option<&'static KernelFamily> {
    match width {
        8 => Some(&POSEIDON2_8),
        12 => Some(&POSEIDON2_12),
        16 => Some(&POSEIDON2_16),
        24 => Some(&POSEIDON2_24),
        _ => None,
    }
}

/// Lists what this file declares.
pub const DECLARATIONS: Declarations =
    Declarations { families: &[&POSEIDON2_8, &POSEIDON2_12, &POSEIDON2_16, &POSEIDON2_24], ..Declarations::NONE };
