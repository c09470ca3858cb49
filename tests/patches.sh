#!/usr/bin/env bash
# The lines of docs/halo2.md under [patch], for crates that take halo2-axiom-gpu from the registry or from git: each is put into a
# program outside the repository, in which cargo must resolve halo2-axiom-gpu to the drop-in. Nothing is compiled.
#
# The repositories on git are mirrors made here of published packages, with the dependencies that the real ones have.
source "$(dirname "$0")/published.sh"

axiom=https://github.com/axiom-crypto
page="$root/docs/halo2.md"
drop_in="$root/adapters/halo2-axiom-gpu"

# Cargo keeps what it fetches by address, so mirrors need a home of their own. Packages and settings are the usual ones.
export CARGO_NET_GIT_FETCH_WITH_CLI=true GIT_CONFIG_COUNT=0
usual=${CARGO_HOME:-$HOME/.cargo}
mkdir -p "$temp/home"
ln -s "$usual/registry" "$temp/home/registry"
for file in config config.toml credentials.toml; do
    [ ! -f "$usual/$file" ] || ln -s "$usual/$file" "$temp/home/$file"
done

# Puts a published package into the mirror of a repository, and has git read the mirror.
mirror() { # repository, package, version
    local to="$temp/mirrors/$1"
    if [ ! -d "$to" ]; then
        git init -q -b main "$to"
        export "GIT_CONFIG_KEY_$GIT_CONFIG_COUNT=url.file://$to.insteadOf" "GIT_CONFIG_VALUE_$GIT_CONFIG_COUNT=$axiom/$1.git"
        export GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT + 1))
    fi
    rm -rf "${to:?}/$2"
    cp -r "$(CARGO_HOME=$usual find_package "$2" "$3")" "$to/$2"
    chmod -R u+w "$to/$2"
}

# Has a package of a mirror take a dependency from a mirror, as its repository does.
take_from_git() { # repository, package, dependency as it is called there, its repository
    sed -i "/^\[dependencies\.$3\]\$/a git = \"$axiom/$4.git\"\nbranch = \"main\"" "$temp/mirrors/$1/$2/Cargo.toml"
}

commit() { # repository
    git -C "$temp/mirrors/$1" add --all --force
    git -C "$temp/mirrors/$1" -c user.name=tests -c user.email=tests commit -q --allow-empty -m "As published"
}

mirrors() { # version of halo2-axiom-gpu
    mirror halo2 halo2-axiom 0.5.3
    mirror halo2-gpu halo2-axiom-gpu "$1"
    mirror halo2-lib halo2-base 0.5.5
    take_from_git halo2-lib halo2-base halo2_proofs_axiom halo2
    take_from_git halo2-lib halo2-base halo2_proofs_axiom_gpu halo2-gpu
    sed -i "/^\[dependencies\.halo2_proofs_axiom_gpu\]\$/,/^\$/s/^version = .*/version = \"$1\"/" "$temp/mirrors/halo2-lib/halo2-base/Cargo.toml"
    for name in halo2 halo2-gpu halo2-lib; do commit "$name"; done
}

# The page's block of TOML that has a text, with the repository here in place of its address.
block_with() { # text
    awk -v text="$1" '/^```toml$/ { inside = 1; block = ""; next }
        /^```$/ { if (inside && index(block, text)) { printf "%s", block; exit } inside = 0 }
        inside { block = block $0 "\n" }' "$page" |
        sed "s|git = \"$("$root/tests/address.py" --print)\"|path = \"$drop_in\"|"
}

program() { # name, dependencies and patches
    mkdir -p "$temp/$1/src"
    touch "$temp/$1/src/lib.rs"
    printf '[package]\nname = "user"\nversion = "0.0.0"\nedition = "2024"\n\n%s\n\n[workspace]\n' "$2" >"$temp/$1/Cargo.toml"
}

cargo_in() { # name of the program, arguments
    (cd "$temp/$1" && CARGO_HOME="$temp/home" cargo "${@:2}") 2>"$temp/log" || fail "$1: $(cat "$temp/log")"
}

# Where cargo finds halo2-axiom-gpu.
resolves_to() { # name of the program, a text of the place
    cargo_in "$1" tree --invert halo2-axiom-gpu --depth 0 >"$temp/tree"
    grep -qF "$2" "$temp/tree" || fail "$1: expected $2, got $(cat "$temp/tree")"
}

on_the_drop_in() { # name of the program
    resolves_to "$1" "$drop_in"
    ! grep -q "was not used in the crate graph" "$temp/log" || fail "$1: $(cat "$temp/log")"
    echo "patches.sh: $1: on the drop-in"
}

from_git=$'[dependencies]\nhalo2-base = { git = "'$axiom$'/halo2-lib.git", branch = "main", features = ["cuda"] }'
patch_of_registry=$(block_with '[patch.crates-io]' | sed -n '/^\[patch/,$p')
patch_of_git=$(block_with '[patch."https' | sed -n '/^\[patch/,$p')
[ -n "$patch_of_registry" ] && [ -n "$patch_of_git" ] || fail "docs/halo2.md has no such block"

program registry $'[dependencies]\nhalo2-base = { version = "0.5.5", features = ["cuda"] }\n\n'"$patch_of_registry"
on_the_drop_in registry

# A crate that takes halo2-base without the feature, locked to a version that has none, beside the page's lines.
mkdir -p "$temp/caller/src"
touch "$temp/caller/src/lib.rs"
printf '[package]\nname = "caller"\nversion = "0.0.0"\n\n[dependencies]\nhalo2-base = "0.5.1"\n' >"$temp/caller/Cargo.toml"
program caret $'[dependencies]\ncaller = { path = "../caller" }'
cargo_in caret update halo2-base --precise 0.5.1
program caret $'[dependencies]\ncaller = { path = "../caller" }\nhalo2-base = { version = "0.5.5", features = ["cuda"] }\n\n'"$patch_of_registry"
cargo_in caret update halo2-base
on_the_drop_in caret

# Why halo2-axiom itself has no drop-in: a patch cannot depend on what it replaces.
mkdir -p "$temp/halo2-axiom/src"
touch "$temp/halo2-axiom/src/lib.rs"
printf '[package]\nname = "halo2-axiom"\nversion = "0.5.4"\n\n[dependencies]\nstock = { package = "halo2-axiom", version = "=0.5.3" }\n' >"$temp/halo2-axiom/Cargo.toml"
program refused $'[dependencies]\nhalo2-axiom = "0.5.4"\n\n[patch.crates-io]\nhalo2-axiom = { path = "../halo2-axiom" }'
! (cargo_in refused generate-lockfile) >/dev/null 2>&1 || fail "cargo takes a patch that depends on the package that it replaces"
grep -q "failed to select a version for \`halo2-axiom\`" "$temp/log" || fail "refused: $(cat "$temp/log")"
echo "patches.sh: cargo refuses a patch of halo2-axiom that depends on halo2-axiom"

# A lock file of before, with the stock crate's first version.
mirrors 1.0.0
program git-locked "$from_git"
cargo_in git-locked generate-lockfile
grep -qF "halo2-gpu.git?branch=main" "$temp/git-locked/Cargo.lock" || fail "the stock crate is not taken from git"
program git-locked "$from_git"$'\n\n'"$patch_of_git"
cargo_in git-locked update halo2-axiom-gpu
on_the_drop_in git-locked

mirrors 1.0.1
program git "$from_git"$'\n\n'"$patch_of_git"
on_the_drop_in git

# Lines of both sources, of which one has no use.
program both "$from_git"$'\n\n'"$patch_of_git"$'\n\n'"$patch_of_registry"
resolves_to both "$drop_in"
echo "patches.sh: both: on the drop-in"

# The registry's line does nothing there, and docs/troubleshooting.md has what cargo says of it.
program unused "$from_git"$'\n\n'"$patch_of_registry"
resolves_to unused halo2-gpu.git
said=$(grep -o "was not used in the crate graph" "$temp/log") || fail "cargo says nothing of a patch that is not used"
grep -qF "$said" "$root/docs/troubleshooting.md" || fail "docs/troubleshooting.md does not have: $said"
echo "patches.sh: a patch of another source is reported by cargo, and explained"

# Advice columns on the device, for OpenVM's static verifier: both take them from one crate.
advice=$(block_with device-advice | sed '/^\[dependencies\]$/a openvm-static-verifier = { version = "2.0.2", features = ["evm-prove", "halo2-gpu"] }')
program advice "$advice"
on_the_drop_in advice
cargo_in advice tree --invert openvm-cuda-common --depth 1 >"$temp/tree"
for user in halo2-axiom-gpu openvm-static-verifier; do
    grep -qF "$user v" "$temp/tree" || fail "advice: $user does not take openvm-cuda-common: $(cat "$temp/tree")"
done
echo "patches.sh: advice columns are openvm-cuda-common's"
