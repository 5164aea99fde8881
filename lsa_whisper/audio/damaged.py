"""What soundfile does not say of damaged files: that one ends before its audio does, and what libmpg123 prints."""

from __future__ import annotations

import os
import re
import struct
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from lsa_whisper.timespan import TimeSpan

_UNKNOWN = (0, 0xFFFFFFFF)  # sizes that programs write which do not know the length, or did not come to fill it in
_MAX_CHUNKS = 1000  # before the audio; a hostile file could have millions
_LAST_PAGE = 4  # flag in the header of an Ogg page
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_DAMAGE = re.compile("Giving up resync|^damaged after")
_MAX_PLACES = 5


def missing_share(path: Path) -> float:
    r"""Return which share of the audio that a WAV or AIFF file announces is missing at its end, 0 to 1.

    >>> import tempfile
    >>> wav = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0" + bytes(16) + b"data\x08\0\0\0" + bytes(2)
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(wav), file.flush()
    ...     missing_share(Path(file.name))
    0.75
    """
    with path.open("rb") as file:
        head = file.read(12)
        wav, aiff = head[:4] in (b"RIFF", b"RF64") and head[8:] == b"WAVE", head[8:] in (b"AIFF", b"AIFC")
        if not wav and not (aiff and head[:4] == b"FORM"):
            return 0.0
        end, at, large = os.fstat(file.fileno()).st_size, 12, 0
        for _ in range(_MAX_CHUNKS):
            file.seek(at)
            if at + 8 > end:
                break
            name, size = struct.unpack("<4sI" if wav else ">4sI", file.read(8))
            if name == b"ds64":  # sizes of more than 4 GB
                large = struct.unpack("<Q", file.read(16)[8:].ljust(8, b"\0"))[0]
            if name in (b"data", b"SSND"):
                length = large or size
                missing = 0 if size in _UNKNOWN and not large else max(0, length - (end - at - 8))
                return missing / length if length else 0.0
            at += 8 + size + size % 2
    return 0.0


def ogg_damage(path: Path) -> tuple[bool, bool]:
    """Return whether a page within an Ogg file (Vorbis, Opus) is damaged, and whether the last page is not there.

    libsndfile leaves a damaged page out, and all later sound is early. What follows the first one is not examined.
    A file is examined once: training opens it for each window, and three hours of Vorbis take .15 s.
    """
    status = path.stat()
    return _ogg_damage(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1 << 12)
def _ogg_damage(path: Path, _size: int, _modified_ns: int) -> tuple[bool, bool]:
    flags = _LAST_PAGE
    with path.open("rb") as file:
        while (head := file.read(27))[:4] == b"OggS":
            lengths = file.read(head[26]) if len(head) == 27 else b""
            page = head[:22] + bytes(4) + head[26:] + lengths + file.read(sum(lengths))
            # Ogg's checksum is that of zlib with the bits in the other order.
            checksum = (zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF).to_bytes(4, "big")
            intact = checksum.translate(_REVERSED) == head[22:26]
            flags = head[5] if intact else 0
            if not intact and file.read(1):
                return True, False
        return file.tell() > len(head) > 0, not flags & _LAST_PAGE


def remark(duration_s: float, header_s: float, breaks_off: bool, gaps: list[TimeSpan], messages: list[str]) -> str:
    """Return what of a recording cannot be read, given its attributes; an empty text if nothing is known."""
    found = []
    if header_s > duration_s + (0.1 if breaks_off else 1):
        found.append(f"its header claims {header_s:.1f} s, and {duration_s:.1f} s of it can be read")
    elif breaks_off:
        found.append(f"it is cut off after {duration_s:.1f} s: the end of the file is missing")
    if gaps:
        places = [f"{gap.start_ms / 1000:.2f} to {gap.end_ms / 1000:.2f} s" for gap in sorted(gaps)]
        more = f" and {len(places) - _MAX_PLACES} more places" if len(places) > _MAX_PLACES else ""
        found.append(f"no sound can be read from {', '.join(places[:_MAX_PLACES])}{more}: silence stands there")
    if not found and any(map(_DAMAGE.search, messages)):
        found.append(f"parts of the file are damaged, and {duration_s:.1f} s of sound can be read")
    return "; ".join(found)


_MP3 = (b"ID3", b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2", b"\xff\xe3", b"\xff\xe2")


def is_mp3(path: Path) -> bool:
    """Return whether a file is an MP3, by its first bytes where its name does not say so."""
    if path.suffix.lower() == ".mp3":
        return True
    with path.open("rb") as file:
        return file.read(3).startswith(_MP3)


def is_headerless_mp3(path: Path) -> bool:
    """Return whether a file is an MP3 whose first frame does not state its length, as a Xing or VBRI header does."""
    if not is_mp3(path):
        return False
    with path.open("rb") as file:
        head = file.read(10)
        if head[:3] == b"ID3":  # sizes in ID3 tags have seven bits to the byte
            file.seek(10 + sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=False)))
        first_frame = file.read(4096)
    return not any(tag in first_frame for tag in (b"Xing", b"Info", b"VBRI"))


_MPG123 = re.compile(rb"libmpg123|^(Warning|Note|Error): |^\s*$")
_MAX_MESSAGES = 100
_one_at_a_time = threading.Lock()  # a process has one standard error


@contextmanager
def keep_messages(messages: list[str] | None) -> Iterator[None]:
    """Append the lines that reading an MP3 writes to standard error in the block to ``messages``, if that is a list.

    Lines of others, such as a progress bar in another thread, are written after the block.
    """
    if messages is None:
        yield
        return
    with _one_at_a_time, tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        terminal = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            file.seek(0)
            for line in file:
                if not _MPG123.search(line):
                    os.write(terminal, line)
                elif line.strip() and len(messages) < _MAX_MESSAGES:
                    messages.append(line.decode(errors="replace").strip())
            os.close(terminal)
