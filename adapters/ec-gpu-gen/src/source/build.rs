//! Writes and compiles the text in a build script.

use std::path::{Path, PathBuf};
use std::{env, fs};

use super::SourceBuilder;

/// Writes the kernel files of `builder` that this crate's features need, and tells cargo where they are. The error is a
/// text for the user.
///
/// Instructions have one colon: with two, cargo refuses packages that Rust below 1.77 may build.
pub(super) fn generate(builder: &SourceBuilder) -> Result<(), String> {
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("OUT_DIR is not set: call it in a build script")?;
    #[cfg(feature = "opencl")]
    {
        let path = out.join("kernel.cl");
        write(&path, &builder.build_64_bit_limbs())?;
        println!("cargo:rustc-env=_EC_GPU_OPENCL_KERNEL_SOURCE={}", path.display());
    }
    #[cfg(feature = "cuda")]
    {
        let path = cuda::build_fatbin(builder, &out)?;
        println!("cargo:rustc-env=_EC_GPU_CUDA_KERNEL_FATBIN={}", path.display());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(feature = "cuda")]
mod cuda {
    use std::process::Command;

    use super::{Path, PathBuf, SourceBuilder, env, write};

    /// Default arguments of nvcc, which build machine code for the stock crate's architectures. Later architectures run
    /// the PTX of the last one.
    const ARGUMENTS: &str = "-O3 --fatbin -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
                             -gencode arch=compute_86,code=[sm_86,compute_86]";

    /// Compiles the text of `builder` to a fatbin in the folder `out`, and returns the fatbin's path. The file is empty
    /// if `builder` has no appended kernels, or on docs.rs.
    pub(super) fn build_fatbin(builder: &SourceBuilder, out: &Path) -> Result<PathBuf, String> {
        let (source, fatbin) = (out.join("kernel.cu"), out.join("kernel.fatbin"));
        if builder.appended.is_empty() || env::var_os("DOCS_RS").is_some() {
            write(&fatbin, "")?;
            return Ok(fatbin);
        }
        for variable in ["NVCC", "CUDA_HOME", "EC_GPU_CUDA_NVCC_ARGS"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        write(&source, &builder.build_32_bit_limbs())?;
        compile(&source, &fatbin)?;
        Ok(fatbin)
    }

    fn compile(source: &Path, fatbin: &Path) -> Result<(), String> {
        let nvcc = nvcc();
        let arguments = env::var("EC_GPU_CUDA_NVCC_ARGS").unwrap_or_else(|_| ARGUMENTS.to_owned());
        let mut command = Command::new(&nvcc);
        command.args(arguments.split_whitespace()).arg("--output-file").arg(fatbin).arg(source);
        match command.output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
                Err(format!("{} failed on {}: {said}", nvcc.display(), source.display()))
            }
            Err(error) => Err(format!("cannot run {}, which the appended kernels need: {error}", nvcc.display())),
        }
    }

    fn nvcc() -> PathBuf {
        let of_home = || env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/nvcc"));
        env::var_os("NVCC").map(PathBuf::from).or_else(of_home).unwrap_or_else(|| "nvcc".into())
    }
}
