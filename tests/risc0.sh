#!/usr/bin/env bash
# The tests of both drop-ins for risc0-groth16-sys. They have one name, and so are outside the workspace. Their proofs of circom's
# circuits are verified by risc0-groth16, which is compiled on the drop-in as well, without RISC Zero's kernels.
#
# usage: tests/risc0.sh [cpu] [opencl]      (default: cpu opencl)
#
# For OpenCL a CPU device such as PoCL's will do. PROOFWARP_CIRCOM_FILES names the folder that tests/circom.sh has made; by
# default it is target/circom. Without protoc, risc0-groth16 is not compiled on the drop-ins.
source "$(dirname "$0")/published.sh"

files=${PROOFWARP_CIRCOM_FILES:-$CARGO_TARGET_DIR/circom}
[ -e "$files/multiplier/public.json" ] || fail "no circuits in $files: run tests/circom.sh multiplier"
export PROOFWARP_CIRCOM_FILES=$files

# Runs a program, and shows its output if it fails.
quietly() { "$@" >"$temp/log" 2>&1 || { tail -n 60 "$temp/log" >&2; fail "failed: $*"; }; }

check() { # folder of a package, cargo's arguments
    cd "$root/$1"
    quietly cargo fmt --check
    quietly cargo clippy --quiet --all-targets "${@:2}" -- -D warnings
}

run_on() { # backend
    local backend=$1 package
    export PROOFWARP_BACKEND=$backend PROOFWARP_REPORT=$temp/$backend
    [ "$backend" != opencl ] || export PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}"
    for package in risc0-groth16-sys risc0-groth16-sys-5; do
        cd "$root/adapters/$package"
        quietly cargo test --quiet --features setup -- --include-ignored
    done
    cd "$root/tests/risc0"
    quietly cargo run --quiet -- "$files"
    grep -q "groth16 .* on $backend " "$PROOFWARP_REPORT" || fail "no proof ran on $backend"
    echo "risc0-groth16-sys on $backend: $(cat "$temp/log")"
}

# The unmodified caller's types and calls fit. Its feature `cuda` takes a folder lib64, and nvcc: a stub of it makes empty objects,
# for the calls of cc alone, so that proofwarp's own build does not see it.
compile_caller() { # version of risc0-groth16, folder of the drop-in
    local lib64=/usr
    [ -d /usr/lib64 ] || { mkdir -p "$temp/kit/lib64" && lib64="$temp/kit"; }
    mkdir -p "$temp/caller/src"
    cd "$temp/caller"
    cp "$root/adapters/$2/Cargo.lock" .
    echo "pub use risc0_groth16::prove::shrink_wrap;" >src/lib.rs
    cat >Cargo.toml <<TOML
[package]
name = "caller"
version = "0.0.0"
edition = "2024"
[dependencies]
risc0-groth16 = { version = "=$1", features = ["cuda"] }
risc0-zkp = { version = "=$1", features = ["cuda"] }
[workspace]
[patch.crates-io]
risc0-groth16-sys = { path = "$root/adapters/$2" }
TOML
    RISC0_SKIP_BUILD_KERNELS=1 NVCC=off HOST_NVCC="$temp/nvcc" CUDA_LIBRARY_PATH="$lib64" quietly cargo check --quiet
    [[ $(cargo tree --quiet --invert risc0-groth16-sys --depth 0) = *"$root/adapters/$2)"* ]] ||
        fail "cargo does not use $2"
    echo "$2: risc0-groth16 $1 compiles on it"
}

backends=("$@")
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
for backend in "${backends[@]}"; do
    [[ $backend = cpu || $backend = opencl ]] || fail "expected cpu or opencl, got $backend"
done

check adapters/risc0-groth16-sys --features setup
check adapters/risc0-groth16-sys-5 --features setup
check tests/risc0
for backend in "${backends[@]}"; do (run_on "$backend"); done
if ! command -v protoc >/dev/null; then
    echo "risc0-groth16: left out, there is no protoc"
    exit
fi
cat >"$temp/nvcc" <<'SH'
#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" != -o ] || : >"$2"; shift; done
SH
chmod +x "$temp/nvcc"
compile_caller 3.0.5 risc0-groth16-sys
compile_caller 5.0.0-rc.1 risc0-groth16-sys-5
