"""What computes: the names of devices, checked without torch."""

from __future__ import annotations

import re

from lsa_whisper.errors import LsaWhisperError

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def verify_device(device: str) -> None:
    """Return if a device can be meant; whether this machine has it is found when it is used.

    Raises:
        LsaWhisperError: none is called so.
    """
    if not _DEVICE.fullmatch(device):
        raise LsaWhisperError(f"device {device!r} is not known; choose auto, cpu, cuda, cuda:1 or mps")
