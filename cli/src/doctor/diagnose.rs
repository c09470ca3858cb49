//! Says what the facts mean, and what to do.

use bench_support::table::bytes;

use super::finding::{Finding, Level};
use super::probe::{Cuda, Device, Facts};
use super::selftest::Tested;

/// Minimum free memory without a warning, 2 GiB: with less, chunks are so short that a card gains little.
const LITTLE: u64 = 2 << 30;

/// Returns all findings that follow from `facts`, the worst first.
pub fn diagnose(facts: &Facts) -> Vec<Finding> {
    let several = [settings(facts), memory(facts), locks(facts)].into_iter().flatten();
    let single = [cuda(facts), opencl(facts), place(facts), cache(facts)].into_iter().flatten();
    let mut findings: Vec<Finding> = several.chain(single).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

fn settings(facts: &Facts) -> Vec<Finding> {
    let malformed = facts.settings.iter().filter_map(|setting| setting.malformed.as_ref());
    let malformed = malformed
        .map(|why| Finding::new(Level::Fault, "bad-setting", why, "correct it, or unset it; nothing runs until then"));
    let unknown = facts.unknown.iter().map(|name| {
        let says = format!("{name}: there is no such setting");
        Finding::new(Level::Warning, "unknown-setting", says, "a misspelt name? docs/settings.md lists all")
    });
    malformed.chain(unknown).collect()
}

fn cuda(facts: &Facts) -> Option<Finding> {
    let Cuda { kernels, driver, cards, unavailable } = &facts.cuda;
    let warning = |name, says: String, mend: &str| Some(Finding::new(worse(facts, "cuda"), name, says, mend));
    let Some(kernels) = kernels else {
        let says = "built without CUDA";
        return Some(Finding::new(
            Level::Note,
            "no-cuda-feature",
            says,
            "for NVIDIA's cards install with --features cuda",
        ));
    };
    if !kernels.note.is_empty() {
        let says = format!("no CUDA kernels were built in: {}", kernels.note);
        return warning(
            "no-kernels",
            says,
            "install nvcc (docs/troubleshooting.md), cargo clean -p proofwarp, build again",
        );
    }
    let Some(driver) = driver else {
        return warning(
            "no-driver",
            unavailable.clone().unwrap_or_else(|| "there is no CUDA driver".to_owned()),
            "install NVIDIA's driver; nvidia-smi shows whether it works",
        );
    };
    if let Some(compiler) = kernels.compiler.filter(|compiler| compiler.0 > driver.0) {
        let says = format!(
            "the driver knows CUDA {}.{}, the kernels are of {}.{}",
            driver.0, driver.1, compiler.0, compiler.1
        );
        return warning("old-driver", says, "update the driver, or build with an nvcc of its version");
    }
    let others: Vec<_> = cards.iter().filter(|card| !card.is_served).collect();
    if let Some(card) = others.first() {
        let architecture = 10 * card.capability.0 + card.capability.1;
        let says =
            format!("{} is of architecture {architecture}, the kernels are for {:?}", card.name, kernels.architectures);
        return warning("other-architecture", says, &format!("build with PROOFWARP_CUDA_ARCHS={architecture}"));
    }
    let why = unavailable.as_ref()?;
    warning("no-cuda-device", why.clone(), "nvidia-smi and CUDA_VISIBLE_DEVICES say which cards a process sees")
}

fn opencl(facts: &Facts) -> Option<Finding> {
    let opencl = &facts.opencl;
    let why = opencl.unavailable.as_ref()?;
    match opencl.library {
        None => {
            Some(Finding::new(Level::Note, "no-opencl-feature", "built without OpenCL", "leave default features on"))
        }
        // With CUDA devices, OpenCL is not missed.
        _ if facts.devices.iter().any(|device| device.backend == "cuda") => None,
        Some(false) => {
            let mend = "apt install ocl-icd-libopencl1, and the card's OpenCL driver";
            Some(Finding::new(worse(facts, "opencl"), "no-opencl-loader", why, mend))
        }
        Some(true) => {
            let mend = "install the card's OpenCL driver; processors (PoCL) count with PROOFWARP_OPENCL_CPU=1";
            Some(Finding::new(worse(facts, "opencl"), "no-opencl-device", why, mend))
        }
    }
}

/// Returns the level of a finding that makes `backend` unusable: a fault if `backend` is forced, a note if another
/// backend is forced or there is a device, and a warning otherwise.
fn worse(facts: &Facts, backend: &str) -> Level {
    match (&facts.forced, facts.devices.is_empty()) {
        (Some(forced), _) if forced == backend => Level::Fault,
        (Some(_), _) | (None, false) => Level::Note,
        (None, true) => Level::Warning,
    }
}

/// Returns the finding that says why proofs are not made on a GPU. Returns `None` if they are, or if another finding
/// says it.
fn place(facts: &Facts) -> Option<Finding> {
    if let Some(why) = &facts.accelerator {
        let known = facts.settings.iter().any(|setting| setting.malformed.as_ref() == Some(why));
        return (!known)
            .then(|| Finding::new(Level::Fault, "no-backend", why, "unset PROOFWARP_BACKEND to let another serve"));
    }
    let gpu = facts.devices.iter().any(|device| !device.is_cpu);
    match (gpu, facts.forced.as_deref()) {
        (true, _) => None,
        (false, Some("cpu")) => Some(Finding::new(Level::Note, "cpu-forced", "PROOFWARP_BACKEND forces the CPU", "")),
        (false, _) if facts.devices.is_empty() => {
            let mend = "the other findings say why there is no device";
            Some(Finding::new(Level::Warning, "cpu-only", "proofs are made on the CPU", mend))
        }
        (false, _) => {
            let says = "the only device is the processor, through OpenCL: slower than the CPU's own code";
            Some(Finding::new(Level::Warning, "opencl-on-cpu", says, "for tests alone; unset PROOFWARP_OPENCL_CPU"))
        }
    }
}

fn memory(facts: &Facts) -> Vec<Finding> {
    facts.devices.iter().filter_map(little_memory).collect()
}

fn little_memory(device: &Device) -> Option<Finding> {
    let free = device.free?;
    if free >= LITTLE {
        return None;
    }
    let (name, limited) = (&device.name, device.limit < device.memory);
    let says = format!("{name}: {} free of {}", bytes(free), bytes(device.limit));
    let mend = match limited {
        true => "PROOFWARP_MEMORY_LIMIT is low; work goes through in short chunks",
        false => "another process has the memory (nvidia-smi); work goes through in short chunks",
    };
    Some(Finding::new(Level::Warning, "little-memory", says, mend))
}

fn cache(facts: &Facts) -> Option<Finding> {
    let cache = facts.cache.as_ref()?;
    let why = cache.unwritable.as_ref()?;
    let says = format!("compiled OpenCL programs cannot be kept: {why}");
    Some(Finding::new(Level::Warning, "unwritable-cache", says, "PROOFWARP_CACHE_DIR names another folder"))
}

fn locks(facts: &Facts) -> Vec<Finding> {
    let held = facts.locks.iter().filter(|lock| lock.is_held).map(|lock| {
        let says = format!("{} is held by another process", lock.file.display());
        let mend = "bellperson's proofs wait for it; fuser names the process";
        Finding::new(Level::Warning, "lock-held", says, mend)
    });
    let unknown = facts.locks.iter().filter_map(|lock| {
        let says = format!("{}: {}", lock.file.display(), lock.unknown.as_ref()?);
        Some(Finding::new(Level::Warning, "lock-unreadable", says, "let its owner remove it, or set TMPDIR"))
    });
    held.chain(unknown).collect()
}

/// Returns a finding for each of the `tested` that gave a wrong result.
pub fn self_test(tested: &[Tested]) -> Vec<Finding> {
    let wrong = tested.iter().filter_map(|test| Some((test, test.fault.as_deref()?)));
    let finding = |(test, fault): (&Tested, &str)| {
        let says = format!("{} {} on {}: {fault}", test.family, test.of, test.ran_on);
        let mend = "PROOFWARP_BACKEND=cpu until the cause is known; report it, please";
        Finding::new(Level::Fault, "wrong-result", says, mend)
    };
    wrong.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::probe::{Cache, Card, Kernels, Lock, OpenCl, Setting};
    use super::*;

    /// Returns the facts of a machine on which all is well.
    fn well() -> Facts {
        let card = Device {
            name: "a card".to_owned(),
            backend: "cuda".to_owned(),
            memory: 80 << 30,
            limit: 80 << 30,
            free: Some(70 << 30),
            ..Device::default()
        };
        let kernels =
            Kernels { architectures: vec![80, 90], compiler: Some((13, 0)), modules: 44, ..Kernels::default() };
        let cards = vec![Card { name: "a card".to_owned(), capability: (9, 0), is_served: true }];
        Facts {
            devices: vec![card],
            cuda: Cuda { kernels: Some(kernels), driver: Some((13, 0)), cards, unavailable: None },
            opencl: OpenCl { library: Some(true), unavailable: None },
            ..Facts::default()
        }
    }

    /// Returns the facts of a machine on which CUDA gives no device.
    fn without_device(change: impl FnOnce(&mut Cuda)) -> Facts {
        let mut facts = Facts { devices: Vec::new(), ..well() };
        facts.cuda.unavailable = Some("the cuda backend is not available: …".to_owned());
        change(&mut facts.cuda);
        facts
    }

    /// Checks that findings repeat the reasons of the backends, which have the words of the system's loader.
    #[test]
    fn reasons_of_the_loader_are_said() {
        let mut facts = without_device(|cuda| cuda.driver = None);
        facts.cuda.unavailable = Some("no driver: libcuda.so.1: missing".to_owned());
        facts.opencl = OpenCl { library: Some(false), unavailable: Some("libOpenCL.so.1: damaged".to_owned()) };
        let says: Vec<_> = diagnose(&facts).into_iter().map(|finding| finding.says).collect();
        for expected in ["no driver: libcuda.so.1: missing", "libOpenCL.so.1: damaged"] {
            assert!(says.iter().any(|says| says == expected), "{says:?}");
        }
    }

    fn found(facts: &Facts, name: &str, level: Level) {
        let findings = diagnose(facts);
        let finding = findings.iter().find(|finding| finding.name == name);
        let finding = finding.unwrap_or_else(|| panic!("{name} is not among {findings:?}"));
        assert_eq!(finding.level, level, "{finding:?}");
        assert!(!finding.says.is_empty());
    }

    #[test]
    fn nothing_is_found_where_all_is_well() {
        assert_eq!(diagnose(&well()), []);
    }

    #[test]
    fn what_is_wrong_with_cuda_is_told_apart() {
        let kernels = |cuda: &mut Cuda, change: fn(&mut Kernels)| cuda.kernels.iter_mut().for_each(change);
        let cases: [(&str, Facts); 5] = [
            ("no-kernels", without_device(|cuda| kernels(cuda, |kernels| kernels.note = "no nvcc".to_owned()))),
            ("no-driver", without_device(|cuda| cuda.driver = None)),
            ("old-driver", without_device(|cuda| cuda.driver = Some((12, 4)))),
            (
                "other-architecture",
                without_device(|cuda| cuda.cards[0] = Card { capability: (6, 1), ..Card::default() }),
            ),
            ("no-cuda-device", without_device(|cuda| cuda.cards.clear())),
        ];
        for (name, mut facts) in cases {
            found(&facts, name, Level::Warning);
            found(&facts, "cpu-only", Level::Warning);
            facts.forced = Some("cuda".to_owned());
            facts.accelerator = facts.cuda.unavailable.clone();
            found(&facts, name, Level::Fault);
            found(&facts, "no-backend", Level::Fault);
        }
        found(&without_device(|cuda| cuda.kernels = None), "no-cuda-feature", Level::Note);
    }

    #[test]
    fn opencl_without_a_loader_and_without_a_device() {
        let mut facts = without_device(|cuda| cuda.kernels = None);
        facts.opencl = OpenCl { library: Some(false), unavailable: Some("…".to_owned()) };
        found(&facts, "no-opencl-loader", Level::Warning);
        facts.opencl.library = Some(true);
        found(&facts, "no-opencl-device", Level::Warning);
        facts.opencl.library = None;
        found(&facts, "no-opencl-feature", Level::Note);
    }

    #[test]
    fn settings_memory_cache_and_locks() {
        let bad = Setting { malformed: Some("settings: X: expected …".to_owned()), ..Setting::default() };
        found(&Facts { settings: vec![bad], ..well() }, "bad-setting", Level::Fault);
        found(&Facts { unknown: vec!["PROOFWARP_BACKND".to_owned()], ..well() }, "unknown-setting", Level::Warning);
        let mut facts = well();
        facts.devices[0].free = Some(1 << 30);
        found(&facts, "little-memory", Level::Warning);
        let cache = Cache { unwritable: Some("read-only".to_owned()), ..Cache::default() };
        found(&Facts { cache: Some(cache), ..well() }, "unwritable-cache", Level::Warning);
        let lock = Lock { is_held: true, ..Lock::default() };
        found(&Facts { locks: vec![lock], ..well() }, "lock-held", Level::Warning);
    }

    #[test]
    fn wrong_tests_are_told() {
        let right = Tested { milliseconds: 6.0, ..Tested::default() };
        assert_eq!(self_test(std::slice::from_ref(&right)), []);
        let wrong = self_test(&[Tested { fault: Some("the sum is another".to_owned()), ..right }]);
        assert_eq!((wrong[0].name, wrong[0].level), ("wrong-result", Level::Fault));
    }
}
