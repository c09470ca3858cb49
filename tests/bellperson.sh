#!/usr/bin/env bash
# Runs the test suites of bellperson's published package, unmodified, on the adapter: once on the CPU, once
# on a device, and checks in proofwarp's reports that the device's kernels really ran.
#
# usage: tests/bellperson.sh [cpu] [opencl] [cuda]      (default: cpu opencl)
#
# For OpenCL a CPU device such as PoCL's will do. The suite `gpu_provers` runs with the package's own
# feature for small circuits.
set -euo pipefail

version=0.27.0
suites=(groth16 gpu_provers mimc minroot compatibility)
# Suites that prove on BLS12-381; the others use a toy engine, or only verify.
proving_suites=" gpu_provers mimc minroot "

root=$(cd "$(dirname "$0")/.." && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
export CARGO_TARGET_DIR="$root/target/bellperson"
# The package asks for a tool chain of its own; use the one that builds proofwarp.
if command -v rustup >/dev/null; then
    RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-$(cd "$root" && rustup show active-toolchain | cut -d' ' -f1)}
    export RUSTUP_TOOLCHAIN
fi

fail() {
    echo "bellperson.sh: $*" >&2
    exit 1
}

# Prints the folder of the published package, which cargo downloads if need be.
find_package() {
    mkdir -p "$temp/finder/src"
    touch "$temp/finder/src/lib.rs"
    cat >"$temp/finder/Cargo.toml" <<TOML
[package]
name = "finder"
version = "0.0.0"
edition = "2024"
[dependencies]
bellperson = "=$version"
[workspace]
TOML
    cargo metadata --format-version 1 --manifest-path "$temp/finder/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/bellperson-$version/Cargo.toml\"" | head -n 1 |
        sed 's/^"manifest_path":"//; s|/Cargo.toml"$||'
}

# Copies the package and adds the patch, nothing else. A copy is kept, so that cargo builds it once.
prepare() {
    local package copy="$root/target/bellperson-$version"
    if [ ! -d "$copy" ]; then
        package=$(find_package)
        [ -d "$package" ] || fail "bellperson $version was not found"
        mkdir -p "$root/target"
        rm -rf "$copy.part"
        cp -r "$package" "$copy.part"
        chmod -R u+w "$copy.part"
        printf '\n[workspace]\n\n[patch.crates-io]\nec-gpu-gen = { path = "%s/adapters/ec-gpu-gen" }\n' "$root" \
            >>"$copy.part/Cargo.toml"
        mv "$copy.part" "$copy"
    fi
    cd "$copy"
    cargo tree --features "$features" --invert ec-gpu-gen --depth 0 | grep -qF "$root/adapters/ec-gpu-gen" ||
        fail "cargo does not use the adapter"
}

build() {
    local arguments=()
    for suite in "${suites[@]}"; do arguments+=(--test "$suite"); done
    cargo test --release --features "$features" --no-run "${arguments[@]}"
}

# Fails unless the reports of a suite are from the backend, and only from it.
check_reports() {
    local suite=$1 backend=$2 reports=$3 others ntt msm aborted
    if [[ $proving_suites == *" $suite "* ]]; then
        for operation in "ntt bls12_381_fr" "msm bls12_381_g1" "msm bls12_381_g2"; do
            grep -q "^$operation of [0-9]* on $backend .*): [0-9]" "$reports" ||
                fail "$suite: no $operation ran on $backend"
        done
    fi
    # An abort is tried again on the device; after any other error bellperson takes its way to the CPU.
    if grep ": no result: " "$reports" | grep -v "aborted by the caller's hook" >&2; then
        fail "$suite: operations failed on $backend"
    fi
    # Parameter generation transforms single vectors on the CPU of its own choice.
    others=$(grep -v " on $backend (" "$reports" | grep -v "^ntt bls12_381_fr of [0-9]* on cpu " | head -n 5 || true)
    [ -z "$others" ] || fail "$suite: another backend than $backend ran: $others"
    ntt=$(grep -c "^ntt .* on $backend (.*): [0-9]" "$reports" || true)
    msm=$(grep -c "^msm .* on $backend (.*): [0-9]" "$reports" || true)
    aborted=$(grep -c ": no result: aborted" "$reports" || true)
    echo "$suite on $backend: $ntt transforms, $msm sums, $aborted aborted and tried again"
}

run_suite() {
    local suite=$1 backend=$2 reports="$temp/$2-$1"
    : >"$reports"
    local variables=(PROOFWARP_BACKEND="$backend" PROOFWARP_REPORT="$reports" TMPDIR="$temp")
    case $backend in
    cpu) variables+=(BELLMAN_NO_GPU=1) ;;
    opencl) variables+=(PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}") ;;
    esac
    env "${variables[@]}" cargo test --release --quiet --features "$features" --test "$suite"
    check_reports "$suite" "$backend" "$reports"
}

backends=("$@")
[ $# -gt 0 ] || backends=(cpu opencl)
features=opencl,_coverage
[[ " ${backends[*]} " != *" cuda "* ]] || features=cuda,$features

prepare
build
for backend in "${backends[@]}"; do
    for suite in "${suites[@]}"; do run_suite "$suite" "$backend"; done
done
echo "bellperson $version: ${suites[*]} pass on ${backends[*]}"
