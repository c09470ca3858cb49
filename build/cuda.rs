//! One fatbin for each kernel module, by nvcc, in parallel. Without nvcc, or where it fails, the build goes
//! on with a warning, and the CUDA backend says why it has no kernels.

#[path = "cache.rs"]
mod cache;
#[path = "nvcc.rs"]
mod nvcc;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::kernels::{Dialect, Module, modules};
use cache::Cache;
use nvcc::Nvcc;

const ARCHITECTURES: &str = "PROOFWARP_CUDA_ARCHS";
/// Ampere and Hopper; what comes later runs from the PTX of the last.
const DEFAULT_ARCHITECTURES: &str = "80,90";

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
    let (fatbins, note) = match compile_all(&out) {
        Ok(fatbins) => (fatbins, String::new()),
        Err(reason) => {
            println!("cargo::warning=CUDA kernels are not built in: {}", reason.replace('\n', " "));
            (Vec::new(), reason)
        }
    };
    if let Err(error) = std::fs::write(out.join("fatbins.rs"), table(&fatbins, &note)) {
        println!("cargo::error=cannot write the table of CUDA kernels: {error}");
    }
}

/// The Rust source of the table.
fn table(fatbins: &[Fatbin], note: &str) -> String {
    let lowest = lowest_architecture();
    let mut text = format!(
        "/// Why no kernels were built in; empty if they were.\npub const BUILD_NOTE: &str = {note:?};\n\
         /// The least compute capability that kernels were compiled for, such as 80 for 8.0.\n\
         pub(super) const LOWEST_ARCHITECTURE: u32 = {lowest};\n\
         /// Modules and their fatbins.\nstatic FATBINS: &[(&str, &[u8])] = &[\n"
    );
    for (module, path) in fatbins {
        let _ = writeln!(text, "    ({module:?}, include_bytes!({:?})),", path.display().to_string());
    }
    text + "];\n"
}

fn compile_all(out: &Path) -> Result<Vec<Fatbin>, String> {
    // Only then: where nvcc was found, a change of the path is no reason to build again.
    let nvcc = Nvcc::find().inspect_err(|_| {
        for variable in ["PATH", "VIRTUAL_ENV"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
    })?;
    let flags = flags()?;
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
    done.into_inner().map_err(|error| error.to_string())?.into_iter().collect()
}

fn pop(queue: &Mutex<Vec<Module>>) -> Option<Module> {
    queue.lock().ok()?.pop()
}

fn push<T>(done: &Mutex<Vec<T>>, value: T) {
    if let Ok(mut done) = done.lock() {
        done.push(value);
    }
}

/// The architectures to compile for, such as `80`.
fn architectures() -> Result<Vec<String>, String> {
    let list = std::env::var(ARCHITECTURES).unwrap_or_else(|_| DEFAULT_ARCHITECTURES.to_owned());
    let names = list.split([',', ';', ' ']).map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(|name| name.trim_start_matches("sm_").to_owned()).collect();
    if names.is_empty() {
        return Err(format!("{ARCHITECTURES}: expected a list such as 80,90, got {list:?}"));
    }
    Ok(names)
}

/// The least of the architectures as a number: older devices find no code in the fatbins.
fn lowest_architecture() -> u32 {
    let names = architectures().unwrap_or_default();
    // A letter may follow the number, as in 90a.
    let number = |name: &String| name.trim_end_matches(char::is_alphabetic).parse().ok();
    names.iter().filter_map(number).min().unwrap_or(0)
}

/// Architecture flags of nvcc: code for each architecture, and the last one's PTX for those that come.
fn flags() -> Result<Vec<String>, String> {
    let names = architectures()?;
    let last = names.last().map(String::as_str).unwrap_or_default();
    let mut flags: Vec<String> =
        names.iter().map(|name| format!("-gencode=arch=compute_{name},code=sm_{name}")).collect();
    flags.push(format!("-gencode=arch=compute_{last},code=compute_{last}"));
    flags.extend(["-O3", "-std=c++17", "-diag-suppress=177,550"].map(str::to_owned));
    Ok(flags)
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
