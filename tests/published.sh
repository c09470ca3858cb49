# shellcheck shell=bash
# What the scripts beside this share, which source it: `root`, the repository; `temp`, a folder that goes when the script ends; how
# cargo builds; published packages.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# As ./test has them: what one script has built, the next one takes.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}" CARGO_INCREMENTAL=0
export CARGO_PROFILE_DEV_DEBUG=line-tables-only CARGO_PROFILE_TEST_DEBUG=line-tables-only
export CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG=line-tables-only

# The packages ask for tool chains of their own; use the one that builds proofwarp.
if command -v rustup >/dev/null; then
    RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-$(cd "$root" && rustup show active-toolchain | cut -d' ' -f1)}
    export RUSTUP_TOOLCHAIN
fi

# Prints the folder of a published version, which cargo downloads if need be.
find_package() { # name, version
    mkdir -p "$temp/finder-$1/src"
    touch "$temp/finder-$1/src/lib.rs"
    cat >"$temp/finder-$1/Cargo.toml" <<TOML
[package]
name = "finder"
version = "0.0.0"
edition = "2024"
[dependencies]
$1 = "=$2"
[workspace]
TOML
    cargo metadata --format-version 1 --manifest-path "$temp/finder-$1/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/$1-$2/Cargo.toml\"" | head -n 1 |
        sed 's/^"manifest_path":"//; s|/Cargo.toml"$||'
}

# Copies a published version and adds a patch, nothing else of the program. A copy is kept, so that cargo builds it once. With
# `shared`, what it is built on is what the other tests have built: the same versions, features (tests/features) and optimization.
copy_with_patch() { # name, version, folder, patch, shared or nothing
    local package
    [ ! -d "$3" ] || return 0
    package=$(find_package "$1" "$2")
    [ -d "$package" ] || fail "$1 $2 was not found"
    mkdir -p "$(dirname "$3")"
    rm -rf "$3.part"
    cp -r "$package" "$3.part"
    chmod -R u+w "$3.part"
    if [ "${5:-}" = shared ]; then share_builds "$3.part"; else printf '\n[workspace]\n' >>"$3.part/Cargo.toml"; fi
    printf '\n[patch.crates-io]\n%s\n' "$4" >>"$3.part/Cargo.toml"
    mv "$3.part" "$3"
}

share_builds() { # folder
    cp "$root/Cargo.lock" "$1/Cargo.lock"
    cat >>"$1/Cargo.toml" <<TOML

[dependencies.proofwarp-features]
path = "$root/tests/features"

[workspace]
resolver = "1"

[profile.dev]
opt-level = 1

[profile.dev.package."*"]
opt-level = 3
TOML
}

# Fails unless the package in this folder is built on the drop-in of that name in `adapters`. `@` and a version may follow the
# name.
uses_drop_in() { # name, cargo's arguments
    # Read to its end: where grep leaves early, cargo fails.
    cargo tree --quiet "${@:2}" --invert "$1" --depth 0 | grep -F "$root/adapters/${1%@*}" >/dev/null ||
        fail "cargo does not use the drop-in for $1"
}

# The compiler that ./test installs, for a build script that does not look there.
find_nvcc() {
    local wheel
    for wheel in "$root"/target/nvcc-venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc; do
        if [ -z "${NVCC:-}" ] && ! command -v nvcc >/dev/null && [ -x "$wheel" ]; then export NVCC=$wheel; fi
    done
    # proofwarp's own kernels are compiled already.
    mkdir -p "$root/target/proofwarp-fatbins" "$CARGO_TARGET_DIR"
    [ -e "$CARGO_TARGET_DIR/proofwarp-fatbins" ] || ln -s "$root/target/proofwarp-fatbins" "$CARGO_TARGET_DIR/proofwarp-fatbins"
    export CUDA_LIBRARY_PATH=${CUDA_LIBRARY_PATH:-$root/cuda/stub}
}
