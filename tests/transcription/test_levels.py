"""Quiet recordings, and channels that cancel each other, are transcribed like others, and told."""

from __future__ import annotations

import numpy as np
import soundfile

from lsa_whisper.audio import Recording
from lsa_whisper.transcription import Transcriber


def at_level(sound, gain_db):
    """Return a sound at another level, with the rounding of 16 bits."""
    return (np.round(sound * 10 ** (gain_db / 20) * 32_767) / 32_767).astype(np.float32)


def test_a_quiet_recording_is_transcribed_and_told(visit, scripted, tmp_path):
    sound, rate_hz = soundfile.read(visit, dtype="float32")
    soundfile.write(tmp_path / "quiet.wav", at_level(sound, -45), rate_hz)
    transcriber = Transcriber(scripted, vad="energy")
    loud, quiet = transcriber.transcribe(visit), transcriber.transcribe(tmp_path / "quiet.wav")
    assert [each.text for each in quiet.utterances] == [each.text for each in loud.utterances] != []
    assert not loud.remarks and "the recording is very quiet (speech at -" in quiet.remarks[0]


def test_a_window_of_a_quiet_recording_that_failed_has_no_text(visit, tiny, tmp_path):
    sound, rate_hz = soundfile.read(visit, dtype="float32")
    soundfile.write(tmp_path / "quiet.wav", at_level(sound, -45), rate_hz)
    transcriber = Transcriber(tiny, vad="energy")  # random weights: every text is improbable
    assert transcriber.transcribe(visit).utterances
    quiet = transcriber.transcribe_with_scores(Recording.open(tmp_path / "quiet.wav"))
    assert not quiet.transcript.utterances and quiet.missed
    assert Transcriber(tiny, vad="energy", no_speech_threshold=None).transcribe(tmp_path / "quiet.wav").utterances


def test_stereo_in_opposite_phase_is_transcribed_and_told(visit, scripted, tmp_path):
    sound, rate_hz = soundfile.read(visit, dtype="float32")
    soundfile.write(tmp_path / "both.wav", np.stack((sound, -sound), axis=1), rate_hz)
    transcriber = Transcriber(scripted, vad="energy")
    loud, both = transcriber.transcribe(visit), transcriber.transcribe(tmp_path / "both.wav")
    assert [each.text for each in both.utterances] == [each.text for each in loud.utterances] != []
    assert "opposite phase" in both.remarks[0]
    alone = Transcriber(scripted, vad="energy", channels="2").transcribe(tmp_path / "both.wav")
    assert not alone.remarks and len(alone.utterances) == len(loud.utterances)
