"""Every available recording becomes valid CHAT, in order and within the audio; without speech, an empty one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from tiny_whisper import silence

from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.files.recordings import find_jobs

ROOT = Path(__file__).resolve().parents[2]
STORYBOOK, PAIRED = ROOT / "corpora" / "storybook" / "test", ROOT.parent / "shared" / "data" / "paired"


def verify(transcript, recording):
    """Assert what every transcript must keep."""
    again = chat.parse(chat.serialize(transcript), strict=True)
    assert chat.check(again) == []
    spans = [each.span for each in again.utterances if each.span]
    assert all(0 <= span.start_ms < span.end_ms <= recording.duration_s * 1000 for span in spans)
    assert [span.start_ms for span in spans] == sorted(span.start_ms for span in spans)


@pytest.mark.slow
@pytest.mark.parametrize("windows", ["speech", "sequential"])
@pytest.mark.parametrize("folder", [STORYBOOK, PAIRED], ids=["storybook", "paired"])
def test_every_transcript_is_valid_and_inside_its_recording(folder, windows):
    recordings = [path for path in sorted(folder.glob("*")) if path.suffix in AUDIO_SUFFIXES]
    if not recordings:
        pytest.skip(f"{folder} is not here")
    transcriber, words = Transcriber(ROOT / "models" / "nano", windows=windows, vad="energy"), 0
    for path in recordings[: 2 if windows == "sequential" else None]:
        recording = Recording.open(path)
        made = transcriber.transcribe_with_scores(recording)
        verify(made.transcript, recording)
        assert [len(each.verbatim()) for each in made.transcript.utterances] == [len(each) for each in made.scores]
        words += sum(score is not None for scores in made.scores for score in scores)
    assert words > 20


def chord():
    time_s = np.arange(80_000) / 16_000
    return sum(0.1 * np.sin(2 * np.pi * pitch * time_s) for pitch in (262, 330, 392)).astype(np.float32)


@pytest.mark.parametrize("name", ["silence", "noise", "chord"])
def test_without_speech_the_transcript_is_valid_and_empty(name, scripted, tmp_path):
    """``scripted`` writes two sentences whatever it hears, so that only what finds speech can keep it silent."""
    sound = {"silence": silence(5), "noise": silence(5, level=0.1), "chord": chord()}[name]
    soundfile.write(tmp_path / "a.wav", sound, 16_000)
    transcript = Transcriber(scripted, vad="energy").transcribe(Recording.open(tmp_path / "a.wav")).transcript
    assert transcript.utterances == [] and "no speech was found" in chat.serialize(transcript)
    verify(transcript, Recording.open(tmp_path / "a.wav"))


def test_a_recording_without_a_suffix_in_a_folder_is_named(tmp_path, capsys):
    soundfile.write(tmp_path / "visit", silence(1), 16_000, format="WAV")
    soundfile.write(tmp_path / "a.wav", silence(1), 16_000)
    (tmp_path / "README").write_text("no sound")
    assert [audio.name for audio, _ in find_jobs([tmp_path], None)] == ["a.wav"]
    assert capsys.readouterr().err == (
        f"{tmp_path}/visit: a recording without a suffix such as .wav is left out; name it to transcribe it, too\n"
    )
