//! Measures what the options ask for, and shows it.

use proofwarp::settings::no_gpu;
use proofwarp::settings::table::NO_GPU;
use proofwarp::{Accelerator, BackendKind};
use serde::Serialize;

use super::options::{Adapter, Options};
use super::outcome::{Outcome, Phase};
use super::programs::Program;
use super::task::Task;
use super::{mapped, parameters, phases, resident, table};
use crate::{Failure, device, output};

/// Results as they are written with `--json`.
#[derive(Serialize)]
struct Results<'a> {
    circuit: &'a str,
    log_constraints: u32,
    seed: u64,
    batch: u32,
    outcomes: &'a [Outcome],
}

/// Runs the program, and prints its tables.
///
/// # Errors
/// Returns an error if an option is without effect, if a way to prove fails, if proofs are not valid or differ, or if a file
/// cannot be written.
pub fn run(options: &Options) -> Result<(), Failure> {
    options.check()?;
    parameters::check(&options.work)?;
    let accelerator = &accelerator(options)?;
    let adapters = options.adapters();
    let programs = adapters.iter().map(|adapter| Program::find(*adapter, options)).collect::<Result<Vec<_>, _>>()?;
    // What it needs is gone before programs read the parameters too; at the largest sizes there is no room for both.
    let mut outcomes = if adapters.contains(&Adapter::Resident) { resident(accelerator, options)? } else { Vec::new() };
    for program in programs.into_iter().flatten() {
        outcomes.push(program.prove(&options.work)?);
    }
    show(options, &outcomes)?;
    compare(&outcomes)?;
    write_json(options, &outcomes)
}

/// Returns what the engine found, which it says, but for what the options or bellperson's variable leave out.
fn accelerator(options: &Options) -> Result<Accelerator, Failure> {
    let all = Accelerator::global()?;
    let asked = device::asked_for_cpu(all).or_else(|| no_gpu().map(|_| NO_GPU));
    let accelerator = if asked.is_some() { all.with_devices(Vec::new()) } else { all.clone() };
    device::announce(&accelerator, asked);
    let found = accelerator.devices().len();
    if let Some(count) = options.devices.filter(|count| *count as usize != found) {
        return Err(format!("--devices: expected {count}, got {found}").into());
    }
    if options.steps && found == 0 {
        return Err("--steps: expected a device, got none: see above for the reason".into());
    }
    Ok(accelerator)
}

/// Measures the resident pipeline, and gives memory back that devices keep for later: programs may need it.
fn resident(accelerator: &Accelerator, options: &Options) -> Result<Vec<Outcome>, Failure> {
    let task = Task::load(&options.work)?;
    phases::collect();
    if options.mapped {
        mapped::measure(accelerator, &task)?;
    }
    let outcomes = resident::measure(accelerator, &task, options.steps)?;
    if let Some(time) = phases::compiled() {
        println!("compiling or loading kernels at their first use took {time:.2?}, no part of the times of kernels");
    }
    trim(accelerator);
    Ok(outcomes)
}

/// Gives back memory that devices keep for later.
pub fn trim(accelerator: &Accelerator) {
    accelerator.devices().iter().for_each(|device| device.trim());
}

/// Prints the phases of each way to prove that has them; an error is what ran elsewhere than was asked for.
fn show(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    for outcome in outcomes.iter().filter(|outcome| !outcome.phases.is_empty()) {
        println!("{}", table::measured(outcome));
        let mut reasons: Vec<&String> = outcome.phases.iter().flat_map(|phase| &phase.fallbacks).collect();
        reasons.sort();
        reasons.dedup();
        for reason in reasons {
            println!("not used: {reason}");
        }
        if let Some(forced) = options.backend.forced() {
            outcome.phases.iter().try_for_each(|phase| check_place(phase, forced))?;
        }
    }
    Ok(())
}

/// Checks that all of `phase` ran on `forced`.
fn check_place(phase: &Phase, forced: BackendKind) -> Result<(), Failure> {
    let prefix = format!("{forced} ");
    // Transforms by ec-gpu-gen's own code for the CPU make no report.
    let elsewhere = phase.unreported > 0 && forced != BackendKind::Cpu;
    if !elsewhere && phase.backends.iter().all(|backend| backend.starts_with(&prefix)) {
        return Ok(());
    }
    let (name, backends, rest) = (&phase.name, phase.backends.join(" and "), phase.unreported);
    Err(format!("{name}: expected all on {forced}, got {backends}, and {rest} elements elsewhere").into())
}

/// Prints all ways side by side, if there are several or one has no phases, and checks that their proofs are equal.
fn compare(outcomes: &[Outcome]) -> Result<(), Failure> {
    if outcomes.len() > 1 || outcomes.iter().any(|outcome| outcome.phases.is_empty()) {
        println!("{}", table::comparison(outcomes));
    }
    for outcome in outcomes {
        println!("{}", table::verified(outcome));
    }
    if outcomes.len() > 1 {
        check_equal(outcomes)?;
        println!("all proofs are equal");
    }
    Ok(())
}

/// Checks that all made the same proofs, byte by byte.
///
/// # Errors
/// Returns an error with both proofs if they differ.
pub fn check_equal(outcomes: &[Outcome]) -> Result<(), Failure> {
    if let Some([one, other]) = outcomes.windows(2).find(|pair| pair[0].proof != pair[1].proof) {
        let [one, other] = [one, other].map(|outcome| format!("{}: {}", outcome.engine, outcome.proof));
        return Err(format!("the proofs differ:\n  {one}\n  {other}").into());
    }
    Ok(())
}

fn write_json(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let work = &options.work;
    let (circuit, log_constraints) = (work.circuit.name(), work.log_constraints);
    let results = Results { circuit, log_constraints, seed: work.seed, batch: work.batch, outcomes };
    Ok(output::write_json(path, &results)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::parse;

    #[test]
    fn both_forms_of_witnesses_give_equal_proofs_in_the_file() {
        let folder = tempfile::tempdir().expect("folder");
        let json = folder.path().join("results.json");
        let line = format!(
            "--circuit x5 --log-constraints 10 --proofs 1 --batch 2 --parameters {} --json {}",
            folder.path().display(),
            json.display()
        );
        run(&parse::<Options>(&line).expect("a line")).expect("proofs");
        let text = std::fs::read(&json).expect("file");
        let results: serde_json::Value = serde_json::from_slice(&text).expect("results");
        let [witness, evaluated] = [0, 1].map(|number| &results["outcomes"][number]);
        assert_eq!((&witness["engine"], &witness["verified"]), (&"resident (witness)".into(), &2.into()));
        assert!(witness["proof"].as_str().is_some_and(|proof| proof.len() == 2 * 2 * 192));
        assert_eq!(witness["proof"], evaluated["proof"]);
        assert_eq!(results["batch"], 2);
    }

    #[test]
    fn other_proofs_are_noticed() {
        let outcome = |proof: &str| {
            let rest = r#""constraints":1,"ran_on":"cpu","synthesis_ms":0,"proving_ms":1,"verify_ms":1,"runs_ms":[]"#;
            let text = format!(r#"{{"engine":"e","proof":"{proof}",{rest}}}"#);
            serde_json::from_str::<Outcome>(&text).expect("an outcome of an older program")
        };
        assert!(check_equal(&[outcome("01"), outcome("01")]).is_ok());
        let error = check_equal(&[outcome("01"), outcome("02")]).expect_err("others").to_string();
        assert!(error.contains("e: 01") && error.contains("e: 02"), "{error}");
    }
}
