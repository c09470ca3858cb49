//! Runs other programs that prove with circom's files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use proofwarp_circom::ProofTexts;

/// A program that takes the paths of a zkey, a witness, a proof and public signals behind its own arguments.
pub(super) struct Peer {
    pub name: &'static str,
    program: OsString,
    arguments: Vec<OsString>,
}

/// Names of the peers in tables.
const THIS: &str = "proofwarp, a process each";
const RAPIDSNARK: &str = "rapidsnark, a process each";
const SNARKJS: &str = "snarkjs, a process each";

impl Peer {
    /// Returns this program's command `prove`.
    ///
    /// # Errors
    /// Returns an error if the system does not tell the program's path.
    pub(super) fn this_program() -> Result<Self> {
        let program = std::env::current_exe().context("this program's path")?.into();
        let arguments = ["prove", "--quiet"].map(OsString::from).to_vec();
        Ok(Self { name: THIS, program, arguments })
    }

    /// Returns rapidsnark's program, or the reason why there is none. Without arguments it prints its usage.
    pub(super) fn rapidsnark(program: &Path) -> Result<Self, String> {
        let usage = try_running(RAPIDSNARK, program.as_os_str(), &[])?;
        if usage.windows(OURS.len()).any(|text| text == OURS) {
            return Err(format!("{RAPIDSNARK}: {} is proofwarp's prover (see --rapidsnark)", program.display()));
        }
        Ok(Self { name: RAPIDSNARK, program: program.into(), arguments: Vec::new() })
    }

    /// Returns snarkjs, which `command` runs, or the reason why there is none.
    pub(super) fn snarkjs(command: &str) -> Result<Self, String> {
        let words = shlex::split(command).unwrap_or_default();
        let Some((program, arguments)) = words.split_first() else {
            return Err(format!("{SNARKJS}: --snarkjs: expected a command, got {command:?}"));
        };
        let mut arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        try_running(SNARKJS, program.as_ref(), &[arguments.as_slice(), &["--version".into()]].concat())
            .map_err(|reason| format!("{reason} (see --snarkjs)"))?;
        arguments.extend(["groth16", "prove"].map(OsString::from));
        Ok(Self { name: SNARKJS, program: program.into(), arguments })
    }

    /// Proves by one run of the program, and returns the files that it wrote.
    ///
    /// # Errors
    /// Returns an error with what the program printed if it fails or writes no proof.
    pub(super) fn prove(&self, zkey: &Path, wtns: &Path) -> Result<ProofTexts> {
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let [proof, public] = ["proof.json", "public.json"].map(|name| folder.path().join(name));
        let files = [zkey, wtns, &proof, &public].map(Path::as_os_str);
        let output = command(&self.program, &self.arguments).args(files).output().context("it cannot be run")?;
        ensure!(output.status.success(), "{}: {}", output.status, last_line(&output));
        // snarkjs ends with 0 after some of its errors.
        let read =
            |path: &PathBuf| fs::read_to_string(path).with_context(|| format!("no proof: {}", last_line(&output)));
        Ok(ProofTexts { proof: read(&proof)?, public: read(&public)? })
    }
}

/// Text in the usage of proofwarp's program of rapidsnark's name.
const OURS: &[u8] = b"proofwarp";

fn command(program: &OsStr, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Returns what `program` prints, or the reason why it cannot be run. Its exit code does not matter.
fn try_running(name: &str, program: &OsStr, arguments: &[OsString]) -> Result<Vec<u8>, String> {
    let output = command(program, arguments).output();
    let Output { stdout, stderr, .. } = output.map_err(|error| format!("{name}: {}: {error}", program.display()))?;
    Ok([stdout, stderr].concat())
}

/// Returns the last line that a program printed, to standard error if there is one.
fn last_line(output: &Output) -> String {
    let lines = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text).trim().to_owned());
    let text = lines.iter().find(|text| !text.is_empty()).map_or("it printed nothing", String::as_str);
    text.lines().last().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_programs_are_named() {
        let reason = Peer::rapidsnark("no/such/prover".as_ref()).err().expect("no program");
        assert!(reason.starts_with("rapidsnark, a process each: no/such/prover: "), "{reason}");
        for (command, part) in [("no/such/snarkjs --flag", "no/such/snarkjs: "), ("", "expected a command"), ("'", "'")]
        {
            let reason = Peer::snarkjs(command).err().expect("no program");
            assert!(reason.starts_with("snarkjs, a process each: ") && reason.contains(part), "{reason}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn failures_have_the_programs_words() {
        let peer = |script: &str| Peer {
            name: "a script",
            program: "sh".into(),
            arguments: ["-c", script, "sh"].map(OsString::from).to_vec(),
        };
        let fail = |script| format!("{:#}", peer(script).prove("a".as_ref(), "b".as_ref()).expect_err(script));
        assert!(fail("echo one; echo two >&2; exit 3").ends_with(": 3: two"), "{}", fail("echo two >&2; exit 3"));
        assert!(fail("echo '[ERROR] three'").starts_with("no proof: [ERROR] three: "), "{}", fail("echo three"));
        let texts = peer("echo \"$1\" >\"$3\"; echo \"$2\" >\"$4\"").prove("a".as_ref(), "b".as_ref()).expect("files");
        assert_eq!(texts, ProofTexts { proof: "a\n".to_owned(), public: "b\n".to_owned() });
    }
}
