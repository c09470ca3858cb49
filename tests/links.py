#!/usr/bin/env python3
"""Checks links between the project's pages, their headings, the book's summary and index, the tables of src/lib.rs, the repository's
address (tests/address.py), and the paths that comments of the code name. Links to elsewhere are left alone.

usage: tests/links.py"""

import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import address

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *BOOK.glob("*.md"), *ROOT.glob("benches/**/*.md")]
MOST_LINES = {"README.md": 150}
CODE = ["src", "adapters/*/src", "cli/src", "cl", "cuda"]
REPOSITORY = f"{re.escape(address.OWNER)}/{re.escape(address.NAME)}"
HERE = re.compile(rf"https://(?:github\.com/{REPOSITORY}/(?:blob|tree)|raw\.githubusercontent\.com/{REPOSITORY})/main/(.*)")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")

COMMENT = re.compile(r"(?:^|\s)//(.*)$", re.M)
FOLDERS = "src|cl|cuda|crates|docs|tests|benches|examples|adapters|build|cli|fuzz|xtask"
# A file of the code, by its name alone or with folders, or anything in a folder of the repository. docs.rs is a site.
NAMED = re.compile(rf"(?<![\w/.:@-])(?!docs\.rs)((?:[\w-]+/)*[\w*-]+\.(?:rs|cl|cuh?)\b|(?:{FOLDERS})/[\w./*-]*\w)")


@cache
def text(page):
    """The page without code, in which brackets mean something else."""
    prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda code: code.group().replace("[", "").replace("]", ""), prose)


@cache
def anchors(page):
    """Headings as GitHub and mdBook name them."""
    headings = re.findall(r"^#+ (.*)$", text(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(page):
    """What is wrong with the links of a page."""
    for target in LINK.findall(text(page)):
        here = HERE.fullmatch(target)
        if not here and re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = (here.group(1) if here else target).partition("#")
        file = ((ROOT if here else page.parent) / path).resolve() if path else page
        if not file.exists():
            yield f"{target}: there is no such file"
        elif not here and page.parent == BOOK and not file.is_relative_to(BOOK):
            yield f"{target}: leaves the book; name it by its address on GitHub"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}: there is no such heading"


def exists(name, file):
    """Whether a name leads somewhere from the root, the library's source, the file's folder or its crate, or is a kernel's file."""
    crate = next((folder.parent for folder in file.parents if folder.name == "src"), ROOT)
    folders = [ROOT, ROOT / "src", ROOT / "cl", ROOT / "cuda", file.parent, crate, crate / "src"]
    return any(next(folder.glob(name), None) for folder in folders)


def comment_faults():
    """Paths that comments name and that are not there."""
    for file in (file for pattern in CODE for folder in ROOT.glob(pattern) for file in sorted(folder.rglob("*"))):
        if file.suffix not in (".rs", ".cl", ".cu", ".cuh"):
            continue
        code = file.read_text()
        for comment in COMMENT.finditer(code):
            for name in NAMED.findall(comment[1]):
                if not exists(name, file):
                    line = code.count("\n", 0, comment.start(1)) + 1
                    yield f"{file.relative_to(ROOT)}:{line}: {name}: there is no such file"


def summary_faults():
    """Pages that the summary lacks or has twice."""
    listed = LINK.findall(text(BOOK / "SUMMARY.md"))
    for page in BOOK.glob("*.md"):
        if page.name != "SUMMARY.md" and listed.count(page.name) != 1:
            yield f"{page.name}: listed {listed.count(page.name)} times"


def index_faults():
    """Pages that docs/README.md lacks."""
    listed = LINK.findall(text(BOOK / "README.md"))
    for page in sorted(BOOK.glob("*.md")):
        if page.name not in ("README.md", "SUMMARY.md", *listed):
            yield f"{page.name} is not listed"


def table_faults():
    """Public modules and features that the tables of src/lib.rs lack."""
    library = (ROOT / "src/lib.rs").read_text()
    rows = "\n".join(re.findall(r"^//! \|.*$", library, flags=re.M))
    modules = re.findall(r"(?<!hidden\)\]\n)^pub mod (\w+);", library, flags=re.M)
    features = tomllib.loads((ROOT / "Cargo.toml").read_text())["features"].keys() - {"default"}
    for name in (*modules, *sorted(features)):
        if not re.search(rf"`(?:mod@)?{name}`", rows):
            yield f"no table has {name}"


def length_faults():
    for name, most in MOST_LINES.items():
        lines = len((ROOT / name).read_text().splitlines())
        if lines > most:
            yield f"{lines} lines, at most {most}"


def main():
    found = [f"{page.relative_to(ROOT)}: {fault}" for page in PAGES for fault in faults(page)]
    found += [f"docs/SUMMARY.md: {fault}" for fault in summary_faults()]
    found += [f"docs/README.md: {fault}" for fault in index_faults()]
    found += [f"src/lib.rs: {fault}" for fault in table_faults()]
    found += [f"README.md: {fault}" for fault in length_faults()]
    found += address.all_faults()
    found += comment_faults()
    print("\n".join(found) or f"links of {len(PAGES)} pages and paths in comments lead somewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
