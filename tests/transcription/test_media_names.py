"""A name that CLAN cannot read in @Media is told before anything is decoded, with the name to use."""

from __future__ import annotations

import shutil

import pytest

from lsa_whisper import chat
from lsa_whisper.chat.files import media_name
from lsa_whisper.transcription import Transcriber, transcribe

NAMES = {
    "my file (1)": "my_file_1",
    "O'Hara": "O_Hara",
    "a,b": "a_b",
    "two\nlines": "two_lines",
    "“said”": "said",
    "visit.wav": "visit_wav",
    "()": "recording",
}


@pytest.fixture
def recordings(visit, tmp_path):
    folder = tmp_path / "pilot study"
    folder.mkdir()
    for name in (*NAMES, "fine-é"):
        shutil.copy(visit, folder / f"{name}.wav")
    return folder


def test_without_renaming_they_are_refused_before_anything_is_decoded(recordings, scripted, tmp_path, monkeypatch):
    out, finished = tmp_path / "out", []
    original = Transcriber.transcribe_with_scores

    def noting(self, recording, **options):
        finished.append(recording.path.stem)
        assert len((tmp_path / "log").read_text().splitlines()) == 1 + len(NAMES)  # all of them have been told
        return original(self, recording, **options)

    monkeypatch.setattr(Transcriber, "transcribe_with_scores", noting)
    result = transcribe([recordings], model=scripted, out=out, log=tmp_path / "log", rename_media=False)
    assert finished == ["fine-é"] and [each.audio.stem for each in result.done] == ["fine-é"]
    told = {each.path.stem: each.reason for each in result.failed}
    assert told.keys() == NAMES.keys()
    assert all(f"rename the recording to {name}.wav (--rename-media" in told[old] for old, name in NAMES.items())


def test_they_are_written_under_a_name_that_clan_can_read(recordings, scripted, tmp_path, capsys):
    out = tmp_path / "out"
    result = transcribe([recordings], model=scripted, out=out)
    notices = [line for line in capsys.readouterr().err.splitlines() if "becomes" in line]
    assert len(notices) == 1 and "becomes O_Hara.cha" in notices[0] and "and 4 more" in notices[0]
    assert not result.failed and {path.stem for path in recordings.iterdir()} == {*NAMES, "fine-é"}
    for name in NAMES.values():
        transcript = chat.read(out / f"{name}.cha", strict=True)
        assert transcript.media == name and chat.check(transcript) == []
    assert "to play it in CLAN, copy it to my_file_1.wav" in result.table()
    assert "@ID:\teng|pilot_study|PAR|" in (out / "fine-é.cha").read_text()
    assert all(each.skipped for each in transcribe([recordings], model=scripted, out=out).done)


def test_two_names_that_become_one_are_not_written_over(visit, scripted, tmp_path):
    for name in ("a b", "a_b"):
        shutil.copy(visit, tmp_path / f"{name}.wav")
    result = transcribe([tmp_path], model=scripted, out=tmp_path / "out")
    assert len(result.done) == 1 and "its transcript would replace that of" in result.failed[0].reason


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_was_made_fit_stays(name):
    assert media_name(media_name(name)) == media_name(name)
