# shellcheck shell=bash
# Published packages of bellperson, for scripts that source this: they set `root` and `temp`, and define `fail`.

# The package asks for a tool chain of its own; use the one that builds proofwarp.
if command -v rustup >/dev/null; then
    RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-$(cd "$root" && rustup show active-toolchain | cut -d' ' -f1)}
    export RUSTUP_TOOLCHAIN
fi

# Prints the folder of a published version, which cargo downloads if need be.
find_package() { # version
    mkdir -p "$temp/finder/src"
    touch "$temp/finder/src/lib.rs"
    cat >"$temp/finder/Cargo.toml" <<TOML
[package]
name = "finder"
version = "0.0.0"
edition = "2024"
[dependencies]
bellperson = "=$1"
[workspace]
TOML
    cargo metadata --format-version 1 --manifest-path "$temp/finder/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/bellperson-$1/Cargo.toml\"" | head -n 1 |
        sed 's/^"manifest_path":"//; s|/Cargo.toml"$||'
}

# Copies a published version and adds a patch, nothing else. A copy is kept, so that cargo builds it once.
copy_with_patch() { # version, folder, patch
    local package
    [ ! -d "$2" ] || return 0
    package=$(find_package "$1")
    [ -d "$package" ] || fail "bellperson $1 was not found"
    mkdir -p "$(dirname "$2")"
    rm -rf "$2.part"
    cp -r "$package" "$2.part"
    chmod -R u+w "$2.part"
    printf '\n[workspace]\n\n[patch.crates-io]\n%s\n' "$3" >>"$2.part/Cargo.toml"
    mv "$2.part" "$2"
}
