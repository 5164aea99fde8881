"""The files of the page: read from the package, the style made from the palette that all pages share."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from lsa_whisper.chat.codes import PARTICIPANT_ROLES
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.page import templates
from lsa_whisper.review.edits import MARKS

_FOLDER = Path(__file__).with_name("page")
_MODULES = (
    "main",
    "server",
    "state",
    "list",
    "row",
    "waveform",
    "player",
    "keys",
    "editor",
    "commands",
    "filters",
    "start",
    "compare",
    "help",
    "drag",
    "speakers",
    "typing",
    "settings",
    "gaps",
    "replace",
    "spectrogram",
)
PAGE_FILES: dict[str, str] = {
    "index.html": "text/html",
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    **{f"{name}.js": "text/javascript" for name in _MODULES},
}
"""Names of the files and their media types; no other name is served."""


@cache
def page_file(name: str) -> bytes:
    """Return the content of one of :data:`PAGE_FILES`."""
    if name.endswith((".js", ".svg")):
        return (_FOLDER / name).read_bytes()
    marks = [{"name": name, "key": mark.key, "label": mark.label} for name, mark in MARKS.items()]
    template = templates("lsa_whisper.review").get_template(f"page/{name}.jinja")
    roles = sorted(PARTICIPANT_ROLES)
    return template.render(marks=marks, modules=_MODULES, roles=roles, roles_of=json.dumps(ROLES)).encode()
