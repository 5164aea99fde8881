"""Errors that users can cause; each message says where, what, and what to do next.

Every such error is an :class:`LsaWhisperError`; the command line prints its message and exits with status 1. Any other
exception that reaches the user is a defect of this package.
"""

from __future__ import annotations


def printable(message: str) -> str:
    r"""Return a message with control characters escaped: a file name could otherwise control the terminal.

    >>> printable("two\nlines of \x1b[2J.wav")
    'two\nlines of \\x1b[2J.wav'
    """
    return "".join(sign if sign.isprintable() or sign in "\n\t" else repr(sign)[1:-1] for sign in message)


def first_line(error: BaseException) -> str:
    r"""Return the first line of what a library's error says, for a message; its type if it says nothing.

    >>> first_line(ValueError("no such device\nat line 5")), first_line(KeyError())
    ('no such device', 'KeyError')
    """
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class LsaWhisperError(Exception):
    """Base class of errors that a user can cause and correct."""


class ChatSyntaxError(LsaWhisperError):
    """A CHAT transcript has a syntax error at ``path:line:column``."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None, column: int | None = None):
        place = ":".join(str(part) for part in (path, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.path, self.line, self.column = path, line, column


class FormatError(LsaWhisperError):
    """A transcript of another format than CHAT is damaged, or not of that format; the message begins with the place."""


class AudioError(LsaWhisperError):
    """A recording is missing, empty, or contains no decodable audio."""


class CorpusError(LsaWhisperError):
    """A corpus folder (transcripts and recordings) cannot be used."""


class ManifestError(LsaWhisperError):
    """Prepared data are missing or malformed."""


class RecipeError(LsaWhisperError):
    """A recipe has problems; the message lists all of them."""


class CheckpointError(LsaWhisperError):
    """A folder is not a model checkpoint, or its checkpoint cannot be loaded."""


class DiskError(LsaWhisperError):
    """A disk is full or read-only, so that further writes to it will fail as well."""


class MissingExtraError(LsaWhisperError):
    """A feature needs a package that is not installed.

    >>> str(MissingExtraError("finetune with zero3", "DeepSpeed", "deepspeed"))
    "finetune with zero3 needs DeepSpeed: pip install 'lsa-whisper[deepspeed]'"
    """

    def __init__(self, feature: str, package: str, extra: str):
        super().__init__(f"{feature} needs {package}: pip install 'lsa-whisper[{extra}]'")
