//! Other programs that prove the same: a patch holds for a whole workspace, and a feature for a whole program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::Options;
use crate::outcome::Outcome;
use crate::{Failure, progress};

/// A program among the examples, in a workspace of its own.
pub struct Program<'a> {
    /// Its folder.
    pub example: &'a str,
    /// What it proves on, for people.
    pub proves_on: &'a str,
    /// What it is built with.
    pub feature: Option<&'a str>,
    /// Folder for what is built, below `target`.
    pub target: &'a str,
    /// Variables for the build.
    pub variables: Vec<(&'a str, String)>,
}

impl Program<'_> {
    /// Builds it, and says where it is.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn build(self) -> Result<PathBuf, Failure> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (folder, target) = (root.join("examples").join(self.example), root.join("target").join(self.target));
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // In its folder, where settings for its build may be.
        command.current_dir(&folder).args(["build", "--release", "--quiet", "--target-dir"]).arg(&target);
        command.args(self.feature.map(|feature| format!("--features={feature}"))).envs(self.variables);
        let status = progress::step(&format!("building a program on {}", self.proves_on), || command.status())?;
        if !status.success() {
            let (example, proves_on) = (self.example, self.proves_on);
            let hint = format!("name a built one with --{example}-binary");
            return Err(format!("the program on {proves_on} could not be built: {status}; {hint}").into());
        }
        Ok(target.join(format!("release/groth16-{}", self.example)))
    }
}

/// Runs a program that prints its outcome as a line of JSON.
///
/// # Errors
/// It cannot be run, or says nothing that can be read.
pub fn run(program: &Path, options: &Options, set: impl FnOnce(&mut Command)) -> Result<Outcome, Failure> {
    let mut command = Command::new(program);
    command.args(arguments(options)).stdout(Stdio::piped());
    set(&mut command);
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), output.status).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().ok_or_else(|| format!("{} said nothing", program.display()))?;
    serde_json::from_str(last).map_err(|error| format!("{}: {error} in {last}", program.display()).into())
}

/// The options of the work, for the other program.
fn arguments(options: &Options) -> Vec<OsString> {
    let work = &options.work;
    let mut arguments = vec![
        format!("--circuit={}", work.circuit.name()).into(),
        format!("--log-constraints={}", work.log_constraints).into(),
        format!("--proofs={}", work.proofs).into(),
        format!("--seed={}", work.seed).into(),
    ];
    // A program that was built before there were batches can still make single proofs.
    if work.batch > 1 {
        arguments.push(format!("--batch={}", work.batch).into());
    }
    if let Some(folder) = &work.parameters {
        arguments.extend(["--parameters".into(), folder.into()]);
    }
    arguments
}
