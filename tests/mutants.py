#!/usr/bin/env python3
"""Puts faults into a copy of the library, one at a time, and runs the tests that come by them until one fails.

`tests/mutants/sites.tsv` names the faults; `tests/mutants` is the program that drew them, by a written seed, and that makes the copy,
in which PROOFWARP_MUTANT switches them. So there is one build, in target/mutants. Each test runs once without a fault and says
which faults it comes by and how long it takes; then each fault has those tests run, the quick ones first. A test that fails, ends the
process or does not end kills the fault. Of each module the first faults that compile count, as many as COUNTS says.

A fault that no test notices is either argued in `tests/mutants/argued.tsv`, for it changes no result, or ends this with 1.

usage: tests/mutants.py [--sample] [--module NAME] [--ids N,N] [--seconds S] [--program NAME] [--table]
  --sample   the faults of SAMPLE, with the few programs that notice them: some minutes
  --module   that module's faults alone
  --ids      these faults alone
  --seconds  most seconds of tests a fault, as measured without it (default 60)
  --program  test programs, instead of all that PROGRAMS names; may be repeated
  --table    no run: prints the results so far, a line a fault, as benches/notes/mutants.md has them"""

import argparse
import collections
import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITES, REFUSED = ROOT / "tests/mutants/sites.tsv", ROOT / "tests/mutants/refused.txt"
ARGUED = ROOT / "tests/mutants/argued.tsv"
FOLDER = ROOT / "target/mutants"
TREE, BUILD, TOOL, TIMES = FOLDER / "tree", FOLDER / "build", FOLDER / "tool", FOLDER / "tests.json"
COUNTS = {"secrets": 20, "sumcheck": 40, "plonk": 35, "groth16": 25, "matrix": 30, "backend": 30, "named": 22}
PROGRAMS = ["sumcheck", "plonk", "groth16", "groth16_batch", "matrix", "matrix_dense", "matrix_dynamic", "backend", "retry",
            "bad_input", "one_answer", "known_answers", "columns", "halo2", "cleared"]
# As ./test sets them, so that what it has compiled serves here.
AS_TESTED = {"PROOFWARP_OPENCL_CPU": "1", "PROOFWARP_CUDA_ARCHS": "90", "CARGO_INCREMENTAL": "0",
             "CARGO_PROFILE_DEV_DEBUG": "line-tables-only", "CARGO_PROFILE_TEST_DEBUG": "line-tables-only",
             "CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG": "line-tables-only"}
# A few faults of each module, and the programs that notice them.
SAMPLE = [2, 8, 19, 57, 91, 102, 119, 162, 187, 192, 206, 240, 252, 256]
SAMPLE_PROGRAMS = ["backend"]
# Tests of times, which other work on the machine makes fail.
UNSTEADY = {"text_kernels::specialisation_is_no_kernels_time"}
# Kernels that PoCL takes longer to optimise than they run, as .config/nextest.toml has them.
QUICK = {"sumcheck", "plonk", "matrix_dense"}
AS_THEY_ARE = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}
# PoCL 3.1 ends a process by it now and then, whatever is tested.
POCL_GAVE_UP = "pocl_release_dlhandle_cache: Assertion"
# A test that takes so many times as long as without a fault, and so many seconds more, does not end.
SLOWER, PATIENCE = 8, 40
# Memory of a process: a fault may ask for all that there is.
MEMORY = 16 << 30
AT_ONCE = 2

Test = collections.namedtuple("Test", "program name executable folder seconds reached")


def sites():
    with SITES.open() as table:
        return {int(row["id"]): row for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)}


def copy_tree():
    """The files of the working tree; those that are as before keep their time, so that they are not compiled again."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    for name in names:
        source, to = ROOT / name, TREE / name
        if not (name.startswith("src/") and name.endswith(".rs") and to.exists()):
            if not to.exists() or to.read_bytes() != source.read_bytes():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, to)
                shutil.copymode(source, to)
    kept = set(names)
    for path in (TREE / "src").rglob("*.rs"):
        if str(path.relative_to(TREE)) not in kept and path.name != "mutant.rs":
            path.unlink()


def seed_build():
    """Dependencies that this workspace's own build has compiled are not compiled again."""
    own = ROOT / "target/debug"
    if BUILD.exists() or not own.exists():
        return
    to = BUILD / "debug"
    to.mkdir(parents=True)
    for name in (".fingerprint", "build"):
        subprocess.run(["cp", "-a", own / name, to], check=True)
    subprocess.run(["cp", "-al", own / "deps", to], check=True)
    if (ROOT / "target/proofwarp-fatbins").exists():
        subprocess.run(["cp", "-al", ROOT / "target/proofwarp-fatbins", BUILD], check=True)


def write_mutants(numbers):
    """Numbers of those whose site is no longer in the library."""
    subprocess.run(["cargo", "build", "--quiet", "--manifest-path", ROOT / "tests/mutants/Cargo.toml", "--target-dir", TOOL],
                   check=True)
    fresh = FOLDER / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(ROOT / "src", fresh / "src")
    words = ["write", ROOT, SITES, fresh, ",".join(map(str, numbers))]
    out = subprocess.run([TOOL / "debug/proofwarp-mutants", *words], check=True, capture_output=True, text=True).stdout
    for path in (fresh / "src").rglob("*"):
        to = TREE / path.relative_to(fresh)
        if path.is_file() and (not to.exists() or to.read_bytes() != path.read_bytes()):
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
    return {int(line) for line in out.split()}


def features():
    return re.search(r"^features=(\S+)", (ROOT / "tests/needs.sh").read_text(), re.M).group(1)


def cargo(*words):
    """What cargo says, by lines, and whether it ended well."""
    variables = AS_TESTED | os.environ | {"CARGO_TARGET_DIR": str(BUILD)}
    variables.pop("RUSTC_WORKSPACE_WRAPPER", None)
    done = subprocess.run(["cargo", *words, "--workspace", "--features", features(), "--message-format", "json"], cwd=TREE,
                          env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done


def mutants_at(path, position):
    """The fault that an error is of: the last switch before it in its statement, or the next one after it."""
    text = path.read_bytes()
    before = [int(number) for number in re.findall(rb"mutant::on\((\d+)\)", text[max(0, position - 2000):position])]
    after = [int(number) for number in re.findall(rb"mutant::on\((\d+)\)", text[position:position + 400])]
    return before[-1:] or after[:1]


def known_refused():
    """Those that did not compile before, so that they need not be tried again."""
    return {int(number) for number in REFUSED.read_text().split()} if REFUSED.exists() else set()


def compiled(numbers):
    """Faults that compile, those that do not, and those whose site is gone; the copy has the first."""
    gone, refused = set(), set(numbers) & known_refused()
    while True:
        wanted = [number for number in numbers if number not in gone | refused]
        gone |= write_mutants(wanted)
        messages, done = cargo("test", "--no-run", "--test", "backend")
        errors = [one["message"] for one in messages if one["reason"] == "compiler-message" and one["message"]["level"] == "error"]
        found = set()
        for error in errors:
            for span in error["spans"]:
                if span["is_primary"]:
                    found |= set(mutants_at(TREE / span["file_name"], span["byte_start"]))
        found -= refused
        if done.returncode == 0:
            REFUSED.write_text("".join(f"{number}\n" for number in sorted(refused)))
            return [number for number in wanted if number not in gone], refused, gone
        if not found:
            said = "\n".join(error["rendered"] for error in errors)
            sys.exit(f"the copy does not compile:\n{said or done.stderr}")
        print(f"do not compile: {sorted(found)}", flush=True)
        refused |= found


def build(programs):
    """Name, executable and folder of each test program."""
    tests = [word for name in programs for word in ("--test", name)]
    messages, done = cargo("test", "--no-run", "--lib", *tests)
    if done.returncode:
        sys.exit(f"the copy's tests do not compile:\n{done.stderr[-3000:]}")
    made = [one for one in messages if one["reason"] == "compiler-artifact" and one["executable"] and one["profile"]["test"]]
    found = [(one["target"]["name"], one["executable"], Path(one["manifest_path"]).parent) for one in made]
    return [one for one in found if one[0] in {*programs, "proofwarp"}]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, executable, folder, names, seconds, variables):
    """Whether the tests pass, and what was printed; None where they do not end."""
    own = AS_THEY_ARE if program in QUICK else {}
    command = [executable, "--exact", *names, "--test-threads", "1"]
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(command, cwd=folder, env=AS_TESTED | os.environ | own | variables, stdout=out, stderr=subprocess.STDOUT,
                              preexec_fn=limit_memory, start_new_session=True) as process:
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                code = None
        out.seek(0)
        text = out.read().decode(errors="replace")
    return code, text


def run_again(*words):
    for _ in range(3):
        code, text = run(*words)
        if POCL_GAVE_UP not in text:
            break
    return code, text


def measure(program, executable, folder, name):
    """One test without a fault: its seconds, and the faults that it comes by; None where it fails."""
    with tempfile.NamedTemporaryFile() as reached:
        start = time.monotonic()
        code, _ = run_again(program, executable, folder, [name], 600, {"PROOFWARP_MUTANT_REACHED": reached.name})
        if code != 0:
            print(f"left out, fails without a fault: {program} {name}", flush=True)
            return None
        return time.monotonic() - start, sorted({int(line) for line in reached.read().split()})


def tests_of(programs):
    """All tests, each with its time and the faults that it comes by; kept as long as nothing is compiled again."""
    kept = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    todo = []
    for program, executable, folder in programs:
        stamp = f"{executable} {Path(executable).stat().st_mtime_ns}"
        listed = lambda *more: set(re.findall(r"^(.+): test$", subprocess.run(
            [executable, "--list", *more], cwd=folder, capture_output=True, text=True, check=True).stdout, re.M))
        todo += [(program, executable, str(folder), name, f"{stamp} {name}") for name in sorted(listed() - listed("--ignored") - UNSTEADY)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        missing = [one for one in todo if one[4] not in kept]
        for number, (one, said) in enumerate(zip(missing, pool.map(lambda one: measure(*one[:4]), missing))):
            kept[one[4]] = said
            if number % 10 == 9 or number + 1 == len(missing):
                TIMES.write_text(json.dumps(kept))
                print(f"measured {number + 1} of {len(missing)} tests", flush=True)
    return [Test(*one[:2], one[1], one[2], *kept[one[4]])._replace(name=one[3]) for one in todo if kept[one[4]]]


def portions(tests, seconds):
    """Tests in portions of 3, 6, 12 ... seconds, the quick ones first, each of one program at a time."""
    portion, total, most, spent = [], 0, 3, 0
    for test in sorted(tests, key=lambda test: test.seconds):
        if spent + test.seconds > seconds and spent > 0:
            break
        if portion and total + test.seconds > most:
            yield portion
            portion, total, most = [], 0, 2 * most
        portion.append(test)
        total, spent = total + test.seconds, spent + test.seconds
    if portion:
        yield portion


def killed_by(number, tests):
    """The test that notices a fault, of tests that run together, and how; None if none does."""
    for program in sorted({test.program for test in tests}):
        own = [test for test in tests if test.program == program]
        limit = SLOWER * sum(test.seconds for test in own) + PATIENCE
        names = [test.name for test in own]
        code, text = run_again(program, own[0].executable, own[0].folder, names, limit, {"PROOFWARP_MUTANT": str(number)})
        if code == 0:
            continue
        failed = re.findall(r"^test (\S+).*FAILED$", text, re.M)
        begun = [name for name in names if f"test {name} ... ok" not in text]
        how = "does not end" if code is None else "fails" if failed else f"ends the process ({code})"
        name = (failed or begun or names)[0]
        # A test that fails without a fault as well says nothing.
        if run_again(program, own[0].executable, own[0].folder, [name], limit, {})[0] == 0:
            return f"{program} {name}", how
    return None


def judge(number, tests, seconds):
    """Outcome, test, and the seconds that were spent."""
    start = time.monotonic()
    own = [test for test in tests if number in test.reached]
    if not own:
        return "not reached", "", 0.0
    for portion in portions(own, seconds):
        found = killed_by(number, portion)
        if found:
            return "killed", f"{found[0]} {found[1]}", time.monotonic() - start
    left = sum(test.seconds for test in own) > seconds
    return "survived", f"{len(own)} tests{', not all run' if left else ''}", time.monotonic() - start


def chosen(options, table, numbers):
    """Of those that compile the ones that count, or that were asked for."""
    if options.ids or options.sample:
        asked = [int(number) for number in options.ids.split(",")] if options.ids else SAMPLE
        return [number for number in asked if number in numbers]
    taken, counted = collections.Counter(), []
    for number in numbers:
        module = table[number]["module"]
        if taken[module] < COUNTS[module] and options.module in (None, module):
            taken[module] += 1
            counted.append(number)
    return counted


def argued():
    """Why a fault changes no result, by its number."""
    return dict(line.split("\t") for line in ARGUED.read_text().splitlines()[1:]) if ARGUED.exists() else {}


def print_table():
    """The last result of each fault, in Markdown."""
    rows, reasons = sites(), argued()
    results = dict(line.split("\t", 1) for line in (FOLDER / "results.tsv").read_text().splitlines())
    code = lambda text: "`" + text.replace("|", "\\|") + "`"
    for number, rest in sorted(results.items(), key=lambda one: int(one[0])):
        row, (module, outcome, words, _) = rows[int(number)], rest.split("\t")
        words = reasons.get(number, words) if outcome != "killed" else words
        site = f"{row['file'].removeprefix('src/')}:{row['line']} {row['function'].split('::')[-1]}"
        print(f"| {number} | {module} | {site} | {code(row['before'])} → {code(row['after'])} | {outcome} | {words} |")


def judge_all(wanted, table, tests, seconds):
    """Prints what becomes of each, and returns how many there are of a module and an outcome, and those that nothing noticed."""
    counts, unnoticed, reasons = collections.Counter(), [], argued()
    with ThreadPoolExecutor(AT_ONCE) as pool, (FOLDER / "results.tsv").open("a") as out:
        judged = pool.map(lambda number: judge(number, tests, seconds), wanted)
        for number, (outcome, words, spent) in zip(wanted, judged):
            module = table[number]["module"]
            if outcome != "killed":
                reason = reasons.get(str(number))
                outcome = f"{outcome}, argued" if reason else outcome
                unnoticed += [] if reason else [number]
            counts[module, outcome] += 1
            line = f"{number}\t{module}\t{outcome}\t{words}\t{spent:.1f}"
            print(line, file=out, flush=True)
            print(line, flush=True)
    return counts, unnoticed


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    for name in ("--module", "--ids"):
        parser.add_argument(name)
    for name in ("--sample", "--table"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--program", action="append")
    options = parser.parse_args()
    if options.table:
        return print_table()
    table = sites()
    FOLDER.mkdir(parents=True, exist_ok=True)
    seed_build()
    copy_tree()
    numbers, refused, gone = compiled(sorted(table))
    print(f"{len(numbers)} faults; {len(refused)} do not compile, the site of {len(gone)} is gone", flush=True)
    tests = tests_of(build(options.program or (SAMPLE_PROGRAMS if options.sample else PROGRAMS)))
    print(f"{len(tests)} tests, {sum(test.seconds for test in tests):.0f} s", flush=True)
    counts, unnoticed = judge_all(chosen(options, table, numbers), table, tests, options.seconds)
    for (module, outcome), count in sorted(counts.items()):
        print(f"{module:10} {outcome:20} {count}")
    if unnoticed:
        sys.exit(f"mutants.py: no test notices {unnoticed}")


if __name__ == "__main__":
    main()
