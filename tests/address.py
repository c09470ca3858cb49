#!/usr/bin/env python3
"""Checks that pages, manifests and scripts name the repository by its address in Cargo.toml. Only Cargo.toml decides it.

An address is github.com/OWNER/NAME or raw.githubusercontent.com/OWNER/NAME, where NAME is `proofwarp` or the name in Cargo.toml.
tests/links.py calls this check.

usage: tests/address.py             prints addresses that differ; ends with 1 if there are any
       tests/address.py --write     replaces them by the one of Cargo.toml
       tests/address.py --print     prints the address"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOST = "https://github.com/"
REPOSITORY = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
KINDS = ["*.cff", "*.md", "*.toml", "*.rs", "*.py", "*.sh", "*.yml"]

if not re.fullmatch(rf"{HOST}[\w.-]+/[\w.-]+", REPOSITORY):
    sys.exit(f"Cargo.toml: repository: expected {HOST}OWNER/NAME, got {REPOSITORY}")
OWNER, NAME = REPOSITORY.removeprefix(HOST).split("/")
ADDRESS = re.compile(rf"((?:github|raw\.githubusercontent)\.com/)([\w.-]+/(?:proofwarp|{re.escape(NAME)}))(?![\w-])")


def files():
    """Tracked files that may name the address."""
    listed = subprocess.run(["git", "ls-files", "-z", *KINDS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def faults(file):
    """Lines whose address is not the repository's, with their numbers."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        for found in ADDRESS.finditer(line):
            if found[2] != f"{OWNER}/{NAME}":
                yield f"{number}: {found[0]}: expected {found[1]}{OWNER}/{NAME}; tests/address.py --write corrects it"


def all_faults():
    return [f"{file.relative_to(ROOT)}:{fault}" for file in files() for fault in faults(file)]


def write():
    for file in files():
        text = file.read_text()
        corrected = ADDRESS.sub(rf"\g<1>{OWNER}/{NAME}", text)
        if corrected != text:
            file.write_text(corrected)
            print(file.relative_to(ROOT))


def main():
    if sys.argv[1:] == ["--print"]:
        print(REPOSITORY)
    elif sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        found = all_faults()
        print("\n".join(found) or f"every address is {REPOSITORY}")
        sys.exit(bool(found))


if __name__ == "__main__":
    main()
