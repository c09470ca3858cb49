#!/usr/bin/env bash
# What the ranks of an MPI job compute, against what one process does: jobs of 1 to 7 ranks on this machine, by the loopback
# alone. Installs Open MPI and libclang where the platform's package manager can. A job that waits for ever is a failure.
#
# usage: tests/cluster.sh
#        tests/cluster.sh PROGRAM     `bench cluster` of this program proofwarp, built with the feature mpi
source "$(dirname "$0")/published.sh"

source "$root/tests/needs.sh"

cd "$root"

build() { # what, by name; prints the executables
    local log=$temp/build.json
    cargo build --quiet --workspace --features "$features" --test cluster --example cluster --message-format json >"$log" ||
        fail "the build failed"
    grep -oE '"executable":"[^"]*/deps/cluster-[^"]*"' "$log" | cut -d'"' -f4 | tail -n 1
    grep -oE '"executable":"[^"]*/examples/cluster"' "$log" | cut -d'"' -f4 | tail -n 1
}

# Ranks are more than cores: each yields while it waits, and is bound to none.
mpi() { # arguments of mpirun
    local options=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    options+=(--mca btl self,vader,tcp --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo)
    options+=(--mca btl_vader_single_copy_mechanism none --mca btl_base_warn_component_unused 0)
    [ "$(id -u)" != 0 ] || options+=(--allow-run-as-root)
    timeout "${PROOFWARP_TEST_TIMEOUT:-300}" mpirun "${options[@]}" "$@" >"$temp/log" 2>&1
}

passes() { # what must be said, then arguments of mpirun
    mpi "${@:2}" || { tail -n 40 "$temp/log" >&2; fail "failed: ${*:2}"; }
    grep -qE "$1" "$temp/log" || { tail -n 40 "$temp/log" >&2; fail "nobody said '$1': ${*:2}"; }
    grep -E "^cluster |^all results" "$temp/log"
}

bench() { # the program
    for ranks in 1 2; do
        passes "^all results are right: $ranks ranks" -np $ranks "$1" bench cluster --log-points 10 --log-elements 10 \
            --log-constraints 6 --proofs 4 --calls 1 --json "$temp/$ranks.json"
    done
    "$1" bench cluster --predict --fit "$temp/1.json" --fit "$temp/2.json" >"$temp/log"
    grep -q "^| ntt of 2^10 | 2 |" "$temp/log" || fail "the model does not read what the program writes"
}

need_mpi
export RAYON_NUM_THREADS="${RAYON_NUM_THREADS:-2}" OMPI_MCA_rmaps_base_oversubscribe=1
if [ -n "${1:-}" ]; then PROOFWARP_BACKEND=cpu bench "$1"; exit; fi
mapfile -t programs < <(build)
[ ${#programs[@]} = 2 ] || fail "expected a test and an example, got ${programs[*]}"
test=${programs[0]} example=${programs[1]}

cargo test --quiet --workspace --features "$features" --lib cluster >"$temp/log" 2>&1 ||
    { tail -n 40 "$temp/log" >&2; fail "unit tests failed"; }
for ranks in 1 2 3 4 7; do
    PROOFWARP_BACKEND=cpu passes "^cluster all: $ranks ranks" -np $ranks "$test" all
done
PROOFWARP_BACKEND=cpu passes "^cluster speeds: 2 ranks" -np 2 "$test" speeds
opencl=(-x PROOFWARP_BACKEND=opencl -x PROOFWARP_OPENCL_CPU=1)
passes "^cluster backends: 3 ranks" -np 1 -x PROOFWARP_BACKEND=cpu "$test" backends : -np 2 "${opencl[@]}" "$test" backends
mkdir "$temp/files"
PROOFWARP_BACKEND=cpu passes "^cluster file: 3 ranks" -np 3 "$test" file "$temp/files"

# A rank that dies half way takes the job with it; what was done is there, and the second start makes the rest.
export PROOFWARP_BACKEND=cpu
if mpi -np 3 "$test" batch "$temp/batch" 1; then fail "a job went on without a rank that died"; fi
done_before=$(find "$temp/batch" -name '*.proof' | wc -l)
[ "$done_before" -gt 0 ] || { tail -n 40 "$temp/log" >&2; fail "nothing was kept of a batch in which a rank died"; }
passes "^cluster batch: 3 ranks" -np 3 "$test" batch "$temp/batch"
echo "cluster: a rank died after $done_before proofs, the second start made the rest"

for ranks in 1 2; do passes "^all results are right: $ranks ranks" -np $ranks "$example"; done
