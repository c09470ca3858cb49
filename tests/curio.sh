#!/usr/bin/env bash
# The drop-in for the supraseal-c2 in Curio's folder `extern`: what Curio's engine calls, beside bellperson's own prover and
# verifier.
#
# With `checkout=FOLDER`, the root of a checkout of Curio, also its engine on the drop-in: its crates `extern/cuzk`, bellperson
# and bellpepper-core are copied, with the lines that docs/filecoin.md changes. They build, the engine proves a sector of 2 KiB
# (tests/curio/src), its seal among the proofs, and filecoin-proofs verifies. The same again with the patch of the drop-in's folder
# `engine`, by which the engine proves from packed witnesses.
#
# usage: tests/curio.sh [cpu] [opencl] [cuda] [own-kernels] [checkout=FOLDER] [into=FOLDER | from=FOLDER]
#        (default: cpu opencl)
#
# `own-kernels` also builds the engine on the kernels of Curio itself, with nvcc, and runs it after the others on an NVIDIA card.
# Parameters, 1.2 GB, are made once, in target/filecoin-parameters: three minutes of two cores. `into` builds the programs into a
# folder. `from` runs them, on a machine without tool chains, and makes the parameters there.
source "$(dirname "$0")/published.sh"

drop_in="$root/adapters/supraseal-c2-curio"
checkout='' own_kernels='' into='' from='' backends=()
for argument in "$@"; do
    case "$argument" in
        checkout=*) checkout=$(cd "${argument#checkout=}" && pwd) ;;
        into=*) into=$(mkdir -p "${argument#into=}" && cd "${argument#into=}" && pwd) ;;
        from=*) from=$(cd "${argument#from=}" && pwd) ;;
        own-kernels) own_kernels=1 ;;
        *) backends+=("$argument") ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
[ -z "$own_kernels" ] || [ -n "$checkout" ] || [ -e "$from/probe-own" ] || fail "own-kernels needs a checkout, or a folder with probe-own"
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
prepare_engine() { # folder, patch or nothing, folder of another supraseal-c2 than the drop-in
    local all="$root/target/curio-engine" copy name
    copy="$all/$1"
    rm -rf "$copy"
    mkdir -p "$copy"
    for name in cuzk bellperson bellpepper-core; do cp -r "$checkout/extern/$name" "$copy/$name"; done
    # The patch is for a folder of its own, not for the repository around it.
    [ -z "${2:-}" ] || GIT_CEILING_DIRECTORIES="$all" git -C "$copy" apply "$2"
    cp "$drop_in/engine/packed_witness.rs" "$copy/cuzk/cuzk-core/src/"
    cd "$copy"
    sed -i "s|^supraseal-c2 = { path = .*|supraseal-c2 = { path = \"${3:-$drop_in}\" }|; s|^    \"cuzk-pce\",\$|    \"cuzk-pce\",\n    \"probe\",|" cuzk/Cargo.toml
    perl -0pi -e 's/(File::create\(tmp_path\(PRIORITY_LOCK_NAME, None\)\)\s*\.unwrap\(\))\s*\.try_lock_shared\(\)/FileExt::try_lock_shared(&$1)/' bellperson/src/gpu/locks.rs
    mkdir -p cuzk/probe/src
    cp "$root/tests/curio/Cargo.toml" cuzk/probe/
    cp "$root"/tests/curio/src/*.rs "$root"/tests/filecoin/src/{keygen,parameters,post,sector,timed}.rs cuzk/probe/src/
    # Stock crates of neptune's link the driver's library, which proofwarp loads at run time.
    mkdir -p "$all/stub"
    [ -e "$all/stub/libcuda.so" ] || cc -shared -x c /dev/null -o "$all/stub/libcuda.so"
    export CARGO_TARGET_DIR="$all/target" LIBRARY_PATH="$all/stub${LIBRARY_PATH:+:$LIBRARY_PATH}"
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$all/stub" CARGO_PROFILE_DEV_OPT_LEVEL=1
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

# Builds the program `probe`, on the engine as it is and patched, into the folder.
build_engine() { # folder
    prepare_engine plain
    cargo build --quiet --workspace
    cargo tree --quiet -p probe --invert supraseal-c2 --depth 0 | grep -F "$drop_in" >/dev/null || fail "cargo does not use the drop-in"
    cp "$CARGO_TARGET_DIR/debug/probe" "$1/probe"
    prepare_engine packed "$drop_in/engine/witness.patch"
    cargo build --quiet --workspace --features probe/packed
    cp "$CARGO_TARGET_DIR/debug/probe" "$1/probe-packed"
}

# Makes a library with the names of the driver's functions, to link programs that call them.
make_driver_stub() { # cuda.h, folder
    mkdir -p "$2"
    grep -oE '\bcu[A-Z]\w*' "$1" | sort -u | sed 's/.*/void &(void) {}/' |
        cc -shared -w -Wl,-soname,libcuda.so.1 -x c - -o "$2/libcuda.so"
}

# Builds the program `probe` on Curio's own supraseal-c2, into the folder. The runtime is linked statically; blst asks the processor
# that runs, not the one that builds. Where cargo wants debug information, the crate cc makes nvcc compile kernels without
# optimization, and those of supraseal-c2 then never end.
build_on_own_kernels() ( # folder
    stub="$root/target/curio-engine/driver-stub"
    cd "$root"
    source tests/needs.sh
    need_cuda_kit
    cd "$OLDPWD"
    prepare_engine own "" "$checkout/extern/supraseal-c2"
    for package in supraseal-c2 sppark; do
        printf '\n[profile.dev.package.%s]\ndebug = false\nopt-level = 3\n' $package >>Cargo.toml
    done
    make_driver_stub "$(dirname "$libraries")/include/cuda.h" "$stub"
    export NVCC="${NVCC:-$(command -v nvcc)}" CARGO_TARGET_DIR="$root/target/curio-engine/target-own"
    export RUSTFLAGS="${RUSTFLAGS:-} -L native=$CUDA_LIB_DIR" LIBRARY_PATH="$stub:$LIBRARY_PATH"
    export NVCC_APPEND_FLAGS="-L$libraries -isystem $(dirname "$libraries")/include/cccl -gencode=arch=compute_$CUDA_ARCH,code=sm_$CUDA_ARCH"
    cargo build --quiet -p probe --features probe/portable
    cp "$CARGO_TARGET_DIR/debug/probe" "$1/probe-own"
)

# Proves on Curio's own kernels, which report nothing.
run_on_own_kernels() { # folder of programs
    timeout 120 "$1/probe-own"
    echo "curio.sh: cuzk's probe-own on its own kernels"
}

engine() {
    local backend program report parameters="${from:-$root/target/filecoin-parameters}" programs="${from:-${into:-$temp}}"
    mkdir -p "$parameters"
    export FIL_PROOFS_PARAMETER_CACHE="$parameters/" FIL_PROOFS_PARENT_CACHE="$parameters/parents/"
    [ -n "$from" ] || build_engine "$programs"
    [ -n "$from" ] || [ -z "$own_kernels" ] || build_on_own_kernels "$programs"
    [ -z "$into" ] || return 0
    # On the host, in a process whose devices are not counted.
    with_backend cpu "$programs/probe" parameters
    for backend in "${backends[@]}"; do
        for program in probe probe-packed; do
            report="$temp/$program-$backend"
            with_backend "$backend" env PROOFWARP_REPORT="$report" "$programs/$program"
            if grep -v " on $backend (" "$report"; then fail "another backend than $backend ran"; fi
            echo "curio.sh: cuzk's $program on $backend: $(grep -c "^groth16 .* on $backend (.*): [0-9]" "$report") batches"
        done
    done
    [ -z "$own_kernels" ] || run_on_own_kernels "$programs"
}

own_tests
[ -z "$checkout" ] && [ ! -e "$from/probe" ] || engine
