"""Which Batchalign is installed, and whether it is one that this engine knows."""

from __future__ import annotations

from importlib import metadata

from lsa_whisper.errors import LsaWhisperError, MissingExtraError

FIRST, BEFORE = (0, 10, 7), (0, 11)


def require(feature: str) -> str:
    """Return the version of the installed Batchalign.

    Args:
        feature: what needs it, for the message.

    Raises:
        MissingExtraError: there is none.
        LsaWhisperError: it is too old or too new.
    """
    # Not by import: any folder called batchalign in the working directory would pass for it.
    try:
        version = metadata.version("batchalign")
    except metadata.PackageNotFoundError as error:
        raise MissingExtraError(feature, "Batchalign", "batchalign") from error
    if not fits(version):
        raise LsaWhisperError(
            f"{feature} needs Batchalign 0.10 from 0.10.7 on, and {version} is installed: pip install "
            "'lsa-whisper[batchalign]', or export the model and use --engine whisper (docs/batchalign.md)"
        )
    return version


def fits(version: str) -> bool:
    """Tell whether this engine was written for such a version.

    >>> [fits(version) for version in ("0.8.1", "0.10.6", "0.10.7", "0.10.12rc1", "0.11.0")]
    [False, False, True, True, False]
    """
    numbers = tuple(int("".join(filter(str.isdigit, part.split("rc")[0])) or 0) for part in version.split(".")[:3])
    return numbers >= FIRST and numbers[:2] < BEFORE
