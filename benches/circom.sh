#!/usr/bin/env bash
# Times proofs of synthetic circuits of circom on BN254, beside rapidsnark if its program is given.
#
# usage: benches/circom.sh build FOLDER            builds the examples `generate` and `prove` into FOLDER, for PROOFWARP_CUDA_ARCHS (90)
#        benches/circom.sh run FOLDER [PROVER]     runs them, on a machine that needs bash alone; PROVER is rapidsnark's program
#
# PROOFWARP_BENCH_CIRCUITS: constraints and number of proofs of each circuit (16382:1000 1200000:40 16777214:8)
# PROOFWARP_BENCH_BACKENDS: backends to force, one after the other (cuda opencl)
# PROOFWARP_BENCH_FILES: folder for keys and witnesses, 9.4 GB at 2^24 (FOLDER/files)
set -euo pipefail

build() { # folder
    cd "$(dirname "$0")/.."
    PROOFWARP_CUDA_ARCHS=${PROOFWARP_CUDA_ARCHS:-90} \
        cargo build --release -p proofwarp-circom --features cuda --example generate --example prove
    mkdir -p "$1"
    for program in generate prove; do strip -o "$1/$program" "${CARGO_TARGET_DIR:-target}/release/examples/$program"; done
    cp "$0" "$1/"
}

# The second process of a backend starts cold, but with its kernels compiled and the files in the page cache.
time_ours() { # folder, files, proofs, backend
    local names=("$2/circuit.zkey" "$2/witness.wtns" "$2/$4_proof.json" "$2/$4_public.json")
    echo "== $4"
    PROOFWARP_BACKEND=$4 "$1/prove" "${names[@]}" "$3"
    echo "== $4, a cold process: driver, files, key and three verified proofs"
    time PROOFWARP_BACKEND=$4 "$1/prove" "${names[@]}" >"$2/$4_cold.txt"
}

time_rapidsnark() { # program, files
    echo "== rapidsnark, the whole program, three times"
    for _ in 1 2 3; do time "$1" "$2/circuit.zkey" "$2/witness.wtns" "$2/peer_proof.json" "$2/peer_public.json"; done
}

run() { # folder, rapidsnark's program
    local circuit files backend TIMEFORMAT="%R s"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "no NVIDIA GPU"
    for circuit in ${PROOFWARP_BENCH_CIRCUITS:-16382:1000 1200000:40 16777214:8}; do
        files=${PROOFWARP_BENCH_FILES:-$1/files}/${circuit%:*}
        echo "==== ${circuit%:*} constraints"
        "$1/generate" bn254 "${circuit%:*}" "$files"
        for backend in ${PROOFWARP_BENCH_BACKENDS:-cuda opencl}; do
            time_ours "$1" "$files" "${circuit#*:}" "$backend"
        done
        [ -z "${2:-}" ] || time_rapidsnark "$2" "$files"
    done
}

case "${1:-}" in
    build) build "$(realpath -m "$2")" ;;
    run) run "$(cd "$2" && pwd)" "${3:-}" ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
