"""Tables and lines as text for a terminal. Paths are never wrapped, so that they can be found and copied.

Rich wraps whatever does not fit the terminal, titles and long names too. Here titles are lines of their own, lines stay
whole, columns with paths are not wrapped, and no word is cut: a table may be wider than the terminal.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from textwrap import fill, wrap
from typing import TypeVar

_SEPARATORS = ("/", "\\")
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class TerminalTable:
    """A table to print; its first column is text, the others are numbers.

    ``title`` stands above it. An empty row is a horizontal line.
    """

    title: str
    head: Sequence[str]
    rows: Iterable[Sequence[str]]


def render_text(*parts: TerminalTable | str) -> str:
    """Return tables and lines of text as the terminal shows them.

    >>> print(render_text(TerminalTable("Files", ["", "words"], [["a b.cha", "12"]]), "note: /a folder/of/files"))
    Files
    ┏━━━━━━━━━┳━━━━━━━┓
    ┃         ┃ words ┃
    ┡━━━━━━━━━╇━━━━━━━┩
    │ a b.cha │    12 │
    └─────────┴───────┘
    note: /a folder/of/files
    """
    return "\n".join(part if isinstance(part, str) else _render(part) for part in parts)


def _render(table: TerminalTable) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [list(row) for row in table.rows]
    columns = [[heading, *(row[at] for row in rows if row)] for at, heading in enumerate(table.head)]
    widths = _widths(columns, shutil.get_terminal_size((100, 24)).columns - _frame(len(columns)))
    grid = Table()
    for at, (heading, width) in enumerate(zip(table.head, widths, strict=True)):
        grid.add_column(Text(heading), justify="right" if at else "left", width=width)
    for row in rows:
        if row:
            # Words such as [//] and file names such as [1].wav are text, not styles.
            grid.add_row(*map(Text, row))
        else:
            grid.add_section()
    console = Console(file=StringIO(), width=sum(widths) + _frame(len(columns)))
    with console.capture() as captured:
        console.print(grid)
    return f"{table.title}\n{captured.get().rstrip()}"


def _frame(columns: int) -> int:
    return 3 * columns + 1


def _widths(columns: Sequence[Sequence[str]], available: int) -> list[int]:
    """Return the width of each column: what its cells need, or less where they can be wrapped at spaces.

    >>> _widths([["", "no time stamps"], ["words", "12"]], 100), _widths([["", "no time stamps"], ["words", "12"]], 15)
    ([14, 5], [10, 5])
    >>> _widths([["", "/a b/no time stamps"], ["words", "12"]], 15)
    [19, 5]
    """
    from rich.cells import cell_len

    full = [max(map(cell_len, column)) for column in columns]
    least = [
        whole if any(sign in cell for cell in column for sign in _SEPARATORS) else _longest_word(column)
        for whole, column in zip(full, columns, strict=True)
    ]
    missing, wrappable = sum(full) - available, sum(full) - sum(least)
    if missing <= 0 or not wrappable:
        return full
    share = min(1.0, missing / wrappable)
    return [whole - math.ceil((whole - word) * share) for whole, word in zip(full, least, strict=True)]


def _longest_word(cells: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max((cell_len(word) for cell in cells for word in cell.split()), default=0)


def counted(number: int, noun: str, translated: Callable[[str], str] = str) -> str:
    """Return a number with its noun, which may be put into another language.

    >>> counted(1, "retrace"), counted(1200, "retrace"), counted(0, "disfluency")
    ('1 retrace', '1,200 retraces', '0 disfluencies')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("cy") else f"{noun}s"
    return f"{number:,} {translated(noun if number == 1 else plural)}"


def hanging_lines(text: str, indent: int) -> str:
    r"""Return ``text`` wrapped at spaces to the terminal's width, its further lines indented; paths stay whole.

    >>> hanging_lines("word " * 40, 30).startswith("word word") and "\n" + " " * 30 in hanging_lines("word " * 40, 30)
    True
    >>> hanging_lines("/a folder/" + "word " * 40, 30).count("\n")
    0
    """
    if any(sign in text for sign in _SEPARATORS):
        return text
    width = max(30, shutil.get_terminal_size((100, 24)).columns - indent)
    return f"\n{' ' * indent}".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))


def wrapped(text: str, indent: int = 2) -> str:
    """Return ``text`` indented and wrapped at spaces to the terminal's width; no word is cut.

    >>> wrapped("I want [/] want it .")
    '  I want [/] want it .'
    """
    width = max(30, shutil.get_terminal_size((100, 24)).columns)
    space = " " * indent
    return fill(
        text, width, initial_indent=space, subsequent_indent=space, break_long_words=False, break_on_hyphens=False
    )


def with_progress_bar(items: Iterable[_Item], title: str, total: int) -> Iterable[_Item]:
    """Return ``items``, with a bar on standard error while they are taken, if that is a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(items, title, total, console=console, transient=True) if console.is_terminal else items


def print_progress(line: str) -> None:
    """Print a progress line to standard error at once; standard output is kept for results."""
    print(line, file=sys.stderr, flush=True)
