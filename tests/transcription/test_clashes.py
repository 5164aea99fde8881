"""Output files that must not be written over, in one run: a sentence for each, nothing changes, the others finish."""

from __future__ import annotations

import re
import shutil

import pytest
import soundfile

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import transcribe
from lsa_whisper.transcription.files.provenance import RecordingIdentity

TYPED = b"*CHI:\ttyped by a person .\n"


def typed(name):
    """Return what puts a file of a person in the place of an output file."""

    def put(out, stem):
        path = out / name.format(stem)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(TYPED)

    return put


def folder(name):
    def put(out, stem):
        (out / name.format(stem)).mkdir(parents=True)
        (out / name.format(stem) / "note.txt").write_bytes(TYPED)

    return put


def ours(change):
    """Return what changes a transcript that an earlier run wrote, with another model."""

    def put(out, stem):
        path = out / f"{stem}.cha"
        path.write_bytes(change((out / "earlier.cha").read_bytes()))

    return put


def linked(out, stem):
    (out / f"{stem}.txt").write_bytes(TYPED)
    (out / f"{stem}.cha").symlink_to(out / f"{stem}.txt")


CLASHES = {
    "typed": (typed("{}.cha"), "was not written by lsa-whisper"),
    "blank": (lambda out, stem: (out / f"{stem}.cha").write_bytes(b""), "was not written by lsa-whisper"),
    "binary": (lambda out, stem: (out / f"{stem}.cha").write_bytes(bytes(range(256))), "was not written by"),
    "linked": (linked, "was not written by lsa-whisper"),
    "corrected": (ours(lambda data: data.replace(b"the cat", b"the cats")), "was corrected by hand"),
    "another": (ours(lambda data: data), "is the transcript of another recording"),
    "directory": (folder("{}.cha"), "is a folder"),
    "subtitles": (typed("{}.srt"), "was not made from"),
    "captions": (typed("{}.vtt"), "was not made from"),
    "grid": (typed("{}.TextGrid"), "was not made from"),
    "numbers": (typed("{}.json"), "was not made from"),
    "srt_folder": (folder("{}.srt"), "is a folder"),
    "cleaned": (typed("fluent/{}.cha"), "was not made from"),
    "readers": (typed("fluent/{}.txt"), "was not made from"),
    "scores": (folder(".{}.confidences.json"), "is a folder"),
}


def state(out):
    return {
        path.relative_to(out).as_posix(): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in out.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_nothing_is_written_over_and_the_others_finish(visit, tiny, scripted, tmp_path, decoded):
    out, sound = tmp_path / "out", tmp_path / "sound"
    sound.mkdir()
    samples, rate_hz = soundfile.read(visit)
    soundfile.write(sound / "earlier.wav", samples, rate_hz)
    transcribe([sound / "earlier.wav"], model=scripted, out=out)
    place = RecordingIdentity.of(sound / "earlier.wav").place
    for at, (name, (put, _)) in enumerate(CLASHES.items()):
        soundfile.write(sound / f"{name}.wav", samples[: 32_000 + at], rate_hz)
        put(out, name)
    soundfile.write(sound / "twice.wav", samples[:32_000], rate_hz)
    shutil.copy(sound / "twice.wav", sound / "twice.flac")
    shutil.copy(sound / "typed.wav", sound / "good.wav")
    assert place in (out / "another.cha").read_text()
    before, _ = state(out), decoded.clear()
    named = [sound / f"{name}.wav" for name in (*CLASHES, "twice")] + [sound / "twice.flac", sound / "good.wav"]
    result = transcribe(named, model=tiny, out=out, formats=["srt", "vtt", "textgrid", "json"], also_fluent=True)
    reasons = {each.path.name: each.reason for each in result.failed}
    assert list(reasons) == [*(f"{name}.wav" for name in CLASHES), "twice.flac"] and len(reasons) >= 12
    assert result.exit_code == len(reasons)
    for name, (_, reason) in CLASHES.items():
        said = reasons[f"{name}.wav"]
        assert reason in said and "\n" not in said and re.search(r"; \w", said), said
    assert "would replace that of" in reasons["twice.flac"]
    assert [each.transcript.name for each in result.done] == ["twice.cha", "good.cha"]
    assert set(decoded) == {"twice.wav", "good.wav"}
    assert {path: data for path, data in state(out).items() if path in before} == before


def test_a_file_where_a_folder_should_be_is_kept(visit, scripted, tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    shutil.copy(visit, tmp_path / "in" / "sub" / "visit.wav")
    shutil.copy(visit, tmp_path / "in" / "visit.wav")
    for parent in ("file", "out/sub"):
        (tmp_path / parent).parent.mkdir(exist_ok=True)
        (tmp_path / parent).write_bytes(TYPED)
    with pytest.raises(LsaWhisperError, match=r"file: is a file; name a folder"):
        transcribe([tmp_path / "in"], model=scripted, out=tmp_path / "file")
    result = transcribe([tmp_path / "in"], model=scripted, out=tmp_path / "out")
    assert len(result.failed) == 1 and len(result.done) == 1
    assert "; " in result.failed[0].reason and "\n" not in result.failed[0].reason
    assert all((tmp_path / parent).read_bytes() == TYPED for parent in ("file", "out/sub"))
