#!/usr/bin/env python3
"""Finds Rust files that import each other, directly or over other files.

Reads src/ and adapters/*/src. A file imports another if a path in its code or in a `use` leads to something that the
other one defines; re-exports are followed to the definition. Code of tests is left out, and so are a file's own
re-exports that its code does not use: a `mod.rs` that only declares and re-exports imports nothing.
Prints each circle and ends with 1 if there is one.
usage: tests/circles.py [folder of the workspace]
"""
import re
import sys
from pathlib import Path

COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S)
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:mod\s+(\w+)\s*;|[^{;]*([{;]))")
USE = re.compile(r"\b(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]+);")
ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)")
INNER = re.compile(r"\bmod\s+(\w+)\s*\{")
PATH = re.compile(r"(?<![\w:.])\$?(\w+(?:\s*::\s*\w+)+)")


def block_end(text, start):
    """The place after the block whose brace is at `start`."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return start + brace.end()
    return len(text)


def uses(tree, before=()):
    """Paths of a use tree, each with the name that it gets."""
    head, brace, rest = tree.strip().partition("{")
    before = (*before, *re.findall(r"\w+|\*", head.split(" as ")[0]))
    if not brace:
        path = before[:-1] if before[-1] == "self" and len(before) > 1 else before
        return [(head.split(" as ")[1].strip() if " as " in head else path[-1], path)]
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(rest):
        depth += (letter == "{") - (letter == "}")
        if (letter == "," and depth == 0) or depth < 0:
            parts.append(rest[start:at])
            start = at + 1
    return [use for part in parts if part.strip() for use in uses(part, before)]


class Crate:
    """The modules of a crate by their path, such as ("msm", "run"), and what each has."""

    def __init__(self, root):
        self.root, self.files, self.code, self.names, self.imports, self.items = root, {}, {}, {}, {}, {}
        self.tests = set()
        for file in sorted(root.rglob("*.rs")):
            path = file.relative_to(root).with_suffix("").parts
            module = () if path == ("lib",) else path[:-1] if path[-1] == "mod" else path
            self.files[module] = file
            self.read(module, COMMENT_OR_TEXT.sub('""', file.read_text()))

    def read(self, module, text):
        while test := TEST.search(text):
            if test.group(1):
                self.tests.add((*module, test.group(1)))
            end = block_end(text, test.end() - 1) if test.group(2) == "{" else test.end()
            text = text[:test.start()] + text[end:]
        while inner := INNER.search(text):  # A module within the file counts as the file, its paths as its own.
            end, name = block_end(text, inner.end() - 1), (*module, inner.group(1))
            self.files[name] = self.files[module]
            self.read(name, text[inner.end():end - 1])
            text = text[:inner.start()] + text[end:]
        found = [(bool(public), *use) for public, tree in USE.findall(text) for use in uses(tree)]
        self.imports[module] = {name: path for _, name, path in found if name != "*"}
        self.globs = getattr(self, "globs", {}) | {module: [path[:-1] for _, name, path in found if name == "*"]}
        self.code[module] = USE.sub("", text)
        self.items[module] = set(ITEM.findall(text))
        words = set(re.findall(r"\w+", self.code[module]))
        self.names[module] = [path for public, name, path in found if not public or name in words]

    def find(self, module, path, seen=frozenset()):
        """The module that defines what a path in a module names; none if that is of another crate."""
        first, *rest = path
        if first == "crate":
            return self.walk((), rest, seen)
        if first in ("self", "super"):
            return self.walk(module[:-1] if first == "super" else module, rest, seen)
        return self.walk(module, path, seen) if self.knows(module, first) else None

    def knows(self, module, name):
        return (*module, name) in self.files or name in self.imports[module] or name in self.items[module]

    def walk(self, module, path, seen):
        if not path or (module, tuple(path)) in seen:
            return module
        seen = seen | {(module, tuple(path))}
        first, *rest = path
        if first == "super":
            return self.walk(module[:-1], rest, seen)
        if (*module, first) in self.files:
            return self.walk((*module, first), rest, seen)
        if first in self.imports[module] and first not in self.items[module]:
            return self.find(module, (*self.imports[module][first], *rest), seen)
        if first in self.items[module]:
            return module
        there = (self.find(module, (*glob, first), seen) for glob in self.globs[module])
        return next((found for found in there if found and first in self.items[found]), module)

    def edges(self):
        graph = {}
        for module in self.code:
            if any(module[:len(test)] == test for test in self.tests):
                continue
            paths = [re.split(r"\s*::\s*", path) for path in PATH.findall(self.code[module])]
            found = {self.find(module, path) for path in [*paths, *self.names[module], *self.globs[module]]}
            to = {self.files[other] for other in found if other is not None and other in self.files}
            graph.setdefault(self.files[module], set()).update(to - {self.files[module]})
        return graph


def shortest_circle(graph, start):
    """The shortest way from a file back to it, if there is one."""
    ways, seen = [[start]], set()
    for way in ways:
        for after in sorted(graph.get(way[-1], ())):
            if after == start:
                return way
            if after not in seen:
                seen.add(after)
                ways.append([*way, after])
    return None


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    circles = set()
    for root in [top / "src", *sorted(top.glob("adapters/*/src"))]:
        graph = Crate(root).edges()
        for way in filter(None, (shortest_circle(graph, file) for file in graph)):
            least = way.index(min(way))
            circles.add(tuple(str(file.relative_to(top)) for file in way[least:] + way[:least]))
    for circle in sorted(circles):
        print(" -> ".join([*circle, circle[0]]))
    print(f"{len(circles)} circles" if circles else "no file imports one that imports it")
    return bool(circles)


if __name__ == "__main__":
    sys.exit(main())
