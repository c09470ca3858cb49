#!/usr/bin/env bash
# bellperson's published package, unmodified, with its feature `cuda-supraseal` on the drop-in: proofs equal to those of
# its own prover, which a first program makes without that feature, and its own suites that prove.
#
# usage: tests/supraseal.sh [cpu] [opencl] [cuda]      (default: cpu opencl)
source "$(dirname "$0")/published.sh"

version=0.27.0
suites=(mimc minroot groth16_aggregation)

drop_in="$root/adapters/supraseal-c2"
export SUPRASEAL_REFERENCE="$temp"

# Runs tests with a backend forced; fails if another one ran.
run_tests() { # backend, cargo's arguments
    local backend=$1 reports="$temp/$1-${*: -1}.reports"
    local variables=(PROOFWARP_BACKEND="$backend" PROOFWARP_REPORT="$reports")
    [ "$backend" != opencl ] || variables+=(PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}")
    env "${variables[@]}" cargo test --quiet "${@:2}"
    if grep -v " on $backend (" "$reports"; then fail "another backend than $backend ran"; fi
    echo "${*: -1}: $(grep -c "^groth16 bls12_381_g1 of [0-9]* on $backend (.*): [0-9]" "$reports") batches on $backend"
}

# Parameters and proofs that only bellperson itself has had to do with.
make_reference() {
    cd "$drop_in/tests/bellperson"
    if cargo tree --quiet --prefix none | grep -qE "^(supraseal-c2|proofwarp) "; then
        fail "the reference is not bellperson's"
    fi
    env -u PROOFWARP_BACKEND cargo run --quiet --bin reference
}

own_tests() {
    uses_drop_in supraseal-c2 --features "$feature"
    for backend in "${backends[@]}"; do run_tests "$backend" --features "$feature" --test files --test proofs; done
    PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}" RUST_BACKTRACE=0 \
        cargo test --quiet --features "$feature" --test fallback --test no_gpu --test memory -- --nocapture
}

published_suites() {
    local copy="$CARGO_TARGET_DIR/bellperson-$version-supraseal" backend suite
    copy_with_patch bellperson "$version" "$copy" "supraseal-c2 = { path = \"$drop_in\" }" shared
    cd "$copy"
    uses_drop_in supraseal-c2 --features cuda-supraseal
    for backend in "${backends[@]}"; do
        for suite in "${suites[@]}"; do run_tests "$backend" --features "$1" --test "$suite"; done
    done
}

backends=("$@")
[ $# -gt 0 ] || backends=(cpu opencl)
feature=supraseal published=cuda-supraseal
[[ " ${backends[*]} " != *" cuda "* ]] || feature=cuda published=cuda-supraseal,supraseal-c2/cuda

make_reference
own_tests
published_suites "$published"
echo "bellperson $version with cuda-supraseal: proofs equal its own, ${suites[*]} pass on ${backends[*]}"
