#!/usr/bin/env bash
# Builds the program of the published halo2-axiom-gpu where there is no CUDA tool kit and no driver: PyPI's wheels of nvcc are
# laid out as a tool kit, and a stub of libcuda is what it is linked with. It runs on machines with a driver of CUDA 13.
#
# usage: benches/halo2-axiom-gpu/build.sh      (CUDA_ARCH=90,100 for other cards than Hopper's; cargo's arguments may follow)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../../target/nvcc-venv
kit=$here/target/toolkit

# The wheels that ./test installs, and CUB's headers.
[ -x "$venv/bin/python3" ] || python3 -m venv "$venv"
"$venv/bin/python3" -m pip install -q --disable-pip-version-check --no-deps nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 \
    nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
wheels=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)

mkdir -p "$kit/lib64"
for folder in bin include nvvm; do ln -sfn "$wheels/$folder" "$kit/$folder"; done
# The runtime as an archive under the name that is asked for, so that the program needs none where it runs.
ln -sf "$wheels/lib/libcudart_static.a" "$kit/lib64/libcudart.a"
ln -sf "$wheels/lib/libcudart_static.a" "$wheels/lib/libcudadevrt.a" "$kit/lib64/"

# Every name of the driver's header as a function, in a library of the driver's own name.
grep -oEh '\bcu[A-Z][A-Za-z0-9_]*' "$wheels/include/cuda.h" | sort -u | sed 's/.*/void &(void) {}/' >"$kit/cuda.c"
"${CC:-cc}" -w -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$kit/lib64/libcuda.so" "$kit/cuda.c"

cd "$here"
PATH="$kit/bin:$PATH" CUDA_PATH="$kit" CUDA_LIB_DIR="$kit/lib64" CUDA_LIBRARY_PATH="$kit" CUDA_ARCH="${CUDA_ARCH:-90}" \
    cargo build --release "$@"
ls -l "${CARGO_TARGET_DIR:-target}/release/halo2-axiom-gpu-proofs"
