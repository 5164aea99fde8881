"""What the report's page draws the utterances from: the shown ones, and their files with a link to the recording."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lsa_whisper.evaluate.glossary import CLASSES
from lsa_whisper.evaluate.pairing import find_audio
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.evaluate.shown import KINDS


def payload(evaluation: Evaluation, out: Path, audio: Path | None) -> dict[str, Any]:
    """Return it as plain JSON values; ``rows`` are those of :class:`~lsa_whisper.evaluate.shown.Shown`."""
    keys = next(iter(evaluation.systems.values())).files.keys
    recordings = {} if audio is None else find_audio(audio, keys)
    return {
        "systems": list(evaluation.systems),
        "classes": [[kind.value, CLASSES[kind][0]] for kind in KINDS],
        "files": [[key, _link(recordings.get(key), out)] for key in keys],
        "rows": evaluation.shown.rows,
        "left_out": evaluation.shown.left_out,
    }


def _link(recording: Path | None, out: Path) -> str | None:
    """Return a link that works from the report's folder, also after both were moved together."""
    if recording is None:
        return None
    try:
        return quote(Path(os.path.relpath(recording.resolve(), out.resolve())).as_posix())
    except ValueError:  # on Windows, another drive
        return recording.resolve().as_uri()
