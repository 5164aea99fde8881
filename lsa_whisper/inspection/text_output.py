"""Numbers and distributions as plain text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lsa_whisper.page.language import page_number

_BLOCKS = "▁▂▃▄▅▆▇█"


def as_json(value: Any) -> str:
    """Return ``value`` as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def format_number(value: float | str | None, *, percent: bool = False) -> str:
    """Return ``value`` formatted for a table: counts whole, all other numbers with two decimals, words as they are.

    >>> format_number(1234), format_number(2.5), format_number(0.01234), format_number(None)
    ('1,234', '2.50', '0.01', '-')
    >>> format_number(0.1234, percent=True)
    '12.3%'
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if percent:
        return page_number(f"{value:.1%}")
    return page_number(f"{value:,}" if isinstance(value, int) else f"{value:.2f}")


def sparkline(counts: Sequence[int]) -> str:
    """Return ``counts`` as a one-line bar chart; counts above zero are always visible.

    >>> sparkline([0, 1, 50, 100])
    '·▁▄█'
    """
    top = max(counts, default=0)
    return "".join(_BLOCKS[-(-count * len(_BLOCKS) // top) - 1] if count else "·" for count in counts)
