"""The user's settings of the review page: the keys that work inside the text, and how playing goes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.user_settings import configuration_folder
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import write_atomic

DEFAULTS: dict[str, Any] = {
    "keys": {
        "play": "Ctrl+Space F4",
        "back": "Ctrl+ArrowLeft F2",
        "forward": "Ctrl+ArrowRight",
        "next": "Ctrl+ArrowDown F9",
        "previous": "Ctrl+ArrowUp F7",
        "again": "Alt+a",
        "loop": "Alt+o",
        "slower": "Alt+-",
        "faster": "Alt++",
        "&-um": "Alt+u",
        "&-uh": "Alt+h",
        "(.)": "Alt+p",
        "&+": "Alt+g",
    },
    "back_s": 2.0,
    "rewind_s": 0.5,
    "play_next": False,
}
"""By name. Keys are separated by spaces, so that a foot pedal, which sends an F-key, can have one beside the hands'."""
_MAX_S = 30.0
_MAX_TEXT = 60


def review_settings_file() -> Path:
    """Return the path of the settings; it need not exist."""
    return configuration_folder() / "review.json"


def read_review_settings() -> dict[str, Any]:
    """Return the settings; the defaults where nothing else was chosen, or the file is damaged."""
    try:
        return checked_settings(plain_json.read(review_settings_file()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return DEFAULTS


def checked_settings(settings: Any) -> dict[str, Any]:
    """Return ``settings`` with the defaults for what it leaves out.

    Raises:
        ValueError: It is not such settings.
    """
    if not isinstance(settings, dict) or not isinstance(settings.get("keys", {}), dict):
        raise ValueError("no settings")
    keys = {name: str(settings.get("keys", {}).get(name, own))[:_MAX_TEXT] for name, own in DEFAULTS["keys"].items()}
    times = {name: min(_MAX_S, max(0.0, float(settings.get(name, DEFAULTS[name])))) for name in ("back_s", "rewind_s")}
    return {"keys": keys, **times, "play_next": settings.get("play_next", False) is True}


def write_review_settings(values: Any) -> dict[str, Any]:
    """Store settings, and return them.

    Raises:
        LsaWhisperError: The file cannot be written.
        ValueError: They are not settings.
    """
    settings, path = checked_settings(values), review_settings_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LsaWhisperError(f"{path.parent}: cannot be created ({error.strerror}); set XDG_CONFIG_HOME") from error
    write_atomic(plain_json.serialize(settings, indent=1) + "\n", path)
    return settings
