"""Writing one HTML page: whole, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsa_whisper.errors import CorpusError
from lsa_whisper.page import templates
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.version import __version__


def write_page(template: str, facts: Mapping[str, Any], out: Path) -> None:
    """Write a template of this package, filled with ``facts``, to the HTML file ``out``, atomically.

    Raises:
        CorpusError: ``out`` cannot be written.
    """
    if out.is_dir():
        raise CorpusError(f"{out}: is a folder; name the HTML file to write, such as {out / 'page.html'}")
    page = templates("lsa_whisper.inspection").get_template(template).render(**facts, version=__version__)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # A file name that is not UTF-8 arrives as lone surrogates.
        replace_file(page.encode("utf-8", "backslashreplace").decode("utf-8"), out)
    except OSError as error:
        raise CorpusError(f"{out}: the page cannot be written here ({error.strerror}); name another file") from error
