//! The memory that a proof says it will take, and what it takes.

use halo2_axiom::halo2curves::bn256::G1Affine;
use proofwarp::plonk::MemoryPlan;
use proofwarp_halo2::{clear_setups, memory};

use crate::described::{Lookup, Shape, TableKind};
use crate::devices::{Expected, alone, only, reason};

/// Shapes of circuits, and how many circuits a proof has.
fn shapes() -> [(&'static str, Shape, u64); 12] {
    let plain = |inputs: usize, degrees: &[usize]| Shape {
        inputs,
        gates: degrees.iter().map(|degree| Shape::gate(*degree)).collect(),
        minimum_degree: degrees.iter().max().copied(),
        ..Shape::default()
    };
    let copied = |shape: Shape, copied: usize| Shape { copied, copies: vec![[(0, 0), (copied - 1, 1)]], ..shape };
    let lookups = |shape: Shape, count: usize| {
        let fixed = Lookup { columns: 1, table: TableKind::Fixed, selected: false, rotation: 0 };
        Shape { fixed: 1, lookups: vec![fixed; count], ..shape }
    };
    [
        ("one gate", plain(2, &[3]), 1),
        ("degree 9", plain(2, &[9]), 1),
        ("many gates", plain(4, &[3; 12]), 1),
        ("wide", plain(40, &[3; 8]), 1),
        ("permutation", copied(plain(2, &[3]), 8), 1),
        ("wide permutation", copied(plain(2, &[4]), 30), 1),
        ("a lookup", lookups(plain(2, &[3]), 1), 1),
        ("lookups", lookups(plain(2, &[4]), 6), 1),
        ("base", Shape::base(), 1),
        ("three circuits", Shape::base(), 3),
        ("phases", Shape { later_phases: 2, says_phases: true, ..Shape::base() }, 1),
        ("instances", Shape { instances: vec![3; 6], ..plain(3, &[5, 3]) }, 1),
    ]
}

/// Numbers from the environment, separated by commas.
fn numbers(name: &str, default: &str) -> Vec<u64> {
    let text = std::env::var(name).unwrap_or_else(|_| default.to_owned());
    text.split(',').map(|number| number.parse().expect(name)).collect()
}

/// Proofs take no more than their bound, and on a device with memory of its own most of it. The environment may name
/// larger proofs and limits in GB: `BOUND_ROWS` the binary logarithms of the rows, `BOUND_LIMITS` the limits,
/// `BOUND_FROM` the number of the first shape.
#[test]
fn peaks_stay_below_the_bound() {
    for k in numbers("BOUND_ROWS", "8") {
        for (name, shape, circuits) in shapes().into_iter().skip(numbers("BOUND_FROM", "0")[0] as usize) {
            let expected = Expected::new(&shape, k as u32, circuits);
            let memory = memory(&expected.key, circuits as usize);
            for limit in numbers("BOUND_LIMITS", "80") {
                let Some(device) = alone("a bound", Some(limit << 30)) else { return };
                let bound = memory.bound::<G1Affine>(&device, device.memory()).expect("enough");
                assert!(expected.prove(&only(&device)).expect("a proof") == expected.proof, "{name}");
                let share = device.peak_memory() as f64 / bound.total() as f64;
                println!(
                    "2^{k} rows, {limit} GB, {name}: {:.1} MiB, {share:.2} of {bound}",
                    device.peak_memory() as f64 / f64::from(1 << 20)
                );
                assert!(share <= 1.0, "{name}: {memory}");
                // A setup that is kept would keep its device's memory.
                clear_setups();
                // Steps that are split fill the limit in the bound. At 2^20 rows, 8 GB, three circuits take .69 of it.
                let least = if bound.total() == limit << 30 { 0.6 } else { 0.8 };
                assert!(device.info().is_cpu || k < 14 || share >= least, "{name}: {memory}");
            }
        }
    }
}

/// With less memory than the whole proof takes, its steps are split, down to a limit below which the error says how much
/// is lacking, before anything is uploaded.
#[test]
fn bounds_with_less_memory() {
    let expected = Expected::new(&Shape::base(), 9, 1);
    let memory = memory(&expected.key, 1);
    let Some(whole) = alone("a bound with less memory", None) else { return };
    let all = memory.bound::<G1Affine>(&whole, u64::MAX).expect("enough").total();
    let mut splits = 0;
    for percent in (4..=100).step_by(8) {
        let device = alone("a bound with less memory", Some(all * percent / 100)).expect("there was one");
        match memory.bound::<G1Affine>(&device, device.memory()) {
            Ok(bound) => {
                assert!(expected.prove(&only(&device)).expect("a proof") == expected.proof, "{percent} %");
                assert!(
                    device.peak_memory() <= bound.total() && bound.total() <= device.memory(),
                    "{percent} %: {bound}"
                );
                splits += usize::from(bound.plan != MemoryPlan::ALL);
            }
            Err(error) => {
                let lacking = format!("{} too few: set PROOFWARP_MEMORY_LIMIT to", too_few(&error));
                assert!(error.to_string().contains(&lacking), "{error}");
                let refused = expected.prove(&only(&device)).expect_err("too little memory");
                assert!(reason(&refused).to_string() == error.to_string() && device.peak_memory() == 0, "{refused}");
            }
        }
    }
    assert!(splits > 2, "{splits}");
}

fn too_few(error: &proofwarp::Error) -> u64 {
    match error {
        proofwarp::Error::TooLarge { requested, available, .. } => requested - available,
        other => panic!("{other}"),
    }
}
