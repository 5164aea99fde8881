"""Writing one HTML page, whole or not at all, and the clips and pictures of sounds to embed in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import data_url, encode_audio
from lsa_whisper.audio.picture import sound_picture
from lsa_whisper.errors import AudioError, CorpusError
from lsa_whisper.page import templates
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.timespan import TimeSpan
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


@dataclass(frozen=True)
class Clip:
    """The audio, and its waveform and spectrogram, as ``data:`` URLs, or the problem that prevented them."""

    address: str = ""
    problem: str = ""
    picture: str = ""


def load_clip(recording: Path | str, span: TimeSpan) -> Clip:
    """Return the sound of ``span``; a recording that cannot be read gives a clip with a problem."""
    try:
        samples = Recording.open(recording).load(span)
    except AudioError as error:
        return Clip(problem=str(error))
    kind, data = encode_audio(samples)
    return Clip(data_url(f"audio/{kind}", data), "", data_url("image/png", sound_picture(samples)))
