#!/usr/bin/env bash
# openvm-static-verifier 2.0.2 with its feature `halo2-gpu` on the drop-in for halo2-axiom-gpu: its circuit of a fixture is proved
# from the graph executor's columns on the device (tests/openvm/proofs.rs), and halo2-axiom verifies. With `stock` the same by the
# published halo2-axiom-gpu 1.0.1.
#
# usage: tests/openvm.sh [stock] [into=FOLDER | from=FOLDER]
#
# Of the package's own files two change: Cargo.toml, by the lines that docs/halo2.md has, and a module of tests, which gets one test
# more. `into` builds the programs into a folder; on a machine with an NVIDIA GPU, in that folder, `bash tests/openvm.sh from=.`
# runs them. OPENVM_K has the binary logarithms of the rows, separated by commas (19); OPENVM_ROUNDS the proofs of each (5);
# OPENVM_THREADS the executor's threads (14).
source "$(dirname "$0")/published.sh"

version=2.0.2 package=openvm-static-verifier
kinds=(drop-in) into="" from=""
for argument in "$@"; do
    case "$argument" in
        stock) kinds+=(stock) ;;
        into=*) into=$(mkdir -p "${argument#into=}" && cd "${argument#into=}" && pwd) ;;
        from=*) from=$(cd "${argument#from=}" && pwd) ;;
        *) sed -n '2,14s/^# //p' "$0"; exit 2 ;;
    esac
done

# Copies the package, with the drop-in or without, and adds the test.
copy_package() { # drop-in or stock
    local executor patch="# none"
    copy="$root/target/openvm-$1"
    [ ! "$copy" -nt "$root/tests/openvm/proofs.rs" ] || return 0
    rm -rf "$copy"
    [ "$1" = stock ] || patch="halo2-axiom-gpu = { path = \"$root/adapters/halo2-axiom-gpu\" }"$'\n\n[dependencies.halo2-axiom-gpu]\nversion = "1.0.1"\nfeatures = ["device-advice"]'
    rm -rf "$copy.new"
    copy_with_patch "$package" "$version" "$copy.new" "$patch"
    executor="$copy.new/src/tracegen/graph_executor.rs"
    # The lock file's blst does not compile by today's compilers.
    (cd "$copy.new" && cargo update --quiet blst)
    # Its module of tests ends the file.
    [ "$(tail -n 1 "$executor")" = "}" ] || fail "$executor ends otherwise"
    sed -i '$d' "$executor"
    sed 's/^\(.\)/    \1/' "$root/tests/openvm/proofs.rs" >>"$executor"
    echo "}" >>"$executor"
    mv "$copy.new" "$copy"
}

# Builds the package's tests, optimized and without debug assertions: the SDK would verify each proof while it is timed.
build() { # drop-in or stock
    copy_package "$1"
    cd "$copy"
    export CARGO_PROFILE_TEST_OPT_LEVEL=3 CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0
    export CARGO_PROFILE_TEST_DEBUG_ASSERTIONS=false CARGO_PROFILE_TEST_OVERFLOW_CHECKS=false
    CARGO_TARGET_DIR="$root/target/openvm" cargo test --quiet --lib --features evm-prove,halo2-gpu --no-run \
        --message-format json-render-diagnostics >"$temp/built"
    program=$(grep -o "\"executable\":\"[^\"]*\"" "$temp/built" | tail -n 1 | cut -d'"' -f4 || true)
    [ -x "$program" ] || fail "$1 was not built"
    [ -z "$into" ] || { cp "$program" "$into/openvm-$1"; strip "$into/openvm-$1"; }
}

if [ -z "$from" ]; then
    cd "$root"
    source tests/needs.sh
    need_cuda_kit
    find_nvcc
    for kind in "${kinds[@]}"; do build "$kind"; done
fi
if [ -n "$into" ]; then
    cp "$libraries"/libcudart.so.* "$into/"
    mkdir -p "$into/tests"
    cp "$root/tests/openvm.sh" "$root/tests/published.sh" "$into/tests/"
    echo "there: bash tests/openvm.sh${kinds[1]:+ stock} from=."
    exit
fi
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
    echo "openvm.sh: built, and not run: there is no NVIDIA driver"
    exit
fi
export LD_LIBRARY_PATH="${from:-$libraries}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for kind in "${kinds[@]}"; do
    [ -z "$from" ] || program="$from/openvm-$kind"
    [ -n "$from" ] || build "$kind"
    PROOFWARP_BACKEND=cuda "$program" proofs_from_the_graph_executor --nocapture >"$temp/log" 2>&1 || fail "$(cat "$temp/log")"
    grep -h "^k=" "$temp/log" | sed "s/^/openvm.sh: $kind: /"
done
