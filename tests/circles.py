#!/usr/bin/env python3
"""Finds Rust files that import each other, directly or by way of other files.

Reads src/ and adapters/*/src. A file imports another if a path in its code or in a `use` leads to something that the
other one defines; re-exports are followed to the definition. Tests do not count, nor does a `pub use` of names that the
file's own code does not use: a `mod.rs` that only declares and re-exports imports nothing. Methods are not followed.
Prints each circle and ends with 1 if there is one.
usage: tests/circles.py [folder of the workspace]"""
import re
import sys
from pathlib import Path

COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S)
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;|[^{;]*([{;]))")
INNER = re.compile(r"\bmod\s+(\w+)\s*(\{)")
USE = re.compile(r"\b(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]+);")
ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)")
PATH = re.compile(r"(?<![\w:.])(\w+(?:\s*::\s*\w+)+)")


def block_end(text, start):  # Of the block whose brace is at `start`.
    depth = 0
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return start + brace.end()
    return len(text)


def uses(tree, before=()):
    """The names that a use tree brings in, each with its path."""
    head, brace, rest = tree.strip().partition("{")
    path, _, alias = head.partition(" as ")
    path = (*before, *re.findall(r"\w+|\*", path))
    if not brace:
        path = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        return [(alias.strip() or path[-1], path)]
    branches, depth = [""], 0
    for letter in rest[:rest.rindex("}")]:
        depth += (letter == "{") - (letter == "}")
        branches += [""] if letter == "," and depth == 0 else []
        branches[-1] += letter
    return [use for branch in branches if branch.strip(" ,\n") for use in uses(branch.lstrip(" ,\n"), path)]


class Crate:
    """The modules of a crate by their paths, such as ("msm", "exec"): what each has, imports and names."""

    def __init__(self, root):
        self.files, self.items, self.imports, self.globs, self.named, self.tests = {}, {}, {}, {}, {}, set()
        for file in sorted(root.rglob("*.rs")):
            path = file.relative_to(root).with_suffix("").parts
            module = () if path == ("lib",) else path[:-1] if path[-1] == "mod" else path
            self.read(file, module, COMMENT_OR_TEXT.sub('""', file.read_text()))

    def read(self, file, module, text):
        while test := TEST.search(text):
            self.tests.add((*module, test.group(1)))
            end = block_end(text, test.start(2)) if test.group(2) == "{" else test.end()
            text = text[:test.start()] + text[end:]
        while inner := INNER.search(text):
            end = block_end(text, inner.start(2))
            self.read(file, (*module, inner.group(1)), text[inner.end():end - 1])
            text = text[:inner.start()] + text[end:]
        found = [(public, *use) for public, tree in USE.findall(text) for use in uses(tree)]
        code = USE.sub("", text)
        words = set(re.findall(r"\w+", code))
        self.files[module], self.items[module] = file, set(ITEM.findall(code))
        self.imports[module] = {name: path for _, name, path in found if name != "*"}
        self.globs[module] = [path[:-1] for _, name, path in found if name == "*"]
        self.named[module] = [tuple(re.split(r"\s*::\s*", path)) for path in PATH.findall(code)]
        self.named[module] += [path for public, name, path in found if not public or name in words]
        self.named[module] += [glob + (word,) for glob in self.globs[module] for word in words]

    def find(self, module, path, inside=False, seen=()):
        """The module that defines what a path in a module leads to; none if that is in another crate. What a module that
        the path goes `inside` does not seem to have, a macro of its own defines."""
        if (module, path) in seen or not path:
            return module
        seen, first, rest = (*seen, (module, path)), path[0], path[1:]
        if first in ("crate", "self", "super"):
            return self.find({"crate": (), "self": module, "super": module[:-1]}[first], rest, True, seen)
        if (*module, first) in self.files:
            return self.find((*module, first), rest, True, seen)
        if first in self.items[module]:
            return module
        if first in self.imports[module]:
            return self.find(module, self.imports[module][first] + rest, False, seen)
        there = (self.find(module, glob + (first,), False, seen) for glob in self.globs[module])
        return next((found for found in there if found and first in self.items[found]), module if inside else None)

    def graph(self):
        graph = {}
        for module, file in self.files.items():
            if not any(module[:length] in self.tests for length in range(len(module) + 1)):
                found = {self.find(module, path) for path in self.named[module]} - {None}
                graph.setdefault(file, set()).update({self.files[other] for other in found} - {file})
        return graph


def shortest_circle(graph, start):
    """The shortest way from a file back to it, from its first file by name; none if there is no way."""
    ways, seen = [[start]], set()
    for way in ways:
        if start in graph.get(way[-1], ()):
            least = way.index(min(way))
            return (*way[least:], *way[:least], way[least])
        ways += [[*way, after] for after in sorted(graph.get(way[-1], set()) - seen)]
        seen |= graph.get(way[-1], set())


top = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
graphs = [Crate(root).graph() for root in [top / "src", *sorted(top.glob("adapters/*/src"))]]
circles = {shortest_circle(graph, file) for graph in graphs for file in graph} - {None}
for circle in sorted(circles):
    print(" -> ".join(str(file.relative_to(top)) for file in circle))
print(f"{len(circles)} circles" if circles else f"no circle in {sum(map(len, graphs))} files")
sys.exit(bool(circles))
