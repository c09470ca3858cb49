#!/usr/bin/env bash
# The drop-in for the supraseal-c2 in Curio's folder `extern`: what Curio's engine calls, beside bellperson's own prover and
# verifier.
#
# With `checkout=FOLDER`, the root of a checkout of Curio, also its engine on the drop-in: its crates `extern/cuzk`, bellperson
# and bellpepper-core are copied, with the lines that docs/filecoin.md changes. They build, the engine proves a sector of 2 KiB
# (tests/curio/src), and filecoin-proofs verifies.
#
# usage: tests/curio.sh [cpu] [opencl] [cuda] [checkout=FOLDER] [seal] [into=FOLDER | from=FOLDER]      (default: cpu opencl)
#
# `seal` proves a seal too. Its parameters take half an hour of two cores, once. `into` builds the programs and their parameters
# into a folder. `from` runs them, on a machine without tool chains.
source "$(dirname "$0")/published.sh"

drop_in="$root/adapters/supraseal-c2-curio"
checkout='' seal='' into='' from='' backends=()
for argument in "$@"; do
    case "$argument" in
        checkout=*) checkout=$(cd "${argument#checkout=}" && pwd) ;;
        into=*) into=$(mkdir -p "${argument#into=}" && cd "${argument#into=}" && pwd) ;;
        from=*) from=$(cd "${argument#from=}" && pwd) ;;
        seal) seal=seal ;;
        *) backends+=("$argument") ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
features=(--no-default-features --features opencl)
[[ " ${backends[*]} " != *" cuda "* ]] || features=()

# Runs a command with a backend forced.
with_backend() { # backend, command
    PROOFWARP_BACKEND=$1 PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}" "${@:2}"
}

# Builds the drop-in's own tests, into `into` or else into `temp`.
build_own_tests() {
    local program
    rm -f "${into:-$temp}"/test-*
    cargo test --quiet "${features[@]}" --no-run --message-format json >"$temp/built"
    grep -o '"executable":"[^"]*"' "$temp/built" | cut -d'"' -f4 | while read -r program; do
        cp "$program" "${into:-$temp}/test-$(basename "$program")"
    done
}

own_tests() {
    local backend program
    if [ -z "$from" ]; then
        cd "$drop_in"
        cargo fmt --check
        cargo clippy --quiet "${features[@]}" --all-targets -- -D warnings
        build_own_tests
        [ -z "$into" ] || return 0
    fi
    for backend in "${backends[@]}"; do
        for program in "${from:-$temp}"/test-*; do RUST_BACKTRACE=0 with_backend "$backend" "$program" --quiet; done
    done
    echo "curio.sh: proofs of start_groth16_proof and generate_groth16_proof equal bellperson's on ${backends[*]}"
}

# The crates of Curio's engine, with the lines that docs/filecoin.md changes, and a program that calls them.
prepare_engine() {
    local copy="$root/target/curio-engine" name
    mkdir -p "$copy/extern"
    for name in cuzk bellperson bellpepper-core; do
        [ -d "$copy/extern/$name" ] || cp -r "$checkout/extern/$name" "$copy/extern/$name"
    done
    cd "$copy/extern"
    sed -i "s|^supraseal-c2 = { path = .*|supraseal-c2 = { path = \"$drop_in\" }|; s|^    \"cuzk-pce\",\$|    \"cuzk-pce\",\n    \"probe\",|" cuzk/Cargo.toml
    perl -0pi -e 's/(File::create\(tmp_path\(PRIORITY_LOCK_NAME, None\)\)\s*\.unwrap\(\))\s*\.try_lock_shared\(\)/FileExt::try_lock_shared(&$1)/' bellperson/src/gpu/locks.rs
    mkdir -p cuzk/probe/src
    cp "$root/tests/curio/Cargo.toml" cuzk/probe/
    cp "$root"/tests/curio/src/*.rs "$root"/tests/filecoin/src/{parameters,post,sector,timed}.rs cuzk/probe/src/
    # Stock crates of neptune's link the driver's library, which proofwarp loads at run time.
    mkdir -p "$copy/stub"
    [ -e "$copy/stub/libcuda.so" ] || cc -shared -x c /dev/null -o "$copy/stub/libcuda.so"
    export CARGO_TARGET_DIR="$copy/target" LIBRARY_PATH="$copy/stub${LIBRARY_PATH:+:$LIBRARY_PATH}"
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$copy/stub" CARGO_PROFILE_DEV_OPT_LEVEL=1
    # Its interface is compiled by protoc.
    (cd "$root"; source tests/needs.sh; need_protoc)
    find_nvcc
    # Curio's bellperson compiles the stock kernels by the nvcc on PATH.
    if ! command -v nvcc >/dev/null; then
        [ -n "${NVCC:-}" ] || fail "no nvcc: tests/needs.sh installs one (need_nvcc)"
        PATH="$(dirname "$NVCC"):$PATH"
    fi
    cd cuzk
}

engine() {
    local backend report folder="${from:-$root/target/filecoin-parameters}" program="${from:-}/probe"
    mkdir -p "$folder"
    export FIL_PROOFS_PARAMETER_CACHE="$folder/" FIL_PROOFS_PARENT_CACHE="$folder/parents/"
    if [ -z "$from" ]; then
        prepare_engine
        cargo build --quiet --workspace
        cargo tree --quiet -p probe --invert supraseal-c2 --depth 0 | grep -F "$drop_in" >/dev/null || fail "cargo does not use the drop-in"
        program="$CARGO_TARGET_DIR/debug/probe"
    fi
    if [ -n "$into" ]; then
        with_backend cpu "$program" $seal
        cp "$program" "$into/probe"
        cp -r "$folder/." "$into/"
        return 0
    fi
    for backend in "${backends[@]}"; do
        report="$temp/$backend"
        with_backend "$backend" env PROOFWARP_REPORT="$report" "$program" $seal
        if grep -v " on $backend (" "$report"; then fail "another backend than $backend ran"; fi
        echo "curio.sh: cuzk on $backend: $(grep -c "^groth16 .* on $backend (.*): [0-9]" "$report") batches"
    done
}

own_tests
[ -z "$checkout" ] && [ ! -e "$from/probe" ] || engine
