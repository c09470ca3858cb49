#!/usr/bin/env bash
# Checks that the library and five of its adapters compile for platforms that the tests do not run on. Checking needs no object
# code, so a stand-in writes empty files where a crate would compile C.
#
# usage: tests/platforms.sh [TARGET...]      (default: Linux on aarch64, macOS on both processors, Windows)
source "$(dirname "$0")/published.sh"

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-apple-darwin x86_64-pc-windows-gnu)

cat >"$temp/cc" <<'SH'
#!/bin/sh
previous=
for argument in "$@"; do
    [ "$previous" != -o ] || : >"$argument"
    previous=$argument
done
SH
cat >"$temp/ar" <<'SH'
#!/bin/sh
for argument in "$@"; do
    case "$argument" in *.a) : >"$argument" ;; esac
done
SH
chmod +x "$temp/cc" "$temp/ar"

cd "$root"
rustup target add "${targets[@]}"
for target in "${targets[@]}"; do
    name=${target//-/_}
    export "CC_$name=$temp/cc" "AR_$name=$temp/ar"
    cargo check --quiet --lib --target "$target" -p proofwarp -p ec-gpu-gen -p proofwarp-bellperson -p proofwarp-circom \
        -p proofwarp-supraseal -p proofwarp-halo2
    echo "platforms.sh: $target compiles"
done
