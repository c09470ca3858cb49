#!/usr/bin/env bash
# Line coverage of src/ by cargo-llvm-cov, on the CPU and on PoCL: of the library's own tests, and of proofwarp-halo2's, whose proofs
# run the steps of src/plonk. Prints the total and the ten least covered files of at least fifty lines; target/coverage/files.tsv
# has all of them.
#
# usage: tests/coverage.sh
#
# Needs llvm-cov and llvm-profdata of the version that rustc's LLVM has: those of `rustup component add llvm-tools`, or those that
# LLVM_COV and LLVM_PROFDATA name. Code of CUDA is left out, for it needs a card.
set -euo pipefail
cd "$(dirname "$0")/.."

source tests/needs.sh
need_pocl; need_nextest
tools="$PWD/target/coverage-tools"
export PATH="$tools/bin:$PATH"
command -v cargo-llvm-cov >/dev/null || cargo install --quiet --locked --root "$tools" cargo-llvm-cov

export CARGO_TARGET_DIR="$PWD/target/coverage" CARGO_INCREMENTAL=0 CARGO_TERM_PROGRESS_WHEN=never PROOFWARP_OPENCL_CPU=1
# A line's number is all that is wanted of what debuggers read.
export CARGO_PROFILE_DEV_DEBUG=line-tables-only CARGO_PROFILE_TEST_DEBUG=line-tables-only
source <(cargo llvm-cov show-env --sh)
cargo llvm-cov clean --workspace
# Each test is a process. Four files take the counters of all of them.
export LLVM_PROFILE_FILE="$CARGO_TARGET_DIR/proofwarp-%4m.profraw"
failed=
cargo nextest run -p proofwarp -p proofwarp-halo2 --features proofwarp/tracing,proofwarp/plonky3 --lib --tests || failed=1
tests/report_tests.py "$CARGO_TARGET_DIR/nextest/default/junit.xml"
[ -z "$failed" ]
cargo llvm-cov report --json --summary-only --output-path "$CARGO_TARGET_DIR/summary.json"
python3 - "$CARGO_TARGET_DIR" "$PWD/src/" <<'PYTHON'
import json
import sys
from pathlib import Path

folder, sources = Path(sys.argv[1]), sys.argv[2]
files = json.loads((folder / "summary.json").read_text())["data"][0]["files"]
rows = [(file["filename"].removeprefix(sources), file["summary"]["lines"]) for file in files if file["filename"].startswith(sources)]
rows = sorted((lines["covered"] / max(lines["count"], 1), name, lines["covered"], lines["count"]) for name, lines in rows)
text = "".join(f"{100 * share:.1f}\t{covered}\t{count}\t{name}\n" for share, name, covered, count in rows)
(folder / "files.tsv").write_text(text)
covered, count = (sum(row[k] for row in rows) for k in (2, 3))
print(f"src: {covered} of {count} lines in {len(rows)} files, {100 * covered / count:.1f} %")
for share, name, covered, count in [row for row in rows if row[3] >= 50][:10]:
    print(f"{100 * share:5.1f} % {covered:5} of {count:5}  {name}")
PYTHON
