//! The published halo2-axiom-gpu, by a program of its own: it needs a CUDA tool kit to build and a driver to start.

use std::ffi::OsString;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use halo2_axiom::SerdeFormat;

use crate::Failure;
use crate::options::{Work, name};
use crate::outcome::Outcome;
use crate::task::Setup;

pub const NAME: &str = "halo2-axiom-gpu";

/// Where `benches/halo2-axiom-gpu` builds its program.
const BUILT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/halo2-axiom-gpu/target/release/halo2-axiom-gpu-proofs");

/// The program that was named, or the one that is built.
///
/// # Errors
/// None was named, and none was built.
pub fn find(named: Option<&Path>) -> Result<PathBuf, Failure> {
    match named.unwrap_or(Path::new(BUILT)) {
        program if named.is_some() || program.exists() => Ok(program.to_owned()),
        program => {
            Err(format!("no program at {}; benches/halo2-axiom-gpu/README.md says how to build it", program.display())
                .into())
        }
    }
}

/// Proves by the program, with the same setup.
///
/// # Errors
/// It cannot be run, or says nothing that can be read.
pub fn run(program: &Path, work: &Work, setup: &Setup) -> Result<Outcome, Failure> {
    let mut file = tempfile::NamedTempFile::new()?;
    setup.write_custom(&mut BufWriter::new(&mut file), SerdeFormat::RawBytesUnchecked)?;
    let mut command = Command::new(program);
    command.args(arguments(work)).arg("--setup").arg(file.path()).stdout(Stdio::piped());
    let output = command.spawn().and_then(Child::wait_with_output);
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), output.status).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().ok_or_else(|| format!("{} said nothing", program.display()))?;
    serde_json::from_str(last).map_err(|error| format!("{}: {error} in {last}", program.display()).into())
}

fn arguments(work: &Work) -> Vec<OsString> {
    vec![
        format!("--circuit={}", name(&work.circuit)).into(),
        format!("--k={}", work.k).into(),
        format!("--opening={}", name(&work.opening)).into(),
        format!("--proofs={}", work.proofs).into(),
    ]
}

#[cfg(test)]
mod tests {
    use halo2_axiom::poly::kzg::commitment::ParamsKZG;
    use rand_core::OsRng;

    use super::*;
    use crate::options::{Kind, Opening};

    /// Its answer is read where it is an outcome, and is in the error where it is none.
    #[test]
    #[cfg(unix)]
    fn what_a_program_says_is_read() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("folder");
        let (program, setup) = (folder.path().join("program"), ParamsKZG::setup(4, OsRng));
        let work = Work { circuit: Kind::Base, k: 10, opening: Opening::Gwc, proofs: 2 };
        let run = |script: &str| {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("file");
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("mode");
            super::run(&find(Some(&program)).expect("named"), &work, &setup)
        };
        let outcome = r#"{"prover":"p","circuit":"base","k":10,"ran_on":[],"key":"0","keygen_vk_ms":1,"keygen_pk_ms":2,
            "keygen_vk_steps":[],"keygen_pk_steps":[],"first_ms":3,"proof_ms":4.5,"steps":[{"name":"synthesis","ms":1}],"runs_ms":[4.5],"verify_ms":1,"proof_bytes":9,
            "verified":2}"#;
        // The setup is 4 bytes, 2·16 points of 64, and 2 of 128.
        let size = "[ $(wc -c <\"$6\") = 2308 ] || exit 3";
        let expected = "[ \"$1 $2 $3 $4\" = \"--circuit=base --k=10 --opening=gwc --proofs=2\" ] || exit 2";
        let script = format!("{expected}\n{size}\necho building\necho '{}'", outcome.replace('\n', " "));
        assert!((run(&script).expect("an outcome").proof_ms - 4.5).abs() < 1e-9);
        for (script, expected) in [("exit 7", "7"), ("true", "said nothing"), ("echo none", "in none")] {
            let error = run(script).expect_err("no outcome").to_string();
            assert!(error.starts_with(&program.display().to_string()) && error.contains(expected), "{error}");
        }
    }
}
