//! Describes fields, curves and kernel families as data. Each is declared beside its type or its algorithm, and the
//! registry lists it in one line.

/// Describes a field that kernels compute in.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// Prefix of the field's functions in kernels, such as `bls12_381_fq`.
    pub name: &'static str,
    /// Kind and constants of the field.
    pub kind: FieldKind,
    /// Names of the kernel families that are compiled for the field. A family may list further fields itself.
    pub families: &'static [&'static str],
}

/// Lists kinds of fields, with the constants that define a field of each.
#[derive(Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// F_p. Elements are in Montgomery form with R = 2^(32·limbs), or canonical (R = 1) if p has two limbs.
    Prime {
        /// The prime p, in hexadecimal.
        modulus: &'static str,
        /// A generator of the multiplicative group.
        generator: u32,
    },
    /// `F_p[u]/(u² + nonresidue)`, whose elements are c0 + c1·u.
    Quadratic {
        /// F_p.
        base: &'static FieldSpec,
        /// Number n for which −n has no square root in F_p.
        nonresidue: u32,
    },
    /// `F_p[X]/(X^degree − residue)`.
    Binomial {
        /// F_p.
        base: &'static FieldSpec,
        /// Number of coefficients of an element.
        degree: usize,
        /// Number that the root's power with exponent `degree` equals.
        residue: u32,
    },
    /// `GF(2)[x]/(x^128 + x^7 + x^2 + x + 1)`.
    Ghash,
    /// GF(2^128) as a tower of quadratic extensions, with bit-sliced elements.
    Tower,
}

impl FieldSpec {
    /// Returns the field that this one extends, or the field itself if it extends none.
    pub fn base(&'static self) -> &'static FieldSpec {
        match self.kind {
            FieldKind::Quadratic { base, .. } | FieldKind::Binomial { base, .. } => base,
            _ => self,
        }
    }

    /// Returns the number of 32-bit limbs of the modulus, or `None` if the field is not a prime field.
    pub fn prime_limbs(&self) -> Option<usize> {
        match self.kind {
            FieldKind::Prime { modulus, .. } => Some(modulus.trim_start_matches('0').len().div_ceil(8)),
            _ => None,
        }
    }

    /// Returns the number of coefficients in the base field that an element has.
    pub fn degree(&self) -> usize {
        match self.kind {
            FieldKind::Quadratic { .. } => 2,
            FieldKind::Binomial { degree, .. } => degree,
            _ => 1,
        }
    }
}

/// Describes a curve y² = x³ + b.
#[derive(Debug, PartialEq, Eq)]
pub struct CurveSpec {
    /// Name of the curve in kernels and reports, such as `bls12_381_g1`.
    pub name: &'static str,
    /// Field of the coordinates, prime or quadratic.
    pub coordinates: &'static FieldSpec,
    /// Scalar field, whose modulus is the order of the subgroup.
    pub scalars: &'static FieldSpec,
    /// Coordinates x and y of the subgroup's generator, in hexadecimal: c0, then c1 in a quadratic extension.
    pub generator: [&'static [&'static str]; 2],
    /// Whether the curve has points outside the subgroup of prime order.
    pub has_cofactor: bool,
    /// Whether kernels decode points in the curve's uncompressed encoding.
    pub has_gpu_decode: bool,
}

/// Holds a file of `cl/` or `cuda/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Path from the root of the package.
    pub path: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// Names a source of a kernel family, and the modules that contain it.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The source.
    pub source: Source,
    /// Function that returns whether a module contains the source.
    pub condition: fn(&Module) -> bool,
}

impl Part {
    /// Puts `source` into every module.
    pub const fn always(source: Source) -> Self {
        Self { source, condition: |_| true }
    }

    /// Puts `source` into the modules for which `condition` returns true.
    pub const fn when(condition: fn(&Module) -> bool, source: Source) -> Self {
        Self { source, condition }
    }
}

/// Selects the modules of a kernel family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// A module for each of these fields, and for each that names the family.
    Fields(&'static [&'static FieldSpec]),
    /// A module for each curve.
    Curves,
    /// Modules without a field, one for each variant.
    Nothing,
}

/// Selects the compilers and devices that get a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// OpenCL at run time, and CUDA for all architectures.
    All,
    /// CUDA alone.
    Cuda,
    /// CUDA with carry-less multiply-add (PTX ISA 9.3, compute capability 8.0 and above).
    Clmad,
    /// CUDA for devices of compute capability 9.0 alone.
    Hopper,
}

/// Describes a variant of a family's modules, for particular compilers or devices.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// Ends the modules' names, behind an underscore.
    pub suffix: &'static str,
    /// Macro that the modules define, or empty for none.
    pub define: &'static str,
    /// Compilers and devices that get the modules.
    pub target: Target,
    /// Function that returns whether a module has this variant.
    pub condition: fn(&Module) -> bool,
}

/// Describes a kernel: its parameters and the size of its work-groups, as Rust declares them. A test compares them with
/// the kernel's own declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSignature {
    /// Name of the kernel.
    pub name: &'static str,
    /// Number of work-items of a work-group.
    pub group_size: u32,
    /// Parameters by name and type of Rust, in order.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// Describes a constant that Rust and kernels share. Sources get it as a macro.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Name of the macro.
    pub name: &'static str,
    /// Value of the macro.
    pub value: u64,
    /// Type of the constant in Rust. Only `u32` becomes an unsigned constant in C.
    pub kind: &'static str,
}

/// Describes a kernel family: kernels that are compiled together, for one field or curve at a time.
#[derive(Debug, Clone, Copy)]
pub struct KernelFamily {
    /// Prefix of the modules' names.
    pub name: &'static str,
    /// Fields or curves of the modules.
    pub domain: Domain,
    /// Constants that precede all sources.
    pub constants: &'static [&'static [Constant]],
    /// Functions that return the C definitions of structures that Rust and kernels share.
    pub structures: &'static [fn() -> String],
    /// Function that returns further definitions for a module, which precede its sources.
    pub definitions: fn(&Module) -> String,
    /// Signatures of the kernels.
    pub kernels: &'static [&'static [KernelSignature]],
    /// Sources that follow the field's own, with the field's constants still defined.
    pub field_sources: &'static [Part],
    /// Sources of the kernels, which follow fields and curve.
    pub sources: &'static [Part],
    /// Variants of the modules.
    pub variants: &'static [Variant],
    /// Whether only tests and benches use the kernels. The feature `test-kernels` builds these.
    pub is_for_tests: bool,
}

impl KernelFamily {
    /// Describes a family `name` of no module, no constants and no sources.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            domain: Domain::Fields(&[]),
            constants: &[],
            structures: &[],
            definitions: |_| String::new(),
            kernels: &[],
            field_sources: &[],
            sources: &[],
            variants: &[],
            is_for_tests: false,
        }
    }
}

impl PartialEq for KernelFamily {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for KernelFamily {}

/// Describes one kernel module: a kernel family for one field or curve, compiled as a program of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Unique name, such as `msm_bls12_381_g1`.
    pub name: String,
    /// Kernel family of the module.
    pub family: &'static KernelFamily,
    /// Field of the module's elements, or of the curve's coordinates. `None` for a module without a field.
    pub field: Option<&'static FieldSpec>,
    /// Curve of the module, if it has one.
    pub curve: Option<&'static CurveSpec>,
    /// Macro for a feature that not every compiler or device has, or empty for none.
    pub define: &'static str,
    /// Compilers and devices that get the module.
    pub target: Target,
}

/// Conditions on which a module has a source.
impl Module {
    /// Returns whether the module's field is prime with one or two 32-bit limbs, or extends such a field.
    pub fn is_small(&self) -> bool {
        self.field.is_some_and(|field| field.base().prime_limbs().is_some_and(|limbs| limbs <= 2))
    }

    /// Returns whether the module's field is prime with more than two 32-bit limbs, or extends such a field.
    pub fn is_multi_limb(&self) -> bool {
        self.is_prime() && !self.is_small()
    }

    /// Returns whether the module's field is prime, or extends a prime field.
    pub fn is_prime(&self) -> bool {
        self.field.is_some_and(|field| field.base().prime_limbs().is_some())
    }

    /// Returns whether the module's field has characteristic two.
    pub fn is_binary(&self) -> bool {
        self.field.is_some_and(|field| field.base().prime_limbs().is_none())
    }

    /// Returns whether the module's field is an extension by a root of X^degree − residue.
    pub fn is_extension(&self) -> bool {
        self.field.is_some_and(|field| matches!(field.kind, FieldKind::Binomial { .. }))
    }

    /// Returns whether kernels decode points of the module's curve.
    pub fn decodes_points(&self) -> bool {
        self.curve.is_some_and(|curve| curve.has_gpu_decode)
    }
}

/// Stands for an element of a module's field, where the host knows no type of it.
#[derive(Debug)]
pub enum Element {}

/// Lists what a file of the registry declares.
#[derive(Debug)]
pub struct Declarations {
    /// Fields.
    pub fields: &'static [&'static FieldSpec],
    /// Curves.
    pub curves: &'static [&'static CurveSpec],
    /// Kernel families.
    pub families: &'static [&'static KernelFamily],
}

impl Declarations {
    /// Declares nothing.
    pub const NONE: Self = Self { fields: &[], curves: &[], families: &[] };
}

/// Includes a file by its path from the root of the package, as a [`Source`].
macro_rules! source {
    ($path:literal) => {
        $crate::kernels::spec::Source {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path)),
        }
    };
}
pub(crate) use source;

/// Declares constants that Rust and kernels share: each as a constant of Rust, and all of them as the list that precedes
/// them. Sources get each as a macro of the same name, which is unsigned if the type is `u32`.
///
/// ```ignore
/// shared_constants! {
///     pub CONSTANTS:
///     /// Number of work-items of a work-group.
///     CSR_GROUP: u32 = 128;
/// }
/// ```
macro_rules! shared_constants {
    ($vis:vis $list:ident: $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* $vis const $name: $type = $value;)*
        /// Lists the constants that Rust and these kernels share.
        $vis const $list: &[$crate::kernels::spec::Constant] =
            &[$($crate::kernels::spec::Constant {
                name: stringify!($name),
                value: $name as u64,
                kind: stringify!($type),
            }),*];
    };
}
pub(crate) use shared_constants;

/// Declares a structure that Rust and kernels share, with fields of types `u32` and `u64`. `definition` returns its C
/// definition, with checks that the compiler of the kernels gives it the same size and the same offsets. Kernels take it as
/// `GRID_CONSTANT name_t params`, which costs no registers.
///
/// ```ignore
/// shared_struct! {
///     /// Numbers of a pass.
///     pub struct PassParams as pass_params_t {
///         /// Number of elements.
///         pub count: u32,
///     }
/// }
/// ```
macro_rules! shared_struct {
    ($(#[$doc:meta])* $vis:vis struct $name:ident as $c_name:ident {
        $($(#[$field_doc:meta])* pub $field:ident: $type:ident,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(C)]
        $vis struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// Returns the C definition of the structure.
            $vis fn definition() -> String {
                $crate::kernels::spec::c_definition(
                    stringify!($c_name),
                    size_of::<Self>(),
                    &[$((stringify!($type), stringify!($field), std::mem::offset_of!(Self, $field))),*],
                )
            }
        }
    };
}
pub(crate) use shared_struct;

/// Returns the C definition of the structure `name` of `size` bytes. `fields` are the type, name and offset of each. Arrays
/// of a negative length stop the compiler if its layout is another.
pub(crate) fn c_definition(name: &str, size: usize, fields: &[(&str, &str, usize)]) -> String {
    let members: Vec<String> = fields.iter().map(|(kind, field, _)| format!("    {kind} {field};\n")).collect();
    let check = |what: &str, holds: &str| format!("typedef char {name}_{what}[{holds} ? 1 : -1];\n");
    let offsets = fields.iter().map(|(_, field, offset)| {
        check(&format!("offset_of_{field}"), &format!("__builtin_offsetof({name}, {field}) == {offset}"))
    });
    let checks: String = offsets.chain([check("size", &format!("sizeof({name}) == {size}"))]).collect();
    format!("typedef struct {{\n{}}} {name};\n{checks}", members.concat())
}

/// Declares the kernels of a family, whose signatures `$list` has. Each kernel becomes a type whose fields are its
/// arguments. [`KernelModule::run`](crate::module_launcher::KernelModule::run) launches it by that type.
///
/// Types of parameters:
/// - `u32` and `u64`;
/// - `In<T>` and `Out<T>`, arrays of T that the kernel reads or writes;
/// - `Value<T>`, a structure;
/// - `Local`, memory of the work-group whose size the host chooses.
///
/// ```ignore
/// kernels! {
///     pub KERNELS:
///     /// Computes out\[i\] = x\[indices\[i\]\].
///     groth16_gather[GROTH16_GROUP] => Gather<F> {
///         n: u32,
///         indices: In<u32>,
///         x: In<F>,
///         out: Out<F>,
///     }
/// }
/// ```
macro_rules! kernels {
    ($vis:vis $list:ident: $(
        $(#[$doc:meta])*
        $kernel:ident[$group:expr] => $name:ident $(<$($generic:ident),+>)? {
            $($parameter:ident: $class:ident $(<$element:ty>)?,)*
        }
    )*) => {
        /// Lists the signatures of the kernels.
        $vis const $list: &[$crate::kernels::spec::KernelSignature] = &[$(
            $crate::kernels::spec::KernelSignature {
                name: stringify!($kernel),
                group_size: $group,
                parameters: &[$((stringify!($parameter), stringify!($class $(<$element>)?))),*],
            }
        ),*];
        $(
            launcher! {
                $(#[$doc])*
                $kernel[$group] => $name $(<$($generic),+>)? { $($parameter: $class $(<$element>)?,)* }
            }
        )*
    };
}
pub(crate) use kernels;
