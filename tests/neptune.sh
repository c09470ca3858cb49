#!/usr/bin/env bash
# neptune's published package, unmodified, on the drop-in for ec-gpu-gen: it compiles with OpenCL alone, with CUDA alone and
# with both, and its tests of kernels of its own pass on a device, where proofwarp's reports say that these ran.
#
# usage: tests/neptune.sh [11] [full] [opencl] [cuda]      (default: opencl)
#
# With `11` it is neptune 11, which filecoin-proofs uses, on the drop-in for ec-gpu-gen 0.6.
# For OpenCL a CPU device such as PoCL's will do. `full` has all arities and Poseidon's strengthened kernels, and runs
# neptune's whole suite. The test of batches is left out by the package itself without its feature `opencl`.
source "$(dirname "$0")/published.sh"

version=13.0.0 drop_in=ec-gpu-gen replaced=ec-gpu-gen
arities=arity2,arity8,arity11 fields=
tests=(test_batch_hash_2 test_tree_builder test_column_tree_builder)

export CARGO_TARGET_DIR="$root/target/neptune"

prepare() {
    local copy="$root/target/neptune-$version"
    copy_with_patch neptune "$version" "$copy" "ec-gpu-gen = { path = \"$root/adapters/$drop_in\" }"
    cd "$copy"
    # The package's lock file, which counts for nothing where it is a dependency, holds on to the stock crate.
    ! grep -q '^name = "rust-gpu-tools"$' Cargo.lock || rm Cargo.lock
    find_nvcc
    uses_drop_in "$replaced" --features "${fields}opencl,arity2"
}

# A match over programs has as many arms as the package has features.
compile_with_each() {
    local features
    for features in opencl cuda cuda,opencl; do
        cargo check --quiet --tests --features "$fields$features,$arities"
        echo "neptune $version compiles with $features"
    done
}

run_on() { # backend
    local backend=$1 reports="$temp/$1" others
    local variables=(PROOFWARP_BACKEND="$backend" PROOFWARP_REPORT="$reports")
    [ "$backend" != opencl ] || variables+=(PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}")
    : >"$reports"
    env "${variables[@]}" cargo test --quiet --features "$fields$built,$arities" --lib -- "${tests[@]}"
    for kernel in 2 8 11; do
        grep -q "^kernel hash_preimages_.*_${kernel}_standard of [0-9]* on $backend (.*): [0-9]" "$reports" ||
            [ "$kernel $built" = "2 cuda" ] || fail "no kernel for arity $kernel ran on $backend"
    done
    others=$(grep -v " on $backend (.*): [0-9]" "$reports" | head -n 5 || true)
    [ -z "$others" ] || fail "kernels failed, or ran elsewhere than on $backend: $others"
    echo "neptune $version on $backend: $(grep -c '^kernel ' "$reports") launches of its kernels"
}

backends=()
for argument in "$@"; do
    case $argument in
    11) version=11.0.0 drop_in=ec-gpu-gen-0.6 replaced=ec-gpu-gen@0.6.0 fields=bls, ;;
    full) arities=arity2,arity4,arity8,arity11,arity16,arity24,arity36,strengthened tests=() ;;
    opencl | cuda) backends+=("$argument") ;;
    *) fail "expected full, opencl or cuda, got $argument" ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(opencl)
built=$(printf '%s\n' "${backends[@]}" | sort | paste -sd,)

prepare
compile_with_each
for backend in "${backends[@]}"; do run_on "$backend"; done
echo "neptune $version: its kernels are right on ${backends[*]}"
