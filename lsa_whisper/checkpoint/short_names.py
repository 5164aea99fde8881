"""Short names of published models, as people know them."""

from __future__ import annotations

_SIZES = ("tiny", "base", "small", "medium")
SHORT_NAMES = {
    name: f"openai/whisper-{name}"
    for name in (*_SIZES, *(f"{size}.en" for size in _SIZES), "large", "large-v2", "large-v3", "large-v3-turbo")
} | {"turbo": "openai/whisper-large-v3-turbo"}
"""The hub name of each short name."""
