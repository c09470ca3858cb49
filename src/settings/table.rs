//! Lists all environment variables, and makes the documentation's page of them.

use std::fmt::Write as _;

/// Describes the form that a variable's value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A backend's name.
    Backend,
    /// On or off.
    Switch,
    /// A number of bytes.
    Bytes,
    /// A file or a folder.
    Path,
    /// Paths of programs that were built before, separated by commas.
    Programs,
    /// Another form, described by the text.
    Other(&'static str),
}

/// Names the part of the project that reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The engine and its adapters, once per process.
    Engine,
    /// The build of the CUDA kernels.
    Build,
    /// Frameworks, such as bellperson, and the drop-ins for them. The frameworks define the variable's meaning.
    Frameworks,
    /// Libraries and drivers that the engine uses. They define the variable's meaning.
    Libraries,
    /// Benches, tests and their scripts.
    Benches,
}

/// Describes an environment variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Name of the variable.
    pub name: &'static str,
    /// Form of the variable's value.
    pub form: Form,
    /// Value or behaviour if the variable is unset, in words.
    pub default: &'static str,
    /// Effect of the variable, in words.
    pub effect: &'static str,
    /// Part of the project that reads the variable.
    pub reader: Reader,
}

/// Prefix of the names of the project's own variables.
pub const PREFIX: &str = "PROOFWARP_";

/// Names the environment variable by which bellperson is forced to prove on the CPU.
pub const NO_GPU: &str = "BELLMAN_NO_GPU";

const fn engine_variable(name: &'static str, form: Form, default: &'static str, effect: &'static str) -> Variable {
    Variable { name, form, default, effect, reader: Reader::Engine }
}

const fn build_variable(name: &'static str, form: Form, default: &'static str, effect: &'static str) -> Variable {
    Variable { name, form, default, effect, reader: Reader::Build }
}

const fn framework_variable(
    name: &'static str,
    form: &'static str,
    default: &'static str,
    effect: &'static str,
) -> Variable {
    Variable { name, form: Form::Other(form), default, effect, reader: Reader::Frameworks }
}

const fn library_variable(
    name: &'static str,
    form: &'static str,
    default: &'static str,
    effect: &'static str,
) -> Variable {
    Variable { reader: Reader::Libraries, ..framework_variable(name, form, default, effect) }
}

const fn bench_variable(name: &'static str, form: Form, default: &'static str, effect: &'static str) -> Variable {
    Variable { name, form, default, effect, reader: Reader::Benches }
}

pub(super) const BACKEND: Variable = engine_variable(
    "PROOFWARP_BACKEND",
    Form::Backend,
    "CUDA, then OpenCL, then the CPU",
    "forces this backend: an operation that it cannot do is an error",
);
pub(super) const OPENCL_CPU: Variable =
    engine_variable("PROOFWARP_OPENCL_CPU", Form::Switch, "off", "processors count as OpenCL devices (PoCL)");
pub(super) const MEMORY_LIMIT: Variable = engine_variable(
    "PROOFWARP_MEMORY_LIMIT",
    Form::Bytes,
    "all that is free",
    "maximum memory on each device; larger work is processed in chunks",
);
pub(super) const KEY_CACHE: Variable = engine_variable(
    "PROOFWARP_KEY_CACHE",
    Form::Bytes,
    "half of the devices' memory; 4G without devices",
    "maximum memory of the proving keys that `proofwarp-bellperson` keeps between calls; 0 keeps none",
);
pub(super) const COPY_PARAMETERS: Variable = engine_variable(
    "PROOFWARP_COPY_PARAMETERS",
    Form::Switch,
    "off",
    "copies parameter files to memory instead of mapping them, for files that another program may write to or shorten",
);
pub(super) const VERIFY: Variable = engine_variable(
    "PROOFWARP_VERIFY",
    Form::Switch,
    "`proofwarp-bellperson`: off; `proofwarp-halo2`: on if a device works; `proofwarp-rapidsnark`: on",
    "verifies each proof of bellperson's functions, of halo2 and of rapidsnark's functions before it is returned",
);
pub(super) const REPORT: Variable = engine_variable(
    "PROOFWARP_REPORT",
    Form::Path,
    "none",
    "appends a line to this file for each operation: backend, device, sizes, times, bytes, fallbacks. A name in `.jsonl` selects JSON",
);
pub(super) const CACHE_DIR: Variable = engine_variable(
    "PROOFWARP_CACHE_DIR",
    Form::Path,
    "the user's cache folder",
    "folder of compiled OpenCL programs; PoCL has its own",
);
pub(super) const SUMCHECK_TAIL: Variable = engine_variable(
    "PROOFWARP_SUMCHECK_TAIL",
    Form::Other("a binary logarithm, 0 to 32"),
    "9",
    "for tests: rounds of sumcheck over at most 2^N rows run on the host; with 0 none. Options of a call override it",
);

/// Lists all environment variables that the library, its adapters, its build, or its benches and tests read.
pub const VARIABLES: &[Variable] = &[
    BACKEND,
    OPENCL_CPU,
    MEMORY_LIMIT,
    KEY_CACHE,
    COPY_PARAMETERS,
    VERIFY,
    REPORT,
    CACHE_DIR,
    SUMCHECK_TAIL,
    build_variable(
        "PROOFWARP_CUDA_ARCHS",
        Form::Other("architectures, such as 80,90"),
        "those of 75, 80, 90, 100, 120 that nvcc supports",
        "architectures of the CUDA kernels; the last one's PTX is added for later cards",
    ),
    build_variable(
        "PROOFWARP_NVCC_FLAGS",
        Form::Other("flags, separated by spaces"),
        "none",
        "further flags for nvcc, such as `-lineinfo` for a profiler",
    ),
    build_variable(
        "PROOFWARP_NVCC_CLMAD",
        Form::Path,
        "searched",
        "nvcc 13.3 or later, only for the kernels with carry-less multiply-add; disables the search",
    ),
    build_variable(
        "PROOFWARP_FATBINS",
        Form::Path,
        "none",
        "folder of compiled CUDA kernels from a release of this version; nothing is compiled",
    ),
    build_variable("NVCC", Form::Path, "searched", "path of nvcc; disables the search"),
    build_variable(
        "CUDA_HOME",
        Form::Path,
        "none",
        "CUDA tool kit, whose `bin/nvcc` is tried first; `CUDA_PATH` works too",
    ),
    build_variable(
        "CUDA_LIBRARY_PATH",
        Form::Other("a folder that has a folder `lib64`"),
        "`/usr/local/cuda`",
        "required by the build of `cust`; `/usr` works if no tool kit is installed",
    ),
    framework_variable(NO_GPU, "anything but 0", "unset", "bellperson proves on the CPU"),
    framework_variable(
        "BELLMAN_CPU_UTILIZATION",
        "a number from 0 to 1",
        "0",
        "share of each MSM that bellperson computes on the CPU",
    ),
    framework_variable(
        "BELLPERSON_GPUS_PER_LOCK",
        "a number",
        "unset: one lock for all",
        "number of devices that bellperson locks for one job",
    ),
    framework_variable(
        "EC_GPU_FRAMEWORK",
        "cuda or opencl",
        "CUDA, then OpenCL",
        "selects the backend of the drop-in alone; the CPU stays its fallback",
    ),
    framework_variable("EC_GPU_NUM_THREADS", "a number above 0", "one a core", "threads of the drop-in's pool"),
    framework_variable(
        "EC_GPU_CUDA_NVCC_ARGS",
        "arguments",
        "the drop-in's",
        "arguments of nvcc for kernels that another crate appends",
    ),
    library_variable(
        "RAYON_NUM_THREADS",
        "a number",
        "one a core",
        "threads of rayon's pool: the CPU's share of all work",
    ),
    library_variable(
        "CUDA_VISIBLE_DEVICES",
        "numbers, such as 0,1",
        "all",
        "cards that CUDA shows to the process, in this order",
    ),
    library_variable(
        "OCL_ICD_VENDORS",
        "a folder, or a file `.icd`",
        "`/etc/OpenCL/vendors`",
        "where the OpenCL loader looks for drivers",
    ),
    library_variable("POCL_CACHE_DIR", "a folder", "`~/.cache/pocl`", "folder of the programs that PoCL compiled"),
    bench_variable(
        "PROOFWARP_BENCH_LOG",
        Form::Other("such as 10..24"),
        "10..16",
        "binary logarithms of the sizes, in steps of two",
    ),
    bench_variable(
        "PROOFWARP_BENCH_DISTRIBUTIONS",
        Form::Other("a binary logarithm"),
        "the largest size",
        "the size at which distributions of scalars are compared; 0 for none",
    ),
    bench_variable("PROOFWARP_BENCH_SECONDS", Form::Other("seconds"), "2", "approximate time of one measurement"),
    bench_variable(
        "PROOFWARP_BENCH_LIMIT",
        Form::Other("seconds"),
        "20",
        "maximum time of a call; longer ones are skipped",
    ),
    bench_variable("PROOFWARP_BENCH_OUT", Form::Path, "`target/bench`", "folder of numbers and plots"),
    bench_variable(
        "PROOFWARP_BENCH_CIRCUITS",
        Form::Other("CIRCUIT:LOG[:BATCH],…"),
        "a few",
        "circuits of the bench of proofs",
    ),
    bench_variable("PROOFWARP_BENCH_PROOFS", Form::Other("a number"), "the example's", "proofs of each circuit"),
    bench_variable("PROOFWARP_BENCH_PARAMETERS", Form::Path, "the example's", "folder of the circuits' parameters"),
    bench_variable("PROOFWARP_PEERS", Form::Other("stock, sppark, icicle"), "stock", "peers whose programs are built"),
    bench_variable("PROOFWARP_STOCK_KERNELS", Form::Programs, "built", "the program of the stock crate's kernels"),
    bench_variable("PROOFWARP_SPPARK_KERNELS", Form::Programs, "built", "the program of sppark's kernels"),
    bench_variable("PROOFWARP_ICICLE_KERNELS", Form::Programs, "built", "the program of icicle's kernels"),
    bench_variable("PROOFWARP_STOCK_GROTH16", Form::Programs, "built", "`groth16-stock` of `benches/peers`"),
    bench_variable("PROOFWARP_SUPRASEAL_GROTH16", Form::Programs, "none", "`groth16-supraseal` of `benches/peers`"),
    bench_variable("PROOFWARP_HALO2_AXIOM_GPU", Form::Programs, "built", "the program of `benches/halo2-axiom-gpu`"),
    bench_variable(
        "PROOFWARP_BINIUS_GPU",
        Form::Programs,
        "none",
        "`sumcheck_bench` of binius-gpu, which is not built here",
    ),
    bench_variable("PROOFWARP_NVCC", Form::Path, "searched", "nvcc for sppark"),
    bench_variable("PROOFWARP_PROOFS", Form::Other("a number"), "30", "proofs in a row of `tests/groth16_soak.rs`"),
    bench_variable("PROOFWARP_FAULTS", Form::Other("a number"), "60", "faults that `tests/faults` injects"),
    bench_variable(
        "PROOFWARP_TEST_CHILD",
        Form::Other("a test's own"),
        "unset",
        "set by tests that start themselves again",
    ),
];

const HEAD: &str = "# Settings

This page lists all environment variables. Values are trimmed. An empty value counts as unset. A malformed value is an error that
names the variable, the value and the expected form; nothing runs with it. A name that starts with `PROOFWARP_` and is not on this
page gets a warning in the log. Without a logger the warning is on the standard error stream.

`cargo run -p xtask -- settings > docs/settings.md` writes the page from `src/settings/table.rs`.
";

/// Returns the text of `docs/settings.md`: a table of the variables for each reader.
pub fn render_settings_page() -> String {
    let mut page = HEAD.to_owned();
    let sections = [
        (Reader::Engine, "The engine and its adapters", "Read once per process."),
        (Reader::Build, "The build of the CUDA kernels", "Read when the crate is built with the feature `cuda`."),
        (Reader::Frameworks, "bellperson's own", "The drop-ins give them the meaning that they have in bellperson."),
        (Reader::Libraries, "Of libraries and drivers", "Read by rayon, CUDA, the OpenCL loader and PoCL."),
        (Reader::Benches, "Benches and tests", "They do not affect the library."),
    ];
    for (reader, title, text) in sections {
        let _ = write!(
            page,
            "\n## {title}\n\n{text}\n\n| variable | value | without it | what it does |\n|---|---|---|---|\n"
        );
        for Variable { name, form, default, effect, .. } in VARIABLES.iter().filter(|v| v.reader == reader) {
            let _ = writeln!(page, "| `{name}` | {form} | {default} | {effect} |");
        }
    }
    page
}
