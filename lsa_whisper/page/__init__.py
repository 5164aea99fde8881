"""The look that all our HTML pages share: a palette, a base style, and how templates are filled in.

A page's own style includes ``light.css.jinja`` and ``dark.css.jinja`` where it says when each holds, then
``base.css.jinja``, and adds what only it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str) -> Environment:
    """Return the templates of ``package``, which may include those of this room.

    Whatever they show is escaped, for transcripts and file names may hold anything.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(__name__, ".")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
