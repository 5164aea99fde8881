"""The table of what each format loses has every format."""

from __future__ import annotations

import re

from pages import text_of

from lsa_whisper.formats import FORMATS


def test_the_page_lists_what_each_format_loses():
    table = text_of("docs/formats.md").partition("<!-- losses -->")[2].partition("\n\n")[0]
    losses = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert set(losses) == set(FORMATS) and all(losses.values())
