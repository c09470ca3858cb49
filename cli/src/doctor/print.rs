//! The diagnosis on a terminal.

use super::Diagnosis;
use super::facts::{Facts, Setting};
use super::selftest::Tested;
use crate::table::{self, bytes, milliseconds};

/// Prints all of it, the summary last.
pub fn print(diagnosis: &Diagnosis) {
    let Diagnosis { version, summary, findings, facts, adapters, self_test, .. } = diagnosis;
    println!("proofwarp {version}\n");
    build(facts);
    devices(facts);
    println!("\nadapters");
    let rows = adapters.iter().map(|one| vec![one.name.to_owned(), one.uses.clone(), one.because.clone()]);
    println!("{}", table::new(&["adapter", "uses", "because"], 3, rows));
    settings(&facts.settings);
    tests(self_test);
    if !findings.is_empty() {
        println!("\nfindings");
    }
    for finding in findings {
        let level = format!("{:?}", finding.level).to_lowercase();
        let mend = if finding.mend.is_empty() { String::new() } else { format!("\n    {}", finding.mend) };
        println!("  {level}: {}{mend}", finding.says);
    }
    println!("\n{summary}");
}

fn build(facts: &Facts) {
    match &facts.cuda.kernels {
        None => println!("CUDA kernels: built without"),
        Some(kernels) if !kernels.note.is_empty() => println!("CUDA kernels: none: {}", kernels.note),
        Some(kernels) => {
            let compiler = version(kernels.compiler);
            println!("CUDA kernels: {} modules for {:?}, of CUDA {compiler}", kernels.modules, kernels.architectures);
        }
    }
    println!("CUDA driver: {}", facts.cuda.driver.map_or_else(|| "none".to_owned(), |_| version(facts.cuda.driver)));
    for card in &facts.cuda.cards {
        let served = if card.is_served { "kernels fit" } else { "no kernels for it" };
        println!("  {}, compute capability {}.{}: {served}", card.name, card.capability.0, card.capability.1);
    }
    println!(
        "OpenCL: {}",
        match (facts.opencl.library, &facts.opencl.unavailable) {
            (None, _) => "built without",
            (Some(false), _) => "its library is not installed",
            (_, None) => "devices found; kernels are compiled at first use",
            (_, Some(why)) => why,
        }
    );
    if let Some(cache) = &facts.cache {
        println!("OpenCL's compiled programs: {}", cache.folder.display());
    }
    for lock in &facts.locks {
        println!("lock {}: {}", lock.file.display(), if lock.is_held { "held" } else { "free" });
    }
}

fn version(version: Option<(u32, u32)>) -> String {
    version.map_or_else(|| "unknown".to_owned(), |(major, minor)| format!("{major}.{minor}"))
}

fn devices(facts: &Facts) {
    println!("\ndevices that operations run on");
    if facts.devices.is_empty() {
        println!("  the CPU alone");
        return;
    }
    let row = |device: &super::facts::Device| {
        let free = device.free.map_or_else(|| "unknown".to_owned(), bytes);
        let units = device.compute_units.to_string();
        vec![device.name.clone(), device.backend.clone(), units, bytes(device.memory), bytes(device.limit), free]
    };
    let header = ["device", "backend", "compute units", "memory", "usable", "free"];
    println!("{}", table::new(&header, 2, facts.devices.iter().map(row)));
}

fn settings(settings: &[Setting]) {
    println!("\nsettings");
    let row = |one: &Setting| vec![one.name.to_owned(), one.value.clone(), one.from.to_owned()];
    println!("{}", table::new(&["variable", "value", "from"], 3, settings.iter().map(row)));
}

fn tests(tested: &[Tested]) {
    if tested.is_empty() {
        return;
    }
    println!("\nself-test: known answers");
    let row = |test: &Tested| {
        let expected = test.expected.map_or_else(|| "–".to_owned(), milliseconds);
        let result = test.fault.clone().unwrap_or_else(|| "right".to_owned());
        let (took, rate) = (milliseconds(test.milliseconds), rate(test.per_second));
        vec![
            test.family.to_owned(),
            test.of.to_owned(),
            result,
            test.ran_on.clone(),
            test.elements.to_string(),
            took,
            expected,
            rate,
        ]
    };
    let header = ["family", "of", "result", "ran on", "elements", "ms", "expected ms", "elements/s"];
    println!("{}", table::new(&header, 4, tested.iter().map(row)));
    println!("expected: one H200, docs/performance.md; – where there is no figure for this card");
}

fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 1e9 => format!("{:.2} G", rate / 1e9),
        rate if rate >= 1e6 => format!("{:.2} M", rate / 1e6),
        rate => format!("{:.1} k", rate / 1e3),
    }
}
