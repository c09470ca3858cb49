#!/usr/bin/env python3
"""Times the main operations of another commit and of this tree in turn on one card, and shows the medians side by side.

usage: benches/beside.py build COMMIT FOLDER
           builds the programs of both, for PROOFWARP_CUDA_ARCHS (90), and packs them into FOLDER
       benches/beside.py run FOLDER [SECONDS]
           on a machine with a GPU, which needs Python alone: a table on standard output, of all rounds that begin within SECONDS (300)"""

import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a tree builds: folder, names, features. Before there was `proofwarp bench`, its programs were examples.
PROGRAMS = [("benches", {"sumcheck": "--bench"}, "cuda,plonky3"), ("cli", {"proofwarp": "--bin"}, "cuda,plonky3")]
EXAMPLES = [(".", {"timings": "--example", "groth16": "--example", "sumcheck": "--bench"}, "cuda,plonky3,proofwarp-bellperson/cuda"),
            ("adapters/halo2", {"halo2": "--example"}, "cuda")]
SIDES = ["base", "this"]
# Seconds of one program: a call on a lent machine ends after ten minutes.
LIMIT = 100
ALL = {"PROOFWARP_BACKEND": "cuda"}
SUMCHECK = {"PROOFWARP_BENCH_LOG": "20..20", "PROOFWARP_PEERS": ""}


def timings(operation, log_n, repeat):
    return "timings", ["--log", f"{log_n}..{log_n}", "--repeat", str(repeat), "--only", operation], {}


def groth16(folder, proofs):
    options = ["--circuit", "x5", "--log-constraints", "16", "--adapter", "resident", "--parameters", str(folder / "parameters")]
    return "groth16", [*options, "--proofs", str(proofs)], {}


def halo2(k, proofs):
    return "halo2", ["--k", str(k), "--proofs", str(proofs)], {}


def runs(folder):
    """The program of each figure, with its arguments and variables."""
    return [
        timings("ntt bn254_fr", 20, 41), timings("ntt bls12_381_fr", 20, 41), timings("msm bls12_381_g1", 20, 15),
        timings("msm bn254_g1", 20, 15), *(timings("msm bls12_381_g1", log_n, 101) for log_n in (10, 12, 14)),
        timings("ntt bn254_fr", 12, 101), timings("csr bn254_fr", 18, 21), timings("expression bn254_fr", 18, 11),
        timings("plonk bn254_fr", 18, 7), groth16(folder, 25), halo2(10, 51), halo2(14, 15),
        ("sumcheck", ["--bench", "sumcheck_tower_d2"], SUMCHECK),
    ]


def label(program, arguments):
    """The words before a run's figures. Those of halo2 are the same for each size."""
    return " ".join([program, *arguments[:2]]) if program == "halo2" else program


def command(folder, program, arguments):
    """How the program of a run is started on a side: by `proofwarp bench`, where that is there."""
    if program == "sumcheck" or not (folder / "proofwarp").exists():
        return [folder / program, *arguments]
    kind = arguments[-1].split()[0] if program == "timings" else program
    return [folder / "proofwarp", "bench", kind if kind in ("groth16", "halo2", "msm", "ntt") else "steps", *arguments]


def build_side(tree, to):
    """Builds the programs of a tree. Each side has a build folder of its own: cargo takes two trees' path dependencies of one name and version for one."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target/beside" / to.name), "CARGO_INCREMENTAL": "0"}
    environment.setdefault("PROOFWARP_CUDA_ARCHS", "90")
    to.mkdir(parents=True, exist_ok=True)
    for folder, names, features in PROGRAMS if (tree / "crates/bench-support").exists() else EXAMPLES:
        build_programs(tree / folder, to, names, features, environment)
    tried = subprocess.run(command(to, *timings("ntt", 1, 1)[:2]), env=environment | ALL, capture_output=True, text=True)
    if "not built in" in tried.stderr:
        sys.exit(f"beside.py: {tried.stderr}")


def build_programs(folder, to, names, features, environment):
    targets = [word for name, kind in names.items() for word in (kind, name)]
    cargo = ["cargo", "build", "--release", "--features", features, *targets, "--message-format", "json-render-diagnostics"]
    output = subprocess.run(cargo, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True).stdout
    for message in map(json.loads, output.splitlines()):
        name = message.get("target", {}).get("name")
        if message.get("executable") and name in names:
            subprocess.run(["strip", "-o", to / name, message["executable"]], check=True)
    missing = [name for name in names if not (to / name).exists()]
    if missing:
        sys.exit(f"beside.py: not built: {', '.join(missing)}")


def build(commit, folder):
    tree, folder = ROOT / "target/beside/tree", Path(folder).resolve()
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    (tree / "target").mkdir()
    for wheels in (ROOT / "target").glob("*-venv"):
        (tree / "target" / wheels.name).symlink_to(wheels)
    for side, source in zip(SIDES, [tree, ROOT]):
        build_side(source, folder / side)
    shutil.copy(__file__, folder)
    # All hold nearly the same kernels: a dictionary of more than a program has them once.
    pack = "tar -c base this | xz -T1 --lzma2=preset=6,dict=128MiB >programs.tar.xz"
    subprocess.run(pack, shell=True, cwd=folder, check=True)
    for side in SIDES:
        shutil.rmtree(folder / side)
    print(f"{(folder / 'programs.tar.xz').stat().st_size / 2**20:.1f} MiB in {folder}")


def figures(text):
    """The first number with a decimal point of each line, by the words before it; of a table in Markdown, every one, by the heads
    of its row and column."""
    found, heads = [], []
    for line in text.splitlines():
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            numbers = [re.fullmatch(r"(\d+\.\d+)( \(.*\))?", cell) for cell in cells]
            if not any(numbers):
                heads = cells
            words = " ".join(cell for cell, number in zip(cells, numbers) if not number)
            found += [(f"{words} {head}", float(number[1])) for head, number in zip(heads, numbers) if number]
        elif match := re.match(r"(.*?)\s(\d+\.\d+)(?!\S*\.)", line):
            found.append((" ".join(match[1].split()), float(match[2])))
    return found


def measure(folder, side, program, arguments, variables):
    try:
        done = subprocess.run(command(folder / side, program, arguments), env=os.environ | ALL | variables, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print(f"{side} {program}: ended after {LIMIT} s", flush=True)
        return []
    if done.returncode:
        sys.exit(f"beside.py: {side} {program}: status {done.returncode}: {done.stderr[-300:]}")
    return figures(done.stdout)


def run(folder, seconds):
    folder = Path(folder).resolve()
    if not (folder / "this").exists():
        subprocess.run(["tar", "-xJf", "programs.tar.xz"], cwd=folder, check=True)
    all_figures = collections.defaultdict(lambda: {side: [] for side in SIDES})
    end = time.monotonic() + seconds
    rounds = 0
    while rounds == 0 or time.monotonic() < end:
        rounds += 1
        for program, arguments, variables in runs(folder):
            for side in SIDES:
                for words, value in measure(folder, side, program, arguments, variables):
                    all_figures[f"{label(program, arguments)} {words}"][side].append(value)
    print(f"medians of {rounds} rounds")
    for name, values in all_figures.items():
        if not all(values.values()):
            print(f"{name}: on one side alone")
            continue
        base, this = (statistics.median(values[side]) for side in SIDES)
        spread = (max(values["base"]) - min(values["base"])) / base if base else 0
        print(f"{name:76} {base:10.4f} {this:10.4f} {100 * (this / base - 1 if base else 0):+6.1f} %  spread {100 * spread:.1f} %", flush=True)


def main():
    match sys.argv[1:]:
        case ["build", commit, folder]:
            build(commit, folder)
        case ["run", folder, *seconds]:
            run(folder, int(seconds[0]) if seconds else 300)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
