//! Combines fields and appended kernels in one text.

use ec_gpu::{GpuField, GpuName};
use group::prime::PrimeCurveAffine;

const COMMON: &str = include_str!("../cl/common.cl");
const FIELD: &str = include_str!("../cl/field.cl");
const FIELD2: &str = include_str!("../cl/field2.cl");

/// Collects fields and appended kernels into one text.
#[derive(Debug, Default)]
pub struct SourceBuilder {
    fields: Vec<Field>,
    extensions: Vec<Extension>,
    pub(super) appended: Vec<String>,
}

/// Holds a prime field's constants in little-endian 32-bit limbs.
#[derive(Debug)]
struct Field {
    name: String,
    modulus: Vec<u32>,
    one: Vec<u32>,
    r2: Vec<u32>,
}

/// Describes a quadratic extension of a prime field by u, where u² = −1.
#[derive(Debug)]
struct Extension {
    name: String,
    of: String,
}

impl SourceBuilder {
    /// Creates an empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the arithmetic of the field `F` to the text, and of its prime field if `F` is an extension.
    #[must_use]
    pub fn add_field<F>(mut self) -> Self
    where
        F: GpuField + 'static,
    {
        let prime = F::sub_field_name().unwrap_or_else(F::name);
        if prime != F::name() && !self.extensions.iter().any(|extension| extension.name == F::name()) {
            self.extensions.push(Extension { name: F::name(), of: prime.clone() });
        }
        if !self.fields.iter().any(|field| field.name == prime) {
            self.fields.push(Field { name: prime, modulus: F::modulus(), one: F::one(), r2: F::r2() });
        }
        self
    }

    /// Adds the arithmetic of the field `F` to the text. The NTT itself is built into proofwarp.
    #[must_use]
    pub fn add_fft<F>(self) -> Self
    where
        F: GpuField + 'static,
    {
        self.add_field::<F>()
    }

    /// Adds the arithmetic of `F`, the field of the coordinates of `C`, and of the scalar field of `C`. The
    /// multi-exponentiation itself is built into proofwarp.
    #[must_use]
    pub fn add_multiexp<C, F>(self) -> Self
    where
        C: PrimeCurveAffine + GpuName,
        C::Scalar: GpuField + 'static,
        F: GpuField + 'static,
    {
        self.add_field::<F>().add_field::<C::Scalar>()
    }

    /// Appends `source` to the text, after all fields and after all sources appended before.
    #[must_use]
    pub fn append_source(mut self, source: String) -> Self {
        self.appended.push(source);
        self
    }

    /// Returns the text of all fields and appended sources, in which field elements have limbs of 32 bits.
    pub fn build_32_bit_limbs(&self) -> String {
        self.build(1)
    }

    /// Returns the text of all fields and appended sources, in which field elements have limbs of 64 bits.
    pub fn build_64_bit_limbs(&self) -> String {
        self.build(2)
    }

    fn build(&self, words_per_limb: usize) -> String {
        let mut parts = vec![COMMON.to_owned()];
        parts.extend(self.fields.iter().map(|field| field.source(words_per_limb)));
        parts.extend(self.extensions.iter().map(Extension::source));
        // Frees short names, which appended kernels may define themselves.
        parts.push("#undef F\n#undef SUB\n".to_owned());
        parts.extend(self.appended.iter().cloned());
        parts.join("\n")
    }
}

impl Field {
    fn source(&self, words_per_limb: usize) -> String {
        let Self { name, .. } = self;
        let bits = 32 * words_per_limb;
        let limb = if bits == 64 { "ulong" } else { "uint" };
        let limbs = self.modulus.len() / words_per_limb;
        let inverse = self.minus_inverse_of_modulus(bits);
        let zero = vec![0; self.modulus.len()];
        let constants = [("ZERO", &zero), ("ONE", &self.one), ("P", &self.modulus), ("R2", &self.r2)];
        let constants = constants.map(|(which, words)| {
            format!("CONSTANT {name} {name}_{which} = {{{{ {} }}}};\n", format_limb_literals(words, words_per_limb))
        });
        format!(
            "typedef {limb} {name}_limb;\n\
             #define {name}_LIMBS {limbs}\n#define {name}_LIMB_BITS {bits}\n#define {name}_INV (({limb}){inverse:#x}u{suffix})\n\
             typedef struct {{ {name}_limb val[{name}_LIMBS]; }} {name};\n{constants}\
             #define FIELD {name}\n{FIELD}\n#undef FIELD\n",
            suffix = if bits == 64 { "l" } else { "" },
            constants = constants.concat(),
        )
    }

    /// Returns −p⁻¹ mod 2^`bits` for the modulus p, by Newton's iteration: each step doubles the number of correct
    /// bits.
    fn minus_inverse_of_modulus(&self, bits: usize) -> u64 {
        let p = u64::from(self.modulus[0]) | (u64::from(*self.modulus.get(1).unwrap_or(&0)) << 32);
        let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(x))));
        inverse.wrapping_neg() & (u64::MAX >> (64 - bits))
    }
}

impl Extension {
    fn source(&self) -> String {
        let Self { name, of } = self;
        format!(
            "typedef struct {{ {of} c0, c1; }} {name};\n\
             #define {name}_LIMB_BITS {of}_LIMB_BITS\n\
             #define {name}_ZERO {name}_zero()\n#define {name}_ONE {name}_one()\n\
             #define FIELD {name}\n#define SUBFIELD {of}\n{FIELD2}\n#undef SUBFIELD\n#undef FIELD\n"
        )
    }
}

/// Formats little-endian `words` as a list of limb literals, separated by commas. A limb has one or two words.
fn format_limb_literals(words: &[u32], words_per_limb: usize) -> String {
    let limb = |words: &[u32]| match *words {
        [low, high] => format!("{:#x}ul", u64::from(low) | (u64::from(high) << 32)),
        _ => format!("{:#x}u", words.first().unwrap_or(&0)),
    };
    words.chunks(words_per_limb).map(limb).collect::<Vec<_>>().join(", ")
}
