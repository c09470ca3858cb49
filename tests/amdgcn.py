#!/usr/bin/env python3
"""Compiles all OpenCL kernels for AMD's gfx90a (CDNA 2) and gfx1100 (RDNA 3), and compares their registers, scratch memory and local
memory with the table of docs/performance.md. Nothing runs, and no AMD card is needed.

Sources and options are those that the library gives to a driver. The library has no kernels, macros or inline assembly for AMD
alone: all devices without PTX get the portable source.

usage: tests/amdgcn.py CLANG LIBCLC SOURCES [--write]
       LIBCLC is the bitcode amdgcn--amdhsa.bc, SOURCES a folder that `xtask kernels --write` wrote. `--write` rewrites the table."""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
START, END = "<!-- tests/amdgcn.py --write -->\n\n", "\n<!-- end -->"
PROCESSORS = ("gfx90a", "gfx1100")
# Columns of the table, and the metadata that they are the largest of.
COLUMNS = {
    "VGPRs": "vgpr_count",
    "SGPRs": "sgpr_count",
    "VGPRs spilled": "vgpr_spill_count",
    "SGPRs spilled": "sgpr_spill_count",
    "scratch": "private_segment_fixed_size",
    "local memory": "group_segment_fixed_size",
}
# Where the table is from; another compiler's registers are not compared.
COMPILER = "19.1.7"
# What AMD's driver adds to the library's options: its optimisation level, and the version of OpenCL, which clang leaves to drivers.
DRIVER_OPTIONS = ("-O3", "-D__OPENCL_VERSION__=200")
# Bytes of local memory and work-items that a work-group can have on both processors.
LOCAL_MEMORY, GROUP = 64 << 10, 1024


def library_options():
    """Options that the library gives to every OpenCL compiler."""
    text = (ROOT / "src/backend/opencl/program.rs").read_text()
    return re.search(r'const OPTIONS: &str = "(.*)";', text)[1].split()


def families():
    """Families of kernel modules, longest names first: one may begin another's."""
    tables = (ROOT / "docs/architecture.md").read_text().split("| family | modules |")[1]
    names = re.findall(r"^\| `(\w+)` \|", tables.split("<!-- end -->")[0], re.M)
    return sorted(names, key=len, reverse=True)


def kernels(assembly):
    """Names and numbers of the kernels that the assembly's metadata describe."""
    metadata = assembly.partition("amdhsa.kernels:\n")[2].partition("\namdhsa.target")[0]
    for kernel in re.split(r"^  - ", metadata, flags=re.M)[1:]:
        found = dict(re.findall(r"^(?:    )?\.(\w+): +(\w+)$", kernel, re.M))
        yield found["name"], {key: int(value) for key, value in found.items() if value.isdigit()}


def undefined(assembly):
    """Functions that the assembly calls and does not have, which a driver could not link."""
    used = set(re.findall(r"([\w.$]+)@\w+@lo", assembly))
    return sorted(used - set(re.findall(r"^([\w.$]+):", assembly, re.M)))


def compile_module(compiler, library, source, processor):
    """Kernels of a module, or the compiler's errors."""
    target = ["-target", "amdgcn-amd-amdhsa", f"-mcpu={processor}", "-nogpulib"]
    linked = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", library]
    line = [compiler, "-x", "cl", *library_options(), *DRIVER_OPTIONS, *target, *linked, "-S", "-o", "-", source]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    missing = undefined(done.stdout)
    return f"libclc lacks {', '.join(missing)}" if missing else dict(kernels(done.stdout))


def faults(module, processor, result):
    """Reasons why a module's kernels cannot be used."""
    where = f"{module}, {processor}"
    if isinstance(result, str):
        yield f"{where}: does not compile\n{result}"
        return
    if not result:
        yield f"{where}: there is no kernel"
    for kernel, numbers in result.items():
        if numbers["group_segment_fixed_size"] > LOCAL_MEMORY:
            yield f"{where}, {kernel}: {numbers['group_segment_fixed_size']} bytes of local memory, at most {LOCAL_MEMORY} expected"
        if numbers["max_flat_workgroup_size"] > GROUP:
            yield f"{where}, {kernel}: work-groups of {numbers['max_flat_workgroup_size']}, at most {GROUP} expected"


def largest(kernels, key):
    return max(numbers[key] for numbers in kernels)


def has_scratch(numbers):
    return numbers["private_segment_fixed_size"] > 0


def row(family, by_processor):
    """A family's row: the largest numbers of its kernels, for each processor."""
    found = [by_processor[processor] for processor in PROCESSORS]
    each = lambda number: " / ".join(str(number(kernels)) for kernels in found)
    columns = [each(lambda kernels, key=key: largest(kernels, key)) for key in COLUMNS.values()]
    scratch = each(lambda kernels: sum(map(has_scratch, kernels)))
    return f"| `{family}` | {len(found[0])} | {' | '.join(columns)} | {scratch} |\n"


def table(results):
    """The table by family of what `results` have by module and processor."""
    found = {}
    names = families()
    for (module, processor), kernels in results.items():
        family = next((name for name in names if module.startswith(f"{name}_")), None)
        if not family:
            sys.exit(f"amdgcn.py: docs/architecture.md has no family of {module}")
        found.setdefault(family, {}).setdefault(processor, []).extend(kernels.values())
    head = f"| {' / '.join(PROCESSORS)} | kernels | {' | '.join(COLUMNS)} | kernels with scratch |\n"
    return head + "|---" * (3 + len(COLUMNS)) + "|\n" + "".join(row(*item) for item in sorted(found.items()))


def compile_all(compiler, library, folder):
    """Kernels or errors by module and processor. The largest sources come first, since they take longest."""
    sources = sorted(folder.glob("*.cl"), key=lambda path: -path.stat().st_size)
    if not sources:
        sys.exit(f"amdgcn.py: there are no sources in {folder}")
    work = [(source, processor) for source in sources for processor in PROCESSORS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda item: compile_module(compiler, library, *item), work)
        return {(source.stem, processor): result for (source, processor), result in zip(work, done)}


def compare(new, is_comparable):
    """Fails if the page has another table than `new`."""
    _, old = PAGE.read_text().split(START)
    old, _ = old.split(END)
    if not is_comparable:
        print(f"the table of docs/performance.md: not compared, it is of clang {COMPILER}")
    elif old != new:
        sys.exit("amdgcn.py: docs/performance.md has another table; tests/amdgcn.py --write rewrites it")


def write(new):
    before, rest = PAGE.read_text().split(START)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{START}{new}{END}{after}")


def main():
    compiler, library, folder = sys.argv[1:4]
    said = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"clang version ([\d.]+)", said)[1]
    start = time.monotonic()
    results = compile_all(compiler, library, Path(folder))
    found = [fault for (module, processor), result in results.items() for fault in faults(module, processor, result)]
    if found:
        sys.exit("\n".join(["amdgcn.py:", *found]))
    new = table(results)
    print(f"{new}{len(results) // len(PROCESSORS)} modules by clang {version} in {time.monotonic() - start:.0f} s")
    write(new) if "--write" in sys.argv else compare(new, version == COMPILER)


if __name__ == "__main__":
    main()
