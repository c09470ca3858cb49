#!/usr/bin/env bash
# A program outside the workspace that takes the CUDA feature, on a machine without a tool kit: it builds by the one line
# that docs/troubleshooting.md gives, and says at run time that no kernels were built in.
source "$(dirname "$0")/published.sh"

mkdir "$temp/src"
cat >"$temp/Cargo.toml" <<TOML
[package]
name = "outside"
version = "0.0.0"
edition = "2024"
[dependencies]
log = "0.4"
proofwarp = { path = "$root", features = ["cuda"] }
[workspace]
TOML
cat >"$temp/src/main.rs" <<RUST
#[path = "$root/tests/common/stderr.rs"]
mod stderr;

fn main() -> Result<(), proofwarp::Error> {
    stderr::install();
    proofwarp::Accelerator::from_env()?;
    proofwarp::Accelerator::from_env()?;
    Ok(())
}
RUST

# As docs/troubleshooting.md has it. The home of cargo may have a setting of its own, so it is asked for here.
lib64=/usr
[ -d /usr/lib64 ] || { mkdir -p "$temp/kit/lib64" && lib64="$temp/kit"; }
export CARGO_TARGET_DIR="$root/target/outside" CUDA_LIBRARY_PATH="$lib64" NVCC=/nowhere/nvcc
(cd "$temp" && cargo build --quiet)
program="$CARGO_TARGET_DIR/debug/outside"

env -u PROOFWARP_BACKEND "$program" 2>"$temp/log" || fail "does not start: $(cat "$temp/log")"
[ "$(grep -c "ERROR: .*kernels were not built in: .*cargo clean -p proofwarp" "$temp/log")" = 1 ] ||
    fail "does not say once that there are no kernels: $(cat "$temp/log")"
! PROOFWARP_BACKEND=cuda "$program" 2>"$temp/log" || fail "PROOFWARP_BACKEND=cuda does not fail"
grep -q "kernels were not built in" "$temp/log" || fail "does not say why: $(cat "$temp/log")"
echo "outside.sh: builds with CUDA_LIBRARY_PATH=$lib64, and says that it has no CUDA kernels"
