//! Prints the diagnosis on a terminal.

use std::io::{self, Write};

use bench_support::table::{self, bytes, milliseconds};

use super::Diagnosis;
use super::probe::{Facts, Setting};
use super::project::{Project, ProjectPackage};
use super::selftest::Tested;
use crate::output::Out;

/// Prints `diagnosis` to `out`. The summary comes last.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn print(diagnosis: &Diagnosis, out: &mut Out) -> io::Result<()> {
    let Diagnosis { version, summary, findings, facts, adapters, project, self_test, .. } = diagnosis;
    writeln!(out, "proofwarp {version}\n")?;
    build(facts, out)?;
    devices(facts, out)?;
    writeln!(out, "\nadapters")?;
    let rows = adapters.iter().map(|one| vec![one.name.to_owned(), one.uses.clone(), one.because.clone()]);
    writeln!(out, "{}", table::new(&["adapter", "uses", "because"], 3.., rows))?;
    if let Some(project) = project {
        self::project(project, out)?;
    }
    settings(&facts.settings, out)?;
    tests(self_test, out)?;
    if !findings.is_empty() {
        writeln!(out, "\nfindings")?;
    }
    for finding in findings {
        let mend = if finding.mend.is_empty() { String::new() } else { format!("\n    {}", finding.mend) };
        writeln!(out, "  {}: {}{mend}", finding.level, finding.says)?;
    }
    writeln!(out, "\n{summary}")
}

fn project(project: &Project, out: &mut Out) -> io::Result<()> {
    writeln!(out, "\nproject")?;
    let row = |one: &ProjectPackage| [&one.name, &one.version, &one.source, &one.advice].map(Clone::clone).to_vec();
    let rows = project.packages.iter().map(row);
    writeln!(out, "{}", table::new(&["package", "version", "from", "proofwarp"], 4.., rows))?;
    project.lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

fn build(facts: &Facts, out: &mut Out) -> io::Result<()> {
    match &facts.cuda.kernels {
        None => writeln!(out, "CUDA kernels: built without")?,
        Some(kernels) if !kernels.note.is_empty() => writeln!(out, "CUDA kernels: none: {}", kernels.note)?,
        Some(kernels) => {
            let compiler = version(kernels.compiler);
            writeln!(
                out,
                "CUDA kernels: {} modules for {:?}, of CUDA {compiler}",
                kernels.modules, kernels.architectures
            )?;
        }
    }
    writeln!(
        out,
        "CUDA driver: {}",
        facts.cuda.driver.map_or_else(|| "none".to_owned(), |_| version(facts.cuda.driver))
    )?;
    for card in &facts.cuda.cards {
        let served = if card.is_served { "kernels fit" } else { "no kernels for it" };
        writeln!(out, "  {}, compute capability {}.{}: {served}", card.name, card.capability.0, card.capability.1)?;
    }
    writeln!(
        out,
        "OpenCL: {}",
        match (facts.opencl.library, &facts.opencl.unavailable) {
            (None, _) => "built without",
            (_, None) => "devices found; kernels are compiled at first use",
            (_, Some(why)) => why,
        }
    )?;
    if let Some(cache) = &facts.cache {
        writeln!(out, "OpenCL's compiled programs: {}", cache.folder.display())?;
    }
    for lock in &facts.locks {
        writeln!(out, "lock {}: {}", lock.file.display(), if lock.is_held { "held" } else { "free" })?;
    }
    Ok(())
}

fn version(version: Option<(u32, u32)>) -> String {
    version.map_or_else(|| "unknown".to_owned(), |(major, minor)| format!("{major}.{minor}"))
}

fn devices(facts: &Facts, out: &mut Out) -> io::Result<()> {
    writeln!(out, "\ndevices that operations run on")?;
    if facts.devices.is_empty() {
        return writeln!(out, "  the CPU alone");
    }
    let row = |device: &super::probe::Device| {
        let free = device.free.map_or_else(|| "unknown".to_owned(), bytes);
        let units = device.compute_units.to_string();
        vec![device.name.clone(), device.backend.clone(), units, bytes(device.memory), bytes(device.limit), free]
    };
    let header = ["device", "backend", "compute units", "memory", "usable", "free"];
    writeln!(out, "{}", table::new(&header, 2.., facts.devices.iter().map(row)))
}

fn settings(settings: &[Setting], out: &mut Out) -> io::Result<()> {
    writeln!(out, "\nsettings")?;
    let row = |one: &Setting| vec![one.name.to_owned(), one.value.clone(), one.from.to_owned()];
    writeln!(out, "{}", table::new(&["variable", "value", "from"], 3.., settings.iter().map(row)))
}

fn tests(tested: &[Tested], out: &mut Out) -> io::Result<()> {
    if tested.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nself-test: known answers")?;
    let row = |test: &Tested| {
        let result = test.fault.clone().unwrap_or_else(|| "right".to_owned());
        let (took, rate) = (milliseconds(test.milliseconds), rate(test.per_second));
        vec![
            test.family.to_owned(),
            test.of.to_owned(),
            result,
            test.ran_on.clone(),
            test.elements.to_string(),
            took,
            rate,
        ]
    };
    let header = ["family", "of", "result", "ran on", "elements", "ms", "elements/s"];
    writeln!(out, "{}", table::new(&header, 4.., tested.iter().map(row)))
}

fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 1e9 => format!("{:.2} G", rate / 1e9),
        rate if rate >= 1e6 => format!("{:.2} M", rate / 1e6),
        rate => format!("{:.1} k", rate / 1e3),
    }
}
