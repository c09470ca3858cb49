//! Compiles sppark's headers, once a curve, with the CUDA runtime linked statically, so that the program
//! starts without one.

#[path = "../../build/nvcc.rs"]
#[allow(dead_code, reason = "the crate's build uses more of it")]
mod nvcc;

use std::path::{Path, PathBuf};
use std::process::Command;

use nvcc::Nvcc;

/// Objects: their source and the macros that make it one curve's.
const OBJECTS: [(&str, &str, &[&str]); 3] = [
    ("bls12_381", "curve", &["-DFEATURE_BLS12_381", "-DCURVE=bls12_381"]),
    ("bn254", "curve", &["-DFEATURE_BN254", "-DCURVE=bn254"]),
    ("device", "device", &[]),
];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    for change in ["if-changed=cuda", "if-changed=build.rs", "if-env-changed=PROOFWARP_NVCC"] {
        println!("cargo::rerun-{change}");
    }
    let nvcc = find()?;
    let (nvcc, flags, out) = (&nvcc, &flags()?, &PathBuf::from(std::env::var("OUT_DIR")?));
    let objects: Result<Vec<PathBuf>, String> = std::thread::scope(|scope| {
        let compile = |object| scope.spawn(move || compile(nvcc, flags, out, object));
        let threads: Vec<_> = OBJECTS.iter().map(compile).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a thread of the build failed".to_owned())?)
            .collect()
    });
    cc::Build::new().objects(objects?).try_compile("sppark_peer")?;
    link(&nvcc.program);
    Ok(())
}

/// The compiler: `NVCC` itself is off here, see `.cargo/config.toml`.
fn find() -> Result<Nvcc, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // SAFETY: the build script has one thread so far.
    unsafe {
        match std::env::var_os("PROOFWARP_NVCC") {
            Some(program) => std::env::set_var("NVCC", program),
            None => std::env::remove_var("NVCC"),
        }
        // Wheels are looked for in the repository's target folder.
        std::env::set_var("CARGO_MANIFEST_DIR", &root);
    }
    Ok(Nvcc::find()?)
}

fn flags() -> Result<Vec<String>, Failure> {
    println!("cargo::rerun-if-env-changed=PROOFWARP_CUDA_ARCHS");
    let architectures = std::env::var("PROOFWARP_CUDA_ARCHS").unwrap_or_else(|_| "90".to_owned());
    let code = |arch: &str| format!("-gencode=arch=compute_{arch},code=sm_{arch}");
    let mut flags: Vec<String> = architectures.split(',').map(code).collect();
    // sppark's messages are freed by its crate's error type, on this condition.
    flags.extend(["-O3", "-std=c++17", "-DTAKE_RESPONSIBILITY_FOR_ERROR_MESSAGE"].map(str::to_owned));
    flags.push("-Xcompiler=-fPIC,-Wno-unused-function".to_owned());
    for headers in ["DEP_SPPARK_ROOT", "DEP_BLST_C_SRC"] {
        let folder =
            std::env::var(headers).map_err(|_| format!("{headers}: expected the crate's folder of headers"))?;
        flags.push(format!("-I{folder}"));
    }
    Ok(flags)
}

fn compile(nvcc: &Nvcc, flags: &[String], out: &Path, object: &(&str, &str, &[&str])) -> Result<PathBuf, String> {
    let (name, source, macros) = object;
    let path = out.join(format!("{name}.o"));
    let source = format!("cuda/{source}.cu");
    let mut command = Command::new(&nvcc.program);
    command.args(flags).args(*macros).args(["-c", &source, "-o"]).arg(&path);
    let output = command.output().map_err(|error| format!("{}: {error}", nvcc.program.display()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(path),
        false if text.contains("nv/target") => Err(format!("{text}\nnvidia-cuda-cccl is missing beside nvcc's wheels")),
        false => Err(text.into_owned()),
    }
}

/// The runtime as an archive, from the folders where tool kits and wheels keep it.
fn link(nvcc: &Path) {
    let home = nvcc.canonicalize().ok().and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    for folder in ["lib", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"] {
        if let Some(folder) = home.as_ref().map(|home| home.join(folder)).filter(|folder| folder.is_dir()) {
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
    }
    for library in ["static=cudart_static", "dylib=stdc++", "dylib=dl", "dylib=rt", "dylib=pthread"] {
        println!("cargo::rustc-link-lib={library}");
    }
}
