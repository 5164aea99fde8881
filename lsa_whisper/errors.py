"""What we say when we cannot go on: where, what, and what to do next.

Every error a user can cause is an :class:`LsaWhisperError`; the command line prints its one line and exits with
status 1. Anything else that escapes is a defect of this package.
"""

from __future__ import annotations


def printable(message: str) -> str:
    r"""Return a message without the control characters by which the name of a file could steer a terminal.

    >>> printable("two\nlines of \x1b[2J.wav")
    'two\nlines of \\x1b[2J.wav'
    """
    return "".join(sign if sign.isprintable() or sign in "\n\t" else repr(sign)[1:-1] for sign in message)


class LsaWhisperError(Exception):
    """Base of every error that a user can cause and mend."""


class ChatSyntaxError(LsaWhisperError):
    """A CHAT transcript cannot be read at ``path:line:column``."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None, column: int | None = None):
        place = ":".join(str(part) for part in (path, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.path, self.line, self.column = path, line, column


class AudioError(LsaWhisperError):
    """A recording is missing, empty, or holds no readable sound."""


class CorpusError(LsaWhisperError):
    """A folder of transcripts and recordings cannot be used."""


class ManifestError(LsaWhisperError):
    """Prepared data are missing or malformed."""


class RecipeError(LsaWhisperError):
    """A recipe has problems; all of them are listed."""


class CheckpointError(LsaWhisperError):
    """A model directory cannot be loaded, or is not one."""


class DiskError(LsaWhisperError):
    """A disk is full or read-only, so that whatever is written next to it will fail, too."""


class MissingExtraError(LsaWhisperError):
    """A feature needs a package that is not installed.

    >>> str(MissingExtraError("finetune with zero3", "DeepSpeed", "deepspeed"))
    "finetune with zero3 needs DeepSpeed: pip install 'lsa-whisper[deepspeed]'"
    """

    def __init__(self, feature: str, package: str, extra: str):
        super().__init__(f"{feature} needs {package}: pip install 'lsa-whisper[{extra}]'")
