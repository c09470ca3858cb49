//! Includes the files of `cl/` and `cuda/`, and groups those that go together.

pub const DIALECT_CL: &str = include_str!("../../cl/dialect.cl");
pub const DIALECT_CUDA: &str = include_str!("../../cuda/dialect.cuh");
pub const PTX: &str = include_str!("../../cuda/ptx.cuh");
pub const FIELD: &str = include_str!("../../cl/field.cl");
pub const WORDS_PTX: &str = include_str!("../../cuda/words_ptx.cuh");
pub const FIELD_SUMS: &str = include_str!("../../cl/field_sums.cl");
pub const FIELD_PTX: &str = include_str!("../../cuda/field_ptx.cuh");
pub const FIELD_WIDE: &str = include_str!("../../cuda/field_wide.cuh");
pub const FIELD_COMMON: &str = include_str!("../../cl/field_common.cl");
pub const FIELD_LOOSE: &str = include_str!("../../cl/field_loose.cl");
pub const FIELD_INVERSE: &str = include_str!("../../cl/field_inverse.cl");
pub const FIELD_INVERSE_GROUP: &str = include_str!("../../cl/field_inverse_group.cl");
pub const INVERT_GROUP: &str = include_str!("../../cl/invert_group.cl");
pub const FIELD2: &str = include_str!("../../cl/field2.cl");
pub const CURVE: &str = include_str!("../../cl/curve.cl");
pub const VECTOR: &str = include_str!("../../cl/vector.cl");
/// Products by fixed factors: for transforms, and for powers of their roots.
pub const SHOUP: &[&str] = &[include_str!("../../cl/shoup.cl"), include_str!("../../cuda/shoup_ptx.cuh")];
pub const NTT: &[&str] = &[
    NTT_TILE,
    include_str!("../../cl/ntt_tables.cl"),
    include_str!("../../cl/ntt.cl"),
    include_str!("../../cl/ntt_rows.cl"),
    include_str!("../../cl/ntt_peers.cl"),
    include_str!("../../cl/ntt_vectors.cl"),
];
/// Tiles of the passes; the module sets their size.
pub const NTT_TILE: &str = include_str!("../../cl/ntt_tile.cl");
pub const NTT_SMALL: &[&str] = &["#define SMALL_TILES\n", NTT_TILE, include_str!("../../cl/ntt_small.cl")];
pub const CSR: &[&str] = &[include_str!("../../cl/csr.cl"), SCAN, include_str!("../../cl/csr_changes.cl")];
pub const COLUMNS: &str = include_str!("../../cl/columns.cl");
/// Sums that are reduced once.
pub const FIELD_LAZY: &[&str] = &[include_str!("../../cl/field_lazy.cl")];
/// Fields of one or two words, which have such sums.
pub const FIELD31: &str = include_str!("../../cl/field31.cl");
pub const GOLDILOCKS: &str = include_str!("../../cl/goldilocks.cl");
pub const GEMM_VIEWS: &str = include_str!("../../cl/gemm_views.cl");
pub const GEMV: &str = include_str!("../../cl/gemv.cl");
pub const GEMM_CRT: &str = include_str!("../../cl/gemm_crt.cl");
pub const GEMM_CRT_JOIN: &str = include_str!("../../cl/gemm_crt_join.cl");
pub const GEMM: &[&str] = &[
    GEMM_VIEWS,
    include_str!("../../cl/gemm.cl"),
    GEMV,
    GEMM_CRT,
    include_str!("../../cl/gemm_crt_halves.cl"),
    GEMM_CRT_JOIN,
];
pub const GEMM_WORDS: &[&str] = &[
    GEMM_VIEWS,
    include_str!("../../cl/gemm_words.cl"),
    GEMV,
    GEMM_CRT,
    include_str!("../../cl/gemm_crt_words.cl"),
    GEMM_CRT_JOIN,
];
pub const INT8_RESIDUES: &str = include_str!("../../cuda/int8_residues.cuh");
pub const GEMM_INT8: &str = include_str!("../../cuda/gemm_int8.cu");
pub const GEMM_INT8_WGMMA: &str = include_str!("../../cuda/gemm_int8_wgmma.cu");
pub const EXPERIMENTS: &str = include_str!("../../cuda/experiments.cu");
pub const EXPRESSION: &str = include_str!("../../cl/expression.cl");
pub const SUMCHECK: &str = include_str!("../../cl/sumcheck.cl");
/// Sumcheck that does two rounds a pass, over a binary field.
pub const SUMCHECK_PAIRS: &str = include_str!("../../cl/sumcheck_pairs.cl");
pub const SUMCHECK_PRIME: &str = include_str!("../../cl/sumcheck_prime.cl");
/// Sums of products and folds: these for a prime field of many limbs, as part of it; those below for other prime
/// fields. A binary field has them in its arithmetic.
pub const SUMCHECK_LIMBS: &[&str] = &[FIELD_LAZY[0], SHOUP[0], SHOUP[1], include_str!("../../cl/sumcheck_limbs.cl")];
pub const SUMCHECK_WORDS: &str = include_str!("../../cl/sumcheck_words.cl");
/// Handles columns over the field that is extended.
pub const SUMCHECK_BASE: &str = include_str!("../../cl/sumcheck_base.cl");
pub const FIELD_EXTENSION: &str = include_str!("../../cl/field_extension.cl");
pub const SUMCHECK_CONVERT: &str = include_str!("../../cl/sumcheck_convert.cl");
/// Bit-sliced arithmetic of the tower, and rounds by it.
pub const SUMCHECK_SLICED: &[&str] =
    &[include_str!("../../cl/tower_sliced.cl"), include_str!("../../cl/sumcheck_sliced.cl")];
/// Implements the binary field's arithmetic.
pub const GHASH: &str = include_str!("../../cl/ghash.cl");
pub const GROTH16: &str = include_str!("../../cl/groth16.cl");
/// Products by fixed factors, and elements from numbers.
pub const PLONK_FIELD: &[&str] = &[SHOUP[0], SHOUP[1], FIELD_ENCODING];
/// Prefix sums of a group.
pub const SCAN: &str = include_str!("../../cl/scan.cl");
pub const PLONK: &[&str] = &[
    INVERT_GROUP,
    SCAN,
    include_str!("../../cl/plonk_banks.cl"),
    include_str!("../../cl/plonk_columns.cl"),
    include_str!("../../cl/plonk_permute.cl"),
    include_str!("../../cl/plonk_products.cl"),
    include_str!("../../cl/plonk_evaluate.cl"),
    include_str!("../../cl/plonk_divide.cl"),
    include_str!("../../cl/plonk_pieces.cl"),
];
pub const MSM: &[&str] = &[
    SCAN,
    include_str!("../../cl/quad.cl"),
    include_str!("../../cl/msm_scalars.cl"),
    include_str!("../../cl/msm_digits.cl"),
    include_str!("../../cl/msm_multiples.cl"),
    include_str!("../../cl/msm_affine.cl"),
    include_str!("../../cl/msm_rows.cl"),
    include_str!("../../cl/msm_buckets.cl"),
    include_str!("../../cl/points_check.cl"),
];
/// Handles numbers that come encoded.
pub const FIELD_ENCODING: &str = include_str!("../../cl/field_encoding.cl");
pub const POINTS_DECODE: &str = include_str!("../../cl/points_decode.cl");
pub const POINTS: &str = include_str!("../../cl/points.cl");
