"""Tables and lines as text for a terminal. Paths are never wrapped, so that they can be found and copied.

Rich wraps whatever does not fit the terminal, titles and long names too. Here titles are lines of their own, lines stay
whole, columns with paths are not wrapped, and no word is cut: a table may be wider than the terminal.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_SEPARATORS = ("/", "\\")


@dataclass(frozen=True)
class TerminalTable:
    """A table to print; its first column is text, the others are numbers.

    Attributes:
        title: the line above the table.
        head: the heading of each column.
        rows: the cells of each row; an empty row is a line across.
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
    from rich.measure import Measurement

    made, width = _rich_table(table), shutil.get_terminal_size((100, 24)).columns
    # Measured on a wide console, because a narrow one limits what rich measures.
    wide = Console(file=StringIO(), width=10_000)
    least = Measurement.get(wide, wide.options, made).minimum
    console = Console(file=StringIO(), width=max(width, least))
    with console.capture() as captured:
        console.print(made)
    return f"{table.title}\n{captured.get().rstrip()}"


def _rich_table(table: TerminalTable) -> Table:
    from rich.table import Table
    from rich.text import Text

    rows = [list(row) for row in table.rows]
    made = Table()
    for at, heading in enumerate(table.head):
        holds_paths = any(sign in row[at] for row in rows if row for sign in _SEPARATORS)
        made.add_column(Text(heading), justify="right" if at else "left", no_wrap=holds_paths)
    for row in rows:
        if row:
            # Words such as [//] and file names such as [1].wav are text, not styles.
            made.add_row(*map(Text, row))
        else:
            made.add_section()
    return made
