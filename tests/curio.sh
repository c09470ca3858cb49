#!/usr/bin/env bash
# The drop-in for the supraseal-c2 in Curio's folder `extern`: what Curio's engine calls, beside bellperson's own prover and
# verifier.
#
# With `checkout=FOLDER`, the root of a checkout of Curio, also its engine on the drop-in: its crates `extern/cuzk`, bellperson
# and bellpepper-core are copied, and one patch line names the drop-in. They build, the engine proves sectors of 2 KiB with
# them, and filecoin-proofs verifies.
#
# usage: tests/curio.sh [cpu] [opencl] [cuda] [checkout=FOLDER]      (default: cpu opencl)
source "$(dirname "$0")/published.sh"

drop_in="$root/adapters/supraseal-c2-curio"
checkout= backends=()
for argument in "$@"; do
    case "$argument" in
        checkout=*) checkout=$(cd "${argument#checkout=}" && pwd) ;;
        *) backends+=("$argument") ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
features=(--no-default-features)
[[ " ${backends[*]} " != *" cuda "* ]] || features=(--features cuda)

# Runs a command with a backend forced.
with_backend() { # backend, command
    PROOFWARP_BACKEND=$1 PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}" "${@:2}"
}

own_tests() {
    local backend
    cd "$drop_in"
    cargo fmt --check
    cargo clippy --quiet "${features[@]}" --all-targets -- -D warnings
    for backend in "${backends[@]}"; do RUST_BACKTRACE=0 with_backend "$backend" cargo test --quiet "${features[@]}"; done
    echo "curio.sh: proofs of start_groth16_proof and generate_groth16_proof equal bellperson's on ${backends[*]}"
}

own_tests
