#!/usr/bin/env python3
"""Runs test programs side by side, since many of them keep one core busy at a time, and prints their results.

Reads the messages of `cargo test --no-run --message-format json`. Each program runs in its package's folder, as cargo runs it, and has
a log of its own. A program that PoCL ends by its own assertion runs again with one test at a time, twice at most, and is reported as
flaky. A test that prints a line "skipped: REASON" counts as skipped, not as passed. A line "left out: REASON" names a part of a test
that did not run.

A stage is a part of the programs: `unit` has those of `src/`, `kernels` the library's other tests, `adapters` all other packages.

usage: tests/programs.py FOLDER-OF-LOGS PROGRAMS-AT-ONCE [STAGE] < messages"""

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
ROOT = Path(__file__).resolve().parent.parent
STAGES = ["unit", "kernels", "adapters"]
# Maximum number of runs of a program that PoCL ends.
MAX_RUNS = 3
# The forced backend, for the names of programs.
ON_BACKEND = f" on {os.environ['PROOFWARP_BACKEND']}" if os.environ.get("PROOFWARP_BACKEND") else ""

Result = collections.namedtuple("Result", "name passed runs log skipped")


def stage_of(package, kinds):
    """Returns the stage of a program by its package's folder and its target's kinds."""
    if package != ROOT:
        return "adapters"
    return "unit" if "lib" in kinds else "kernels"


def programs(messages, stage):
    """Returns how each program of a stage is run, the long ones first. Without a stage, all run."""
    found = []
    for message in map(json.loads, messages):
        if message["reason"] == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            if stage not in (None, stage_of(folder, message["target"]["kind"])):
                continue
            kind = " example" if "example" in message["target"]["kind"] else ""
            found.append((f"{folder.name} {message['target']['name']}{kind}", message["executable"], folder))
    rank = lambda name: LONG.index(name) if name in LONG else len(LONG)
    runs = [run for program in found for run in runs_of(*program)]
    return sorted(runs, key=lambda run: rank(run[0].split()[1]))


def runs_of(name, executable, folder):
    """How a program is run: name, program, folder, arguments, variables."""
    tests = None if name.endswith(" example") else QUICK.get(name.split()[1])
    if tests is None:
        return [(name, executable, folder, [], {})]
    quick = (name, executable, folder, tests, AS_THEY_ARE)
    skip = [word for test in tests for word in ("--skip", test)]
    return [quick, (f"{name} others", executable, folder, skip, {})] if tests else [quick]


def run(program, log, variables):
    _, executable, folder, arguments, own = program
    with log.open("w") as out:
        command, variables = [executable, "--show-output", *arguments], os.environ | own | variables
        return subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, env=variables).returncode


def run_with_retries(program, logs):
    """Returns the program's result: its name, whether it passed and how often it ran, its log, and its skipped tests with reasons."""
    start, name = time.monotonic(), program[0]
    log, runs = logs / (name.replace(" ", "-") + ".log"), 1
    code = run(program, log, {})
    while code and runs < MAX_RUNS and POCL_GAVE_UP in log.read_text(errors="replace"):
        log = log.with_name(f"{name.replace(' ', '-')}-again-{runs}.log")
        runs += 1
        code = run(program, log, {"RUST_TEST_THREADS": "1"})
    text = log.read_text(errors="replace")
    skipped = skipped_tests(text)
    print(f"{time.monotonic() - start:6.1f} s  {name}{ON_BACKEND}: {counts(text, skipped) or f'status {code}'}", flush=True)
    return Result(name, code == 0, runs, log, skipped)


def counts(text, skipped):
    """Returns the numbers of tests that passed, failed and were skipped, as text. It is empty if the program did not end."""
    results = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", text, re.M)
    passed, failed = (sum(int(result[i]) for result in results) for i in (0, 1))
    said = f"{passed - len(skipped)} passed, {failed} failed" + (f", {len(skipped)} skipped" if skipped else "")
    return said if results else ""


def skipped_tests(text):
    """Returns the name and the reason of each test that says in its output that it was skipped."""
    outputs = re.findall(r"^---- (\S+) stdout ----\n(.*?)(?=^----|^(?:successes|failures):$|\Z)", text, re.M | re.S)
    reasons = ((name, re.search(r"^skipped: (.*)", output, re.M)) for name, output in outputs)
    return [(name, reason[1]) for name, reason in reasons if reason]


def show_failure(name, log):
    lines = log.read_text(errors="replace").splitlines()
    telling = [line for line in lines if re.search(r"^test .*FAILED|panicked at|^failed on |^test result", line)]
    print(f"\n{name} failed, {log}:", *telling[-40:], "...", *lines[-60:], sep="\n")


def report(results):
    """Prints parts that did not run, skipped tests by reason, and programs that passed only when they ran again."""
    parts = (line for result in results for line in result.log.read_text(errors="replace").splitlines() if "left out: " in line)
    reasons = (f"skipped: {reason}" for result in results for _, reason in result.skipped)
    for line, count in collections.Counter([*parts, *reasons]).items():
        print(f"{count:4} × {line}")
    for result in results:
        if result.passed and result.runs > 1:
            print(f"FLAKY {result.name}: PoCL ended it by an assertion, and run {result.runs} passed")


def main():
    logs, at_once, stage = Path(sys.argv[1]), int(sys.argv[2]), (sys.argv[3:] or [None])[0]
    if stage not in (None, *STAGES):
        sys.exit(f"programs.py: expected a stage, one of {', '.join(STAGES)}, got {stage}")
    logs.mkdir(parents=True, exist_ok=True)
    found = programs(sys.stdin, stage)
    if not found:
        sys.exit("programs.py: no program was built")
    with ThreadPoolExecutor(at_once) as pool:
        results = list(pool.map(lambda program: run_with_retries(program, logs), found))
    report(results)
    failed = [result for result in results if not result.passed]
    for result in failed:
        show_failure(result.name, result.log)
    if failed:
        sys.exit(f"programs.py: failed: {', '.join(result.name for result in failed)}")


if __name__ == "__main__":
    main()
