//! Assembles the source of a module from its field, its curve and its kernel family. Each file is preceded by a `#line`
//! directive, so that compilers name the file and the line of an error.

use std::fmt::Write as _;

use super::curves::{CurveDescription, SubgroupEndomorphism};
use super::field_sources::{BINOMIAL, CONSTANTS, GHASH, MULTI_LIMB, ONE_LIMB, QUADRATIC, TWO_LIMBS};
use super::fields::FieldDescription;
use super::glv::{GLV_WORDS, GlvParams, QUOTIENT_SHIFT, QUOTIENT_WORDS};
use super::spec::{Constant, CurveSpec, FieldKind, FieldSpec, Module, Part, Source, source};

/// Selects the language as which the portable kernel source is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenCL C 1.2, at run time.
    OpenCl,
    /// CUDA C++, at build time.
    Cuda,
}

const DIALECT_CL: Source = source!("cl/dialect.cl");
const DIALECT_CUDA: Source = source!("cuda/dialect.cuh");
const PTX: Source = source!("cuda/ptx.cuh");

/// Returns the whole source of `module` in `dialect`.
pub fn source_text(module: &Module, dialect: Dialect) -> String {
    let mut text = if module.define.is_empty() { String::new() } else { format!("#define {}\n", module.define) };
    push(&mut text, if dialect == Dialect::Cuda { DIALECT_CUDA } else { DIALECT_CL });
    push(&mut text, PTX);
    let lists = [CONSTANTS].into_iter().chain(module.family.constants.iter().copied());
    lists.flatten().for_each(|constant| define(&mut text, constant));
    module.family.structures.iter().for_each(|structure| text.push_str(&structure()));
    text.push_str(&(module.family.definitions)(module));
    if let Some(curve) = module.curve {
        emit_prime_field(&mut text, &FieldDescription::new(curve.scalars), &[]);
    }
    if let Some(field) = module.field {
        emit_field(&mut text, module, field);
    }
    if let Some(curve) = module.curve {
        emit_curve(&mut text, curve);
    }
    sources_of(module, module.family.sources).for_each(|source| push(&mut text, source));
    text
}

/// Returns the sources of `parts` that `module` contains.
fn sources_of<'a>(module: &'a Module, parts: &'a [Part]) -> impl Iterator<Item = Source> + 'a {
    parts.iter().filter(|part| (part.condition)(module)).map(|part| part.source)
}

/// Appends `source` to `text`.
fn push(text: &mut String, source: Source) {
    let _ = writeln!(text, "#line 1 \"{}\"", source.path);
    text.push_str(source.text);
}

/// Appends the macro of `constant` to `text`.
fn define(text: &mut String, constant: &Constant) {
    let suffix = if constant.kind == "u32" { "u" } else { "" };
    let _ = writeln!(text, "#define {} {}{suffix}", constant.name, constant.value);
}

/// Appends the arithmetic of `field` to `text`, and macros for its name and the words of an element. The field that it
/// extends precedes it.
fn emit_field(text: &mut String, module: &Module, field: &'static FieldSpec) {
    let base = FieldDescription::new(field);
    let words = field.degree() * base.limb_count();
    match field.kind {
        FieldKind::Tower => return,
        FieldKind::Ghash => emit_ghash(text, base.name),
        FieldKind::Prime { .. } => emit_prime_field(text, &base, &family_sources(module)),
        FieldKind::Quadratic { nonresidue, .. } => {
            emit_prime_field(text, &base, &family_sources(module));
            emit_quadratic(text, field.name, base.name, nonresidue);
        }
        FieldKind::Binomial { degree, residue, .. } => {
            emit_prime_field(text, &base, &family_sources(module));
            emit_binomial(text, field.name, &base, degree, residue);
        }
    }
    let _ = writeln!(text, "#define FIELD {}\n#define FIELD_WORDS {words}", field.name);
}

/// Returns the sources of functions of `module`'s field that only its kernel family needs. Small fields have all
/// functions in one file.
fn family_sources(module: &Module) -> Vec<Source> {
    if module.is_small() { Vec::new() } else { sources_of(module, module.family.field_sources).collect() }
}

/// Appends the arithmetic of the prime field `field` to `text`: its constants, then its functions, prefixed by its name.
/// `more` are sources of further functions.
fn emit_prime_field(text: &mut String, field: &FieldDescription, more: &[Source]) {
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
    let functions = match limbs {
        1 => ONE_LIMB,
        2 => TWO_LIMBS,
        _ => MULTI_LIMB,
    };
    functions.iter().chain(more).for_each(|source| push(text, *source));
    for name in ["FIELD", "LIMBS", "INV32", "LOOSE", "P_LIMBS", "P2_LIMBS", "ONE_LIMBS", "R2_LIMBS"] {
        let _ = writeln!(text, "#undef {name}");
    }
}

/// Appends the arithmetic of GF(2^128) in the basis of GHASH to `text`, prefixed by `name`.
fn emit_ghash(text: &mut String, name: &str) {
    let _ = writeln!(text, "#define FIELD {name}");
    push(text, GHASH);
    text.push_str("\n#undef FIELD\n");
}

/// Appends the arithmetic of the quadratic extension `name` of the field `base` to `text`. u² = −`nonresidue`.
fn emit_quadratic(text: &mut String, name: &str, base: &str, nonresidue: u32) {
    let _ = writeln!(text, "#define SUBFIELD {base}\n#define FIELD {name}\n#define FP2_NONRESIDUE {nonresidue}");
    for source in QUADRATIC {
        push(text, *source);
    }
    text.push_str("#undef FIELD\n");
}

/// Appends the arithmetic of the extension `name` of the field `base` to `text`.
fn emit_binomial(text: &mut String, name: &str, base: &FieldDescription, degree: usize, residue: u32) {
    let _ = writeln!(text, "#define SUBFIELD {}\n#define FIELD {name}\n#define DEGREE {degree}", base.name);
    define_limbs(text, "RESIDUE", &base.to_montgomery(&residue.into()));
    push(text, BINOMIAL);
    text.push_str("#undef FIELD\n");
}

/// Appends macros for the scalar field and the constants of `curve` to `text`.
fn emit_curve(text: &mut String, curve: &CurveSpec) {
    let description = CurveDescription::new(curve);
    let scalar_limbs = FieldDescription::new(curve.scalars).limb_count();
    let _ = writeln!(text, "#define SCALAR {}\n#define SCALAR_LIMBS {scalar_limbs}", curve.scalars.name);
    define_limbs(text, "CURVE_B", &description.b);
    emit_glv(text, &description.beta, &GlvParams::new(curve.scalars));
    if let Some(SubgroupEndomorphism { alpha, beta, factor }) = &description.subgroup {
        define_limbs(text, "ALPHA", alpha);
        define_limbs(text, "BETA", beta);
        define_limbs(text, "FACTOR", factor);
        let _ = writeln!(text, "#define FACTOR_WORDS {}", factor.len());
    }
}

/// Appends macros for the endomorphism (x, y) → (`beta`·x, y) and for the constants of the GLV decomposition to `text`.
fn emit_glv(text: &mut String, beta: &[u32], halves: &GlvParams) {
    define_limbs(text, "LAMBDA_X", beta);
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
