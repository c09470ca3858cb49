//! Where it is going to run.

use proofwarp::{Accelerator, BackendKind};

/// Prints the number of cores and the devices of `accelerator`.
pub fn announce_all(accelerator: &Accelerator) {
    println!("host: {} cores", rayon::current_num_threads());
    announce(accelerator, asked_for_cpu(accelerator));
}

/// Says which devices there are, or why the CPU does it all; `asked` is who asked for that.
pub fn announce(accelerator: &Accelerator, asked: Option<&str>) {
    for line in lines(accelerator, asked) {
        println!("{line}");
    }
}

/// A line for each device, or lines that say why there is none.
fn lines(accelerator: &Accelerator, asked: Option<&str>) -> Vec<String> {
    if let Some(asked) = asked {
        return vec![format!("running on the CPU: {asked} asks for it")];
    }
    let devices: Vec<String> = accelerator
        .devices()
        .iter()
        .map(|device| {
            let info = device.info();
            format!("device: {} ({}), {:.2} GB", info.name, info.backend, info.memory as f64 / 1e9)
        })
        .collect();
    if devices.is_empty() { absent() } else { devices }
}

/// Why there is no device.
fn absent() -> Vec<String> {
    let errors = [BackendKind::Cuda, BackendKind::OpenCl].map(Accelerator::with_backend);
    let reasons = errors.iter().filter_map(|found| found.as_ref().err()).map(|error| format!("  {error}"));
    std::iter::once("running on the CPU: there is no other device".to_owned()).chain(reasons).collect()
}

/// Names the setting that forces the CPU, if one does.
pub fn asked_for_cpu(accelerator: &Accelerator) -> Option<&'static str> {
    (accelerator.forced() == Some(BackendKind::Cpu)).then_some("--backend or PROOFWARP_BACKEND")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_says_where_it_runs() {
        let host = Accelerator::with_backend(BackendKind::Cpu).expect("host");
        assert_eq!(
            lines(&host, asked_for_cpu(&host)),
            ["running on the CPU: --backend or PROOFWARP_BACKEND asks for it"]
        );
        assert!(lines(&host, None)[0].contains("there is no other device"));
        let all = Accelerator::from_env().expect("accelerator");
        for (line, device) in lines(&all, asked_for_cpu(&all)).iter().zip(all.devices()) {
            assert!(line.starts_with(&format!("device: {} ({})", device.info().name, device.info().backend)), "{line}");
        }
    }
}
