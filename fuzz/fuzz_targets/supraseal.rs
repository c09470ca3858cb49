//! Assignments of wrong lengths, counts, densities and pointers for the supraseal drop-in: the reason, or proofs.
#![no_main]

use std::panic::set_hook;
use std::ptr::null;
use std::sync::{LazyLock, Once};

use arbitrary::Arbitrary;
use blstrs::Scalar;
use libfuzzer_sys::fuzz_target;
use proofwarp_fuzz::{Evaluated, FILE, file, generate};
use supraseal_c2::{Assignment, SRS};

/// What is wrong with an assignment of the circuit's. Lengths are never beyond the memory that is there.
#[derive(Debug, Arbitrary)]
enum Fault {
    Bits(u8),
    Ones(u8, u8),
    Density(u8, u64),
    Shorter(u8, u8),
    Null(u8),
    Misaligned(u8),
    Value(u8, u64),
}

#[derive(Debug, Arbitrary)]
struct Input {
    faults: Vec<Fault>,
    numbers: [u8; 3],
}

static KEY: LazyLock<SRS> = LazyLock::new(|| {
    let (_folder, path) = file(&FILE);
    SRS::try_new(path, false).expect("parameters")
});

fuzz_target!(|input: Input| {
    // Panics with the reason are this interface's errors; libFuzzer's own hook would end the program.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|_| {})));
    let mut evaluated = Evaluated::new(Scalar::from(3));
    for fault in &input.faults {
        if let Fault::Value(at, value) = fault {
            *evaluated.value(usize::from(*at)) = Scalar::from(*value);
        }
        if let Fault::Density(at, word) = fault {
            evaluated.densities[usize::from(*at) % 3][0] = *word as usize;
        }
    }
    let mut assignment = evaluated.assignment();
    input.faults.iter().for_each(|fault| damage(&mut assignment, fault));
    let numbers = input.numbers.map(|number| if number < 200 { 1 } else { usize::from(number - 199) });
    let result = generate(&[assignment], numbers, &KEY);
    if let Err(reason) = &result {
        assert!(reason.starts_with("supraseal-c2: no proofs: "), "{reason}");
    }
    let is_right = input.faults.is_empty() && numbers == [1; 3];
    assert!(!is_right || result.is_ok(), "{result:?}");
});

fn damage(it: &mut Assignment<Scalar>, fault: &Fault) {
    let pointers = [&mut it.a, &mut it.b, &mut it.c, &mut it.inp_assignment_data, &mut it.aux_assignment_data];
    match fault {
        Fault::Null(at) => *pointers.into_iter().nth(usize::from(*at) % 5).expect("one of five") = null(),
        Fault::Misaligned(at) => {
            let pointer = pointers.into_iter().nth(usize::from(*at) % 5).expect("one of five");
            *pointer = pointer.wrapping_byte_add(1);
        }
        Fault::Bits(at) => {
            let lengths = [&mut it.a_aux_bit_len, &mut it.b_inp_bit_len, &mut it.b_aux_bit_len];
            let length = lengths.into_iter().nth(usize::from(*at) % 3).expect("one of three");
            *length = length.saturating_sub(1);
        }
        Fault::Ones(at, ones) => {
            let counts = [&mut it.a_aux_popcount, &mut it.b_inp_popcount, &mut it.b_aux_popcount];
            *counts.into_iter().nth(usize::from(*at) % 3).expect("one of three") = usize::from(*ones);
        }
        Fault::Shorter(at, by) => {
            let lengths = [&mut it.abc_size, &mut it.inp_assignment_size, &mut it.aux_assignment_size];
            let length = lengths.into_iter().nth(usize::from(*at) % 3).expect("one of three");
            *length = length.saturating_sub(usize::from(*by));
        }
        Fault::Density(..) | Fault::Value(..) => {}
    }
}
