"""How the page is opened without its secret on a command line, which every user of the machine can read."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>Review</title><a href="{address}">Review</a></html>
"""


@contextmanager
def redirecting_file(address: str) -> Iterator[str]:
    """Give the address of a file that leads to ``address``; only this user can read it, and it is removed at the end.

    >>> with redirecting_file("http://127.0.0.1:1/secret/") as found:
    ...     path = Path(found.removeprefix("file://"))
    ...     "secret" in found, oct(path.stat().st_mode), oct(path.parent.stat().st_mode)
    (False, '0o100600', '0o40700')
    """
    with TemporaryDirectory(prefix="lsa-whisper-") as folder:
        path = Path(folder, "review.html")
        path.touch(0o600)
        path.write_text(_PAGE.format(address=html.escape(address)), "utf-8")
        yield path.as_uri()
