#!/usr/bin/env bash
# Runs NVIDIA's compute-sanitizer over small cases of every kernel family (tests/families, and whole proofs by tests/faults).
#
# usage: tests/sanitize.sh build FOLDER       builds the programs here, for PROOFWARP_CUDA_ARCHS (90), and packs them into FOLDER
#        tests/sanitize.sh run FOLDER [OUT]   on a machine with a GPU, which needs no Rust: logs and summary.txt into OUT
#                                             (default: $OUT, or FOLDER/logs); fails where a tool finds something
#
# A case has SANITIZE_SECONDS (120); all of it SANITIZE_TOTAL (570), whatever is left then counts as not run. SANITIZE_JOBS (8)
# processes share the card. SANITIZE_TOOLS (racecheck memcheck synccheck initcheck) says which tools, and SANITIZE_CASES, a
# regular expression, which cases.
set -euo pipefail

# What was run least comes first.
first='^(curves::msm::bn254|matrices::dense|fields|curves::msm|curves::points|transforms::over_devices|curves|proofs|whole::groth16)'

build() { # folder
    local root folder programs
    root=$(cd "$(dirname "$0")/.." && pwd)
    folder=$(mkdir -p "$1" && cd "$1" && pwd)
    cd "$root"
    export PROOFWARP_CUDA_ARCHS="${PROOFWARP_CUDA_ARCHS:-90}" CARGO_INCREMENTAL=0
    # The whole workspace's features, so that nothing is compiled that ./test has compiled.
    programs=$(cargo test --workspace --features cuda,proofwarp/tracing,proofwarp/plonky3 --test faults --test families --no-run \
        --message-format json-render-diagnostics | python3 -c '
import json, sys
for message in map(json.loads, sys.stdin):
    target = message.get("target", {})
    if message.get("executable") and (target["name"], target["kind"][0]) in (("faults", "bin"), ("families", "test")):
        print(target["name"], message["executable"])')
    [ "$(wc -l <<<"$programs")" = 2 ] || { echo "sanitize.sh: not two programs: $programs" >&2; exit 1; }
    rm -rf "$folder/programs"; mkdir "$folder/programs"
    while read -r name program; do strip -o "$folder/programs/$name" "$program"; done <<<"$programs"
    cp tests/sanitize.sh "$folder/"
    # Both hold the same kernels: a dictionary of more than a program has them once.
    tar -C "$folder" -c programs | xz -T1 --lzma2=preset=6,dict=128MiB >"$folder/programs.tar.xz"
    rm -r "$folder/programs"
    ls -l "$folder"
}

# The machine's own: a wheel's does not work everywhere.
find_sanitizer() {
    local found
    for found in "$(command -v compute-sanitizer || true)" /usr/local/cuda*/bin/compute-sanitizer /usr/local/cuda*/compute-sanitizer/compute-sanitizer; do
        [ -x "$found" ] && { echo "$found"; return; }
    done
    echo "sanitize.sh: no compute-sanitizer on this machine" >&2
    return 1
}

unpack() { # folder
    [ -d "$1/programs" ] && return
    tar -C "$1" -xJf "$1/programs.tar.xz" 2>/dev/null || python3 -m tarfile -e "$1/programs.tar.xz" "$1"
}

# Names of all cases, those first that come first. Fields of what is quick are one case.
cases() { # folder
    local all
    all=$("$1/programs/families" --list 2>/dev/null | sed -n 's/: test$//p' \
        | sed -E 's/^((plonk|transforms|columns|matrices::(sparse|dynamic)|fields)(::[a-z_]+)?)::[a-z0-9_]+$/\1::/' | uniq)
    printf '%s\n' "$all" whole::groth16 whole::sumcheck whole::halo2 | grep -E "${SANITIZE_CASES:-.}" \
        | awk -v first="$first" '$0 ~ first ? now[++a] = $0 : later[++b] = $0
            END { for (i = 1; i <= a; i++) print "1", now[i]; for (i = 1; i <= b; i++) print "2", later[i] }'
}

# Tool and case of each run: racecheck of what comes first, its other tools, then all that is left.
runs() { # folder
    local tool all
    all=$(cases "$1")
    for turn in 1 2; do
        for tool in $SANITIZE_TOOLS; do sed -n "s/^$turn /$tool /p" <<<"$all"; done
    done
}

# Whether all that initcheck found are loads of msm_batch_affine_add: its last step loads operands for work-items that have no pair left,
# from places inside its buffers that no kernel wrote, and stores nothing of them.
is_argued() { # log
    grep -qE '^=+ +at ' "$1" && ! grep -E '^=+ +at ' "$1" | grep -qv 'at msm_batch_affine_add'
}

# One case under one tool. Its line: what came, tool, case, seconds.
one() { # folder, out, tool, case
    local folder=$1 out=$2 tool=$3 case=$4 log start status left program
    log="$out/$tool-${case//:/_}.log"
    start=$(date +%s)
    left=$((SANITIZE_END - start))
    if [ "$left" -lt 5 ]; then echo "not-run $tool $case 0" >>"$out/results.txt"; return; fi
    case $case in
        # Whole proofs, without faults: each prover of the group three times.
        whole::*) program=("$folder/programs/faults" --worker --runs 0 --group "${case#whole::}") ;;
        *::) program=("$folder/programs/families" "$case" --test-threads 1) ;;
        *) program=("$folder/programs/families" --exact "$case" --test-threads 1) ;;
    esac
    status=0
    PROOFWARP_BACKEND=cuda timeout "$((left < SANITIZE_SECONDS ? left : SANITIZE_SECONDS))" \
        "$SANITIZER" --tool "$tool" --error-exitcode 77 --print-limit 10000 "${program[@]}" >"$log" 2>&1 || status=$?
    case $status in
        0) status=clean ;;
        77) if [ "$tool" = initcheck ] && is_argued "$log"; then status=argued; else status=FOUND; fi ;;
        124) status=cut ;;
        *) status="failed-$status" ;;
    esac
    echo "$status $tool $case $(($(date +%s) - start))" >>"$out/results.txt"
}

summary() { # out
    local tool
    {
        "$SANITIZER" --version | tail -n 2
        nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
        for tool in $SANITIZE_TOOLS; do
            awk -v tool="$tool" '$2 == tool { count[$1]++; seconds += $4 }
                END { printf "%-10s", tool; for (what in count) printf " %s %d", what, count[what]; printf ", %d s\n", seconds }' "$1/results.txt"
        done
        grep -vE '^(clean|argued) ' "$1/results.txt" || true
        for log in "$1"/*.log; do
            grep -HE 'ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]' "$log" || true
        done
    } | tee "$1/summary.txt"
}

run() { # folder, out
    local folder=$1 out=$2 status=0
    mkdir -p "$out"; : >"$out/results.txt"
    SANITIZER=$(find_sanitizer)
    SANITIZE_SECONDS=${SANITIZE_SECONDS:-120}
    SANITIZE_TOOLS=${SANITIZE_TOOLS:-racecheck memcheck synccheck initcheck}
    SANITIZE_END=$(($(date +%s) + ${SANITIZE_TOTAL:-570}))
    export SANITIZER SANITIZE_SECONDS SANITIZE_END
    unpack "$folder"
    runs "$folder" | xargs -P "${SANITIZE_JOBS:-8}" -L 1 "$0" one "$folder" "$out" || status=$?
    summary "$out"
    # Few files come back from a machine that is lent: all logs are one.
    (cd "$out" && tar -czf logs.tar.gz -- *.log && rm -f -- *.log)
    [ "$status" = 0 ] && ! grep -qv '^clean ' "$out/results.txt"
}

case "${1:-}" in
    build) build "$2" ;;
    run) run "$(cd "$2" && pwd)" "${3:-${OUT:-$2/logs}}" ;;
    one) one "$2" "$3" "$4" "$5" ;;
    *) sed -n '2,12s/^# //p' "$0"; exit 2 ;;
esac
