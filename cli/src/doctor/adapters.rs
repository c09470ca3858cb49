//! Determines what each adapter would use, and why not something better.

use serde::Serialize;

use super::probe::Facts;

/// Describes which devices an adapter would use, and why.
#[derive(Debug, Serialize)]
pub struct Adapter {
    pub name: &'static str,
    pub uses: String,
    pub because: String,
}

/// Returns for every adapter which devices it would use, according to `facts`.
pub fn all(facts: &Facts) -> Vec<Adapter> {
    let value = |name: &str| {
        let found = facts.settings.iter().find(|setting| setting.name == name && setting.from == "environment");
        found.map(|setting| setting.value.as_str())
    };
    let no_gpu = value("BELLMAN_NO_GPU").is_some_and(|value| value != "0");
    let framework = value("EC_GPU_FRAMEWORK");
    let bellperson = ["supraseal-c2", "proofwarp-bellperson"].map(|name| adapter(facts, name, no_gpu, usize::MAX));
    let halo2 = ["proofwarp-halo2", "halo2-axiom-gpu"].map(|name| adapter(facts, name, false, 1));
    let first = match framework {
        Some(framework) if facts.forced.is_none() && !no_gpu => of_framework(facts, framework),
        _ => adapter(facts, "ec-gpu-gen", no_gpu, usize::MAX),
    };
    let circom = adapter(facts, "proofwarp-circom", false, usize::MAX);
    std::iter::once(first).chain(bellperson).chain(halo2).chain([circom]).collect()
}

fn adapter(facts: &Facts, name: &'static str, no_gpu: bool, most: usize) -> Adapter {
    let devices: Vec<_> =
        facts.devices.iter().take(most).map(|one| format!("{} ({})", one.name, one.backend)).collect();
    let (uses, because) = match (&facts.accelerator, no_gpu, devices.is_empty()) {
        (Some(why), ..) => ("nothing".to_owned(), why.clone()),
        (None, true, _) if facts.forced.as_deref().is_some_and(|forced| forced != "cpu") => {
            ("nothing".to_owned(), "BELLMAN_NO_GPU asks for the CPU, PROOFWARP_BACKEND for a device".to_owned())
        }
        (None, true, _) => ("the CPU".to_owned(), "BELLMAN_NO_GPU asks for it".to_owned()),
        (None, false, true) => ("the CPU".to_owned(), reason(facts)),
        (None, false, false) if most == 1 && facts.devices.len() > 1 => {
            (devices.join(", "), "it takes the first".to_owned())
        }
        (None, false, false) => (devices.join(", "), reason(facts)),
    };
    Adapter { name, uses, because }
}

/// Returns the reason why the backend in use was chosen.
fn reason(facts: &Facts) -> String {
    match &facts.forced {
        Some(backend) => format!("PROOFWARP_BACKEND={backend} forces it"),
        None if facts.absent.is_empty() => "the best backend that there is".to_owned(),
        None => facts.absent.join("; "),
    }
}

/// Describes the ec-gpu-gen adapter if the variable `EC_GPU_FRAMEWORK` requests `framework`.
fn of_framework(facts: &Facts, framework: &str) -> Adapter {
    let wanted = framework.to_ascii_lowercase();
    let unavailable = match wanted.as_str() {
        "cuda" => facts.cuda.unavailable.clone(),
        "opencl" => facts.opencl.unavailable.clone(),
        other => Some(format!("EC_GPU_FRAMEWORK: expected cuda or opencl, got {other}")),
    };
    let (uses, because) = match unavailable {
        None => (format!("{wanted}'s devices"), format!("EC_GPU_FRAMEWORK={framework} asks for them")),
        Some(why) => ("the CPU".to_owned(), why),
    };
    Adapter { name: "ec-gpu-gen", uses, because }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{Device, Setting};
    use super::*;

    fn with(name: &'static str, value: &str) -> Vec<Setting> {
        vec![Setting { name, value: value.to_owned(), from: "environment", ..Setting::default() }]
    }

    #[test]
    fn variables_choose() {
        let device = |name: &str| Device { name: name.to_owned(), backend: "cuda".to_owned(), ..Device::default() };
        let facts = Facts { devices: vec![device("a"), device("b")], ..Facts::default() };
        let uses = |facts: &Facts| all(facts).into_iter().map(|adapter| adapter.uses).collect::<Vec<_>>();
        let both = "a (cuda), b (cuda)";
        assert_eq!(uses(&facts), [both, both, both, "a (cuda)", "a (cuda)", both]);
        let facts = Facts { settings: with("BELLMAN_NO_GPU", "1"), ..facts };
        assert_eq!(uses(&facts), ["the CPU", "the CPU", "the CPU", "a (cuda)", "a (cuda)", both]);
        let facts = Facts { settings: with("BELLMAN_NO_GPU", "0"), ..facts };
        assert_eq!(uses(&facts)[0], both);
        let facts = Facts { settings: with("EC_GPU_FRAMEWORK", "opencl"), ..facts };
        assert_eq!(uses(&facts)[0], "opencl's devices");
    }

    #[test]
    fn without_devices_the_reason_is_said() {
        let facts = Facts { absent: vec!["no driver".to_owned()], ..Facts::default() };
        assert!(all(&facts).iter().all(|adapter| adapter.uses == "the CPU" && adapter.because == "no driver"));
    }
}
