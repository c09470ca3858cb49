#!/usr/bin/env python3
"""Fails where a CUDA kernel of sumcheck or of dense matrices keeps anything in memory for want of registers, takes more of these than
figures were measured with, or lacks the instructions that it is made for. Reads what the build compiled, newest first.

usage: tests/registers.py CUOBJDUMP [TARGET/PROFILE]      (default: target/debug)"""

import re
import subprocess
import sys
from pathlib import Path

# Most registers of a work-item on sm_90, by module and kernel: as many groups fit on a multiprocessor as figures are of.
REGISTERS = {
    ("sumcheck_ghash_clmad", "sumcheck_product_2"): 80,
    ("sumcheck_ghash_clmad", "sumcheck_product_3"): 96,
    ("sumcheck_ghash_clmad", "sumcheck_product_4"): 128,
    ("sumcheck_ghash_clmad", "sumcheck_pair_2"): 128,
    ("sumcheck_ghash_clmad", "sumcheck_pair_3"): 168,
    ("sumcheck_ghash_clmad", "sumcheck_first_product_2"): 80,
    ("sumcheck_ghash_clmad", "sumcheck_first_product_3"): 96,
    ("sumcheck_ghash_clmad", "sumcheck_first_product_4"): 128,
    ("sumcheck_ghash_clmad", "sumcheck_first_pair_2"): 128,
    ("sumcheck_ghash_clmad", "sumcheck_first_pair_3"): 168,
    ("sumcheck_ghash", "sumcheck_product_2"): 96,
    ("sumcheck_ghash", "sumcheck_product_3"): 128,
    ("sumcheck_ghash", "sumcheck_product_4"): 168,
    ("sumcheck_sliced_tower", "sumcheck_sliced"): 128,
    ("sumcheck_bn254_fr", "sumcheck_product_2"): 128,
    ("sumcheck_bn254_fr", "sumcheck_product_3"): 168,
    ("sumcheck_bn254_fr", "sumcheck_product_4"): 255,
    ("gemm_bn254_fr", "gemm_lazy"): 96,
    ("gemm_bn254_fr", "gemv_lazy"): 72,
    ("gemm_bn254_fr", "crt_residues"): 64,
    ("gemm_bn254_fr", "crt_reconstruct"): 128,
}
# Bytes in memory that are known: words that are stored before the loop over rows, and loaded behind it.
MEMORY = {
    ("sumcheck_baby_bear", "sumcheck_product_3"): 8,
    ("sumcheck_baby_bear4", "sumcheck_product_2"): 8,
    ("sumcheck_ghash", "sumcheck_pair_4"): 16,
    ("sumcheck_ghash", "sumcheck_first_pair_4"): 16,
    ("sumcheck_ghash", "sumcheck_first_product_3"): 8,
    ("sumcheck_ghash_clmad", "sumcheck_first_pair_4"): 8,
    ("sumcheck_ghash_clmad", "sumcheck_pair_4"): 8,
}
# Instructions by module, kernel and the pattern of their names: how many there are at least, and at most.
INSTRUCTIONS = [
    # A product of 32 bits, bit-sliced: benches/notes/sumcheck.md counts 882.
    ("sumcheck_sliced_tower", "sliced_products", r"LOP3", 1, 900),
    ("gemm_int8_tensor", "gemm_int8_residues", r"IMMA", 1, None),
    ("gemm_int8_hopper", "gemm_int8_residues", r"IGMMA", 1, None),
]
FAMILIES = ("sumcheck_", "gemm_")
# Where the numbers above are from; another compiler's are not compared.
ARCHITECTURE, COMPILER = "sm_90", "Some((13, 0))"


def fatbins(profile):
    """Modules' names and files, as the newest build has them, and its compiler."""
    tables = sorted(profile.glob("build/proofwarp-*/out/fatbins.rs"), key=lambda path: path.stat().st_mtime)
    for table in reversed(tables):
        text = table.read_text()
        found = re.findall(r'\("(\w+)", include_bytes!\("([^"]+)"\)\)', text)
        if found:
            compiler = re.search(r"COMPILER.* = (.*);", text)[1]
            return {name: path for name, path in found if name.startswith(FAMILIES)}, compiler
    sys.exit(f"registers.py: no kernels were built in {profile}")


def dump(tool, what, path):
    return subprocess.run([tool, what, path], check=True, capture_output=True, text=True).stdout


def usage(text):
    """Architecture, kernel, registers, and bytes in memory, of each kernel."""
    architecture = kernel = ""
    for line in text.splitlines():
        if found := re.match(r"arch = (\w+)", line):
            architecture = found[1]
        elif found := re.match(r" Function (\w+):", line):
            kernel = found[1]
        elif found := re.match(r"\s+REG:(\d+) STACK:(\d+) .*LOCAL:(\d+)", line):
            registers, stack, local = map(int, found.groups())
            yield architecture, kernel, registers, stack + local


def count(text, kernel, pattern):
    """Instructions of a kernel, in the first architecture that has it."""
    body = re.search(rf"Function : {kernel}\n(.*?)(?=\n\s*Function : |\nFatbin |\Z)", text, re.S)
    return len(re.findall(rf"^\s*/\*\w+\*/\s+(?:@!?U?P\w+ )?{pattern}\b", body[1], re.M)) if body else 0


def faults(tool, modules, limits):
    seen = set()
    for module, path in modules.items():
        for architecture, kernel, registers, memory in usage(dump(tool, "-res-usage", path)):
            seen.add((module, kernel))
            if memory > MEMORY.get((module, kernel), 0):
                yield f"{module}, {kernel}, {architecture}: {memory} bytes in memory, where all is to be in registers"
            most = limits.get((module, kernel))
            if most and architecture.startswith(ARCHITECTURE) and registers > most:
                yield f"{module}, {kernel}, {architecture}: at most {most} registers expected, got {registers}"
    yield from (f"{module}, {kernel}: there is no such kernel" for module, kernel in limits.keys() - seen)
    for module, kernel, pattern, least, most in INSTRUCTIONS:
        number = count(dump(tool, "-sass", modules[module]), kernel, pattern) if module in modules else 0
        if number < least or most is not None and number > most:
            yield f"{module}, {kernel}: {least} to {most or 'any number of'} {pattern} expected, got {number}"


def main():
    profile = Path(sys.argv[2] if len(sys.argv) > 2 else "target/debug")
    modules, compiler = fatbins(profile)
    if compiler != COMPILER:
        print(f"numbers of registers: left out, they are of compiler {COMPILER}, not {compiler}")
    found = list(faults(sys.argv[1], modules, REGISTERS if compiler == COMPILER else {}))
    if found:
        sys.exit("\n".join(["registers.py:", *found]))
    print(f"registers.py: {len(modules)} modules keep everything in registers")


if __name__ == "__main__":
    main()
