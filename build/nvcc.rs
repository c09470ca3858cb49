//! Where nvcc is and how it is called.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names an nvcc for what only newer ones compile.
pub const CLMAD: &str = "PROOFWARP_NVCC_CLMAD";
/// Names a folder of fatbins that another build has compiled; then nothing is compiled here.
pub const FATBINS: &str = "PROOFWARP_FATBINS";

/// A working nvcc.
pub struct Nvcc {
    /// Its path.
    pub program: PathBuf,
    /// What it says of itself.
    pub version: String,
}

impl Nvcc {
    /// The first that runs of `NVCC`, `CUDA_HOME`, `CUDA_PATH`, the path, the usual folder, and the folders
    /// of `PyPI`'s wheels.
    pub fn find() -> Result<Self, String> {
        if let Some(program) = std::env::var_os("NVCC") {
            let program = PathBuf::from(program);
            return Self::at(&program).ok_or_else(|| format!("NVCC={} does not run", program.display()));
        }
        candidates().iter().find_map(|program| Self::at(program)).ok_or_else(|| {
            "nvcc was not found (set NVCC or CUDA_HOME, or install it: ./test shows how to do so without a tool kit)"
                .to_owned()
        })
    }

    fn at(program: &Path) -> Option<Self> {
        let output = Command::new(program).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then(|| Self { program: program.to_owned(), version })
    }

    /// Writes the architectures and the compiler's version beside the fatbins, for [`Self::recorded`].
    pub fn record(&self, file: &Path, architectures: &[String]) -> Result<(), String> {
        let text = format!("{}\n{}", architectures.join(","), self.version);
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The compiler that made the fatbins beside `file`, and their architectures. It compiles nothing.
    pub fn recorded(file: &Path) -> Result<(Self, Vec<String>), String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{FATBINS}: {}: {error}", file.display()))?;
        let (architectures, version) = text.split_once('\n').unwrap_or_default();
        let nvcc = Self { program: PathBuf::new(), version: version.to_owned() };
        Ok((nvcc, architectures.split(',').map(str::to_owned).collect()))
    }

    /// One that knows carry-less multiply-add, from release 13.3 on: what `PROOFWARP_NVCC_CLMAD` names, or this one, or the first
    /// that does of those beside it.
    pub fn with_clmad(&self) -> Result<Self, String> {
        if let Some(program) = std::env::var_os(CLMAD) {
            let program = PathBuf::from(program);
            let found = Self::at(&program).filter(Self::knows_clmad);
            return found.ok_or_else(|| format!("{CLMAD}={} is no nvcc 13.3 or later", program.display()));
        }
        let beside = wheels(&manifest().join("target/nvcc-clmad-venv/lib"));
        let others = beside.into_iter().chain(candidates());
        let mut all = std::iter::once(self.program.clone()).chain(others).filter_map(|program| Self::at(&program));
        all.find(Self::knows_clmad).ok_or_else(|| "no nvcc 13.3 or later was found".to_owned())
    }

    fn knows_clmad(&self) -> bool {
        self.release().is_some_and(|release| release >= (13, 3))
    }

    /// The CUDA version that it names, such as (13, 0).
    pub fn release(&self) -> Option<(u32, u32)> {
        let (_, rest) = self.version.split_once("release ")?;
        let (major, minor) = rest.split(',').next()?.split_once('.')?;
        Some((major.trim().parse().ok()?, minor.trim().parse().ok()?))
    }

    /// Those of the architectures that it compiles for; Ampere and Hopper where it does not tell.
    pub fn known_of(&self, architectures: &[&str]) -> Vec<String> {
        let output = Command::new(&self.program).arg("--list-gpu-code").output();
        let listed = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let known = |name: &&&str| listed.lines().any(|line| line.trim() == format!("sm_{name}"));
        let known: Vec<String> = architectures.iter().filter(known).map(|name| (*name).to_owned()).collect();
        if known.is_empty() { ["80", "90"].map(str::to_owned).to_vec() } else { known }
    }

    /// Compiles a file to a fatbin.
    pub fn fatbin(&self, flags: &[String], source: &Path, fatbin: &Path) -> Result<(), String> {
        if self.program.as_os_str().is_empty() {
            // The folder for its making is named after it.
            let file = fatbin.parent().unwrap_or(fatbin).with_extension("fatbin");
            return Err(format!("{FATBINS}: {} is missing: the fatbins are of another version", file.display()));
        }
        let output = Command::new(&self.program)
            .arg("--fatbin")
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(fatbin)
            .output()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

fn manifest() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default())
}

fn candidates() -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os);
    let mut programs: Vec<PathBuf> = homes.map(|home| PathBuf::from(home).join("bin/nvcc")).collect();
    programs.extend(["nvcc", "/usr/local/cuda/bin/nvcc"].map(PathBuf::from));
    let mut folders: Vec<PathBuf> = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
    let root = manifest();
    folders.extend([root.join("target/nvcc-venv"), root.join(".venv")]);
    programs.extend(folders.iter().flat_map(|folder| wheels(&folder.join("lib"))));
    programs.extend(python_site().iter().flat_map(|site| releases(&site.join("nvidia"))));
    programs
}

/// `lib/python3.*/site-packages/nvidia/cu*/bin/nvcc` of a virtual environment.
fn wheels(lib: &Path) -> Vec<PathBuf> {
    folders(lib).iter().flat_map(|python| releases(&python.join("site-packages/nvidia"))).collect()
}

/// `cu*/bin/nvcc`, newest first.
fn releases(nvidia: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folders(nvidia).iter().map(|release| release.join("bin/nvcc")).collect();
    found.retain(|program| program.is_file());
    found.sort();
    found.reverse();
    found
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(parent)
        .map_or_else(|_| Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect())
}

/// Where the default Python keeps packages.
fn python_site() -> Option<PathBuf> {
    let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}
