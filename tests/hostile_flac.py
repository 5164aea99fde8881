"""FLAC files made by hand: a few bytes that stand for hours, and headers that lie."""

from __future__ import annotations

BLOCK = 65_535


def silence(seconds: float, *, rate_hz: int = 16_000, header_s: float | None = None) -> bytes:
    """Return a FLAC file of digital silence: 15 bytes for each four seconds; its header may claim another length."""
    samples = round(seconds * rate_hz)
    claimed = samples if header_s is None else round(header_s * rate_hz)
    described = rate_hz << 44 | (16 - 1) << 36 | claimed  # rate, mono, 16 bits, samples
    info = BLOCK.to_bytes(2, "big") * 2 + bytes(6) + described.to_bytes(8, "big") + bytes(16)
    frames = [_frame(at, min(BLOCK, samples - at * BLOCK)) for at in range(-(-samples // BLOCK))]
    return b"fLaC" + b"\x80" + len(info).to_bytes(3, "big") + info + b"".join(frames)


def _frame(number: int, samples: int) -> bytes:
    head = b"\xff\xf8\x70\x08" + _utf8(number) + (samples - 1).to_bytes(2, "big")
    body = head + bytes([_crc(head, 8, 0x07)]) + b"\x00\x00\x00"  # a constant: every sample is 0
    return body + _crc(body, 16, 0x8005).to_bytes(2, "big")


def _utf8(number: int) -> bytes:
    return chr(number).encode("utf-8", "surrogatepass")


def _crc(data: bytes, bits: int, polynomial: int) -> int:
    value, top, mask = 0, 1 << (bits - 1), (1 << bits) - 1
    for byte in data:
        value ^= byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value & top else value << 1) & mask
    return value
