#!/usr/bin/env python3
"""Checks links between the project's pages, their headings, and the book's summary. Links to elsewhere are left alone.

usage: tests/links.py"""

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *BOOK.glob("*.md"), *ROOT.glob("benches/**/*.md")]
MOST_LINES = {"README.md": 150}
HERE = re.compile(
    r"https://(?:github\.com/proofwarp/proofwarp/(?:blob|tree)|raw\.githubusercontent\.com/proofwarp/proofwarp)/main/(.*)"
)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


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


def summary_faults():
    """Pages that the summary lacks or has twice."""
    listed = LINK.findall(text(BOOK / "SUMMARY.md"))
    for page in BOOK.glob("*.md"):
        if page.name != "SUMMARY.md" and listed.count(page.name) != 1:
            yield f"{page.name}: listed {listed.count(page.name)} times"


def length_faults():
    for name, most in MOST_LINES.items():
        lines = len((ROOT / name).read_text().splitlines())
        if lines > most:
            yield f"{lines} lines, at most {most}"


def main():
    found = [f"{page.relative_to(ROOT)}: {fault}" for page in PAGES for fault in faults(page)]
    found += [f"docs/SUMMARY.md: {fault}" for fault in summary_faults()]
    found += [f"README.md: {fault}" for fault in length_faults()]
    print("\n".join(found) or f"links of {len(PAGES)} pages lead somewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
