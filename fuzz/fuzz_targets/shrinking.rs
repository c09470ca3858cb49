//! Parameter files that are shortened, lengthened or written to after they were mapped: an error, or a proof.
#![no_main]

use std::fs::File;
use std::panic::set_hook;
use std::path::PathBuf;
use std::sync::Once;

use arbitrary::Arbitrary;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use libfuzzer_sys::fuzz_target;
use proofwarp_bellperson::{clear_key_cache, groth16};
use proofwarp_fuzz::{FILE, Power, file, prove_by};

#[derive(Debug, Arbitrary)]
struct Input {
    length: Option<u16>,
    then: Option<u16>,
    by_supraseal: bool,
}

fuzz_target!(|input: Input| {
    // supraseal-c2's errors are panics; libFuzzer's own hook would end the program.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|_| {})));
    let (_folder, path) = file(&FILE);
    let changed = |length: Option<u16>| length.is_some_and(|length| cut(&path, length));
    if input.by_supraseal {
        let srs = supraseal_c2::SRS::try_new(path.clone(), false).expect("a whole file");
        for length in [None, input.length, input.then] {
            let is_changed = changed(length);
            assert!(prove_by(&srs).is_ok() || is_changed || input.length.is_some());
        }
        return;
    }
    let mapped = Parameters::<Bls12>::build_mapped_parameters(path.clone(), false).expect("a whole file");
    for length in [None, input.length, input.then] {
        let is_changed = changed(length);
        let proof = groth16::create_proof(Power(Scalar::from(3)), &mapped, Scalar::from(5), Scalar::from(6));
        assert!(proof.is_ok() || is_changed || input.length.is_some(), "{:?}", proof.err());
    }
    clear_key_cache();
});

/// Sets the file's length; whether it is another.
fn cut(path: &PathBuf, length: u16) -> bool {
    let file = File::options().write(true).open(path).expect("the file");
    file.set_len(u64::from(length)).expect("a length");
    usize::from(length) != FILE.len()
}
