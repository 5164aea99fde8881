"""A terminal recording of half a minute as an SVG: from a recording to counted disfluencies, with the demo's model.

    lsa-whisper demo
    python -m benchmarks.terminal_picture runs/demo

Writes ``docs/pictures/terminal.svg``. The commands are typed into a terminal of 80 columns. Each line appears as late
as it did there, with shorter waiting. The SVG runs once and loads nothing.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.text import Text

from benchmarks.pictures import OUT, SESSION
from lsa_whisper.system.shipped import STORYBOOK, shipped

COLUMNS, MAX_WAIT_S, TYPED_S, READ_S = 80, 2.5, 0.05, 4.5
COMMANDS = (
    "lsa-whisper transcribe story.flac --model runs/demo/full",
    "grep '^[*]' story.cha | head -n 6",
    "lsa-whisper inspect story.cha | head -n 23",
)
FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="LABEL">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
.late {{ animation: appear 1ms backwards; }}
@keyframes appear {{ from {{ visibility: hidden; }} }}
@media (prefers-reduced-motion: reduce) {{ .late {{ animation: none; }} }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""
BULLET = "\N{BULLET}"  # as CLAN shows the control character around times
LABEL = "Terminal: a recording is transcribed, its transcript is shown, and its disfluencies are counted"

Line = tuple[float, str]
"""Seconds since the start, and what appears then."""


def main() -> None:
    """Type the commands and draw what they print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("demo", type=Path, help="The demo's folder.")
    demo = parser.parse_args().demo
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copy(shipped(STORYBOOK) / "test" / f"{SESSION}.flac", folder / "story.flac")
        (folder / "runs").mkdir()
        (folder / "runs" / "demo").symlink_to(demo.resolve())
        lines = list(recorded(folder))
    (OUT / "terminal.svg").write_text(drawn(lines), "utf-8")


def recorded(folder: Path) -> Iterator[Line]:
    """Yield the lines of all commands, without long waits."""
    now_s = 1.0
    for command in COMMANDS:
        yield now_s, f"$ {command}"
        now_s += TYPED_S * len(command)
        printed = list(run(command, folder))
        for (before_s, _), (at_s, line) in pairwise([(0.0, ""), *printed]):
            now_s += min(at_s - before_s, MAX_WAIT_S)
            yield now_s, line
        yield now_s, ""
        now_s += READ_S


def run(command: str, folder: Path) -> Iterator[Line]:
    """Yield what a command prints in a terminal, as it comes; a line that is written over is what it was last."""
    parent, child = pty.openpty()
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": programs, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    began = time.monotonic()
    with subprocess.Popen(["sh", "-c", command], cwd=folder, env=environment, stdout=child, stderr=child):
        os.close(child)
        with os.fdopen(parent, "rb", 0) as terminal:
            for raw in lines_of(terminal):
                line = raw.decode().rstrip("\r\n").rpartition("\r")[2]
                yield time.monotonic() - began, line.replace(f"{folder}/", "").replace("\x15", BULLET)


def lines_of(terminal: io.FileIO) -> Iterator[bytes]:
    """Yield the lines of a terminal until its program has ended, which reading reports as an error."""
    try:
        while line := terminal.readline():
            yield line
    except OSError:
        return


def drawn(lines: list[Line]) -> str:
    """Return the SVG: rich draws the last screen, and each of its lines appears at its time."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    starts: list[float] = []
    for at_s, line in lines:
        text = Text.from_ansi(line)
        starts += [at_s] * max(1, len(text.wrap(console, COLUMNS)))
        console.print(text, style="bold" if line.startswith("$ ") else "", highlight=False)
    svg = console.export_svg(title="lsa-whisper", code_format=FORMAT.replace("LABEL", LABEL), unique_id="recording")

    def late(found: re.Match[str]) -> str:
        return f'<text class="late {found[1]}" style="animation-delay:{starts[int(found[3])]:.1f}s"{found[2]}'

    svg = re.sub(r'<clipPath id="recording-line.*?</clipPath>', "", svg, flags=re.DOTALL)
    svg = re.sub(r'<text class="([^"]*)"([^>]*?) clip-path="url\(#recording-line-(\d+)\)"', late, svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


if __name__ == "__main__":
    main()
