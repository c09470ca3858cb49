#!/usr/bin/env bash
# Runs the test suites of bellperson's published package, unmodified, on the adapter: once on the CPU, once
# on a device, and checks in proofwarp's reports that the device's kernels really ran. Of 0.26 one line changes, which does not
# compile with Rust 1.89 or later: files have a method `try_lock_shared` of their own there.
#
# usage: tests/bellperson.sh [version=VERSION] [full] [cpu] [opencl] [cuda]      (default: 0.27.0 on cpu and opencl)
#
# For OpenCL a CPU device such as PoCL's will do; hundreds of proofs are for `full` there. The suite `gpu_provers` runs with the
# package's own feature for small circuits.
source "$(dirname "$0")/published.sh"

version=0.27.0
suites=(groth16 gpu_provers mimc minroot compatibility)
# Without `full` these run where they take seconds.
many_proofs=" mimc minroot "
# Suites that prove on BLS12-381; the others use a toy engine, or only verify.
proving_suites=" gpu_provers mimc minroot "

# Copies the package and adds the patch.
prepare() {
    local copy="$CARGO_TARGET_DIR/bellperson-$version"
    copy_with_patch bellperson "$version" "$copy" "ec-gpu-gen = { path = \"$root/adapters/ec-gpu-gen\" }" shared
    cd "$copy"
    if [ "$version" = 0.26.0 ]; then
        perl -0pi -e 's/(File::create\(tmp_path\(PRIORITY_LOCK_NAME, None\)\)\s*\.unwrap\(\))\s*\.try_lock_shared\(\)/FileExt::try_lock_shared(&$1)/' src/gpu/locks.rs
    fi
    uses_drop_in ec-gpu-gen --features "$features"
}

build() {
    local arguments=()
    for suite in "${suites[@]}"; do arguments+=(--test "$suite"); done
    cargo test --features "$features" --no-run "${arguments[@]}"
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
    env "${variables[@]}" cargo test --quiet --features "$features" --test "$suite"
    check_reports "$suite" "$backend" "$reports"
}

# Whether a suite runs on a backend.
is_to_run() { # suite, backend
    [ -n "$full" ] || [ "$2" != opencl ] || [[ $many_proofs != *" $1 "* ]]
}

full=''
backends=()
for argument in "$@"; do
    case $argument in
    full) full=1 ;;
    version=*) version=${argument#version=} ;;
    cpu | opencl | cuda) backends+=("$argument") ;;
    *) fail "expected version=, full, cpu, opencl or cuda, got $argument" ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
features=opencl,_coverage
[[ " ${backends[*]} " != *" cuda "* ]] || features=cuda,$features

prepare
build
for backend in "${backends[@]}"; do
    for suite in "${suites[@]}"; do
        if is_to_run "$suite" "$backend"; then run_suite "$suite" "$backend"
        else echo "left out without \`full\`: $suite on $backend"; fi
    done
done
echo "bellperson $version: what ran of ${suites[*]} passes on ${backends[*]}"
