#!/usr/bin/env bash
# The tests of the drop-in for what halo2-gpu-specific calls. The package has the name of another one of the workspace, and so is
# outside of it. proofwarp's reports say where the work ran.
#
# usage: tests/fork.sh [full] [cpu] [opencl] [cuda]      (default: cpu opencl)
#
# For OpenCL a CPU device such as PoCL's will do. `full` also has transforms of 2^18 to 2^20 round by round.
source "$(dirname "$0")/published.sh"

run_tests() { # log, then cargo's arguments
    local log=$1
    cargo test --quiet "${features[@]}" "${@:2}" >"$log" 2>&1 || { tail -n 60 "$log" >&2; fail "tests failed"; }
    grep -h "^test result" "$log"
    grep -h "left out" "$log" | sort | uniq -c || true
}

run_on() { # backend
    local backend=$1 reports="$temp/$1" others operation
    export PROOFWARP_BACKEND=$backend PROOFWARP_REPORT=$reports
    [ "$backend" != opencl ] || export PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}"
    : >"$reports"
    run_tests "$temp/log-$backend" -- --nocapture "${all[@]}"
    for operation in "ntt bn254_fr" "msm bn254_g1" ".*columns bn254_fr"; do
        grep -q "^$operation of [0-9]* on $backend (.*): [0-9]" "$reports" || fail "no $operation ran on $backend"
    done
    echo "ec-gpu-gen 0.4 on $backend: $(grep -c "columns bn254_fr.* on $backend " "$reports") reads of what kernels made"
}

all=()
backends=()
for argument in "$@"; do
    case $argument in
    full) all=(--include-ignored) ;;
    cpu | opencl | cuda) backends+=("$argument") ;;
    *) fail "expected full, cpu, opencl or cuda, got $argument" ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
features=()
[[ " ${backends[*]} " != *" cuda "* ]] || features=(--features cuda)

cd "$root/adapters/ec-gpu-gen-halo2"
cargo fmt --check
cargo clippy --quiet --all-targets "${features[@]}" -- -D warnings
for backend in "${backends[@]}"; do run_on "$backend"; done
# Where nothing is forced and there is no GPU, all is done by the CPU.
env -u PROOFWARP_BACKEND -u PROOFWARP_OPENCL_CPU cargo test --quiet "${features[@]}" --test surface >"$temp/log" 2>&1 ||
    { tail -n 60 "$temp/log" >&2; fail "the interface failed with nothing forced"; }
echo "ec-gpu-gen 0.4: its tests pass on ${backends[*]}, and its interface with nothing forced"
