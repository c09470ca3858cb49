#!/usr/bin/env bash
# What would be published: whether the packages hold all kernels, and build from what they hold. Prints their sizes.
# usage: tests/packages.sh [list]      list: only looks at what would be in them, without compiling
set -euo pipefail
cd "$(dirname "$0")/.."

published=(proofwarp-cuda-driver proofwarp proofwarp-bellperson proofwarp-halo2 proofwarp-midnight proofwarp-circom proofwarp-rapidsnark)

listed=$(cargo package --list --allow-dirty -p proofwarp 2>/dev/null)
missing=$(git ls-files cl 'cuda/*.cu*' | grep -vxF "$listed" || true)
[ -z "$missing" ] || { echo "packages.sh: not in the package: $missing" >&2; exit 1; }
echo "packages.sh: $(grep -cE '^(cl|cuda)/' <<<"$listed") kernel files are in the package"
[ "${1:-}" != list ] || exit 0

# cargo keeps what it unpacked for the dry run before, under the same version.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/proofwarp*-[0-9]*

packages=("${published[@]/#/-p}")
# Dependencies among them are taken from the packages too, since none is published yet.
cargo publish --dry-run --allow-dirty "${packages[@]}" 2>&1 | tee target/publish.log | grep -E "Packaging|Packaged|^error" || true
[ "$(grep -c "aborting upload due to dry run" target/publish.log)" = "${#published[@]}" ] ||
    { tail -n 20 target/publish.log >&2; exit 1; }
