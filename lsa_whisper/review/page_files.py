"""The files of the page: read from the package, the style made from the palette that all pages share."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from lsa_whisper.chat import Disfluency
from lsa_whisper.chat.codes import PARTICIPANT_ROLES
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.page import templates
from lsa_whisper.page.language import gettext, page_language
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


_TEXTS = re.compile(r'"((?:[^"\\]|\\.)*)"')


@cache
def page_file(name: str, language: str = "en") -> bytes:
    """Return the content of one of :data:`PAGE_FILES`, in a language of the page."""
    if name.endswith((".js", ".svg")):
        return (_FOLDER / name).read_bytes()
    marks = [{"name": name, "key": mark.key, "label": mark.label} for name, mark in MARKS.items()]
    roles, roles_of = sorted(PARTICIPANT_ROLES), json.dumps(ROLES)
    with page_language(language):
        facts = {"marks": marks, "modules": _MODULES, "roles": roles, "roles_of": roles_of, "texts": _translated()}
        return templates("lsa_whisper.review").get_template(f"page/{name}.jinja").render(facts).encode()


def _translated() -> dict[str, str]:
    """Return the texts of the page's scripts that have a translation, with it; none in English."""
    texts = {text for name in _MODULES for text in _TEXTS.findall((_FOLDER / f"{name}.js").read_text("utf-8"))}
    texts |= {kind.value.replace("_", " ") for kind in Disfluency}
    return {text: gettext(text) for text in sorted(texts) if gettext(text) != text}
