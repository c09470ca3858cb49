#!/usr/bin/env bash
# AddressSanitizer, ThreadSanitizer and Miri over the library's tests on the CPU backend: memory that safe code reaches through this
# crate's unsafe blocks, and its threads.
#
# usage: tests/sanitize_cpu.sh [address] [thread] [miri]     (default: all)
#
# The instrumentation's flags are a nightly compiler's, which RUSTC_BOOTSTRAP allows. The standard library is built with them, from
# the component rust-src. Without that component AddressSanitizer sees this crate and its dependencies alone, and ThreadSanitizer,
# which has to see the library's locks, is left out. Miri runs no foreign code, and blst's fields are assembly: it runs what is
# pure, where its component is there.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUSTC_BOOTSTRAP=1 PROOFWARP_BACKEND=cpu CARGO_INCREMENTAL=0 CARGO_TERM_PROGRESS_WHEN=never
# Deep inlining hides the line that a report names; without optimisation the curves' tests take an hour.
options=(--no-default-features --target x86_64-unknown-linux-gnu --config 'profile.dev.package."*".opt-level=1'
    --config 'profile.dev.opt-level=1' --config 'profile.dev.debug="line-tables-only"' --config 'profile.dev.build-override.opt-level=0')
has_library_source=""
[ ! -f "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ] || { has_library_source=1; options+=(-Zbuild-std); }

# Programs of tests that run on the CPU backend in seconds.
tests=(--lib --test bad_input --test binary_fields --test expression --test known_answers --test matrix --test sumcheck)

sanitize() { # address or thread
    echo "== $1"
    export CARGO_TARGET_DIR="$PWD/target/sanitize-$1"
    export RUSTFLAGS="-Zsanitizer=$1 -Cunsafe-allow-abi-mismatch=sanitizer"
    cargo test -q "${options[@]}" "${tests[@]}"
    # The pool of the drop-in's, and its scopes.
    cargo test -q "${options[@]}" -p ec-gpu-gen --lib
}

address() {
    [ -n "$has_library_source" ] || echo "AddressSanitizer does not see the standard library, for the component rust-src is not there"
    # Threads of rayon's pool, and memory kept for the life of the process, are no leaks. Rust has its own signal stacks.
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1:use_sigaltstack=0 sanitize address
}

thread() {
    if [ -z "$has_library_source" ]; then echo "left out: ThreadSanitizer, which needs: rustup component add rust-src"; return; fi
    TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1" sanitize thread
}

miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then echo "left out: Miri, which needs: rustup +nightly component add miri rust-src"; return; fi
    echo "== miri"
    unset RUSTFLAGS
    CARGO_TARGET_DIR="$PWD/target/miri" cargo +nightly miri test -q --no-default-features --lib -- backend::memory backend::host_copies::upload_row_split checked_size fan_out rayon_waits msm::plan::windows_and_segments
    CARGO_TARGET_DIR="$PWD/target/miri" cargo +nightly miri test -q -p ec-gpu-gen --no-default-features --lib -- scope threadpool
}

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(address thread miri)
for one in "${wanted[@]}"; do "$one"; done
