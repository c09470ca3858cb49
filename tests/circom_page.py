#!/usr/bin/env python3
"""Runs the commands of docs/circom.md in a folder outside the repository, as a reader would.

A block of circom is written to the file that its first line names. Blocks of sh run in order, and each command has to succeed.
`cargo install --locked --git` installs this tree's program. The last word is snarkjs's: it has to print "OK!".

usage: tests/circom_page.py"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import address

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"```(circom|sh)\n(.*?)```", re.S)
FROM_GIT = re.compile(rf"cargo install --locked --git {re.escape(address.REPOSITORY)} (\S+).*")


def script(text, root):
    """The commands, with this tree's program in place of the published one."""
    install = f"cargo install --quiet --debug --locked --root {root} --path {ROOT}/cli --target-dir {ROOT}/target/cli"
    return f"set -euo pipefail\n{FROM_GIT.sub(install, text)}"


def main():
    blocks = BLOCK.findall((ROOT / "docs/circom.md").read_text())
    if not {"circom", "sh"} <= {language for language, _ in blocks}:
        sys.exit("circom_page.py: expected a circuit and commands in docs/circom.md, got none")
    with tempfile.TemporaryDirectory() as temp:
        variables = os.environ | {"PATH": f"{temp}/installed/bin:{os.environ['PATH']}", "PROOFWARP_OPENCL_CPU": "1"}
        for language, text in blocks:
            if language == "circom":
                name = text.splitlines()[0].removeprefix("// ")
                (Path(temp) / name).write_text(text)
                continue
            command = ["bash", "-c", script(text, f"{temp}/installed")]
            done = subprocess.run(command, cwd=temp, env=variables, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"circom_page.py: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
            if "OK!" not in done.stdout:
                sys.exit(f"circom_page.py: expected snarkjs to print OK!, got\n{done.stdout[-3000:]}")
    print("docs/circom.md: snarkjs verifies the proof")


if __name__ == "__main__":
    main()
