"""A file that ends before its audio does is noticed in every format, and a whole one is not accused."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
import soundfile as sf
from containers import encode

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.audio.damaged import remark
from lsa_whisper.timespan import TimeSpan

FORMATS = {
    "wav": {},
    "rf64": {"format": "RF64"},
    "aiff": {},
    "flac": {},
    "mp3": {},
    "ogg": {},
    "opus": {"format": "OGG", "subtype": "OPUS"},
}


@pytest.fixture(scope="module")
def sound():
    return (0.1 * np.random.default_rng(0).standard_normal(16_000 * 20)).astype(np.float32)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_truncated_file_is_noticed_in_every_format_and_as_long_as_what_is_left(suffix, sound, tmp_path):
    whole = tmp_path / f"a.{suffix}"
    sf.write(whole, sound, 16_000, **FORMATS[suffix])
    assert Recording.open(whole).remark == ""
    data = whole.read_bytes()
    whole.write_bytes(data[: len(data) // 3])
    recording = Recording.open(whole)
    assert 5 < recording.duration_s < 8
    assert f"{recording.duration_s:.1f} s" in recording.remark
    assert ("cut off" if suffix in ("ogg", "opus") else "claims 20.0 s") in recording.remark
    assert len(recording.load()) == pytest.approx(recording.duration_s * SAMPLE_RATE_HZ, abs=2)
    last = TimeSpan(int(recording.duration_s * 1000) - 200, int(recording.duration_s * 1000))
    assert np.abs(recording.load(last)).max() > 0.01


@pytest.mark.parametrize(("suffix", "options"), [("m4a", {"movflags": "+faststart"}), ("webm", {})])
def test_a_truncated_container_is_noticed(suffix, options, sound, tmp_path):
    path = encode(tmp_path / f"a.{suffix}", sound, 16_000, **options)
    assert Recording.open(path).remark == ""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 3])
    assert "claims 20.0 s" in Recording.open(path).remark


@pytest.mark.parametrize("missing_s", [0.5, 0.05])
def test_half_a_second_is_told_and_rounding_is_not(missing_s, sound, tmp_path):
    path = tmp_path / "a.wav"
    sf.write(path, sound, 16_000)
    path.write_bytes(path.read_bytes()[: -round(missing_s * 32_000)])
    assert ("claims 20.0 s, and 19.5 s" in Recording.open(path).remark) == (missing_s == 0.5)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF], ids=["not filled in", "unknown"])
def test_a_length_that_was_never_known_is_no_truncation(size, sound, tmp_path):
    """Programs that write to a pipe, and recorders that stop suddenly, leave the length of a WAV open."""
    path = tmp_path / "a.wav"
    sf.write(path, sound, 16_000)
    data = bytearray(path.read_bytes())
    at = data.index(b"data") + 4
    data[at : at + 4] = struct.pack("<I", size)
    path.write_bytes(data)
    if size:
        assert Recording.open(path).remark == ""


def test_what_follows_the_audio_does_not_count(sound, tmp_path):
    path = tmp_path / "a.wav"
    sf.write(path, sound, 16_000)
    path.write_bytes(path.read_bytes() + b"LIST\x04\0\0\0INFO")
    assert Recording.open(path).remark == ""


@pytest.mark.parametrize("kept", [0.02, 0.4])
def test_noise_in_an_mp3_that_does_not_state_its_length_is_noticed(kept, sound, tmp_path):
    path = tmp_path / "a.mp3"
    sf.write(path, sound, 16_000)
    data = path.read_bytes()
    frames = data[data.index(b"\xff\xf3", 4) :]  # without the frame that states the length
    path.write_bytes(frames)
    whole = Recording.open(path)
    assert (whole.remark, round(whole.duration_s)) == ("", 20)
    cut, end = round(kept * len(frames)), round((kept + 0.5) * len(frames))
    path.write_bytes(frames[:cut] + np.random.default_rng(1).bytes(end - cut) + (frames[end:] if kept > 0.1 else b""))
    damaged = Recording.open(path)
    assert damaged.duration_s < 18
    assert damaged.remark == f"parts of the file are damaged, and {damaged.duration_s:.1f} s of sound can be read"


@pytest.mark.parametrize("suffix", ["flac", "ogg", "mp3", "m4a", "webm"])
def test_what_follows_a_damaged_part_is_read_at_its_time_and_the_part_is_told(suffix, sound, tmp_path):
    path = tmp_path / f"a.{suffix}"
    voice = sound * (np.arange(len(sound)) // 1600 % 7 == 0)  # bursts that show where the sound is
    if suffix in FORMATS:
        sf.write(path, voice, 16_000, **FORMATS[suffix])
    else:
        encode(path, voice, 16_000)
    whole = Recording.open(path).load()
    data = bytearray(path.read_bytes())
    middle, size = len(data) // 2, len(data) // 15
    data[middle : middle + size] = bytes(np.random.default_rng(1).integers(0, 250, size, np.uint8))
    path.write_bytes(data)
    recording = Recording.open(path)
    samples = recording.load()
    assert len(samples) == pytest.approx(len(whole), abs=1.5 * SAMPLE_RATE_HZ if suffix == "mp3" else 200)
    assert np.abs(samples).max() < 1.5 * np.abs(whole).max()
    if suffix == "mp3":  # its frames have no times
        assert "parts of the file are damaged" in recording.remark or "claims 20.0 s" in recording.remark
        return
    assert recording.remark.startswith("no sound can be read from ")
    for at in (2, 17):
        expected = whole[at * SAMPLE_RATE_HZ :][:SAMPLE_RATE_HZ]
        for found in (samples[at * SAMPLE_RATE_HZ :], recording.load(TimeSpan(at * 1000, (at + 1) * 1000))):
            assert np.abs(found[:SAMPLE_RATE_HZ] - expected).mean() < 0.002
    assert 6_000 < recording.gaps[0].start_ms < 13_000


def test_the_pages_of_an_ogg_file_are_examined_once(sound, tmp_path, monkeypatch):
    path, sums, checksum = tmp_path / "a.ogg", [], zlib.crc32
    sf.write(path, sound, 16_000)
    monkeypatch.setattr(zlib, "crc32", lambda *page: sums.append(page) or checksum(*page))
    for _ in range(3):
        assert Recording.open(path).remark == ""
    pages = path.read_bytes().count(b"OggS")
    assert len(sums) == pages
    path.write_bytes(path.read_bytes()[:-2000])
    assert "cut off" in Recording.open(path).remark and len(sums) > pages


def test_many_damaged_parts_are_told_as_a_few_and_a_number(tmp_path):
    gaps = [TimeSpan(1000 * at, 1000 * at + 500) for at in range(8)]
    assert "4.00 to 4.50 s and 3 more places: silence" in remark(20.0, 20.0, False, gaps, [])
