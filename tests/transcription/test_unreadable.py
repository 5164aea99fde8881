"""A recording or folder that cannot be read is named, and the others are transcribed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import soundfile
from unprivileged import closed

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError
from lsa_whisper.transcription import Transcriber, jobs, transcribe


@pytest.fixture
def inputs(visit, tmp_path):
    """A folder with a recording, one to lock, and one in a subfolder to lock."""
    folder = tmp_path / "in"
    for name in ("good.wav", "locked.wav", "sub/deep.wav"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(visit, folder / name)
    return folder


@pytest.fixture
def model(scripted, visit, tmp_path):
    """A copy of the model where every user may read it; everything is imported before permissions are dropped."""
    copy = Path(shutil.copytree(scripted, tmp_path / "model"))
    transcribe([visit], model=copy, out=tmp_path / "before")
    return copy


@pytest.mark.parametrize("named", ["files", "folder"])
def test_what_cannot_be_read_is_named_and_the_rest_is_transcribed(named, inputs, model, tmp_path):
    asked = [inputs] if named == "folder" else [inputs / "good.wav", inputs / "locked.wav", inputs / "sub"]
    with closed(inputs / "locked.wav", inputs / "sub", below=tmp_path):
        result = transcribe(asked, model=model, out=tmp_path / "out")
    assert [each.transcript.name for each in result.done] == ["good.cha"]
    assert {each.path.name for each in result.failed} == {"locked.wav", "sub"} and result.exit_code == 2
    assert all("Permission denied" in each.reason and "permissions" in each.reason for each in result.failed)


def test_a_subfolder_that_cannot_be_read_is_named_when_nothing_else_is_there(inputs, model, tmp_path):
    for name in ("good.wav", "locked.wav"):
        (inputs / name).unlink()
    with closed(inputs / "sub", below=tmp_path):
        result = transcribe([inputs], model=model, out=tmp_path / "out")
    assert [each.path.name for each in result.failed] == ["sub"] and not result.done


def test_a_recording_that_vanishes_before_its_turn_is_told_in_a_sentence(visit, scripted, tmp_path, monkeypatch):
    path, found = Path(shutil.copy(visit, tmp_path / "gone.wav")), jobs.open_recordings

    def then_removed(*given):
        opened = found(*given)
        path.unlink()
        return opened

    monkeypatch.setattr(jobs, "open_recordings", then_removed)
    with pytest.raises(
        AudioError, match=r"gone\.wav: is no longer readable \(No such file or directory\); was it moved"
    ):
        transcribe([path], model=scripted, out=tmp_path / "out")


@pytest.mark.parametrize("suffix", ["wav", "ogg"])
def test_a_truncated_recording_is_told_on_the_terminal_in_the_log_and_in_chat(suffix, visit, scripted, tmp_path):
    sound, rate_hz = soundfile.read(visit)
    path, log = tmp_path / f"cut.{suffix}", tmp_path / "log.tsv"
    soundfile.write(path, sound, rate_hz)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    expected = Recording.open(path).remark
    assert expected
    result = transcribe([path], model=scripted, out=tmp_path / "out", log=log)
    assert f"check  {tmp_path / 'out' / 'cut.cha'}: the recording is incomplete: {expected}" in result.table()
    assert expected in log.read_text()
    assert f"@Comment:\tthe recording is incomplete: {expected}" in chat.serialize(chat.read(tmp_path / "out/cut.cha"))
    assert expected in Transcriber(scripted).transcribe(path).remarks[0]
    again = transcribe([path], model=scripted, out=tmp_path / "out").table()
    assert "kept " in again and f"the recording is incomplete: {expected}" in again
    written = tmp_path / "out/cut.cha"
    written.write_text(written.read_text().replace("@Media", "@Comment:\tthe child was tired\n@Media"))
    edited = transcribe([path], model=scripted, out=tmp_path / "out").table()
    assert expected in edited and "tired" not in edited
