"""What all HTML pages share: the palette, the base style, templates, tables and figures.

A page's own style includes ``light.css.jinja`` and ``dark.css.jinja`` where each applies, then ``base.css.jinja``, and
adds its own rules. Reports of evaluations and of training runs share ``report.css.jinja`` and ``macros.html.jinja``,
and their files are written all together or not at all.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import CorpusError
from lsa_whisper.page.language import gettext, language_of_page, page_number
from lsa_whisper.page.svg import draw_svg
from lsa_whisper.page.terms import UNDERLINED
from lsa_whisper.page.text import escape_markdown, page_counted
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.disk import is_disk_full
from lsa_whisper.system.lock import write_lock

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str) -> Environment:
    """Return the templates of ``package``, which may include those of this one.

    All values are escaped as HTML: transcripts and file names may contain any character. Templates of Markdown escape
    theirs with the filter ``markdown``.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(__name__, ".")]),
        autoescape=lambda name: not (name or "").endswith(".md.jinja"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.globals |= {"gettext": gettext, "language": language_of_page(), "counted": page_counted}
    environment.filters |= {"markdown": escape_markdown, "number": page_number}
    environment.globals["underlined"] = UNDERLINED
    environment.filters["svg"] = lambda plot: Markup(draw_svg(plot))  # made by matplotlib, which escapes all text
    return environment


_UNFINISHED = ".report-"


def write_report_files(out: Path, texts: Mapping[str, str]) -> None:
    """Write ``texts`` (by file name) into the folder ``out``; write none of them when the disk is full.

    Raises:
        CorpusError: ``out`` cannot be written to.
    """
    try:
        with write_lock(out / "report"):
            for rest in out.glob(f"{_UNFINISHED}*"):  # of a process that was killed
                shutil.rmtree(rest, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=out) as staging:
                for name, text in texts.items():
                    # A file name that is not UTF-8 arrives as lone surrogates; JSON escapes them the same way.
                    replace_file(text.encode("utf-8", "backslashreplace").decode("utf-8"), Path(staging, name))
                for name in texts:
                    Path(staging, name).replace(out / name)
    except OSError as error:
        with suppress(OSError):
            out.rmdir()  # only if it is empty
        remedy = "make room, or choose another folder" if is_disk_full(error) else "choose another folder"
        raise CorpusError(f"{out}: the report cannot be written here ({error.strerror}); {remedy}") from error
