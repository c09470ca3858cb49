//! Lists the kernel modules, and assembles their source from `cl/` and `cuda/`.
//!
//! `build.rs` shares this file, and compiles the same text with nvcc that the OpenCL backend compiles at run time. A
//! module is one kernel family for one field or curve; its kernels' names are plain (`ntt_column_pass`), since every module is
//! a program of its own.

mod curves;
pub mod field_and_curve_names;
mod fields;
mod glv;
mod sources;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use blstrs::{Fp, Scalar};
pub use curves::{CurveDescription, SubgroupEndomorphism};
pub use fields::{Extension, FieldDescription};
pub use glv::GlvParams;
use glv::{GLV_WORDS, QUOTIENT_SHIFT, QUOTIENT_WORDS};
use halo2curves::bn256;
use sources::{
    BATCH_INVERSE, CSR, CURVE, DIALECT_CL, DIALECT_CUDA, EXPERIMENTS, EXPRESSION, FIELD, FIELD_ACCUMULATOR, FIELD_ADD,
    FIELD_ADD_PTX, FIELD_BYTES, FIELD_EXTENSION, FIELD_GENERIC, FIELD_INVERSE, FIELD_INVERSE_WARP, FIELD_LOOSE,
    FIELD_PTX, FIELD_WIDE_PTX, FP2, GEMM, GEMM_INT8, GEMM_INT8_COMMON, GEMM_INT8_WGMMA, GEMM_SMALL_FIELD, GHASH,
    GOLDILOCKS, GROTH16, HALO2_GPU_COLUMNS, MSM, MSM_DECODE_POINTS, NTT, NTT_SINGLE_WAVE, PLONK, PLONK_FIELD, PTX,
    SHOUP, SMALL_FIELD31, SUMCHECK, SUMCHECK_BASE_FIELD, SUMCHECK_BASIS, SUMCHECK_BITSLICED, SUMCHECK_MULTI_LIMB,
    SUMCHECK_PRIME, SUMCHECK_SMALL_FIELD, SUMCHECK_TWO_ROUNDS, TEST_CURVE, TEST_FIELD,
};

/// Selects the language as which the portable kernel source is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenCL C 1.2, at run time.
    OpenCl,
    /// CUDA C++, at build time.
    Cuda,
}

/// Selects the kernels of a module by what they compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Element-wise field operations.
    Vector,
    /// Number-theoretic transforms and their twiddles.
    Ntt,
    /// Passes, over small tiles, of a transform whose tiles all run at once.
    NttSmall,
    /// Sparse matrices times vectors.
    Csr,
    /// Elementwise operations on the columns of a PLONKish proof.
    Columns,
    /// Products of dense matrices over a field.
    Gemm,
    /// Products of dense matrices of bytes on tensor cores, without a field. CUDA only.
    GemmInt8,
    /// Experiments of the bench `matrix_seed`. CUDA only.
    Experiments,
    /// Polynomial expressions over columns.
    Expression,
    /// Steps of a Groth16 proof between its NTTs and its MSMs.
    Groth16,
    /// Steps of a PLONKish proof between its NTTs and its MSMs.
    Plonk,
    /// Rounds of sumcheck.
    Sumcheck,
    /// Rounds of sumcheck over bit-sliced columns of the tower field GF(2^128).
    SumcheckSliced,
    /// Multi-scalar multiplication.
    Msm,
    /// Element-wise point operations, for tests.
    Points,
}

impl Family {
    /// Returns the prefix of the names of this family's modules.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Ntt => "ntt",
            Self::NttSmall => "ntt_small",
            Self::Csr => "csr",
            Self::Columns => "columns",
            Self::Gemm => "gemm",
            Self::GemmInt8 => "gemm_int8",
            Self::Experiments => "experiments",
            Self::Expression => "expression",
            Self::Groth16 => "groth16",
            Self::Plonk => "plonk",
            Self::Sumcheck => "sumcheck",
            Self::SumcheckSliced => "sumcheck_sliced",
            Self::Msm => "msm",
            Self::Points => "points",
        }
    }
}

/// Macro of a module with carry-less multiply-add. CUDA has it from PTX ISA 9.3 on, for devices of compute capability
/// 8.0 and above.
const HAS_CLMAD: &str = "HAS_CLMAD";
/// Macro of a module with warpgroup matrix products (WGMMA), which only devices of compute capability 9.0 have.
const HAS_WGMMA: &str = "HAS_WGMMA";

/// Describes one kernel module: a kernel family for one field or curve, compiled as a program of its own.
#[derive(Debug, Clone)]
pub struct Module {
    /// Unique name, such as `msm_bls12_381_g1`.
    pub name: String,
    /// Kernel family of the module.
    pub family: Family,
    /// Field in which the module computes. If it computes in an extension, the field that is extended.
    pub field: FieldDescription,
    /// Whether the module computes in the quadratic extension `field[u]/(u² + 1)`.
    pub is_fp2: bool,
    /// Extension of `field` by a root of X^degree − residue, if the module computes in one; `None` otherwise.
    pub extension: Option<Extension>,
    /// Scalar field of the curve; `None` if the module has no curve.
    pub scalar: Option<FieldDescription>,
    /// Constants of the curve; `None` if there is no curve.
    pub curve: Option<CurveDescription>,
    /// Macro for a feature that not every compiler or device has: `HAS_CLMAD`, `HAS_WGMMA`, or empty for none.
    pub define: &'static str,
}

/// Returns the prime fields whose elements have one or two 32-bit limbs: Goldilocks and BabyBear, in this order.
pub fn small_fields() -> Vec<FieldDescription> {
    vec![
        FieldDescription::from_modulus(field_and_curve_names::GOLDILOCKS, (1 << 64) - (1 << 32) + 1),
        FieldDescription::from_modulus(field_and_curve_names::BABY_BEAR, 15 * (1 << 27) + 1),
    ]
}

/// Returns one extension of each of the [`small_fields`], in their order. Challenges of sumcheck come from these.
pub fn extensions() -> [Extension; 2] {
    [
        Extension { name: field_and_curve_names::GOLDILOCKS2, degree: 2, residue: 7 },
        Extension { name: field_and_curve_names::BABY_BEAR4, degree: 4, residue: 11 },
    ]
}

/// Returns the scalar fields and the prime coordinate fields of all curves. NTTs are over some of these.
pub fn large_prime_fields() -> Vec<FieldDescription> {
    vec![
        FieldDescription::from_gpu_field::<Scalar>(field_and_curve_names::BLS12_381_FR),
        FieldDescription::from_gpu_field::<Fp>(field_and_curve_names::BLS12_381_FQ),
        FieldDescription::from_prime_field::<bn256::Fr>(field_and_curve_names::BN254_FR),
        FieldDescription::from_prime_field::<bn256::Fq>(field_and_curve_names::BN254_FQ),
        FieldDescription::from_prime_field::<pasta_curves::Fp>(field_and_curve_names::PASTA_FP),
        FieldDescription::from_prime_field::<pasta_curves::Fq>(field_and_curve_names::PASTA_FQ),
    ]
}

/// Lists curves by name, prime field of the coordinates, whether coordinates are in its quadratic extension, and scalar
/// field.
const CURVES: [(&str, &str, bool, &str); 6] = [
    (
        field_and_curve_names::BLS12_381_G1,
        field_and_curve_names::BLS12_381_FQ,
        false,
        field_and_curve_names::BLS12_381_FR,
    ),
    (
        field_and_curve_names::BLS12_381_G2,
        field_and_curve_names::BLS12_381_FQ,
        true,
        field_and_curve_names::BLS12_381_FR,
    ),
    (field_and_curve_names::BN254_G1, field_and_curve_names::BN254_FQ, false, field_and_curve_names::BN254_FR),
    (field_and_curve_names::BN254_G2, field_and_curve_names::BN254_FQ, true, field_and_curve_names::BN254_FR),
    (field_and_curve_names::PALLAS, field_and_curve_names::PASTA_FP, false, field_and_curve_names::PASTA_FQ),
    (field_and_curve_names::VESTA, field_and_curve_names::PASTA_FQ, false, field_and_curve_names::PASTA_FP),
];

/// Names the prime coordinate field of the curves whose encoded points the kernels can decode.
const ENCODED_FIELD: &str = field_and_curve_names::BLS12_381_FQ;

/// Lists the fields on which transforms are defined: a large power of two divides p − 1.
const NTT_FIELDS: [&str; 4] = [
    field_and_curve_names::BLS12_381_FR,
    field_and_curve_names::BN254_FR,
    field_and_curve_names::PASTA_FP,
    field_and_curve_names::PASTA_FQ,
];
/// Lists the fields that have modules of [`Family::Columns`].
const COLUMN_FIELDS: [&str; 1] = [field_and_curve_names::BN254_FR];
/// Lists the scalar fields of curves with a pairing, which have modules of [`Family::Groth16`].
const PAIRING_FIELDS: [&str; 2] = [field_and_curve_names::BLS12_381_FR, field_and_curve_names::BN254_FR];

/// Returns every module that both OpenCL and CUDA compile, in a fixed order.
pub fn modules() -> Vec<Module> {
    let fields = large_prime_fields();
    let by_name = |name: &str| fields.iter().find(|f| f.name == name).cloned();
    let of_field = |family: Family, field: &FieldDescription, quadratic: bool| Module {
        name: format!("{}_{}{}", family.name(), field.name, if quadratic { "2" } else { "" }),
        family,
        field: field.clone(),
        is_fp2: quadratic,
        extension: None,
        scalar: None,
        curve: None,
        define: "",
    };
    let mut modules: Vec<Module> = fields.iter().map(|f| of_field(Family::Vector, f, false)).collect();
    modules.extend(
        [field_and_curve_names::BLS12_381_FQ, field_and_curve_names::BN254_FQ]
            .iter()
            .filter_map(|n| by_name(n))
            .map(|f| of_field(Family::Vector, &f, true)),
    );
    let families = [
        (Family::Ntt, &NTT_FIELDS[..]),
        (Family::NttSmall, &NTT_FIELDS[..]),
        (Family::Csr, &NTT_FIELDS[..]),
        (Family::Columns, &COLUMN_FIELDS[..]),
        (Family::Gemm, &NTT_FIELDS[..]),
        (Family::Expression, &NTT_FIELDS[..]),
        (Family::Groth16, &PAIRING_FIELDS[..]),
        (Family::Plonk, &NTT_FIELDS[..]),
        (Family::Sumcheck, &NTT_FIELDS[..]),
    ];
    for (family, names) in families {
        modules.extend(names.iter().filter_map(|n| by_name(n)).map(|f| of_field(family, &f, false)));
    }
    for (field, extension) in small_fields().iter().zip(extensions()) {
        modules.extend([Family::Gemm, Family::Sumcheck].map(|family| of_field(family, field, false)));
        let name = format!("{}_{}", Family::Sumcheck.name(), extension.name);
        modules.push(Module { name, extension: Some(extension), ..of_field(Family::Sumcheck, field, false) });
    }
    let ghash = FieldDescription::ghash(field_and_curve_names::GHASH);
    modules.push(of_field(Family::Sumcheck, &ghash, false));
    let name = format!("{}_{}", Family::SumcheckSliced.name(), field_and_curve_names::TOWER);
    modules.push(Module { name, ..of_field(Family::SumcheckSliced, &ghash, false) });
    for (name, field, quadratic, scalar) in CURVES {
        if let (Some(field), scalar) = (by_name(field), by_name(scalar)) {
            let curve = CurveDescription::from_name(name, &field);
            for family in [Family::Msm, Family::Points] {
                let (name, field) = (format!("{}_{name}", family.name()), field.clone());
                let (scalar, curve) = (scalar.clone(), curve.clone());
                modules.push(Module {
                    name,
                    family,
                    field,
                    is_fp2: quadratic,
                    extension: None,
                    scalar,
                    curve,
                    define: "",
                });
            }
        }
    }
    modules
}

/// Returns variants, with carry-less multiply-add, of those [`modules`] that run sumcheck over a binary field. Their
/// names are different. They exist for CUDA only, and nvcc 13.3 and later compile them.
pub fn clmad_modules() -> Vec<Module> {
    let binary = modules().into_iter().filter(|module| module.field.binary && module.family == Family::Sumcheck);
    binary
        .map(|module| Module {
            name: format!("{}_{}", module.name, field_and_curve_names::CLMAD),
            define: HAS_CLMAD,
            ..module
        })
        .collect()
}

/// Returns the modules that exist for CUDA only and have no field: int8 products on tensor cores, and a bench's
/// experiments.
pub fn cuda_modules() -> Vec<Module> {
    [
        fieldless_module(Family::GemmInt8, field_and_curve_names::TENSOR, ""),
        fieldless_module(Family::Experiments, field_and_curve_names::EXPERIMENTS, ""),
    ]
    .concat()
}

/// Returns the one module of int8 products by instructions that only devices of compute capability 9.0 have.
pub fn hopper_modules() -> Vec<Module> {
    fieldless_module(Family::GemmInt8, field_and_curve_names::HOPPER, HAS_WGMMA)
}

fn fieldless_module(family: Family, name: &str, define: &'static str) -> Vec<Module> {
    let any = modules().into_iter().find(|module| module.family == Family::Gemm);
    let name = format!("{}_{name}", family.name());
    any.map(|module| Module { name, family, define, ..module }).into_iter().collect()
}

/// Returns the names, sorted, of kernels that use programmatic dependent launch: they wait by themselves for earlier
/// work in their stream. `PDL_KERNEL` of `cuda/dialect.cuh` declares them.
pub fn pdl_kernels() -> Vec<String> {
    let sources = modules().into_iter().map(|module| module.source(Dialect::Cuda));
    let declared = |line: &str| Some(line.strip_prefix("PDL_KERNEL(")?.strip_suffix(')')?.to_owned());
    let declared = |source: String| source.lines().filter_map(declared).collect::<Vec<_>>();
    sources.flat_map(declared).collect::<BTreeSet<_>>().into_iter().collect()
}

impl Module {
    /// Returns the whole source of the module in `dialect`.
    pub fn source(&self, dialect: Dialect) -> String {
        let mut text = if self.define.is_empty() { String::new() } else { format!("#define {}\n", self.define) };
        text.push_str(if dialect == Dialect::Cuda { DIALECT_CUDA } else { DIALECT_CL });
        text.push_str(PTX);
        if matches!(self.family, Family::GemmInt8 | Family::Experiments | Family::SumcheckSliced) {
            self.append_family_sources(&mut text);
            return text;
        }
        if let (Family::Msm, Some(scalar)) = (self.family, &self.scalar) {
            emit_field(&mut text, scalar, &[]);
        }
        emit_field(&mut text, &self.field, self.extra_field_sources());
        let coordinate = if self.is_fp2 {
            let _ = writeln!(text, "#define SUBFIELD {}\n#define FIELD {}2", self.field.name, self.field.name);
            text.push_str(FP2);
            text.push_str(FIELD_LOOSE);
            text.push_str("#undef FIELD\n");
            format!("{}2", self.field.name)
        } else if let Some(extension) = &self.extension {
            emit_extension(&mut text, &self.field, extension);
            extension.name.to_owned()
        } else {
            self.field.name.to_owned()
        };
        let degree = self.extension.as_ref().map_or(1, |extension| extension.degree);
        let words = self.field.limb_count() * if self.is_fp2 { 2 } else { degree };
        let _ = writeln!(text, "#define FIELD {coordinate}\n#define FIELD_WORDS {words}");
        if let Some(scalar) = &self.scalar {
            let _ = writeln!(text, "#define SCALAR {}\n#define SCALAR_LIMBS {}", scalar.name, scalar.limb_count());
        }
        if let Some(curve) = &self.curve {
            emit_curve(&mut text, curve);
        }
        self.append_family_sources(&mut text);
        text
    }

    /// Returns the sources of field functions that only this module's family needs.
    fn extra_field_sources(&self) -> &'static [&'static str] {
        match self.family {
            Family::Ntt | Family::NttSmall => SHOUP,
            Family::Plonk => PLONK_FIELD,
            Family::Columns => &[FIELD_BYTES],
            Family::Gemm => FIELD_ACCUMULATOR,
            Family::Sumcheck => SUMCHECK_MULTI_LIMB,
            _ if self.decodes_points() => &[FIELD_BYTES],
            _ => &[],
        }
    }

    /// Returns whether the module has kernels that decode points.
    fn decodes_points(&self) -> bool {
        self.family == Family::Msm && self.field.name == ENCODED_FIELD
    }

    fn append_family_sources(&self, text: &mut String) {
        match self.family {
            Family::Vector => [BATCH_INVERSE, TEST_FIELD].iter().for_each(|part| text.push_str(part)),
            Family::Ntt => NTT.iter().for_each(|part| text.push_str(part)),
            Family::NttSmall => NTT_SINGLE_WAVE.iter().for_each(|part| text.push_str(part)),
            Family::Csr => CSR.iter().for_each(|part| text.push_str(part)),
            Family::Columns => text.push_str(HALO2_GPU_COLUMNS),
            Family::Gemm if self.field.is_small() => GEMM_SMALL_FIELD.iter().for_each(|part| text.push_str(part)),
            Family::Gemm => GEMM.iter().for_each(|part| text.push_str(part)),
            Family::GemmInt8 => {
                text.push_str(GEMM_INT8_COMMON);
                text.push_str(if self.define == HAS_WGMMA { GEMM_INT8_WGMMA } else { GEMM_INT8 });
            }
            Family::Experiments => text.push_str(EXPERIMENTS),
            Family::Expression => text.push_str(EXPRESSION),
            Family::Sumcheck if self.field.binary => {
                for part in [SUMCHECK, SUMCHECK_TWO_ROUNDS, SUMCHECK_BASIS] {
                    text.push_str(part);
                }
            }
            Family::Sumcheck => {
                let base = self.extension.is_some().then_some(SUMCHECK_BASE_FIELD);
                let sums = self.field.is_small().then_some(SUMCHECK_SMALL_FIELD);
                [SUMCHECK_PRIME]
                    .into_iter()
                    .chain(sums)
                    .chain([SUMCHECK])
                    .chain(base)
                    .for_each(|part| text.push_str(part));
            }
            Family::SumcheckSliced => SUMCHECK_BITSLICED.iter().for_each(|part| text.push_str(part)),
            Family::Groth16 => text.push_str(GROTH16),
            Family::Plonk => PLONK.iter().for_each(|part| text.push_str(part)),
            Family::Msm => {
                text.push_str(CURVE);
                text.push_str(BATCH_INVERSE);
                for part in MSM {
                    text.push_str(part);
                }
                if self.decodes_points() {
                    text.push_str(MSM_DECODE_POINTS);
                }
            }
            Family::Points => {
                text.push_str(CURVE);
                text.push_str(TEST_CURVE);
            }
        }
    }
}

/// Appends the source of `field` to `text`: its constants, then its functions, prefixed by its name. `more` are sources
/// of further functions.
fn emit_field(text: &mut String, field: &FieldDescription, more: &[&str]) {
    if field.binary {
        let _ = writeln!(text, "#define FIELD {}\n{GHASH}\n#undef FIELD", field.name);
        return;
    }
    let limbs = field.limb_count();
    let _ =
        writeln!(text, "#define FIELD {}\n#define LIMBS {limbs}\n#define INV32 0x{:08x}u", field.name, field.inv32());
    for (what, words) in [("P", &field.modulus), ("P2", &field.twice_modulus()), ("ONE", &field.one), ("R2", &field.r2)]
    {
        define_limbs(text, what, words);
    }
    if field.has_loose_elements() {
        text.push_str("#define LOOSE\n");
    }
    let several: &[&str] = &[
        FIELD,
        FIELD_ADD_PTX,
        FIELD_ADD,
        FIELD_PTX,
        FIELD_WIDE_PTX,
        FIELD_GENERIC,
        FIELD_LOOSE,
        FIELD_INVERSE,
        FIELD_INVERSE_WARP,
    ];
    let (parts, more) = match limbs {
        1 => (&[SMALL_FIELD31][..], &[][..]),
        2 => (&[GOLDILOCKS][..], &[][..]),
        _ => (several, more),
    };
    for part in parts.iter().chain(more) {
        text.push_str(part);
    }
    for name in ["FIELD", "LIMBS", "INV32", "LOOSE", "P_LIMBS", "P2_LIMBS", "ONE_LIMBS", "R2_LIMBS"] {
        let _ = writeln!(text, "#undef {name}");
    }
}

/// Appends the source of `extension` to `text`, which defines `field` already.
fn emit_extension(text: &mut String, field: &FieldDescription, extension: &Extension) {
    let Extension { name, degree, .. } = extension;
    let _ = writeln!(text, "#define SUBFIELD {}\n#define FIELD {name}\n#define DEGREE {degree}", field.name);
    define_limbs(text, "RESIDUE", &extension.residue_limbs(field));
    text.push_str(FIELD_EXTENSION);
    text.push_str("#undef FIELD\n");
}

/// Appends macros for the constants of `curve` to `text`.
fn emit_curve(text: &mut String, curve: &CurveDescription) {
    define_limbs(text, "CURVE_B", &curve.b);
    emit_glv(text, &curve.halves);
    if let Some(SubgroupEndomorphism { alpha, beta, factor }) = &curve.subgroup {
        define_limbs(text, "ALPHA", alpha);
        define_limbs(text, "BETA", beta);
        define_limbs(text, "FACTOR", factor);
        let _ = writeln!(text, "#define FACTOR_WORDS {}", factor.len());
    }
}

/// Appends macros for the endomorphism and the constants of the GLV decomposition to `text`.
fn emit_glv(text: &mut String, halves: &GlvParams) {
    define_limbs(text, "LAMBDA_X", &halves.beta);
    for (what, count) in
        [("HALF_WORDS", GLV_WORDS), ("QUOTIENT_WORDS", QUOTIENT_WORDS), ("QUOTIENT_SHIFT", QUOTIENT_SHIFT)]
    {
        let _ = writeln!(text, "#define {what} {count}");
    }
    for (vector, (quotient, steps)) in halves.quotients.iter().zip(&halves.steps).enumerate() {
        define_limbs(text, &format!("QUOTIENT_{vector}"), quotient);
        for (half, step) in steps.iter().enumerate() {
            define_limbs(text, &format!("STEP_{vector}{half}"), step);
        }
    }
}

/// Appends the macro `{what}_LIMBS` to `text`, an initialiser list of the limbs `words`.
fn define_limbs(text: &mut String, what: &str, words: &[u32]) {
    let list: Vec<String> = words.iter().map(|w| format!("0x{w:08x}u")).collect();
    let _ = writeln!(text, "#define {what}_LIMBS {{{}}}", list.join(", "));
}
