#!/usr/bin/env bash
# Makes zkeys, witnesses, keys and proofs of real circuits by circom2, circomlib and snarkjs, then tests the formats of
# adapters/circom against them. Files are kept under target/circom; what exists is not made again.
#
# usage: tests/circom.sh [multiplier] [multiplier_bls12381] [poseidon_merkle] [eddsa] [semaphore] [sha256] [generated] [files]      (default: all)
#
# With `files` it ends before the tests, which take all circuits that are there. The signature in tests/circom/eddsa.json is by circomlibjs 0.1.7, with a key that is public.
source "$(dirname "$0")/published.sh"

packages=(circom2@0.2.23 circomlib@2.0.5 snarkjs@0.7.6 @semaphore-protocol/circuits@4.14.2)
# A ceremony's secret would be random; these are tests, and the beacon makes the files the same each time.
beacon=0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20
folder=$CARGO_TARGET_DIR/circom

# Folders in which circuits find what they include; Semaphore's name files without a folder.
libraries=(-l node_modules -l node_modules/circomlib/circuits -l node_modules/@zk-kit/binary-merkle-root.circom/src)

# Circuit, curve as snarkjs names it, prime as circom names it, and the power of two that the powers of tau reach.
declare -A settings=(
    [multiplier]="multiplier bn128 bn128 4"
    [multiplier_bls12381]="multiplier bls12-381 bls12381 4"
    [poseidon_merkle]="poseidon_merkle bn128 bn128 12"
    [eddsa]="eddsa bn128 bn128 13"
    [semaphore]="semaphore bn128 bn128 15"
    [sha256]="sha256 bn128 bn128 15"
)

install_packages() {
    local wanted="${packages[*]}"
    [ "$(cat "$folder/versions" 2>/dev/null)" = "$wanted" ] && return
    mkdir -p "$folder"
    npm install --prefix "$folder" --no-fund --no-audit --loglevel error "${packages[@]}"
    echo "$wanted" >"$folder/versions"
}

# Runs a program quietly, and says what it wrote if it fails.
quietly() {
    nice -n 10 "$@" >"$temp/log" 2>&1 || { tail -n 40 "$temp/log" >&2; fail "failed: $*"; }
}

# Runs snarkjs, which ends with 0 after some of its errors.
snarkjs() {
    quietly node "$folder/node_modules/snarkjs/build/cli.cjs" "$@"
    ! grep -F "[ERROR]" "$temp/log" >&2 || fail "failed: snarkjs $*"
}

powers_of_tau() { # curve, power; makes $tau
    tau=$folder/powers_$1_$2.ptau
    [ ! -e "$tau" ] || return 0
    snarkjs powersoftau new "$1" "$2" "$temp/new.ptau"
    snarkjs powersoftau beacon "$temp/new.ptau" "$temp/beacon.ptau" "$beacon" 10
    snarkjs powersoftau prepare phase2 "$temp/beacon.ptau" "$temp/final.ptau"
    mv "$temp/final.ptau" "$tau"
}

compile() { # circuit, prime, folder
    [ ! -e "$3/$1.r1cs" ] || return 0
    (cd "$folder" && quietly node node_modules/circom2/cli.js "$root/tests/circom/$1.circom" \
        --r1cs --wasm --prime "$2" "${libraries[@]}" -o "$3")
}

set_up() { # circuit, folder
    [ ! -e "$2/verification_key.json" ] || return 0
    rm -f "$temp/new.zkey"
    snarkjs groth16 setup "$2/$1.r1cs" "$tau" "$temp/new.zkey"
    snarkjs zkey beacon "$temp/new.zkey" "$2/circuit.zkey" "$beacon" 10
    snarkjs zkey export verificationkey "$2/circuit.zkey" "$temp/verification_key.json"
    mv "$temp/verification_key.json" "$2/"
}

prove() { # circuit, folder
    [ ! -e "$2/public.json" ] || return 0
    snarkjs wtns calculate "$2/${1}_js/$1.wasm" "$root/tests/circom/$1.json" "$2/witness.wtns"
    snarkjs groth16 prove "$2/circuit.zkey" "$2/witness.wtns" "$2/proof.json" "$temp/public.json"
    snarkjs groth16 verify "$2/verification_key.json" "$temp/public.json" "$2/proof.json"
    mv "$temp/public.json" "$2/"
}

# Makes keys of the other protocols, which have to be refused.
other_protocols() {
    local multiplier=$folder/multiplier protocol
    powers_of_tau bn128 8
    for protocol in plonk fflonk; do
        [ ! -e "$multiplier/$protocol.zkey" ] || continue
        snarkjs "$protocol" setup "$multiplier/multiplier.r1cs" "$tau" "$temp/new.zkey"
        mv "$temp/new.zkey" "$multiplier/$protocol.zkey"
    done
}

make_files() { # name
    local circuit curve prime power
    read -r circuit curve prime power <<<"${settings[$1]:-}"
    [ -n "$circuit" ] || fail "no circuit is called $1"
    mkdir -p "$folder/$1"
    compile "$circuit" "$prime" "$folder/$1"
    powers_of_tau "$curve" "$power"
    set_up "$circuit" "$folder/$1"
    prove "$circuit" "$folder/$1"
    echo "$1: $(stat -c %s "$folder/$1/circuit.zkey") bytes of zkey, $(stat -c %s "$folder/$1/witness.wtns") of wtns, ${SECONDS} s since the start"
}

# A synthetic circuit's key from a known trapdoor, whose witness snarkjs proves: curve, constraints.
make_generated() {
    local target=$folder/generated_$1_$2
    [ ! -e "$target/public.json" ] || return 0
    (cd "$root/adapters/circom" && quietly cargo run --quiet --release --example generate "$1" "$2" "$target")
    snarkjs zkey export verificationkey "$target/circuit.zkey" "$target/verification_key.json"
    snarkjs groth16 prove "$target/circuit.zkey" "$target/witness.wtns" "$target/proof.json" "$temp/public.json"
    snarkjs groth16 verify "$target/verification_key.json" "$temp/public.json" "$target/proof.json"
    mv "$temp/public.json" "$target/"
    echo "generated_$1_$2: ${SECONDS} s since the start"
}

# snarkjs has the last word on our proofs, those of programs that call the C library included.
verify_ours() {
    local proof public target
    for proof in "$folder"/*/{our,c,python}_proof.json; do
        target=$(dirname "$proof")
        public=${proof%proof.json}public.json
        snarkjs groth16 verify "$target/verification_key.json" "$public" "$proof"
        cmp <(tr -d ' \n' <"$target/public.json") <(tr -d ' \n' <"$public") || fail "other public signals than snarkjs's: $public"
        echo "snarkjs verifies $(basename "$target")/$(basename "$proof")"
    done
}

names=() only_files=
for argument in "$@"; do
    if [ "$argument" = files ]; then only_files=1; else names+=("$argument"); fi
done
[ ${#names[@]} -gt 0 ] || names=(multiplier multiplier_bls12381 poseidon_merkle eddsa semaphore sha256 generated)

install_packages
for name in "${names[@]}"; do
    if [ "$name" = generated ]; then
        make_generated bn128 1000
        make_generated bn128 3000
        make_generated bls12381 1000
    else
        make_files "$name"
    fi
done
if [[ " ${names[*]} " == *" multiplier "* ]]; then other_protocols; fi
[ -z "$only_files" ] || exit 0

cd "$root/adapters/circom"
rm -f "$folder"/*/{our,c,python}_*.json
PROOFWARP_CIRCOM_FILES=$folder nice -n 10 cargo test --quiet --test snarkjs -- --ignored
cd "$root/adapters/rapidsnark"
PROOFWARP_CIRCOM_FILES=$folder nice -n 10 cargo test --quiet --test programs -- --ignored
verify_ours
