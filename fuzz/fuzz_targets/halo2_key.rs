//! Damaged proving keys and setups of halo2: what halo2-axiom reads of them makes a proof, or an error. A proof that its own
//! verifier takes is one of whole files.
#![no_main]

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::halo2::{KEY, SETUP, has_lengths, key_of, prove, setup_of, verifies};

#[derive(Debug, Arbitrary)]
struct Input {
    key: Damage,
    setup: Damage,
    gwc: bool,
    checked: bool,
}

fuzz_target!(|input: Input| {
    // libFuzzer's own hook ends the program at a panic that is caught, too. One that is not still ends it.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|_| {})));
    let [key, setup] = [input.key.of(&KEY), input.setup.of(&SETUP)];
    // halo2-axiom's readers panic, or take memory for as many rows as the file says.
    if !has_lengths(&key) || key.get(..4) != KEY.get(..4) || setup.get(..4) != SETUP.get(..4) {
        return;
    }
    let read = catch_unwind(AssertUnwindSafe(|| Some((key_of(&key)?, setup_of(&setup)?))));
    let Ok(Some((key, setup))) = read else { return };
    let Ok(proof) = prove(&setup, &key, input.gwc, input.checked) else { return };
    let is_whole = matches!((input.key, input.setup), (Damage::Whole, Damage::Whole));
    assert!(!is_whole || verifies(&setup, &key, input.gwc, &proof));
});
