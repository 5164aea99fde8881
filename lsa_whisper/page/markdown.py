"""Text of any origin as part of a Markdown page: it stays on its line and none of it becomes markup."""

from __future__ import annotations

import re

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
