//! Mapped parameters whose points are said to be anywhere in the file: an error, or a proof. The file has settled, so that
//! those that lie one after another stay encoded.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use libfuzzer_sys::fuzz_target;
use proofwarp_bellperson::{clear_key_cache, groth16};
use proofwarp_fuzz::{FILE, Power, file};
use tempfile::TempDir;

/// Older than the grain of a file system's times, as far as keys tell.
const AGE: Duration = Duration::from_millis(3500);

static SETTLED: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let file = file(&FILE);
    std::thread::sleep(AGE);
    file
});

/// What happens to the places of a query's points.
#[derive(Debug, Arbitrary)]
enum Change {
    /// A point is elsewhere.
    Point(u8, usize, usize),
    /// All points are further on.
    Shift(usize),
    /// There are fewer points.
    Fewer(u8),
    /// The points are there twice.
    Twice,
}

fuzz_target!(|input: (Vec<(u8, Change)>, bool)| {
    let (changes, checked) = input;
    let mut mapped = Parameters::<Bls12>::build_mapped_parameters(SETTLED.1.clone(), checked).expect("whole");
    for (query, change) in &changes {
        let queries = [&mut mapped.h, &mut mapped.l, &mut mapped.a, &mut mapped.b_g1, &mut mapped.b_g2];
        let Some(ranges) = queries.into_iter().nth(usize::from(*query % 5)) else { continue };
        match change {
            Change::Point(number, start, end) => {
                if let Some(range) = ranges.get_mut(usize::from(*number)) {
                    *range = *start..*end;
                }
            }
            Change::Shift(bytes) => ranges.iter_mut().for_each(|range| {
                *range = range.start.wrapping_add(*bytes)..range.end.wrapping_add(*bytes);
            }),
            Change::Fewer(count) => ranges.truncate(usize::from(*count)),
            // More would take the memory of this program itself.
            Change::Twice if ranges.len() < 1 << 12 => ranges.extend_from_within(..),
            Change::Twice => {}
        }
    }
    let [r, s] = [5, 6].map(Scalar::from);
    let proof = groth16::create_proof(Power(Scalar::from(3)), &mapped, r, s);
    assert!(proof.is_ok() || !changes.is_empty(), "{:?}", proof.err());
    clear_key_cache();
});
