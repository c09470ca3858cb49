# shellcheck shell=bash
# What ./test and the scripts beside this need and install, by the platform's package manager and by cargo, where it is missing.

# The same in each step, so that nothing is compiled twice.
# shellcheck disable=SC2034
features=cuda,ec-gpu-gen/pasta,proofwarp/tracing,proofwarp/plonky3,proofwarp/mpi,proofwarp-bench-support/mpi,proofwarp-bench-support/plonky3

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_packages() { # names of apt, dnf, pacman, brew
    if command -v apt-get >/dev/null; then as_root apt-get update -qq && as_root apt-get install -y -qq $1
    elif command -v dnf >/dev/null; then as_root dnf install -y -q $2
    elif command -v pacman >/dev/null; then as_root pacman -S --noconfirm --needed $3
    elif command -v brew >/dev/null; then brew install -q $4
    else echo "no package manager that this script knows: install $1 yourself"; fi
}

need_pocl() {
    ls /etc/OpenCL/vendors/*pocl* >/dev/null 2>&1 && return
    echo "installing PoCL"
    install_packages "pocl-opencl-icd ocl-icd-libopencl1" "pocl ocl-icd" "pocl ocl-icd" "pocl"
}

make_venv() { # folder
    python3 -m venv "$1" 2>/dev/null \
        || { install_packages "python3-venv" "python3" "python" "python"; python3 -m venv --clear "$1"; }
}

need_nvcc() {
    command -v nvcc >/dev/null && return
    compgen -G "target/nvcc-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc" >/dev/null && return
    echo "installing the CUDA compiler's wheels into target/nvcc-venv"
    make_venv target/nvcc-venv
    # All four are needed; newer ones make PTX that driver 580 does not load.
    target/nvcc-venv/bin/pip install -q --disable-pip-version-check --no-deps nvidia-cuda-nvcc==13.0.88 \
        nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
}

# Lets crates that compile CUDA themselves find the compiler and the runtime in a folder of wheels. Sets `libraries`. The runtime's
# wheel has the library by its full name only, which the linker does not look for.
use_cuda_kit() { # folder of the wheels
    local runtime
    command -v nvcc >/dev/null || export PATH="$1/bin:$PATH" CUDA_PATH="$1"
    export CUDA_ARCH="${CUDA_ARCH:-90}" CUDA_LIB_DIR="$PWD/target/cuda-libraries"
    libraries="$1/lib"
    mkdir -p "$CUDA_LIB_DIR"
    ln -sf "$libraries"/*.a "$CUDA_LIB_DIR/"
    for runtime in "$libraries"/libcudart.so.*; do ln -sf "$runtime" "$CUDA_LIB_DIR/libcudart.so"; done
}

# For packages with CUDA sources of their own that include CCCL.
need_cuda_kit() {
    local kit=target/cuda-kit-venv
    if ! compgen -G "$kit/lib/python3*/site-packages/nvidia/cu13/include/cccl" >/dev/null; then
        echo "installing the CUDA compiler's and CCCL's wheels into $kit"
        make_venv "$kit"
        "$kit/bin/pip" install -q --disable-pip-version-check --no-deps nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 \
            nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
    fi
    use_cuda_kit "$(echo "$PWD/$kit"/lib/python3*/site-packages/nvidia/cu13)"
}

# For kernels with carry-less multiply-add alone; where it is missing, they are left out.
need_nvcc_clmad() {
    compgen -G "target/nvcc-clmad-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc" >/dev/null && return
    echo "installing a newer CUDA compiler's wheels into target/nvcc-clmad-venv"
    python3 -m venv target/nvcc-clmad-venv
    target/nvcc-clmad-venv/bin/pip install -q --disable-pip-version-check --no-deps nvidia-cuda-nvcc==13.3.73 \
        nvidia-nvvm==13.3.73 nvidia-cuda-crt==13.3.73 nvidia-cuda-runtime==13.3.29
}

# Reads what the compilers made.
need_cuobjdump() {
    cuobjdump=(target/cuobjdump-venv/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump)
    [ ! -x "${cuobjdump[0]}" ] || return 0
    echo "installing the reader of CUDA's programs into target/cuobjdump-venv"
    python3 -m venv target/cuobjdump-venv
    target/cuobjdump-venv/bin/pip install -q --disable-pip-version-check --no-deps nvidia-cuda-cuobjdump==13.3.73 \
        nvidia-cuda-nvdisasm==13.3.73
    cuobjdump=(target/cuobjdump-venv/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump)
}

# Formats the kernels. Another version formats otherwise.
need_clang_format() {
    clang_format=target/clang-format-venv/bin/clang-format
    [ ! -x "$clang_format" ] || return 0
    echo "installing clang-format into target/clang-format-venv"
    python3 -m venv target/clang-format-venv
    target/clang-format-venv/bin/pip install -q --disable-pip-version-check clang-format==20.1.8
}

# Compiles the OpenCL kernels for AMD's cards. Sets `amdgcn_clang` and `libclc`. Another version allocates other registers.
need_amdgcn() {
    local attempt
    for attempt in 1 2; do
        amdgcn_clang=$(command -v clang-19 || command -v clang || true)
        libclc=$(compgen -G "/usr/[ls]*/clc/amdgcn--amdhsa.bc" | head -n 1 || true)
        [ -z "$amdgcn_clang" ] || [ -z "$libclc" ] || return 0
        [ $attempt = 2 ] || { echo "installing clang and libclc"; install_packages "clang-19 libclc-19" "clang libclc" "clang libclc" "llvm"; }
    done
    echo "no clang, or no libclc with amdgcn--amdhsa.bc"; return 1
}

# For circom-witnesscalc, by which RISC Zero computes witnesses.
need_protoc() {
    command -v protoc >/dev/null && return
    echo "installing protoc"
    install_packages "protobuf-compiler" "protobuf-compiler" "protobuf" "protobuf"
}

# For jobs of several ranks.
need_mpi() {
    command -v mpirun >/dev/null && compgen -G "/usr/lib*/llvm*/lib/libclang*.so*" >/dev/null && return
    echo "installing Open MPI and libclang"
    install_packages "openmpi-bin libopenmpi-dev libclang-dev" "openmpi openmpi-devel clang-devel" "openmpi clang" "open-mpi llvm"
}

need_components() {
    command -v g++ >/dev/null || install_packages g++ gcc-c++ gcc gcc
    cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
    cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
}

# Runs each test in a process of its own. Its own updates and optimisation are left out: they are half of its build.
need_nextest() {
    export PATH="$PWD/target/nextest-tool/bin:$PATH"
    command -v cargo-nextest >/dev/null && return
    echo "installing cargo-nextest into target/nextest-tool"
    cargo install --quiet --locked --debug --root target/nextest-tool --no-default-features --features default-no-update cargo-nextest@0.9.143
}

need_chromium() {
    command -v chromium chromium-browser google-chrome >/dev/null && return
    echo "installing Chromium"
    install_packages chromium chromium chromium chromium
}

need_deny() {
    export PATH="$PWD/target/deny/bin:$PATH"
    command -v cargo-deny >/dev/null || cargo install --quiet --locked --root target/deny cargo-deny
}

need_mdbook() {
    export PATH="$PWD/target/mdbook/bin:$PATH"
    command -v mdbook >/dev/null || cargo install --quiet --locked --root target/mdbook --no-default-features mdbook
}
