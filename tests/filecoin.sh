#!/usr/bin/env bash
# A sector of 2 KiB through the published filecoin-proofs on the drop-ins (tests/filecoin): its trees, its seal and its PoSts, by
# bellperson and neptune on those for ec-gpu-gen 0.7 and 0.6, and whole proofs on that for supraseal-c2. filecoin-proofs
# verifies, and the replica is the same everywhere.
#
# usage: tests/filecoin.sh [cpu] [opencl] [cuda] [into=FOLDER | from=FOLDER]      (default: cpu opencl)
#
# Parameters, 1.2 GB, are made once, in target/filecoin-parameters: three minutes of two cores. `into` builds the programs into a
# folder. `from` runs them, on a machine without tool chains, and makes the parameters there.
source "$(dirname "$0")/published.sh"

parameters=(winning-parameters window-parameters seal-parameters) steps=(winning window seal) backends=() into='' from=''
for argument in "$@"; do
    case "$argument" in
        into=*) into=$(mkdir -p "${argument#into=}" && cd "${argument#into=}" && pwd) ;;
        from=*) from=$(cd "${argument#from=}" && pwd) ;;
        *) backends+=("$argument") ;;
    esac
done
[ ${#backends[@]} -gt 0 ] || backends=(cpu opencl)
built=opencl
[[ " ${backends[*]} " != *" cuda "* ]] || built=opencl,cuda

folder="${from:-$root/target/filecoin-parameters}"
mkdir -p "$folder"
export FIL_PROOFS_PARAMETER_CACHE="$folder/" FIL_PROOFS_PARENT_CACHE="$folder/parents/"
export PROOFWARP_OPENCL_CPU="${PROOFWARP_OPENCL_CPU:-1}" RUST_LOG="${RUST_LOG:-error}"

# Builds the program with features, and checks that cargo takes the drop-ins. Sets `program`.
build() { # name, features, drop-ins
    local drop_in
    program="${into:-$from}/filecoin-$1"
    [ -z "$from" ] || return 0
    cargo build --quiet --features "$2"
    for drop_in in "${@:3}"; do uses_drop_in "$drop_in" --features "$2"; done
    if [ -n "$into" ]; then cp "$CARGO_TARGET_DIR/debug/proofwarp-filecoin" "$program"; else program="$CARGO_TARGET_DIR/debug/proofwarp-filecoin"; fi
}

# Runs the program with a backend forced. Prints the replica's commitment; fails if another backend ran, or another replica came.
run_on() { # name, backend, 1 if the device hashes trees
    local report="$temp/$1-$2" trees=$3 replica
    # Parameters are made on the host.
    PROOFWARP_BACKEND=cpu "$program" "${parameters[@]}"
    : >"$report"
    PROOFWARP_BACKEND=$2 PROOFWARP_REPORT="$report" FIL_PROOFS_USE_GPU_TREE_BUILDER=$trees \
        FIL_PROOFS_USE_GPU_COLUMN_BUILDER=$trees "$program" "${steps[@]}" | tee "$temp/log"
    if grep -v " on $2 (" "$report"; then fail "another backend than $2 ran"; fi
    replica=$(grep "^comm_r " "$temp/log")
    [ "$replica" = "${expected:=$replica}" ] || fail "$1 on $2: another replica: $replica"
    echo "filecoin.sh: $1 on $2: $(grep -c "^msm " "$report") sums, $(grep -c "^groth16 " "$report") batches, $(grep -c "^kernel " "$report") launches of neptune's"
}

# bellperson's prover calls one kernel a time; neptune's kernels hash columns and trees.
by_kernels() {
    local backend
    build ec-gpu-gen "$built" ec-gpu-gen@0.7.1 ec-gpu-gen@0.6.0
    [ -z "$into" ] || return 0
    for backend in "${backends[@]}"; do
        run_on ec-gpu-gen "$backend" "$([ "$backend" = cpu ] && echo 0 || echo 1)"
        [ "$backend" = cpu ] || grep -q "^kernel hash_preimages" "$temp/ec-gpu-gen-$backend" || fail "no tree was hashed on $backend"
    done
}

whole_proofs() {
    local backend
    build supraseal-c2 "$1" supraseal-c2
    [ -z "$into" ] || return 0
    # With filecoin-proofs' feature, neptune has CUDA kernels alone.
    for backend in "${backends[@]}"; do run_on supraseal-c2 "$backend" "$([ "$backend" = cuda ] && echo 1 || echo 0)"; done
}

[ -n "$from" ] || find_nvcc
cd "$root/tests/filecoin"
by_kernels
whole_proofs "$([[ $built = *cuda* ]] && echo supraseal,supraseal-cuda || echo supraseal)"
if [ -n "$into" ]; then
    echo "filecoin.sh: programs in $into"
else
    echo "filecoin-proofs: ${steps[*]} on ${backends[*]}"
fi
