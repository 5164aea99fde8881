"""How numbers, distributions and tables look as plain text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

_BLOCKS = "▁▂▃▄▅▆▇█"


def as_json(found: Any) -> str:
    """Return ``found`` as indented JSON."""
    return json.dumps(found, ensure_ascii=False, indent=1)


def format_number(value: float | None, *, percent: bool = False) -> str:
    """Return ``value`` as a table shows it.

    >>> format_number(1234), format_number(2.5), format_number(0.01234), format_number(None)
    ('1,234', '2.50', '0.0123', '-')
    >>> format_number(0.1234, percent=True)
    '12.3%'
    """
    if value is None:
        return "-"
    if percent:
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if 0 < value < 1 else f"{value:.2f}"


def sparkline(counts: Sequence[int]) -> str:
    """Return ``counts`` as bars one line high; what is there at all can be seen.

    >>> sparkline([0, 1, 50, 100])
    '·▁▄█'
    """
    top = max(counts, default=0)
    return "".join(_BLOCKS[-(-count * len(_BLOCKS) // top) - 1] if count else "·" for count in counts)


def rich_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    """Return a rich table; the first column is text, the others are numbers."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title))
    for heading in head:
        made.add_column(Text(heading), justify="right" if made.columns else "left")
    for row in rows:
        # Words such as [//] and file names such as [1].wav are text, not styles.
        made.add_row(*map(Text, row))
    return made


def render_text(*parts: Any) -> str:
    """Return tables and lines of text as the terminal would show them."""
    from rich.console import Console

    console = Console(file=StringIO(), width=shutil.get_terminal_size((100, 24)).columns)
    with console.capture() as captured:
        for part in parts:
            console.print(part, markup=False, highlight=False)
    return captured.get().rstrip()
