"""What all HTML pages share: the palette, the base style, templates, tables and figures.

A page's own style includes ``light.css.jinja`` and ``dark.css.jinja`` where each applies, then ``base.css.jinja``, and
adds its own rules. Reports of evaluations and of training runs share ``report.css.jinja`` and ``macros.html.jinja``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsa_whisper.page.language import gettext, language_of_page
from lsa_whisper.page.svg import draw_svg
from lsa_whisper.page.terms import UNDERLINED
from lsa_whisper.page.text import escape_markdown

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
    environment.globals |= {"gettext": gettext, "language": language_of_page()}
    environment.filters["markdown"] = escape_markdown
    environment.globals["underlined"] = UNDERLINED
    environment.filters["svg"] = lambda plot: Markup(draw_svg(plot))  # made by matplotlib, which escapes all text
    return environment
