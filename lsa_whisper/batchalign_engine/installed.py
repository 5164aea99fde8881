"""The installed version of Batchalign, and whether this engine supports it."""

from __future__ import annotations

from importlib import metadata

from lsa_whisper.errors import LsaWhisperError, MissingExtraError

FIRST, BEFORE = (0, 10, 7), (0, 11)


def require(feature: str) -> str:
    """Return the version of the installed Batchalign.

    Args:
        feature: what needs it, for the message.

    Raises:
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: the version is not supported.
    """
    # Not by import, which would find any folder called batchalign in the working directory.
    try:
        version = metadata.version("batchalign")
    except metadata.PackageNotFoundError as error:
        raise MissingExtraError(feature, "Batchalign", "batchalign") from error
    if not fits(version):
        raise LsaWhisperError(
            f"{feature} needs Batchalign 0.10.7 or a later 0.10, but {version} is installed: pip install "
            "'lsa-whisper[batchalign]', or export the model and use --engine whisper (docs/batchalign.md)"
        )
    return version


def fits(version: str) -> bool:
    """Return whether this engine supports a version.

    >>> [fits(version) for version in ("0.8.1", "0.10.6", "0.10.7", "0.10.12rc1", "0.11.0")]
    [False, False, True, True, False]
    """
    numbers = tuple(int("".join(filter(str.isdigit, part.split("rc")[0])) or 0) for part in version.split(".")[:3])
    return numbers >= FIRST and numbers[:2] < BEFORE
