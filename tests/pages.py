#!/usr/bin/env python3
"""Copies the complete programs of docs/ into crates outside the repository, as a reader would, and runs each on the backends.

A program is a block of toml that starts with `# Cargo.toml` and the next block of Rust, which starts with `// src/main.rs`.
Nothing of it is changed but the address of proofwarp's repository, which becomes a path. For `cuda` its section's lines with
the feature `cuda` are copied too. Kernels are built then; without a card the program has to say so and run all the same.

usage: tests/pages.py [cpu] [opencl] [cuda]      (default: cpu opencl)"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import address

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = re.compile(r"```toml\n(# Cargo\.toml\n.*?)```.*?```rust[^\n]*\n(// src/main\.rs\n.*?)```", re.S)
FROM_GIT = re.compile(rf'([\w-]+) = \{{ git = "{re.escape(address.REPOSITORY)}"')
CUDA_LINE = re.compile(r'([\w-]+) = \{ (?:version|git) = "[^"]*", features = \[(?:"[^"]*", )*"cuda"\] \}')
SAYS = re.compile(r"^(proof valid|result right): true$", re.M)


def programs():
    """Names, manifests, programs, and the lines for CUDA."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        sections = re.split(r"^## ", page.read_text(), flags=re.M)
        for section in sections:
            for number, (manifest, main) in enumerate(PROGRAM.findall(section)):
                name = re.sub(r"\W+", "-", section.splitlines()[0]).strip("-")
                yield f"{page.stem}-{name}-{number}", manifest, main, [found.group() for found in CUDA_LINE.finditer(section)]


def with_paths(manifest):
    folder = lambda name: ROOT if name == "proofwarp" else ROOT / "adapters" / name.removeprefix("proofwarp-")
    return FROM_GIT.sub(lambda found: f'{found[1]} = {{ path = "{folder(found[1])}"', manifest)


def with_cuda(manifest, lines):
    """The lines in place of those of the same crates, or else as new dependencies."""
    dependencies, patch, patches = manifest.partition("\n[patch")
    for line in lines:
        crate = re.compile(rf"^{line.split(' ')[0]} = .*$", re.M)
        dependencies = crate.sub(line, dependencies) if crate.search(dependencies) else f"{dependencies.rstrip()}\n{line}\n"
    return f"{dependencies}{patch}{patches}"


def has_card():
    return Path("/dev/nvidiactl").exists()


def variables(folder, backend):
    found = os.environ | {"PROOFWARP_REPORT": str(report(folder, backend)), "CARGO_TARGET_DIR": str(ROOT / "target/pages"), "RUST_LOG": "warn"}
    found.pop("PROOFWARP_BACKEND", None)
    if backend != "cuda" or has_card():
        found["PROOFWARP_BACKEND"] = backend
    if backend == "opencl":
        found.setdefault("PROOFWARP_OPENCL_CPU", "1")
    if backend == "cuda":
        found.pop("PROOFWARP_OPENCL_CPU", None)
        found.setdefault("CUDA_LIBRARY_PATH", "/usr" if Path("/usr/lib64").exists() else str(ROOT / "cuda/stub"))
        wheels = next(ROOT.glob("target/nvcc-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc"), None)
        found |= {"NVCC": found.get("NVCC", str(wheels))} if wheels else {}
    return found


def report(folder, backend):
    return folder / f"report-{backend}.txt"


def run(folder, name, backend):
    command = ["cargo", "run", "--quiet", "--release"]
    done = subprocess.run(command, cwd=folder, env=variables(folder, backend), capture_output=True, text=True)
    says = SAYS.search(done.stdout)
    if done.returncode or not says:
        sys.exit(f"pages.py: {name} on {backend}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    ran_on = "cpu" if backend == "cuda" and not has_card() else backend
    if ran_on != backend and ("kernels were not built in" in done.stderr or not re.search("no (driver|device): ", done.stderr)):
        sys.exit(f"pages.py: {name} on {backend}: expected a word about the driver that is not there, got\n{done.stderr}")
    lines = report(folder, backend).read_text().splitlines() if report(folder, backend).exists() else []
    strays = [line for line in lines if f" on {ran_on} (" not in line]
    # Transforms of a setup run on the CPU by bellperson's own choice.
    strays = [line for line in strays if not line.startswith("ntt ")]
    if strays or not lines:
        sys.exit(f"pages.py: {name}: expected reports of {ran_on} alone, got {strays or 'none'}")
    print(f"{name} on {backend}: {says.group()}, {len(lines)} operations on {ran_on}", flush=True)


def copied(temp, name, manifest, main_rs):
    folder = Path(temp) / name
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(with_paths(manifest) + "\n[workspace]\n")
    (folder / "src/main.rs").write_text(main_rs)
    return folder


def main():
    backends = sys.argv[1:] or ["cpu", "opencl"]
    found = list(programs())
    if not found:
        sys.exit("pages.py: there is no program in docs/")
    with tempfile.TemporaryDirectory() as temp:
        for name, manifest, main_rs, cuda_lines in found:
            folder = copied(temp, name, manifest, main_rs)
            for backend in backends:
                if backend == "cuda":
                    (folder / "Cargo.toml").write_text(with_paths(with_cuda(manifest, cuda_lines)) + "\n[workspace]\n")
                run(folder, name, backend)


if __name__ == "__main__":
    main()
