#!/usr/bin/env bash
# Proofs of bellperson's published package, unmodified, with its feature `cuda-supraseal` on the drop-in, equal to those
# of its own prover, which a first program makes without that feature.
#
# usage: tests/supraseal.sh [cpu] [opencl] [cuda]      (default: cpu opencl)
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
package="$root/adapters/supraseal-c2/tests/bellperson"
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/supraseal"
export CARGO_TARGET_DIR SUPRASEAL_REFERENCE="$temp"

backends=("$@")
[ $# -gt 0 ] || backends=(cpu opencl)
features=supraseal
[[ " ${backends[*]} " != *" cuda "* ]] || features=cuda

fail() {
    echo "supraseal.sh: $*" >&2
    exit 1
}

cd "$package"
cargo tree --quiet --features "$features" --invert supraseal-c2 --depth 0 | grep -qF "$root/adapters/supraseal-c2" ||
    fail "cargo does not use the drop-in"
# Only the prover without the feature is bellperson's own.
if cargo tree --quiet --prefix none | grep -qE "^(supraseal-c2|proofwarp) "; then fail "the reference is not bellperson's"; fi
env -u PROOFWARP_BACKEND cargo run --quiet --bin reference

for backend in "${backends[@]}"; do
    reports="$temp/$backend.reports"
    variables=(PROOFWARP_BACKEND="$backend" PROOFWARP_REPORT="$reports")
    [ "$backend" != opencl ] || variables+=(PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}")
    env "${variables[@]}" cargo test --quiet --features "$features" --test proofs --test files
    if grep -v " on $backend (" "$reports"; then fail "another backend than $backend ran"; fi
    echo "$(grep -c "^groth16 bls12_381_g1 of [0-9]* on $backend (.*): [0-9]" "$reports") batches on $backend"
done
export PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}" RUST_BACKTRACE=0
cargo test --quiet --features "$features" --test fallback -- --nocapture
echo "bellperson 0.27.0 with cuda-supraseal: proofs equal its own on ${backends[*]}"
