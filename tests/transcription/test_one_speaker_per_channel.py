"""Two microphones, two speakers: each channel is transcribed alone; and turns cut utterances at their words."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from tiny_whisper import silence, voice

from lsa_whisper import chat
from lsa_whisper.errors import AudioError, LsaWhisperError
from lsa_whisper.transcription import Transcriber, transcribe

RATE_HZ = 16_000


@pytest.fixture(scope="module")
def interview(tmp_path_factory):
    """The child speaks at 1 s and 9 s, the investigator at 5 s, each into a microphone of their own."""
    quiet = [silence(11.5, level=1e-4, seed=n) for n in (0, 1)]
    for channel, starts_s in ((0, (1, 9)), (1, (5,))):
        for start_s in starts_s:
            quiet[channel][start_s * RATE_HZ : (start_s + 2) * RATE_HZ] += voice(2.0)
    path = tmp_path_factory.mktemp("interview") / "interview.wav"
    soundfile.write(path, np.stack(quiet, axis=1), RATE_HZ)
    return path


def test_each_channel_is_its_speaker(interview, scripted, tmp_path):
    (done,) = transcribe([interview], model=scripted, out=tmp_path, channels="CHI,INV").done
    transcript = chat.read(done.transcript, strict=True)
    assert chat.check(transcript) == []
    starts = [(each.speaker, each.span.start_ms // 1000) for each in transcript.utterances]
    assert [code for code, _ in starts] == ["CHI", "CHI", "INV", "INV", "CHI", "CHI"]
    assert [second for _, second in starts] == sorted(second for _, second in starts)
    assert {code: person.role for code, person in transcript.participants.items()} == {
        "CHI": "Target_Child",
        "INV": "Investigator",
    }
    assert [path.name for path in sorted(tmp_path.iterdir())] == [".interview.confidences.json", "interview.cha"]


def test_progress_of_all_channels_is_that_of_the_recording(interview, scripted):
    seen = []
    Transcriber(scripted, channels="CHI,INV").transcribe(interview, progress=seen.append)
    assert seen == sorted(seen) and 5 < seen[-1] <= 11.5


def test_recordings_that_do_not_have_the_channels_are_named(interview, visit, scripted, tmp_path):
    transcriber = Transcriber(scripted, channels="CHI,INV")
    with pytest.raises(AudioError, match=r"visit\.wav: has one channel, not 2; leave out --channels"):
        transcriber.transcribe(visit)
    sound, _ = soundfile.read(visit)
    soundfile.write(tmp_path / "twice.wav", np.stack((sound, sound), axis=1), RATE_HZ)
    with pytest.raises(AudioError, match=r"twice\.wav: has the same sound in all its channels"):
        transcriber.transcribe(tmp_path / "twice.wav")


@pytest.mark.parametrize(("channels", "said"), [("CHI,CHI", "name each once"), ("CHI,I V", "I V"), ("left", "CHI,INV")])
def test_wrong_names_are_refused(channels, said, scripted):
    with pytest.raises(LsaWhisperError, match=said):
        Transcriber(scripted, channels=channels)


def test_turns_cut_utterances_at_their_words(visit, scripted, tmp_path):
    turns = tmp_path / "visit.rttm"
    lines = "SPEAKER visit 1 0 {0} <NA> <NA> MOT <NA> <NA>\nSPEAKER visit 1 {0} 14 <NA> <NA> CHI <NA> <NA>\n"
    turns.write_text(lines.format(1.9))
    (cut,) = transcribe([visit], model=scripted, out=tmp_path / "cut", speakers=turns).done
    (whole,) = transcribe([visit], model=scripted, out=tmp_path / "whole", speakers=turns, word_times=False).done
    assert any(each.word_times for each in chat.read(cut.transcript).utterances)
    assert not any(each.word_times for each in chat.read(whole.transcript).utterances)
    with pytest.raises(LsaWhisperError, match="both say who speaks"):
        transcribe([visit], model=scripted, out=tmp_path / "both", speakers=turns, channels="CHI,INV")
