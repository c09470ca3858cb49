#!/usr/bin/env python3
"""Checks that names of the code have one meaning, and the form that CONTRIBUTING.md asks for.

Reads src/, adapters/*/src and cli/src without unit tests. In src/, a type name is defined at most twice, and a generic one in one
module at most. Anywhere, no function has a bare preposition as its name, and constants say MAX or MIN. Prints what breaks this, and
ends with 1 if something does. Adapters for stock crates keep the names of those.
usage: tests/names.py [folder of the workspace]"""

import collections
import re
import sys
from pathlib import Path

MAX_DEFINITIONS = 2
GENERIC = {"Place", "Work", "Kind", "Rows", "Room", "Part", "Lane", "Job", "Call", "Held", "Kept"}
FUNCTIONS = {"of", "on", "most", "least", "few", "turn"}
CONSTANT_WORDS = {"MOST", "LEAST", "FEW", "FEWEST", "LARGEST"}

TYPE = re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|type) (\w+)", re.M)
FUNCTION = re.compile(r"^ *(?:pub(?:\([^)]*\))? )?(?:const |unsafe |extern \"C\" )*fn (\w+)", re.M)
CONSTANT = re.compile(r"^ *(?:pub(?:\([^)]*\))? )?(?:const|static) (\w+)\s*:", re.M)
UNIT_TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*mod \w+ \{.*?^\}\n", re.M | re.S)


def sources(root):
    folders = [root / "src", *sorted(root.glob("adapters/*/src")), root / "cli/src"]
    for folder in folders:
        for file in sorted(folder.rglob("*.rs")):
            if "tests" not in file.stem:
                yield file.relative_to(root), UNIT_TESTS.sub("", file.read_text())


def problems(root):
    types = collections.defaultdict(list)
    for file, text in sources(root):
        if file.parts[0] == "src":
            for name in TYPE.findall(text):
                types[name].append(str(file))
        for name in FUNCTION.findall(text):
            if name in FUNCTIONS:
                yield f"{file}: a function is called {name}"
        for name in CONSTANT.findall(text):
            if CONSTANT_WORDS & set(name.split("_")):
                yield f"{file}: {name} is no MAX or MIN"
    for name, files in sorted(types.items()):
        if len(files) > (1 if name in GENERIC else MAX_DEFINITIONS):
            yield f"{name} is a type of {', '.join(files)}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(problems(root))
    print(*found, sep="\n")
    if found:
        sys.exit(f"names.py: {len(found)} names to be changed")


if __name__ == "__main__":
    main()
