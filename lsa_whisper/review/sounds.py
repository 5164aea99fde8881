"""What can be heard of a session: its recordings, and the channels of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError


@dataclass(frozen=True)
class SessionSound:
    """A recording, or one of its channels, counted from 0; ``None`` for all of them together."""

    path: Path
    channel: int | None = None

    @property
    def label(self) -> str:
        """The name that a person chooses it by."""
        return self.path.name if self.channel is None else f"{self.path.name}, channel {self.channel + 1}"

    def open(self) -> Recording:
        """Return the opened recording.

        Raises:
            AudioError: it can no longer be read.
        """
        return Recording.open(self.path, channel=self.channel)


def list_sounds(paths: Sequence[Path]) -> list[SessionSound]:
    """Return each recording, and behind it its channels if it has several; the first one is there even if damaged."""
    sounds: list[SessionSound] = []
    for path in paths:
        try:
            channels = Recording.open(path).channels
        except AudioError:
            if sounds:
                continue
            channels = 1
        sounds += [
            SessionSound(path),
            *(SessionSound(path, channel) for channel in range(channels if channels > 1 else 0)),
        ]
    return sounds
