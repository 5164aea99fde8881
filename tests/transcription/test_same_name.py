"""A transcript knows its recording: that of another one with the same name is never written over."""

from __future__ import annotations

import shutil

import pytest
import soundfile
from calls import contents

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import transcribe


def other_voice(visit, path):
    """Write another child's recording, of the same length, to ``path``."""
    sound, rate_hz = soundfile.read(visit)
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.5 * sound, rate_hz)
    return path


@pytest.mark.parametrize("name", ["second/visit.wav", "first/visit.flac"])
def test_the_transcript_of_another_recording_is_not_written_over(name, visit, tiny, scripted, tmp_path, decoded):
    first, out = tmp_path / "first" / "visit.wav", tmp_path / "out"
    first.parent.mkdir()
    shutil.copy(visit, first)
    second = other_voice(visit, tmp_path / name)
    transcribe([first], model=scripted, out=out, formats=["srt"])
    before, _ = contents(out), decoded.clear()
    for model in (scripted, tiny):
        with pytest.raises(LsaWhisperError, match=r"visit\.cha: is the transcript of another recording"):
            transcribe([second], model=model, out=out, formats=["srt"])
    assert decoded == [] and contents(out) == before
    other = other_voice(visit, tmp_path / "third" / "other.wav")
    result = transcribe([second, other], model=scripted, out=out)
    assert [each.path for each in result.failed] == [second] and [each.audio for each in result.done] == [other]
    assert all(contents(out)[path] == data for path, data in before.items())


def test_a_recording_that_was_moved_is_still_the_same(visit, tiny, scripted, tmp_path):
    moved = tmp_path / "moved" / "visit.wav"
    moved.parent.mkdir()
    shutil.copy(visit, moved)
    transcribe([visit], model=scripted, out=tmp_path)
    assert transcribe([moved], model=scripted, out=tmp_path).done[0].skipped
    assert not transcribe([moved], model=tiny, out=tmp_path).done[0].skipped


def test_a_recording_that_is_named_in_two_ways_is_one(visit, scripted, tmp_path):
    again = visit.parent / ".." / visit.parent.name / visit.name
    summary = transcribe([visit, again], model=scripted, out=tmp_path / "out")
    assert len(summary.done) == 1 and not summary.failed
