#!/usr/bin/env bash
# AddressSanitizer and ThreadSanitizer over the library's tests on the CPU backend: memory that safe code reaches through this
# crate's unsafe blocks, and its threads.
#
# usage: tests/sanitize_cpu.sh [address] [thread]     (default: both)
#
# The instrumentation's flags are a nightly compiler's, which RUSTC_BOOTSTRAP allows. The standard library is as it was shipped:
# what it synchronises by itself, out of line, ThreadSanitizer does not see (tests/sanitize_cpu.supp names each such place, and why).
# Miri runs no foreign code, and the fields' types of blst are assembly: it is used where its component is there, on what is
# pure.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUSTC_BOOTSTRAP=1 PROOFWARP_BACKEND=cpu CARGO_INCREMENTAL=0 CARGO_TERM_PROGRESS_WHEN=never
# Deep inlining hides the line that a report names; without optimisation the curves' tests take an hour.
options=(--no-default-features --target x86_64-unknown-linux-gnu --config 'profile.dev.package."*".opt-level=1'
    --config 'profile.dev.opt-level=1' --config 'profile.dev.debug="line-tables-only"' --config 'profile.dev.build-override.opt-level=0')

# Programs of tests that run on the CPU backend in seconds.
tests=(--lib --test bad_input --test binary_fields --test expression --test known_answers --test matrix --test sumcheck)

sanitize() { # address or thread
    echo "== $1"
    export CARGO_TARGET_DIR="$PWD/target/sanitize-$1"
    RUSTFLAGS="-Zsanitizer=$1 -Cunsafe-allow-abi-mismatch=sanitizer" cargo test -q "${options[@]}" "${tests[@]}"
}

address() {
    # Threads of rayon's pool, and what is kept for the process's life, are no leaks.
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 sanitize address
}

thread() {
    TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/tests/sanitize_cpu.supp" sanitize thread
}

miri() {
    if ! cargo miri --version >/dev/null 2>&1; then echo "left out: Miri, whose component this toolchain lacks"; return; fi
    cargo miri test --no-default-features --lib -- field::binary field::tower field::ghash backend::pool
}

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(address thread miri)
for one in "${wanted[@]}"; do "$one"; done
