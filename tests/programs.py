#!/usr/bin/env python3
"""Runs test programs side by side, since many of them keep one core busy at a time, and prints what each says in the end.

Reads what `cargo test --no-run --message-format json` writes. Each program runs in its package's folder, as cargo runs it, and has a
log of its own. One that PoCL ends by its own assertion is run again, one test at a time, twice at most. A test that lacks its
backend says "left out"; those lines are gathered so that nobody takes it for a pass.

usage: tests/programs.py FOLDER-OF-LOGS PROGRAMS-AT-ONCE < messages"""

import collections
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# PoCL 3.1 may do so where threads use one kernel for the first time at once.
POCL_GAVE_UP = "pocl_release_dlhandle_cache: Assertion"
# Kernels that PoCL takes longer to optimise than they run: it compiles those of these programs, or of tests of these names, as they
# are, in a sixth of the time. The other tests of such a program are a run of their own.
QUICK = {"families": [], "faults": [], "fields": [], "matrix_dense": [], "plonk": [], "sumcheck": [], "msm": ["affine", "checked", "a_changed_bit"]}
AS_THEY_ARE = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}
# The programs that take longest come first, so that none of them is left alone in the end.
LONG = ["msm", "ntt", "halo2", "multiexp", "groth16", "busy_pool", "surface", "plonk"]


def programs(messages):
    """How each is run, the long ones first."""
    found = []
    for message in map(json.loads, messages):
        if message["reason"] == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            kind = " example" if "example" in message["target"]["kind"] else ""
            found.append((f"{folder.name} {message['target']['name']}{kind}", message["executable"], folder))
    rank = lambda name: LONG.index(name) if name in LONG else len(LONG)
    runs = [run for program in found for run in runs_of(*program)]
    return sorted(runs, key=lambda run: rank(run[0].split()[1]))


def runs_of(name, executable, folder):
    """How a program is run: name, program, folder, arguments, variables."""
    tests = QUICK.get(name.split()[1])
    if tests is None:
        return [(name, executable, folder, [], {})]
    quick = (name, executable, folder, tests, AS_THEY_ARE)
    skip = [word for test in tests for word in ("--skip", test)]
    return [quick, (f"{name} others", executable, folder, skip, {})] if tests else [quick]


def run(program, log, variables):
    _, executable, folder, arguments, own = program
    with log.open("w") as out:
        command, variables = [executable, "--nocapture", *arguments], os.environ | own | variables
        return subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, env=variables).returncode


def run_as_often_as_needed(program, logs):
    """The program's name, whether it passed, and its log."""
    start, name = time.monotonic(), program[0]
    log = logs / (name.replace(" ", "-") + ".log")
    code = run(program, log, {})
    for again in (1, 2):
        if code and POCL_GAVE_UP in log.read_text(errors="replace"):
            print(f"PoCL gave up, once more: {name}", flush=True)
            log = log.with_name(f"{name.replace(' ', '-')}-again-{again}.log")
            code = run(program, log, {"RUST_TEST_THREADS": "1"})
    results = re.findall(r"^test result: (.*?; \d+ failed).*finished in", log.read_text(errors="replace"), re.M)
    said = ", ".join(results) or f"status {code}"
    print(f"{time.monotonic() - start:6.1f} s  {name}: {said}", flush=True)
    return name, code == 0, log


def show_failure(name, log):
    lines = log.read_text(errors="replace").splitlines()
    telling = [line for line in lines if re.search(r"^test .*FAILED|panicked at|^test result", line)]
    print(f"\n{name} failed, {log}:", *telling[-40:], "...", *lines[-60:], sep="\n")


def main():
    logs, at_once = Path(sys.argv[1]), int(sys.argv[2])
    logs.mkdir(parents=True, exist_ok=True)
    found = programs(sys.stdin)
    if not found:
        sys.exit("programs.py: no program was built")
    with ThreadPoolExecutor(at_once) as pool:
        done = list(pool.map(lambda program: run_as_often_as_needed(program, logs), found))
    words = (line for _, _, log in done for line in log.read_text(errors="replace").splitlines() if "left out" in line)
    for line, count in collections.Counter(words).items():
        print(f"{count:4} × {line}")
    failed = [(name, log) for name, passed, log in done if not passed]
    for name, log in failed:
        show_failure(name, log)
    if failed:
        sys.exit(f"programs.py: failed: {', '.join(name for name, _ in failed)}")


if __name__ == "__main__":
    main()
