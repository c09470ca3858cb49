//! Predicts the memory that a proof takes, and reads the memory that the process took.

use blstrs::{G1Affine, G2Affine, Scalar};
use proofwarp::groth16::Circuit;
use proofwarp::matrix::SparseMatrix;
use proofwarp::{Accelerator, BackendKind};
use serde::Serialize;

use super::system::System;
use crate::Failure;

/// Something that takes memory.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// Its name.
    pub name: &'static str,
    /// Bytes of it on the host.
    pub host: u64,
    /// Bytes of it on each device.
    pub device: u64,
}

/// Returns the memory that a proof of `system` takes. MSMs take a part of the remaining memory as their workspace,
/// which is not included.
///
/// # Errors
/// Returns an error if the engine refuses a matrix.
pub fn plan(system: &System, circuit: &Circuit<Scalar>) -> Result<Vec<Item>, Failure> {
    let domain = circuit.constraint_count().next_power_of_two();
    let (a, b) = (circuit.variables_of_a().len(), circuit.variables_of_b().len());
    let in_g1 = ((domain - 1 + circuit.aux_count() + a + b) * size_of::<G1Affine>()) as u64;
    let key = in_g1 + (b * size_of::<G2Affine>()) as u64;
    let witness = size_of_val(system.values.as_slice()) as u64;
    let selections = (4 * (a + b)) as u64;
    let vectors = (3 * domain + a + b) * size_of::<Scalar>();
    Ok(with_total(vec![
        Item { name: "matrices A, B, C", host: matrices_on_host(system), device: matrices_on_device(system)? },
        Item { name: "numbers of the variables in A and B", host: selections, device: selections },
        Item { name: "key", host: key, device: key },
        Item { name: "assignment", host: witness, device: witness },
        Item { name: "a, b, c and scalars of A and B", host: 0, device: vectors as u64 },
        Item { name: "together, without the sums' workspace", host: 0, device: 0 },
    ]))
}

fn with_total(mut items: Vec<Item>) -> Vec<Item> {
    let total = |bytes: fn(&Item) -> u64| items.iter().map(bytes).sum();
    let (host, device) = (total(|item| item.host), total(|item| item.device));
    if let Some(last) = items.last_mut() {
        (last.host, last.device) = (host, device);
    }
    items
}

fn matrices_on_host(system: &System) -> u64 {
    system.matrices.iter().map(|matrix| (8 * matrix.nonzeros() + size_of_val(matrix.row_pointers())) as u64).sum()
}

fn matrices_on_device(system: &System) -> Result<u64, Failure> {
    let host = Accelerator::with_backend(BackendKind::Cpu)?;
    let bytes = |matrix| Ok(SparseMatrix::new(&host, matrix)?.explain().matrix_bytes);
    system.matrices.iter().cloned().map(bytes).sum()
}

/// Returns the peak bytes of host memory of this process, or `None` if the system does not report them.
pub fn host_peak() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Returns the available bytes of host memory, or `None` if the system does not report them.
pub fn host_available() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}
