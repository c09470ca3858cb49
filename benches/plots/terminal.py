#!/usr/bin/env python3
"""Draws a terminal's text as an SVG that fits light and dark pages.

usage: benches/plots/terminal.py TEXT PICTURE       (a first line that begins with `$ ` is the command)"""
import sys
from pathlib import Path
from xml.sax.saxutils import escape

# Pixels: a character of 12 px type is 7.25 wide, a line 17 high.
CHARACTER, LINE, MARGIN, SIZE = 7.25, 17, 14, 12


def main():
    lines = Path(sys.argv[1]).read_text().rstrip().splitlines()
    width = round(2 * MARGIN + CHARACTER * max(map(len, lines)))
    height = 2 * MARGIN + LINE * len(lines)
    style = ("svg { color: #1f2328; background: #f6f8fa } "
             "@media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #161b22 } }")
    rows = []
    for number, line in enumerate(lines):
        if not line:
            continue
        weight = ' font-weight="bold"' if line.startswith("$ ") else ""
        y = MARGIN + LINE * number + SIZE
        rows.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve" textLength="{CHARACTER * len(line)}"{weight}>{escape(line)}</text>')
    title = escape(f"Output of {lines[0][2:]}" if lines[0].startswith("$ ") else lines[0])
    Path(sys.argv[2]).write_text(
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n"
        f'<g font-family="Menlo, Consolas, DejaVu Sans Mono, Liberation Mono, monospace" font-size="{SIZE}" fill="currentColor">\n'
        + "\n".join(rows) + "\n</g>\n</svg>\n")


main()
