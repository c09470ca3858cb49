//! Finds kernels by the names that callers know them by.

use proofwarp::column_ops::Operation;

/// Describes the work that a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An operation on columns, row by row.
    Columns(Operation),
    /// A round of a transform.
    Round,
}

/// Prefix of all kernel names, which names the field that kernels work in: BN254's scalars.
const PREFIX: &str = "Bn256_Fr_";

/// Lists all kernels by their names without the prefix.
#[rustfmt::skip]
pub(super) const KERNELS: [(&str, Kind); 25] = [
    ("radix_fft", Kind::Round),
    ("distribute_powers_zeta", Kind::Columns(Operation::Periodic)),
    ("eval_fft_prepare", Kind::Columns(Operation::Extend)),
    ("eval_constant", Kind::Columns(Operation::Constant)),
    ("eval_scale", Kind::Columns(Operation::Scale)),
    ("eval_sum", Kind::Columns(Operation::Sum)),
    ("eval_mul", Kind::Columns(Operation::Product)),
    ("eval_sum_c", Kind::Columns(Operation::SumConstant)),
    ("eval_mul_c", Kind::Columns(Operation::ProductConstant)),
    ("eval_lctheta", Kind::Columns(Operation::ScaleAdd)),
    ("eval_lcbeta", Kind::Columns(Operation::ShiftMul)),
    ("eval_addgamma", Kind::Columns(Operation::Shift)),
    ("eval_h_permutation_part1", Kind::Columns(Operation::PermutationEnds)),
    ("eval_h_permutation_part2", Kind::Columns(Operation::Link)),
    ("eval_h_permutation_left_prepare", Kind::Columns(Operation::Rotate)),
    ("eval_h_permutation_left_right", Kind::Columns(Operation::PermutationFactors)),
    ("eval_h_permutation_part3", Kind::Columns(Operation::PermutationSides)),
    ("eval_h_logup", Kind::Columns(Operation::Logup)),
    ("eval_h_logup_z", Kind::Columns(Operation::Link)),
    ("eval_h_logup_extra", Kind::Columns(Operation::LogupMore)),
    ("eval_h_shuffles", Kind::Columns(Operation::Shuffle)),
    ("calc_lookup_z", Kind::Columns(Operation::LookupSlots)),
    ("batch_mont", Kind::Columns(Operation::ToMontgomery)),
    ("batch_unmont", Kind::Columns(Operation::FromMontgomery)),
    ("sort", Kind::Columns(Operation::SortStep)),
];

/// Returns the work of the kernel `name`, which includes the prefix. Returns `None` if there is no such kernel.
pub(super) fn find(name: &str) -> Option<Kind> {
    let name = name.strip_prefix(PREFIX)?;
    KERNELS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}
