//! Includes the files of `cl/` and `cuda/`, and groups those that go together.

pub(crate) const DIALECT_CL: &str = include_str!("../../cl/dialect.cl");
pub(crate) const DIALECT_CUDA: &str = include_str!("../../cuda/dialect.cuh");
pub(crate) const PTX: &str = include_str!("../../cuda/ptx.cuh");
pub(crate) const FIELD: &str = include_str!("../../cl/field.cl");
pub(crate) const FIELD_ADD_PTX: &str = include_str!("../../cuda/field_add_ptx.cuh");
pub(crate) const FIELD_ADD: &str = include_str!("../../cl/field_add.cl");
pub(crate) const FIELD_PTX: &str = include_str!("../../cuda/field_ptx.cuh");
pub(crate) const FIELD_WIDE_PTX: &str = include_str!("../../cuda/field_wide_ptx.cuh");
pub(crate) const FIELD_GENERIC: &str = include_str!("../../cl/field_generic.cl");
pub(crate) const FIELD_LOOSE: &str = include_str!("../../cl/field_loose.cl");
pub(crate) const FIELD_INVERSE: &str = include_str!("../../cl/field_inverse.cl");
pub(crate) const FIELD_INVERSE_WARP: &str = include_str!("../../cl/field_inverse_warp.cl");
pub(crate) const BATCH_INVERSE: &str = include_str!("../../cl/batch_inverse.cl");
pub(crate) const FP2: &str = include_str!("../../cl/fp2.cl");
pub(crate) const CURVE: &str = include_str!("../../cl/curve.cl");
pub(crate) const TEST_FIELD: &str = include_str!("../../cl/test_field.cl");
/// Multiplies by fixed factors, for transforms and for powers of their roots of unity.
pub(crate) const SHOUP: &[&str] = &[include_str!("../../cl/field_shoup.cl"), include_str!("../../cuda/shoup_ptx.cuh")];
pub(crate) const NTT: &[&str] = &[
    NTT_COMMON,
    include_str!("../../cl/ntt_twiddles.cl"),
    include_str!("../../cl/ntt_columns.cl"),
    include_str!("../../cl/ntt_rows.cl"),
    include_str!("../../cl/ntt_multi_gpu.cl"),
    include_str!("../../cl/ntt_pointwise.cl"),
];
/// Defines the tiles of the passes. The module sets their size by `SMALL_TILES`.
pub(crate) const NTT_COMMON: &str = include_str!("../../cl/ntt_common.cl");
pub(crate) const NTT_SINGLE_WAVE: &[&str] =
    &["#define SMALL_TILES\n", NTT_COMMON, include_str!("../../cl/ntt_single_wave.cl")];
pub(crate) const CSR: &[&str] = &[include_str!("../../cl/csr.cl"), PREFIX_SUM, include_str!("../../cl/csr_delta.cl")];
pub(crate) const HALO2_GPU_COLUMNS: &str = include_str!("../../cl/halo2_gpu_columns.cl");
/// Adds products of field elements, and reduces the sum once.
pub(crate) const FIELD_ACCUMULATOR: &[&str] = &[include_str!("../../cl/field_accumulator.cl")];
/// Implements prime fields of one 32-bit limb, with sums of products that are reduced once.
pub(crate) const SMALL_FIELD31: &str = include_str!("../../cl/small_field31.cl");
pub(crate) const GOLDILOCKS: &str = include_str!("../../cl/goldilocks.cl");
pub(crate) const GEMM_COMMON: &str = include_str!("../../cl/gemm_common.cl");
pub(crate) const GEMV: &str = include_str!("../../cl/gemv.cl");
pub(crate) const GEMM_CRT: &str = include_str!("../../cl/gemm_crt.cl");
pub(crate) const GEMM_CRT_RECONSTRUCT: &str = include_str!("../../cl/gemm_crt_reconstruct.cl");
pub(crate) const GEMM: &[&str] = &[
    GEMM_COMMON,
    include_str!("../../cl/gemm.cl"),
    GEMV,
    GEMM_CRT,
    include_str!("../../cl/gemm_crt_residues_split.cl"),
    GEMM_CRT_RECONSTRUCT,
];
pub(crate) const GEMM_SMALL_FIELD: &[&str] = &[
    GEMM_COMMON,
    include_str!("../../cl/gemm_small_field.cl"),
    GEMV,
    GEMM_CRT,
    include_str!("../../cl/gemm_crt_residues_small.cl"),
    GEMM_CRT_RECONSTRUCT,
];
pub(crate) const GEMM_INT8_COMMON: &str = include_str!("../../cuda/gemm_int8_common.cuh");
pub(crate) const GEMM_INT8: &str = include_str!("../../cuda/gemm_int8.cu");
pub(crate) const GEMM_INT8_WGMMA: &str = include_str!("../../cuda/gemm_int8_wgmma.cu");
pub(crate) const EXPERIMENTS: &str = include_str!("../../cuda/experiments.cu");
pub(crate) const EXPRESSION: &str = include_str!("../../cl/expression.cl");
pub(crate) const SUMCHECK: &str = include_str!("../../cl/sumcheck.cl");
/// Runs two rounds of sumcheck per pass over the data, over a binary field.
pub(crate) const SUMCHECK_TWO_ROUNDS: &str = include_str!("../../cl/sumcheck_two_rounds.cl");
pub(crate) const SUMCHECK_PRIME: &str = include_str!("../../cl/sumcheck_prime.cl");
/// Computes sums of products and folds of sumcheck, over a prime field of more than two limbs. [`SUMCHECK_SMALL_FIELD`]
/// does so over smaller prime fields.
pub(crate) const SUMCHECK_MULTI_LIMB: &[&str] =
    &[FIELD_ACCUMULATOR[0], SHOUP[0], SHOUP[1], include_str!("../../cl/sumcheck_multi_limb.cl")];
pub(crate) const SUMCHECK_SMALL_FIELD: &str = include_str!("../../cl/sumcheck_small_field.cl");
/// Handles sumcheck columns over the field that is extended.
pub(crate) const SUMCHECK_BASE_FIELD: &str = include_str!("../../cl/sumcheck_base_field.cl");
pub(crate) const FIELD_EXTENSION: &str = include_str!("../../cl/field_extension.cl");
pub(crate) const SUMCHECK_BASIS: &str = include_str!("../../cl/sumcheck_basis.cl");
/// Implements bit-sliced arithmetic of the tower field GF(2^128), and sumcheck rounds by it.
pub(crate) const SUMCHECK_BITSLICED: &[&str] =
    &[include_str!("../../cl/tower_bitsliced.cl"), include_str!("../../cl/sumcheck_bitsliced.cl")];
/// Implements the arithmetic of the binary field GF(2^128) in the basis of GHASH.
pub(crate) const GHASH: &str = include_str!("../../cl/ghash.cl");
pub(crate) const GROTH16: &str = include_str!("../../cl/groth16.cl");
/// Multiplies by fixed factors, and makes field elements from encoded numbers.
pub(crate) const PLONK_FIELD: &[&str] = &[SHOUP[0], SHOUP[1], FIELD_BYTES];
/// Computes prefix sums within a work-group.
pub(crate) const PREFIX_SUM: &str = include_str!("../../cl/prefix_sum.cl");
pub(crate) const PLONK: &[&str] = &[
    BATCH_INVERSE,
    PREFIX_SUM,
    include_str!("../../cl/plonk_buffers.cl"),
    include_str!("../../cl/plonk_rowwise.cl"),
    include_str!("../../cl/plonk_lookup_permute.cl"),
    include_str!("../../cl/plonk_grand_product.cl"),
    include_str!("../../cl/plonk_evaluate.cl"),
    include_str!("../../cl/plonk_divide.cl"),
    include_str!("../../cl/plonk_h_pieces.cl"),
];
pub(crate) const MSM: &[&str] = &[
    PREFIX_SUM,
    include_str!("../../cl/curve_quad.cl"),
    include_str!("../../cl/msm_glv.cl"),
    include_str!("../../cl/msm_digits.cl"),
    include_str!("../../cl/msm_sort.cl"),
    include_str!("../../cl/msm_precompute.cl"),
    include_str!("../../cl/msm_batch_affine.cl"),
    include_str!("../../cl/msm_accumulate.cl"),
    include_str!("../../cl/msm_reduce.cl"),
    include_str!("../../cl/msm_check_points.cl"),
];
/// Makes field elements from encoded numbers.
pub(crate) const FIELD_BYTES: &str = include_str!("../../cl/field_bytes.cl");
pub(crate) const MSM_DECODE_POINTS: &str = include_str!("../../cl/msm_decode_points.cl");
pub(crate) const TEST_CURVE: &str = include_str!("../../cl/test_curve.cl");
