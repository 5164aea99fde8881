"""Recordings that claim, or really hold, ten hours in a few bytes: little is held of them, and their length is true."""

from __future__ import annotations

import struct
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from containers import encode
from hostile_flac import silence

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan

HOURS_10 = 36_000
USES = """
import resource, sys
from lsa_whisper.audio import Recording
from lsa_whisper.timespan import TimeSpan

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

Recording.open(sys.argv[1])
before = peak()
recording = Recording.open(sys.argv[2])
end_ms = int(recording.duration_s * 1000)
recording.load(TimeSpan(max(0, end_ms - 30_000), end_ms))
blocks = recording.stream()
for _ in range(int(sys.argv[3])):
    if next(blocks, None) is None:
        break
print(recording.duration_s, peak() - before)
"""


def use(path, blocks=4):
    """Return how long a recording is, and how many MiB more than another's was held to open, cut and stream it."""
    small = path.with_name("small.flac")
    small.write_bytes(silence(60))
    command = [sys.executable, "-c", USES, str(small), str(path), str(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def test_ten_hours_in_a_small_file_are_streamed(tmp_path):
    path = tmp_path / "ten_hours.flac"
    path.write_bytes(silence(HOURS_10))
    assert path.stat().st_size < 200_000
    duration_s, more_mib = use(path)
    assert duration_s == HOURS_10 and more_mib < 64  # as one array they take 2,200 MiB


@pytest.mark.slow
def test_all_ten_hours_are_streamed(tmp_path):
    path = tmp_path / "ten_hours.flac"
    path.write_bytes(silence(HOURS_10))
    _, more_mib = use(path, blocks=10**6)
    assert more_mib < 64


def test_a_flac_with_a_false_length_has_its_real_length(tmp_path):
    path = tmp_path / "claims.flac"
    path.write_bytes(silence(20, header_s=HOURS_10))
    duration_s, more_mib = use(path)
    assert duration_s == pytest.approx(20, abs=0.3) and more_mib < 64
    recording = Recording.open(path)
    assert "claims 36000.0 s, and 20.0 s of it can be read" in recording.remark
    with pytest.raises(AudioError, match="out of"):
        recording.load(TimeSpan(30_000_000, 30_010_000))
    assert len(np.concatenate(list(recording.stream()))) == round(recording.duration_s * SAMPLE_RATE_HZ)


def test_a_correct_header_gives_no_remark(tmp_path):
    (tmp_path / "true.flac").write_bytes(silence(20))
    assert Recording.open(tmp_path / "true.flac").remark == ""


def test_an_empty_flac_that_claims_ten_hours_is_a_one_line_error(tmp_path):
    path = tmp_path / "nothing.flac"
    path.write_bytes(silence(0, header_s=HOURS_10))
    with pytest.raises(AudioError, match="no audio can be read"):
        Recording.open(path)


@pytest.mark.parametrize("claimed", [HOURS_10 * 32_000, 0xFFFFFFFF, 0x7FFFFFFF])
def test_a_wav_with_a_false_length_has_its_real_length(tmp_path, claimed):
    path = tmp_path / "claims.wav"
    soundfile.write(path, np.zeros(5 * SAMPLE_RATE_HZ), SAMPLE_RATE_HZ)
    data = bytearray(path.read_bytes())
    at = data.find(b"data")
    data[at + 4 : at + 8] = struct.pack("<I", claimed)
    path.write_bytes(data)
    duration_s, more_mib = use(path)
    assert duration_s == 5 and more_mib < 64


@pytest.mark.parametrize("rate_hz", [1, 0x7FFFFFFF])
def test_a_wav_with_an_impossible_rate_is_a_one_line_error(tmp_path, rate_hz):
    path = tmp_path / "rate.wav"
    soundfile.write(path, np.zeros(5 * SAMPLE_RATE_HZ), SAMPLE_RATE_HZ)
    data = bytearray(path.read_bytes())
    data[24:28] = struct.pack("<I", rate_hz)
    path.write_bytes(data)
    with pytest.raises(AudioError, match="no audio can be read"):
        Recording.open(path)


def test_an_mp3_with_a_false_length_has_its_real_length(tmp_path):
    path = tmp_path / "claims.mp3"
    soundfile.write(path, 0.1 * np.random.default_rng(0).standard_normal(5 * SAMPLE_RATE_HZ), SAMPLE_RATE_HZ)
    data = bytearray(path.read_bytes())
    at = next(place for tag in (b"Xing", b"Info") if (place := data.find(tag)) > 0)
    data[at + 8 : at + 12] = struct.pack(">I", HOURS_10 * SAMPLE_RATE_HZ // 576)
    path.write_bytes(data)
    duration_s, more_mib = use(path)
    assert duration_s == pytest.approx(5, abs=0.2) and more_mib < 64


def test_an_m4a_with_a_false_length_has_its_real_length(tmp_path):
    sound = 0.1 * np.random.default_rng(0).standard_normal(5 * SAMPLE_RATE_HZ)
    path = encode(tmp_path / "claims.m4a", sound, SAMPLE_RATE_HZ)
    data = bytearray(path.read_bytes())
    for box, offset in ((b"mvhd", 20), (b"mdhd", 20), (b"tkhd", 24)):  # from the name of a box to its duration
        at = data.find(box) + offset
        data[at : at + 4] = struct.pack(">I", 0x7FFFFFFF)
    path.write_bytes(data)
    duration_s, more_mib = use(path)
    assert duration_s == pytest.approx(5, abs=0.3) and more_mib < 64


@pytest.mark.parametrize(
    "text", ["#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:9/a.wav\n", "ffconcat version 1.0\nfile /etc/passwd\n"]
)
def test_a_playlist_named_as_a_video_is_a_one_line_error(tmp_path, text):
    path = tmp_path / "list.mp4"
    path.write_text(text)
    with pytest.raises(AudioError, match="no audio can be read"):
        Recording.open(path)
