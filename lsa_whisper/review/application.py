"""The addresses of the page, of its files and of its data (starlette); every request has passed the guard before.

The files of the page are read from the package, the style made from the palette that all pages share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.chat.codes import PARTICIPANT_ROLES
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.page import templates
from lsa_whisper.page.language import gettext, page_language
from lsa_whisper.review.actions import perform
from lsa_whisper.review.edits import MARKS
from lsa_whisper.review.guard import TooLargeError
from lsa_whisper.review.open_files import OpenFiles
from lsa_whisper.review.saved import FOLDER, RevisionError
from lsa_whisper.review.sounds import TILE_MS, SessionSound, stream_peaks, tile, wav_clip
from lsa_whisper.system import plain_json

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_FOLDER = Path(__file__).with_name("page")
_MODULE_NAMES = """
    main server state list row waveform player keys editor commands filters start compare help drag speakers typing
    settings gaps replace spectrogram
"""
_MODULES = tuple(_MODULE_NAMES.split())
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


_SOUND_TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".m4a": "audio/mp4",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}


def make_application(files: OpenFiles, language: str = "en") -> Starlette:
    """Return the application that serves the page for ``files`` in a language."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import FileResponse, Response, StreamingResponse
    from starlette.routing import Route

    def answer(value: object, status: int = 200) -> Response:
        return Response(plain_json.serialize(value), status, media_type="application/json")

    def number(request: Request) -> int:
        text = request.query_params.get("file", "")
        if not text.isdigit() or int(text[:9]) >= len(files.files):
            raise HTTPException(404)
        return int(text[:9])

    def sound_of(request: Request) -> SessionSound:
        text, sounds = request.query_params.get("sound", "0"), files.sounds(number(request))
        if not text.isdigit() or int(text[:4]) >= len(sounds):
            raise HTTPException(404)
        return sounds[int(text[:4])]

    async def asset(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in PAGE_FILES:
            raise HTTPException(404)
        return Response(page_file(name, language), media_type=PAGE_FILES[name])

    async def listing(_: Request) -> Response:
        return answer(files.listing())

    async def transcript(request: Request) -> Response:
        with page_language(language):
            return answer(files.open(number(request)))

    async def comparison(request: Request) -> Response:
        return answer(files.comparison(number(request)))

    async def action(request: Request) -> Response:
        try:
            body = plain_json.parse(await request.body())
            if not isinstance(body, dict):
                raise ValueError("no object")
        except ValueError:
            raise HTTPException(400) from None
        try:
            with page_language(language):
                return answer(perform(files, body))
        except RevisionError as error:
            return answer({"error": str(error), "conflict": True}, 409)
        except LsaWhisperError as error:
            return answer({"error": str(error)}, 422)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise HTTPException(400) from None

    def peaks(request: Request) -> Response:
        sound = sound_of(request)
        recording = sound.open()
        place = files.files[number(request)].transcript or sound.path
        cache = place.parent / FOLDER / f"{sound.label}.peaks"
        length = {"x-seconds": f"{recording.duration_s:.3f}"}
        return StreamingResponse(stream_peaks(recording, cache), media_type="application/octet-stream", headers=length)

    def spectrogram(request: Request) -> Response:
        fields = [request.query_params.get(name, "") for name in ("level", "tile", "gain_db")]
        if not all(field.isdigit() and len(field) < 8 for field in fields) or int(fields[0]) >= len(TILE_MS):
            raise HTTPException(400)
        image = tile(sound_of(request), *map(int, fields))
        if not image:
            raise HTTPException(404)
        return Response(image, media_type="image/png")

    def sound(request: Request) -> Response:
        path = sound_of(request).path
        if not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, media_type=_SOUND_TYPES.get(path.suffix.lower(), "application/octet-stream"))

    def clip(request: Request) -> Response:
        times = [request.query_params.get(name, "") for name in ("start_ms", "end_ms")]
        if not all(time.isdigit() and len(time) < 10 for time in times):
            raise HTTPException(400)
        return Response(wav_clip(sound_of(request).open(), int(times[0]), int(times[1])), media_type="audio/wav")

    def refused(_: Request, error: Exception) -> Response:
        return answer({"error": str(error)}, 422)

    def too_large(_: Request, __: Exception) -> Response:
        return Response(status_code=413)

    routes: list[tuple[str, Callable[..., Any], str]] = [
        ("/", asset, "GET"),
        ("/page/{name}", asset, "GET"),
        ("/files", listing, "GET"),
        ("/transcript", transcript, "GET"),
        ("/comparison", comparison, "GET"),
        ("/action", action, "POST"),
        ("/peaks", peaks, "GET"),
        ("/spectrogram", spectrogram, "GET"),
        ("/sound", sound, "GET"),
        ("/clip", clip, "GET"),
    ]
    table = [Route(path, endpoint, methods=[method]) for path, endpoint, method in routes]
    return Starlette(routes=table, exception_handlers={LsaWhisperError: refused, TooLargeError: too_large})
