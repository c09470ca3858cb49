#!/usr/bin/env python3
"""Finds code of the library that depends on the name of a backend, where it should ask for a capability.

Reads src/ without src/backend/, src/accelerator.rs, comments and unit tests. Prints each place that names a variant of
`BackendKind` or the feature of a backend, and ends with 1 if there is one. src/backend/device_caps.rs has the
capabilities, src/backend/factories.rs the backends.
usage: tests/backends.py [folder of the workspace]"""

import re
import sys
from pathlib import Path

BACKENDS = ("src/backend", "src/accelerator.rs")
COMMENT = re.compile(r"//[^\n]*")
UNIT_TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*mod \w+ \{.*?^\}\n", re.M | re.S)
VARIANT = re.compile(r"\bBackendKind\s*(?:::\s*(?:[A-Z]\w*|\*|\{)|as\b)")


def blank(match):
    """The line breaks of a match, so that later lines keep their numbers."""
    return "\n" * match.group().count("\n")


def sources(root):
    for file in sorted((root / "src").rglob("*.rs")):
        if "tests" not in file.stem and not any(file.is_relative_to(root / place) for place in BACKENDS):
            yield file.relative_to(root), COMMENT.sub("", UNIT_TESTS.sub(blank, file.read_text()))


def features(root):
    """The pattern of a backend's feature: the features are the names in src/backend/factories.rs."""
    names = set(re.findall(r'feature = "(\w+)"', (root / "src/backend/factories.rs").read_text()))
    return re.compile(rf'\bfeature\s*=\s*"(?:{"|".join(sorted(names))})"')


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    patterns, count, found = (VARIANT, features(root)), 0, []
    for file, text in sources(root):
        count += 1
        places = [match for pattern in patterns for match in pattern.finditer(text)]
        found += [f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}" for match in places]
    print(*found or [f"no backend is named in {count} files"], sep="\n")
    sys.exit(f"backends.py: {len(found)} places name a backend" if found else 0)


if __name__ == "__main__":
    main()
