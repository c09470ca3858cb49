//! One fatbin for each kernel module, by nvcc, in parallel. Without nvcc, or where it fails, the build goes
//! on with a warning, and the CUDA backend says why it has no kernels.

#[path = "cache.rs"]
mod cache;
#[path = "nvcc.rs"]
mod nvcc;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::kernels::{Dialect, Module, modules, starting_early};
use cache::Cache;
use nvcc::Nvcc;

const ARCHITECTURES: &str = "PROOFWARP_CUDA_ARCHS";
/// Turing, Ampere (whose code Ada runs too), Hopper and both Blackwells, as far as nvcc knows them; what comes later runs
/// from the PTX of the last.
const DEFAULT_ARCHITECTURES: [&str; 5] = ["75", "80", "90", "100", "120"];

/// A module's name and the path of its fatbin.
type Fatbin = (String, PathBuf);

/// Compiles all modules and writes the table that the CUDA backend includes.
pub fn build() {
    for path in ["build", "cl", "cuda", "src/kernels"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for variable in [ARCHITECTURES, "NVCC", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let built = compile_all(&out).unwrap_or_else(|reason| {
        let note = reason.replace('\n', " ");
        println!("cargo::warning=CUDA kernels are not built in: {note}");
        Built { note, ..Built::default() }
    });
    if let Err(error) = std::fs::write(out.join("fatbins.rs"), table(&built)) {
        println!("cargo::error=cannot write the table of CUDA kernels: {error}");
    }
}

/// What became of the build.
#[derive(Default)]
struct Built {
    fatbins: Vec<Fatbin>,
    /// What the fatbins hold code for, such as `80`; the last one's PTX too.
    architectures: Vec<String>,
    /// nvcc's version, such as (13, 0).
    compiler: Option<(u32, u32)>,
    /// Why there are no fatbins.
    note: String,
}

/// The Rust source of the table.
fn table(Built { fatbins, architectures, compiler, note }: &Built) -> String {
    // A letter may follow the number, as in 90a.
    let number = |name: &String| name.trim_end_matches(char::is_alphabetic).parse::<u32>().ok();
    let architectures: Vec<u32> = architectures.iter().filter_map(number).collect();
    let mut text = format!(
        "/// Why no kernels were built in; empty if they were.\npub const BUILD_NOTE: &str = {note:?};\n\
         /// The compute capabilities that kernels were compiled for, such as 80 for 8.0; the last as PTX too.\n\
         pub(super) const ARCHITECTURES: &[u32] = &{architectures:?};\n\
         /// The CUDA version of the compiler.\npub(super) const COMPILER: Option<(u32, u32)> = {compiler:?};\n\
         /// The kernels that `STARTS_EARLY` declares, in order.\nstatic STARTING_EARLY: &[&str] = &{:?};\n\
         /// Modules and their fatbins.\npub(super) static FATBINS: &[(&str, &[u8])] = &[\n",
        starting_early()
    );
    for (module, path) in fatbins {
        let _ = writeln!(text, "    ({module:?}, include_bytes!({:?})),", path.display().to_string());
    }
    text + "];\n"
}

fn compile_all(out: &Path) -> Result<Built, String> {
    // Only then: where nvcc was found, a change of the path is no reason to build again.
    let nvcc = Nvcc::find().inspect_err(|_| {
        for variable in ["PATH", "VIRTUAL_ENV"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
    })?;
    let architectures = architectures(&nvcc)?;
    let flags = flags(&architectures);
    let cache = Cache::near(out)?;
    // The longest compilations first, so that none of them is left to the end.
    let mut modules: Vec<Module> = modules();
    modules.sort_by_key(|module| module.quadratic);
    let queue = Mutex::new(modules);
    let done: Mutex<Vec<Result<Fatbin, String>>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(module) = pop(&queue) {
                    let fatbin = compile(&nvcc, &flags, &cache, &module);
                    push(&done, fatbin.map(|path| (module.name, path)));
                }
            });
        }
    });
    let done = done.into_inner().map_err(|error| error.to_string())?;
    let fatbins = done.into_iter().collect::<Result<_, _>>()?;
    Ok(Built { fatbins, architectures, compiler: nvcc.release(), note: String::new() })
}

fn pop(queue: &Mutex<Vec<Module>>) -> Option<Module> {
    queue.lock().ok()?.pop()
}

fn push<T>(done: &Mutex<Vec<T>>, value: T) {
    if let Ok(mut done) = done.lock() {
        done.push(value);
    }
}

/// The architectures to compile for, such as `80`: those that are asked for, or those by default that nvcc knows.
fn architectures(nvcc: &Nvcc) -> Result<Vec<String>, String> {
    let list = std::env::var(ARCHITECTURES).unwrap_or_default();
    let names = list.split([',', ';', ' ']).map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(|name| name.trim_start_matches("sm_").to_owned()).collect();
    if names.is_empty() {
        return Ok(nvcc.known_of(&DEFAULT_ARCHITECTURES));
    }
    let is_name = |name: &String| name.trim_end_matches(char::is_alphabetic).parse::<u32>().is_ok();
    match names.iter().all(is_name) {
        true => Ok(names),
        false => Err(format!("{ARCHITECTURES}: expected a list such as 80,90, got {list:?}")),
    }
}

/// Architecture flags of nvcc: code for each architecture, and the last one's PTX for those that come.
fn flags(names: &[String]) -> Vec<String> {
    let last = names.last().map(String::as_str).unwrap_or_default();
    let mut flags: Vec<String> =
        names.iter().map(|name| format!("-gencode=arch=compute_{name},code=sm_{name}")).collect();
    flags.push(format!("-gencode=arch=compute_{last},code=compute_{last}"));
    flags.extend(["-O3", "-std=c++17", "-diag-suppress=177,550"].map(str::to_owned));
    flags
}

fn compile(nvcc: &Nvcc, flags: &[String], cache: &Cache, module: &Module) -> Result<PathBuf, String> {
    let source = module.source(Dialect::Cuda);
    let key = [&nvcc.version, &flags.join(" "), &source];
    cache.get_or_make(&module.name, &key, |folder, fatbin| {
        let file = folder.join("kernels.cu");
        std::fs::write(&file, &source).map_err(|error| format!("{}: {error}", file.display()))?;
        nvcc.fatbin(flags, &file, fatbin)
    })
}
