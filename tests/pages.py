#!/usr/bin/env python3
"""Copies the complete programs of docs/ into crates outside the repository, as a reader would, and runs each on the backends.

A program is a block of toml that starts with `# Cargo.toml` and the next block of Rust, which starts with `// src/main.rs`.
Nothing of it is changed but the address of proofwarp's repository, which becomes a path.

usage: tests/pages.py [cpu] [opencl] [cuda]      (default: cpu opencl)"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = re.compile(r"```toml\n(# Cargo\.toml\n.*?)```.*?```rust[^\n]*\n(// src/main\.rs\n.*?)```", re.S)
FROM_GIT = re.compile(r'([\w-]+) = \{ git = "https://github\.com/proofwarp/proofwarp"')
SAYS = "proof valid: true"


def programs():
    for page in sorted((ROOT / "docs").glob("*.md")):
        for number, (manifest, main) in enumerate(PROGRAM.findall(page.read_text())):
            yield f"{page.stem}-{number}", manifest, main


def with_paths(manifest):
    folder = lambda name: ROOT if name == "proofwarp" else ROOT / "adapters" / name.removeprefix("proofwarp-")
    return FROM_GIT.sub(lambda found: f'{found[1]} = {{ path = "{folder(found[1])}"', manifest)


def run(folder, name, backend):
    reports = folder / f"report-{backend}.txt"
    variables = {"PROOFWARP_BACKEND": backend, "PROOFWARP_REPORT": str(reports), "CARGO_TARGET_DIR": str(ROOT / "target/pages")}
    if backend == "opencl":
        variables.setdefault("PROOFWARP_OPENCL_CPU", os.environ.get("PROOFWARP_OPENCL_CPU", "1"))
    command = ["cargo", "run", "--quiet", "--release"]
    done = subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True)
    if done.returncode or SAYS not in done.stdout:
        sys.exit(f"pages.py: {name} on {backend}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    lines = reports.read_text().splitlines() if reports.exists() else []
    strays = [line for line in lines if f" on {backend} (" not in line]
    # Transforms of a setup run on the CPU by bellperson's own choice.
    strays = [line for line in strays if not line.startswith("ntt ")]
    if strays or not lines:
        sys.exit(f"pages.py: {name}: expected reports of {backend} alone, got {strays or 'none'}")
    print(f"{name} on {backend}: {SAYS}, {len(lines)} operations")


def main():
    backends = sys.argv[1:] or ["cpu", "opencl"]
    found = list(programs())
    if not found:
        sys.exit("pages.py: there is no program in docs/")
    for name, manifest, main_rs in found:
        with tempfile.TemporaryDirectory() as temp:
            folder = Path(temp)
            (folder / "src").mkdir()
            (folder / "Cargo.toml").write_text(with_paths(manifest) + "\n[workspace]\n")
            (folder / "src/main.rs").write_text(main_rs)
            for backend in backends:
                run(folder, name, backend)


if __name__ == "__main__":
    main()
