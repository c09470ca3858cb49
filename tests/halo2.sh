#!/usr/bin/env bash
# The published packages halo2-base and snark-verifier-sdk with their feature `cuda`, on the drop-in for halo2-axiom-gpu:
# halo2-base's unit tests that prove, and the SDK's examples, which aggregate proofs. Both verify what they prove by halo2-axiom;
# halo2-base also proves witnesses that do not hold. proofwarp's reports say where the work ran.
#
# usage: tests/halo2.sh [full] [cpu] [opencl] [cuda] [into=FOLDER | from=FOLDER]      (default: cpu opencl)
#
# For a machine without cargo, such as one with a GPU and nothing else: `tests/halo2.sh cuda into=FOLDER` builds here what that runs,
# and leaves it in the folder with this script; there, in the folder, `bash tests/halo2.sh cuda from=.` runs it.
#
# For OpenCL a CPU device such as PoCL's will do. The SDK's examples run on the first backend, with `full` on each. `full` also
# has `standard_plonk`, of 2^21 rows, which ends by running `solc` where there is one, and halo2-base's test of 7000 proofs.
#
# Nothing is changed in the packages but two lines: Poseidon's tests in halo2-base want a crate that is not published, and the
# SDK gets a dependency by which the drop-in's own features can be named.
source "$(dirname "$0")/published.sh"

base=0.5.5 sdk=0.2.7

export CARGO_TARGET_DIR="$root/target/halo2"
# Setups, which both make and keep.
export PARAMS_DIR="$root/target/halo2-params"

patch="halo2-axiom-gpu = { path = \"$root/adapters/halo2-axiom-gpu\" }"

prepare_base() {
    local copy="$root/target/halo2-base-$base" module
    copy_with_patch halo2-base "$base" "$copy" "$patch"
    cd "$copy"
    module=src/poseidon/hasher/mod.rs
    sed -i 's/^mod tests;$/mod tests {}/' "$module"
    grep -qx 'mod tests {}' "$module" || fail "Poseidon's tests were not found"
    uses_drop_in halo2-axiom-gpu --features "$features"
}

# Leaves a program in the folder that is to go elsewhere.
keep() { # name, what cargo said of it
    local program
    program=$(grep -o '"executable":"[^"]*"' "$2" | tail -n 1 | sed 's/^"executable":"//; s/"$//')
    [ -x "$program" ] || fail "$1 was not built"
    cp "$program" "$into/$1"
    strip "$into/$1"
}

# halo2-base's unit tests with arguments, by cargo or as they were built elsewhere.
base_tests() {
    if [ -n "$from" ]; then "$from/halo2-base" "$@"
    else cargo test --release --quiet --features "$features" --lib -- "$@"; fi
}

sdk_example() { # name
    if [ -n "$from" ]; then "$from/$1"; else cargo run --release --quiet --features "$features" --example "$1"; fi
}

prepare_sdk() {
    local copy="$root/target/snark-verifier-sdk-$sdk"
    copy_with_patch snark-verifier-sdk "$sdk" "$copy" "$patch"$'\n\n[dependencies.halo2-axiom-gpu]\nversion = "1.0.1"'
    cd "$copy"
    # The package's lock file holds on to a blst that is too old, as docs/halo2.md says.
    ! grep -A1 '^name = "blst"$' Cargo.lock | grep -qx 'version = "0.3.15"' || cargo update --quiet blst
    uses_drop_in halo2-axiom-gpu --features "$features"
}

# Runs a command with a backend forced. Proofs are not verified before they are returned: of those that do not hold the host would
# make each again, and reports say where the work ran.
run_on() { # backend, name, command
    local variables=(PROOFWARP_BACKEND="$1" PROOFWARP_REPORT="$temp/$1-$2" PROOFWARP_VERIFY=0)
    [ "$1" != opencl ] || variables+=(PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}")
    : >"$temp/$1-$2"
    (
        export "${variables[@]}"
        "${@:3}"
    )
}

# Fails unless transforms, commitments and sums of terms ran on a backend, and nothing elsewhere but the host's own steps.
check_reports() { # backend, name
    local backend=$1 name=$2 reports="$temp/$1-$2" others operation
    # On a device, columns stay there between the steps of a proof.
    local transforms="plonk interpolate" terms="plonk terms"
    [ "$backend" != cpu ] || transforms=ntt terms=expression
    for operation in "$transforms bn254_fr" "msm bn254_g1" "$terms bn254_fr"; do
        grep -q "^$operation of [0-9]* on $backend (.*): [0-9]" "$reports" || fail "$name: no $operation ran on $backend"
    done
    others=$(grep -v " on $backend (.*): [0-9]" "$reports" | grep -v "^halo2 .* on cpu (host): [0-9]" | head -n 5 || true)
    [ -z "$others" ] || fail "$name: operations failed, or ran elsewhere than on $backend: $others"
    echo "$name on $backend: $(grep -c "^$transforms " "$reports") calls for transforms, $(grep -c "^msm " "$reports") for" \
        "commitments, $(grep -c "^$terms " "$reports") for sums of terms"
}

run_example() { # backend, name
    local status=0
    run_on "$1" "$2" sdk_example "$2" >"$temp/out" 2>&1 || status=$?
    if [ $status != 0 ] && ! wants_solc "$2"; then
        tail -n 30 "$temp/out" >&2
        fail "$2 failed on $1"
    fi
    check_reports "$1" "$2"
}

# Whether `standard_plonk` ended where it runs the compiler of the contract: all proofs are verified by then.
wants_solc() { # name
    [ "$1" = standard_plonk ] && ! command -v solc >/dev/null &&
        grep -q "snark-verifier-[0-9.]*/src/loader/evm/util.rs" "$temp/out" && grep -q "kind: NotFound" "$temp/out" &&
        echo "left out: the contract of standard_plonk, since there is no solc"
}

full='' into='' from=''
backends=()
for argument in "$@"; do
    case $argument in
    full) full=1 ;;
    cpu | opencl | cuda) backends+=("$argument") ;;
    into=?*) mkdir -p "${argument#*=}" && into=$(cd "${argument#*=}" && pwd) ;;
    from=?*) from=$(cd "${argument#*=}" && pwd) ;;
    *) fail "expected full, cpu, opencl, cuda, into=FOLDER or from=FOLDER, got $argument" ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
[ -z "$from" ] || PARAMS_DIR=$from/params
mkdir -p "$PARAMS_DIR"
kernels=
[[ " ${backends[*]} " != *" cuda "* ]] || kernels=/cuda

# The others run halo2-axiom's mock prover.
tests=(gates::tests::general safe_types virtual_region)
examples=(range_check) proving=("${backends[0]}")
if [ -n "$full" ]; then
    tests+=(idx_to_indicator) examples+=(standard_plonk) proving=("${backends[@]}")
else
    echo "left out without \`full\`: halo2-base's test_idx_to_indicator and the SDK's standard_plonk"
fi

features=cuda${kernels:+,halo2_proofs_axiom_gpu$kernels}
[ -n "$from" ] || prepare_base
if [ -n "$into" ]; then
    cargo test --release --features "$features" --lib --no-run --message-format json >"$temp/built"
    keep halo2-base "$temp/built"
else
    for backend in "${backends[@]}"; do
        # One test after the other: they would read setups that others are writing.
        run_on "$backend" halo2-base base_tests --test-threads=1 "${tests[@]}"
        check_reports "$backend" halo2-base
    done
fi

features=cuda${kernels:+,halo2-axiom-gpu$kernels}
[ -n "$from" ] || prepare_sdk
if [ -n "$into" ]; then
    for example in "${examples[@]}"; do
        cargo build --release --features "$features" --example "$example" --message-format json >"$temp/built"
        keep "$example" "$temp/built"
    done
    mkdir -p "$into/tests"
    cp "$root/tests/halo2.sh" "$root/tests/published.sh" "$into/tests/"
    echo "there: bash tests/halo2.sh ${full:+full }${backends[*]} from=."
    exit
fi
for backend in "${proving[@]}"; do
    for example in "${examples[@]}"; do run_example "$backend" "$example"; done
done
echo "halo2-base $base and snark-verifier-sdk $sdk (${examples[*]}) pass on the drop-in on ${backends[*]}"
