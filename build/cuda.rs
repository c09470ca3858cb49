//! One fatbin for each kernel module, by nvcc, in parallel. Without nvcc, or where it fails, the build goes
//! on with a warning, and the CUDA backend says why it has no kernels.

#[path = "cache.rs"]
mod cache;
#[path = "nvcc.rs"]
mod nvcc;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::kernels::{Dialect, Module, Target, modules, modules_for, pdl_kernels, registry, source_text};
use cache::Cache;
use nvcc::Nvcc;

const ARCHITECTURES: &str = "PROOFWARP_CUDA_ARCHS";
/// Further flags for nvcc, such as `-lineinfo` for a profiler.
const FLAGS: &str = "PROOFWARP_NVCC_FLAGS";
/// Turing, Ampere (whose code Ada runs too), Hopper and both Blackwells, as far as nvcc knows them; what comes later runs
/// from the PTX of the last.
const DEFAULT_ARCHITECTURES: [&str; 5] = ["75", "80", "90", "100", "120"];

/// Files that [`Nvcc::record`] writes beside the fatbins: of nvcc, and of the nvcc with carry-less multiply-add.
const NVCC_RECORD: &str = "nvcc.txt";
const CLMAD_RECORD: &str = "nvcc-clmad.txt";

/// A module's name and the path of its fatbin.
type Fatbin = (String, PathBuf);

/// Compiles all modules and writes the table that the CUDA backend includes.
pub fn build() {
    for path in ["build", "cl", "cuda", "src/kernels"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for path in registry::PATHS {
        println!("cargo::rerun-if-changed=src/kernels/{path}");
    }
    for variable in [ARCHITECTURES, FLAGS, nvcc::CLMAD, nvcc::FATBINS, "NVCC", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let built = compile_all(&out).unwrap_or_else(|reason| {
        let note = reason.replace('\n', " ");
        println!("cargo::warning=CUDA kernels are not built in: {note}");
        Built { clmad_note: note.clone(), note, ..Built::default() }
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
    /// Why there are none with carry-less multiply-add.
    clmad_note: String,
}

/// The Rust source of the table.
fn table(Built { fatbins, architectures, compiler, note, clmad_note }: &Built) -> String {
    // A letter may follow the number, as in 90a.
    let number = |name: &String| name.trim_end_matches(char::is_alphabetic).parse::<u32>().ok();
    let architectures: Vec<u32> = architectures.iter().filter_map(number).collect();
    let mut text = format!(
        "/// Why no kernels were built in; empty if they were.\npub const BUILD_NOTE: &str = {note:?};\n\
         /// Why no kernels with carry-less multiply-add were built in; empty if they were.\npub const CLMAD_NOTE: &str = {clmad_note:?};\n\
         /// The compute capabilities that kernels were compiled for, such as 80 for 8.0; the last as PTX too.\n\
         pub(super) const ARCHITECTURES: &[u32] = &{architectures:?};\n\
         /// The CUDA version of the compiler.\npub(super) const COMPILER: Option<(u32, u32)> = {compiler:?};\n\
         /// The kernels that `PDL_KERNEL` declares, in order.\nstatic PDL_KERNELS: &[&str] = &{:?};\n\
         /// Modules and their fatbins.\npub(super) static FATBINS: &[(&str, &[u8])] = &[\n",
        pdl_kernels()
    );
    for (module, path) in fatbins {
        let _ = writeln!(text, "    ({module:?}, include_bytes!({:?})),", path.display().to_string());
    }
    text + "];\n"
}

fn compile_all(out: &Path) -> Result<Built, String> {
    if let Some(folder) = std::env::var_os(nvcc::FATBINS).filter(|folder| !folder.is_empty()) {
        let cache = Cache::at(PathBuf::from(folder))?;
        let (nvcc, architectures) = Nvcc::recorded(&cache.path(NVCC_RECORD))?;
        let clmad = Nvcc::recorded(&cache.path(CLMAD_RECORD));
        return compile_with(&nvcc, architectures, clmad, &cache);
    }
    // Only then: where nvcc was found, a change of the path is no reason to build again.
    let nvcc = Nvcc::find().inspect_err(|_| {
        for variable in ["PATH", "VIRTUAL_ENV"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
    })?;
    let architectures = architectures(&nvcc)?;
    let cache = Cache::near(out)?;
    nvcc.record(&cache.path(NVCC_RECORD), &architectures)?;
    let clmad = find_clmad(&nvcc, &architectures).and_then(|(nvcc, known)| {
        nvcc.record(&cache.path(CLMAD_RECORD), &known)?;
        Ok((nvcc, known))
    });
    compile_with(&nvcc, architectures, clmad, &cache)
}

/// Compiles all modules that the cache lacks. `clmad` is the compiler with carry-less multiply-add and its architectures.
fn compile_with(
    nvcc: &Nvcc,
    architectures: Vec<String>,
    clmad: Result<(Nvcc, Vec<String>), String>,
    cache: &Cache,
) -> Result<Built, String> {
    let flags = flags(&architectures, true);
    let (with_clmad, clmad_note) = match clmad.and_then(|(nvcc, known)| compile_clmad(&nvcc, &known, cache)) {
        Ok(fatbins) => (fatbins, String::new()),
        Err(reason) => (Vec::new(), reason.replace('\n', " ")),
    };
    // The longest compilations first, so that none of them is left to the end.
    let mut modules: Vec<Module> = [modules(), modules_for(Target::Cuda)].concat();
    modules.sort_by_key(|module| module.field.is_some_and(|field| field.degree() == 2));
    let queue = Mutex::new(modules);
    let done: Mutex<Vec<Result<Fatbin, String>>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(module) = pop(&queue) {
                    let fatbin = compile(nvcc, &flags, cache, &module);
                    push(&done, fatbin.map(|path| (module.name, path)));
                }
            });
        }
    });
    let done = done.into_inner().map_err(|error| error.to_string())?;
    let mut fatbins = done.into_iter().collect::<Result<Vec<_>, _>>()?;
    fatbins.extend(with_clmad);
    fatbins.extend(compile_hopper(nvcc, &architectures, cache));
    Ok(Built { fatbins, architectures, compiler: nvcc.release(), note: String::new(), clmad_note })
}

/// Modules with carry-less multiply-add, by a compiler that has it. Drivers may be older, and do not take its PTX, but they take
/// machine code; so there is nothing but that.
fn compile_clmad(nvcc: &Nvcc, architectures: &[String], cache: &Cache) -> Result<Vec<Fatbin>, String> {
    let flags = flags(architectures, false);
    let compile = |module: Module| Ok((module.name.clone(), compile(nvcc, &flags, cache, &module)?));
    modules_for(Target::Clmad).into_iter().map(compile).collect()
}

/// Finds the compiler with carry-less multiply-add, and those of the architectures that have it.
fn find_clmad(nvcc: &Nvcc, architectures: &[String]) -> Result<(Nvcc, Vec<String>), String> {
    let nvcc = nvcc.with_clmad()?;
    let names: Vec<&str> = architectures.iter().map(String::as_str).collect();
    let have_it =
        |name: &String| name.trim_end_matches(char::is_alphabetic).parse().is_ok_and(|number: u32| number >= 80);
    let known: Vec<String> = nvcc.known_of(&names).into_iter().filter(have_it).collect();
    if known.is_empty() {
        return Err(format!("none of the architectures {} has carry-less multiply-add", names.join(", ")));
    }
    Ok((nvcc, known))
}

/// Modules for compute capability 9.0 alone, where that is among the architectures and nvcc knows it (from release 12.0 on). Without
/// them, devices of 9.0 run what those of 8.0 run.
fn compile_hopper(nvcc: &Nvcc, architectures: &[String], cache: &Cache) -> Vec<Fatbin> {
    if !architectures.iter().any(|name| name.trim_end_matches(char::is_alphabetic) == "90") {
        return Vec::new();
    }
    let flags = flags(&["90a".to_owned()], false);
    let compile = |module: Module| Some((module.name.clone(), compile(nvcc, &flags, cache, &module).ok()?));
    modules_for(Target::Hopper).into_iter().filter_map(compile).collect()
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

/// Architecture flags of nvcc: code for each architecture and, if need be, the last one's PTX for those that come.
fn flags(names: &[String], with_ptx: bool) -> Vec<String> {
    let code = |name: &String| format!("-gencode=arch=compute_{name},code=sm_{name}");
    let ptx = |name: &String| format!("-gencode=arch=compute_{name},code=compute_{name}");
    let last = names.last().filter(|_| with_ptx);
    let mut flags: Vec<String> = names.iter().map(code).chain(last.map(ptx)).collect();
    flags.extend(["-O3", "-std=c++17", "-diag-suppress=177,550"].map(str::to_owned));
    flags.extend(std::env::var(FLAGS).unwrap_or_default().split_whitespace().map(str::to_owned));
    flags
}

fn compile(nvcc: &Nvcc, flags: &[String], cache: &Cache, module: &Module) -> Result<PathBuf, String> {
    let source = source_text(module, Dialect::Cuda);
    let key = [&nvcc.version, &flags.join(" "), &source];
    cache.get_or_make(&module.name, &key, |folder, fatbin| {
        let file = folder.join("kernels.cu");
        std::fs::write(&file, &source).map_err(|error| format!("{}: {error}", file.display()))?;
        nvcc.fatbin(flags, &file, fatbin)
    })
}
