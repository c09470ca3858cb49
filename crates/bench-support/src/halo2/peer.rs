//! The published halo2-axiom-gpu, by a program of its own: it needs a CUDA tool kit to build and a driver to start.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use halo2_axiom::SerdeFormat;

use super::outcome::Outcome;
use super::task::Setup;
use super::work::Work;
use crate::{Failure, answer};

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
/// Returns an error if it cannot be run, or says nothing that can be read.
pub fn run(program: &Path, work: &Work, setup: &Setup) -> Result<Outcome, Failure> {
    let mut file = tempfile::NamedTempFile::new()?;
    setup.write_custom(&mut BufWriter::new(&mut file), SerdeFormat::RawBytesUnchecked)?;
    let mut command = Command::new(program);
    command.args(work.arguments()).arg("--setup").arg(file.path());
    answer::read(command)
}

#[cfg(test)]
mod tests {
    use halo2_axiom::poly::kzg::commitment::ParamsKZG;
    use rand::rngs::OsRng;

    use super::super::work::{Kind, Opening};
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_a_program_says_is_read() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("folder");
        let (program, setup) = (folder.path().join("program"), ParamsKZG::setup(4, OsRng));
        let work = Work { circuit: Kind::Wide, k: 10, opening: Opening::Gwc, proofs: 2 };
        let run = |script: &str| {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("file");
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("mode");
            super::run(&find(Some(&program)).expect("named"), &work, &setup)
        };
        let outcome = r#"{"prover":"p","circuit":"wide","k":10,"ran_on":[],"key":"0","keygen_vk_ms":1,"keygen_pk_ms":2,
            "keygen_vk_steps":[],"keygen_pk_steps":[],"first_ms":3,"proof_ms":4.5,"steps":[{"name":"synthesis","ms":1}],"runs_ms":[4.5],"verify_ms":1,"proof_bytes":9,
            "verified":2}"#;
        // The setup is 4 bytes, 2·16 points of 64, and 2 of 128.
        let size = "[ $(wc -c <\"$6\") = 2308 ] || exit 3";
        let expected = "[ \"$1 $2 $3 $4\" = \"--circuit=wide --k=10 --opening=gwc --proofs=2\" ] || exit 2";
        let script = format!("{expected}\n{size}\necho building\necho '{}'", outcome.replace('\n', " "));
        assert!((run(&script).expect("an outcome").proof_ms - 4.5).abs() < 1e-9);
        let error = run("exit 7").expect_err("no outcome").to_string();
        assert!(error.starts_with(&program.display().to_string()) && error.contains('7'), "{error}");
    }
}
