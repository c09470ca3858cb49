#!/usr/bin/env bash
# The feature `device-advice` of the drop-in for halo2-axiom-gpu: builds it and its test, with clippy, and runs the test where there
# is an NVIDIA driver. Without one it says that the test did not run.
#
# usage: tests/device_advice.sh [into=FOLDER | from=FOLDER]
#
# For a machine with a GPU and without cargo: `tests/device_advice.sh into=FOLDER` leaves there what it has built, with this script;
# on that machine, in the folder, `bash tests/device_advice.sh from=.` runs it.
#
# openvm-cuda-common compiles with the nvcc on PATH, or with that of tests/needs.sh, for the architectures in CUDA_ARCH (90).
source "$(dirname "$0")/published.sh"

name=device_advice
into="" from=""
case "${1:-}" in
    "") ;;
    into=*) into=$(mkdir -p "${1#into=}" && cd "${1#into=}" && pwd) ;;
    from=*) from=$(cd "${1#from=}" && pwd) ;;
    *) sed -n '2,11s/^# //p' "$0"; exit 2 ;;
esac

build() {
    local kits
    cd "$root"
    source tests/needs.sh
    need_nvcc
    # Cargo keeps the folder's name.
    kits=("$root"/target/nvcc-venv/lib/python3*/site-packages/nvidia/cu13)
    if [ -d "${kits[0]}" ]; then use_cuda_kit "${kits[0]}"; fi
    export CUDA_ARCH="${CUDA_ARCH:-90}"
    export RUSTC_WORKSPACE_WRAPPER="$root/tests/clippy.sh"
    # With the features of ./test, so that what it has built is taken.
    cargo test --quiet --workspace --features "$features,halo2-axiom-gpu/device-advice" --test "$name" --no-run \
        --message-format json-render-diagnostics >"$temp/built"
    program=$(grep -o "\"executable\":\"[^\"]*/$name-[^\"]*\"" "$temp/built" | tail -n 1 | sed 's/^"executable":"//; s/"$//')
    [ -x "$program" ] || fail "$name was not built"
}

libraries="" program="$from/$name"
[ -n "$from" ] || build
if [ -n "$into" ]; then
    cp "$program" "$into/$name"
    strip "$into/$name"
    [ -z "$libraries" ] || cp "$libraries"/libcudart.so.* "$into/"
    mkdir -p "$into/tests"
    cp "$root/tests/device_advice.sh" "$root/tests/published.sh" "$into/tests/"
    echo "there: bash tests/device_advice.sh from=."
    exit
fi
export LD_LIBRARY_PATH="${from:-$libraries}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
    echo "device_advice.sh: built, and not run: there is no NVIDIA driver"
    exit
fi
PROOFWARP_BACKEND=cuda "$program" >"$temp/log" 2>&1 || fail "$(cat "$temp/log")"
echo "device_advice.sh: $(grep '^test result' "$temp/log")"
