"""Malformed recordings in one run: each is refused in one sentence, and the good one among them is transcribed."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import struct
import zipfile

import numpy as np
import soundfile

from lsa_whisper.transcription import transcribe

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"


def content(data):
    return lambda path: path.write_bytes(data)


def sound(path):
    soundfile.write(path, 0.1 * np.random.default_rng(0).standard_normal(16_000), 16_000)
    return bytearray(path.read_bytes())


def patched(at, data):
    """Return a change of a WAV: other bytes in its header."""

    def change(path):
        whole = sound(path)
        whole[at : at + len(data)] = data
        path.write_bytes(whole)

    return change


def cut(length):
    return lambda path: path.write_bytes(sound(path)[:length])


def linked(to):
    return lambda path: path.symlink_to(to)


def zipped(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("visit.wav", b"RIFF")


RECORDINGS = {
    "absent.wav": lambda path: None,
    "empty.wav": content(b""),
    "text.wav": content(b"this is no sound\n"),
    "zeros.wav": content(bytes(5000)),
    "riff_only.wav": content(b"RIFF\x24\x00\x00\x00WAVE"),
    "no_format.wav": content(b"RIFF\x24\x00\x00\x00WAVEdata\x04\x00\x00\x00\x00\x00\x00\x00"),
    "no_samples.wav": cut(44),
    "half_header.wav": cut(30),
    "no_channel.wav": patched(22, struct.pack("<H", 0)),
    "no_rate.wav": patched(24, struct.pack("<I", 0)),
    "rate_of_1_hz.wav": patched(24, struct.pack("<I", 1)),
    "unknown_codec.wav": patched(20, struct.pack("<H", 0xFFFE - 0x100)),
    "git_lfs.wav": content(POINTER),
    "compressed.wav": lambda path: path.write_bytes(gzip.compress(bytes(sound(path)))),
    "dangling.wav": linked("nowhere.wav"),
    "circle.wav": linked("circle.wav"),
    "endless.wav": linked("/dev/zero"),
    "pipe.wav": os.mkfifo,
    "picture.wav": content(b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "no_frames.flac": cut(42),
    "magic.flac": content(b"fLaC"),
    "empty.flac": content(b""),
    "magic.ogg": content(b"OggS"),
    "first_page.ogg": cut(58),
    "form_only.aiff": content(b"FORM\x00\x00\x00\x04AIFF"),
    "empty.mp3": content(b""),
    "tag_only.mp3": content(b"ID3\x04\x00\x00\x00\x00\x00\x0a" + bytes(10)),
    "error_page.mp3": content(b"<!DOCTYPE html><html><body>404 Not Found</body></html>"),
    "text.m4a": content(b"no sound"),
    "brand_only.m4a": content(b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A mp42"),
    "archive.m4a": zipped,
    "playlist.mp4": content(b"#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:9/a.wav\n"),
    "start_only.webm": content(b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01"),
    "a,b.wav": sound,  # CLAN could not read it in @Media
}


def test_each_is_refused_in_one_sentence_and_the_good_one_is_transcribed(visit, scripted, tmp_path):
    for name, make in RECORDINGS.items():
        make(tmp_path / name)
    shutil.copy(visit, tmp_path / "good.wav")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and not path.is_symlink()}
    named = [tmp_path / name for name in (*RECORDINGS, "good.wav")]
    result = transcribe(named, model=scripted, out=tmp_path / "out", log=tmp_path / "log", rename_media=False)
    assert len(RECORDINGS) >= 25
    assert [each.path.name for each in result.failed] == list(RECORDINGS) and result.exit_code == len(RECORDINGS)
    for failed in result.failed:
        assert "\n" not in failed.reason and len(failed.reason) < 400, failed.reason
        assert str(failed.path) in failed.reason and re.search(r"; \w", failed.reason), failed.reason
        assert "unexpected" not in failed.reason, failed.reason
    assert [each.transcript.name for each in result.done] == ["good.cha"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"good.cha", ".good.confidences.json"}
    assert all(path.read_bytes() == data for path, data in before.items())
    assert (tmp_path / "log").read_text().count("\tfailed\t") == len(RECORDINGS)
