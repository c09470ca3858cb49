//! Damaged parameter files for the supraseal drop-in: an error, or parameters.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofwarp_fuzz::{Damage, FILE, file};

fuzz_target!(|damage: Damage| {
    let (_folder, path) = file(&damage.of(&FILE));
    let result = supraseal_c2::SRS::try_new(path, false);
    assert!(result.is_ok() || !matches!(damage, Damage::Whole), "{result:?}");
});
