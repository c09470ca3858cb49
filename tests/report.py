#!/usr/bin/env python3
"""Opens the reports of `proofwarp compare` in headless Chromium, on a phone's width and a desk's, light and dark: tables and plots
have to be there, legible, and no wider than the page. Pages and pictures stay in target/report.

usage: tests/report.py PROGRAM      (the program proofwarp; its devices are those that the environment allows)"""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target/report"
COMPARISONS = {"msm": "8..10", "ntt": "8..10", "groth16": "6..8", "halo2": "6..8"}
WIDTHS = {"phone": 390, "desk": 1280}
SCHEMES = {"light": [], "dark": ["--blink-settings=preferredColorScheme=0"]}
SMALLEST_LETTERS = 9

# Chromium's windows are 500 pixels wide at least, so that the page is in a frame. It is not changed: this looks at it from outside.
FRAME = """<!doctype html><meta charset="utf-8"><style>:root { color-scheme: light dark } body { margin: 0 } iframe { border: 0 }</style>
<iframe width="%d" height="%d" srcdoc="%s"></iframe><pre id="seen"></pre>
<script>
addEventListener("load", () => {
    const page = document.querySelector("iframe").contentDocument, box = element => element.getBoundingClientRect();
    const letters = svg => [...svg.querySelectorAll("text")].filter(text => text.textContent.trim());
    const inside = (text, svg) => box(text).left >= box(svg).left - 1 && box(text).right <= box(svg).right + 1;
    const light = element => element.ownerDocument.defaultView.getComputedStyle(element).color.match(/\\d+/g)[0] > 127;
    document.getElementById("seen").textContent = JSON.stringify({
        width: page.documentElement.scrollWidth, height: page.documentElement.scrollHeight, light: light(page.body),
        verdict: page.querySelector("h1").textContent, buttons: page.querySelectorAll("button:not([hidden])").length,
        tables: [...page.querySelectorAll("table")].map(table => ({
            seen: box(table).width > 0 && box(table).height > 0,
            rows: table.querySelectorAll("tbody tr").length,
            empty: [...table.querySelectorAll("td")].filter(cell => !cell.textContent.trim()).length})),
        plots: [...page.querySelectorAll("svg")].map(svg => ({
            width: box(svg).width, of: box(svg.parentElement).width,
            marks: svg.querySelectorAll("circle, rect").length,
            letters: letters(svg).length, light: letters(svg).every(light),
            outside: letters(svg).filter(text => !inside(text, svg)).map(text => text.textContent),
            smallest: Math.min(...letters(svg).map(text => parseFloat(text.getAttribute("font-size")) * box(svg).width / svg.viewBox.baseVal.width))})),
        legends: [...page.querySelectorAll(".legend")].map(legend => legend.children.length)});
});
</script>"""


def fail(message):
    sys.exit(f"report.py: {message}")


def chromium(*arguments):
    program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if not program:
        fail("there is no chromium")
    # Without a sandbox: root has none, and the page is ours.
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout


def framed(page, width, height):
    file = OUT / "frame.html"
    file.write_text(FRAME % (width, height, html.escape(page.read_text())))
    return file.as_uri()


def look(page, width, scheme):
    """What a browser shows of a page."""
    dom = chromium(*SCHEMES[scheme], f"--window-size={max(width, 500)},900", "--dump-dom", framed(page, width, 900))
    seen = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.S)
    if not seen or not seen[1]:
        fail(f"{page.name}: the browser shows nothing")
    return json.loads(html.unescape(seen[1]))


def picture(page, width, scheme, height, file):
    size = f"--window-size={max(width, 500)},{height}"
    chromium(*SCHEMES[scheme], size, f"--screenshot={file}", framed(page, width, height))
    if not file.read_bytes().startswith(b"\x89PNG"):
        fail(f"{file.name}: no picture")


def faults(seen, numbers, width, scheme):
    """What is wrong with what is seen."""
    operations = {one["operation"] for one in numbers["measurements"]}
    sizes = {(one["operation"], one["log"]) for one in numbers["measurements"]}
    largest = {operation: max(one["log"] for one in numbers["measurements"] if one["operation"] == operation) for operation in operations}
    known = [one for one in numbers["measurements"] if one["phases"] and one["log"] == largest[one["operation"]]]
    legends = len({one["operation"] for one in known})
    plots = len(operations) + legends
    dots = len(numbers["measurements"]) + sum(len(one["phases"]) for one in known)
    if seen["width"] > width:
        yield f"{seen['width']} pixels wide"
    if [len(seen["tables"]), sum(table["rows"] for table in seen["tables"])] != [len(operations), len(sizes)]:
        yield f"tables: {seen['tables']}, expected {len(operations)} with {len(sizes)} rows together"
    if not seen["verdict"].startswith("proofwarp ") or seen["buttons"] != len(operations):
        yield f"verdict {seen['verdict']!r}, {seen['buttons']} buttons"
    if any(not table["seen"] or table["empty"] for table in seen["tables"]):
        yield f"a table is not seen, or has empty cells: {seen['tables']}"
    if [len(seen["plots"]), len(seen["legends"]), sum(plot["marks"] for plot in seen["plots"])] != [plots, legends, dots]:
        yield f"plots: expected {plots} with {dots} marks together, got {seen['plots']}, legends {seen['legends']}"
    for plot in seen["plots"]:
        if plot["width"] < 0.9 * plot["of"] or plot["outside"] or not plot["letters"] or plot["smallest"] < SMALLEST_LETTERS:
            yield f"a plot is too small, or its letters are, or they are cut off: {plot}"
    if seen["light"] != (scheme == "dark") or any(plot["light"] != seen["light"] for plot in seen["plots"]):
        yield f"letters on a {scheme} page: light: {seen['light']}, plots: {seen['plots']}"


def compare(program, what, sizes):
    page, numbers = OUT / f"{what}.html", OUT / f"{what}.json"
    command = [program, "compare", what, "--log", sizes, "--repeats", "1", "--html", page, "--json", numbers]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        fail(f"compare {what}: {done.stderr}")
    return page, json.loads(numbers.read_text())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    OUT.mkdir(parents=True, exist_ok=True)
    for what, sizes in COMPARISONS.items():
        page, numbers = compare(sys.argv[1], what, sizes)
        for name, width in WIDTHS.items():
            for scheme in SCHEMES:
                seen = look(page, width, scheme)
                found = list(faults(seen, numbers, width, scheme))
                picture(page, width, scheme, seen["height"], OUT / f"{what}-{name}-{scheme}.png")
                if found:
                    fail(f"{what}, {name}, {scheme}: " + "\n".join(found))
        print(f"{what}: {len(seen['tables'])} tables and {len(seen['plots'])} plots, {', '.join(WIDTHS)}, {', '.join(SCHEMES)}")
    (OUT / "frame.html").unlink()


if __name__ == "__main__":
    main()
