#!/usr/bin/env bash
# Feeds each target of fuzz/ with what libFuzzer thinks of. Needs cargo-fuzz, which it installs into target/fuzz-tools.
#
# usage: tests/fuzz.sh [SECONDS] [TARGET...]      (default: 20 seconds each, all targets)
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root/fuzz"
seconds=${1:-20}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=($(basename -s .rs fuzz_targets/*.rs))

tools="$root/target/fuzz-tools"
export PATH="$tools/bin:$PATH" CARGO_TARGET_DIR="$root/target/fuzz"
command -v cargo-fuzz >/dev/null || cargo install --quiet --root "$tools" cargo-fuzz
# The instrumentation's flags are a nightly compiler's; sanitizers are not used, for Rust checks bounds itself.
export RUSTC_BOOTSTRAP=1 PROOFWARP_BACKEND="${PROOFWARP_BACKEND:-cpu}"

for target in "${targets[@]}"; do
    echo "== $target, $seconds s on $PROOFWARP_BACKEND"
    cargo fuzz run --sanitizer none "$target" -- -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -verbosity=1 \
        2>&1 | grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse|RELOAD)' | tail -n 20
done
echo "${#targets[@]} targets: nothing found in $seconds s each"
