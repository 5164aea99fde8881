"""Lists and tables as plain text, text as Markdown, and the names of a report's columns."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from lsa_whisper.errors import CorpusError
from lsa_whisper.page.language import gettext, page_number
from lsa_whisper.system.terminal import counted


def join_names(names: Sequence[str], limit: int = 5) -> str:
    """Return the first ``limit`` names, and the number of the others.

    >>> join_names(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (gettext(" and {rest} more").format(rest=rest) if rest > 0 else "")


def join_with_and(names: Sequence[str]) -> str:
    """Return all names as part of a sentence.

    >>> join_with_and(["a", "b", "c"]), join_with_and(["a"])
    ('a, b and c', 'a')
    """
    return gettext(" and ").join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def range_text(low: str, high: str) -> str:
    """Return the two ends of an interval.

    >>> range_text("1.5", "2.0")
    '1.5 to 2.0'
    """
    return gettext("{low} to {high}").format(low=low, high=high)


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equal length as lines with aligned columns.

    >>> print(text_table([["", "a"], ["words", "1"]]))
           a
    words  1
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def names_below(files: Collection[str]) -> dict[str, str]:
    """Return the names that tell ``files`` apart: their paths below the folder that they share, without extensions.

    >>> names_below(["visits/ann/one.cha", "visits/ben/one.cha"])
    {'visits/ann/one.cha': 'ann/one', 'visits/ben/one.cha': 'ben/one'}
    """
    root = os.path.commonpath([Path(file).parent for file in files]) if files else ""
    return {file: Path(file).relative_to(root).with_suffix("").as_posix() for file in files}


def column_names(paths: Sequence[Path], names: Sequence[str], *, noun: str, command: str) -> list[str]:
    """Return one distinct name per path: the given ones, else file or folder names, with their parents if needed.

    ``noun`` says in messages what a path is, ``system`` or ``run``, and ``command`` whose they are.

    Raises:
        CorpusError: The number of names differs from that of the paths, or two names are the same.
    """
    if names and len(names) != len(paths):
        counts = f"{counted(len(names), 'name')} for {counted(len(paths), noun)}"
        raise CorpusError(f"{command}: {counts}; give one name for each")
    if names:
        if len(set(names)) != len(names):
            raise CorpusError(f"{command}: two {noun}s have the same name ({', '.join(names)}); give each its own")
        return list(names)
    short = [path.resolve().stem if path.is_file() else path.resolve().name for path in paths]
    if len(set(short)) == len(short):
        return short
    longer = [f"{path.resolve().parent.name}/{name}" for path, name in zip(paths, short, strict=True)]
    return longer if len(set(longer)) == len(longer) else [f"{n}-{name}" for n, name in enumerate(short, 1)]


def page_counted(number: int, noun: str) -> str:
    """Return a number with its noun in the language of the page."""
    count, _, name = counted(number, noun, gettext).partition(" ")
    return f"{page_number(count)} {name}"


_SIGNS = re.compile(r"[\\`*\[\]~]|(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=#?\w+;)")


def escape_markdown(text: object) -> str:
    r"""Return ``text`` in one line as Markdown that shows it; only a vertical bar, which ends a cell, becomes another.

    >>> escape_markdown("don't  <b> a|b *c* [/] child_01 &-um")
    "don't &lt;b&gt; a¦b \\*c\\* \\[/\\] child_01 &-um"
    """
    line = " ".join(str(text).split()).replace("|", "¦")
    escaped = _ENTITY.sub("&amp;", _SIGNS.sub(r"\\\g<0>", line))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")
