"""The user's configuration file: the chosen model, and the checkpoints that commands wrote."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import replace_file

_MAX_REMEMBERED = 50


@dataclass(frozen=True)
class ModelChoice:
    """What the configuration file holds.

    Attributes:
        chosen: A checkpoint folder's absolute path or a hub name; ``None`` if none was chosen.
        written: Absolute paths of checkpoint folders that commands wrote, the latest first, each with its scores in a
            few words (empty if unknown).
    """

    chosen: str | None = None
    written: Mapping[str, str] = field(default_factory=dict)


def configuration_folder() -> Path:
    """Return the folder for this program's settings; it need not exist.

    ``$XDG_CONFIG_HOME/lsa-whisper``, else the platform's: ``%APPDATA%`` on Windows, ``~/.config`` elsewhere.
    """
    if place := os.environ.get("XDG_CONFIG_HOME"):
        return Path(place) / "lsa-whisper"
    if sys.platform == "win32" and (place := os.environ.get("APPDATA")):
        return Path(place) / "lsa-whisper"
    return Path("~/.config/lsa-whisper").expanduser()


def settings_file() -> Path:
    """Return the path of the configuration file; it need not exist."""
    return configuration_folder() / "models.json"


def read_settings() -> ModelChoice:
    """Return the settings; the defaults if there is no file.

    Raises:
        LsaWhisperError: If the file cannot be read.
    """
    path = settings_file()
    try:
        raw = plain_json.read(path)
    except FileNotFoundError:
        return ModelChoice()
    except (OSError, ValueError) as error:
        raise LsaWhisperError(f"{path}: cannot be read ({error}); correct or remove it") from None
    raw = raw if isinstance(raw, dict) else {}
    chosen, written = raw.get("chosen"), raw.get("written")
    records = {name: str(scores) for name, scores in written.items()} if isinstance(written, dict) else {}
    return ModelChoice(chosen if isinstance(chosen, str) else None, records)


def write_settings(settings: ModelChoice) -> Path:
    """Replace the configuration file and return its path.

    Raises:
        LsaWhisperError: If it cannot be written.
    """
    path = settings_file()
    content = {"chosen": settings.chosen, "written": dict(settings.written)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(plain_json.serialize(content, indent=2) + "\n", path)
    except OSError as error:
        raise LsaWhisperError(f"{path}: cannot be written ({error.strerror}); set XDG_CONFIG_HOME") from None
    return path


def remember_model(folder: Path, scores: str = "") -> None:
    """Add a checkpoint folder to those that ``lsa-whisper models`` lists.

    The list is a convenience: where the configuration folder cannot be written, nothing is remembered. ``scores`` says
    in a few words how good it is; if empty, what is known is kept.
    """
    path = str(folder.absolute())
    with contextlib.suppress(LsaWhisperError):
        settings = read_settings()
        scores = scores or settings.written.get(path, "")
        records = {name: record for name, record in settings.written.items() if name != path and Path(name).is_dir()}
        latest = list(({path: scores} | records).items())[:_MAX_REMEMBERED]
        write_settings(replace(settings, written=dict(latest)))
