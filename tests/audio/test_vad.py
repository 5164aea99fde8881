"""Speech by Silero's model where it is installed, by energy where it is not; torchaudio is asked by nobody."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from tiny_whisper import silence, voice

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, vad
from lsa_whisper.audio.speech_energy import FRAME_S, find_speech
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.timespan import TimeSpan

TEST = Path(__file__).resolve().parents[2] / "corpora" / "storybook" / "test" / "test01.flac"


def test_what_cannot_be_used_is_named(monkeypatch):
    with pytest.raises(LsaWhisperError, match="choose either, silero, energy"):
        vad.detect_speech("webrtc", [silence(1)])
    monkeypatch.setattr(vad, "find_spec", lambda name: None)
    with pytest.raises(LsaWhisperError, match="install lsa-whisper again"):
        vad.detect_speech("silero", [silence(1)])


def test_energy_is_the_same_through_either_door():
    sound = np.concatenate((silence(1), voice(2), silence(1)))
    assert vad.detect_speech("energy", [sound]).regions == find_speech([sound], SAMPLE_RATE_HZ).regions


def test_either_opens_windows_where_one_of_the_two_hears_speech(monkeypatch):
    applause = 0.5 * np.random.default_rng(0).standard_normal(16_000 * 10).astype(np.float32)
    soft = 0.02 * voice(3)
    sound = np.concatenate((silence(2, level=1e-3), voice(3), soft, silence(3, level=1e-3), applause, soft))
    heard = np.zeros(-(-len(sound) // 512), np.float32)
    heard[round(5 * 31.25) : round(8 * 31.25)] = 0.9
    monkeypatch.setattr(vad, "_probabilities", lambda blocks: [len(block) for block in blocks] and iter(heard))
    found = {name: vad.detect_speech(name, [sound]) for name in ("energy", "silero", "either")}
    seconds = {
        name: [
            sum(end - start for start, end in speech.within(TimeSpan(*span))) for span in ((2000, 5000), (5000, 8000))
        ]
        for name, speech in found.items()
    }
    assert seconds["silero"][0] == 0 and seconds["silero"][1] > 2.5
    assert seconds["either"][0] > 2 and seconds["either"][1] > 2.5
    assert found["either"].voiced == found["silero"].voiced == found["silero"].regions
    assert found["energy"].voiced is None and found["energy"].voiced_within(TimeSpan(0, 1000)) is None
    last = TimeSpan(21_000, 24_000)  # as soft as the voice that the model hears, so it is speech, too
    lengths = [sum(end - start for start, end in found[name].within(last)) for name in ("energy", "either")]
    assert lengths[0] < 0.5 and lengths[1] > 2
    assert found["either"].voiced_within(last) == ()


@pytest.mark.parametrize("name", ["silence", "hiss", "tone", "nothing"])
def test_silero_finds_no_speech_in_silence(name):
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 16_000).astype(np.float32)
    sound = {"silence": silence(3), "hiss": silence(3, level=0.05), "tone": tone, "nothing": silence(0)}[name]
    speech = vad.detect_speech("silero", [sound])
    assert speech.regions == () and len(speech.level_db) == -(-len(sound) // 320)


def test_silero_and_energy_agree_in_a_quiet_room():
    import torch

    recording, threads = Recording.open(TEST), torch.get_num_threads()
    sound = recording.load()[: 10 * SAMPLE_RATE_HZ]
    asked = vad.detect_speech("silero", np.array_split(sound, 7))
    loud = find_speech([sound], SAMPLE_RATE_HZ)
    masks = [np.zeros(len(loud.level_db), bool) for _ in range(2)]
    for mask, speech in zip(masks, (asked, loud), strict=True):
        for start, end in speech.regions:
            mask[start:end] = True
    assert (masks[0] == masks[1]).mean() > 0.8 and sum(masks[0]) * FRAME_S > 2
    assert torch.get_num_threads() == threads
    assert "torchaudio" not in sys.modules and "silero_vad" not in sys.modules


def test_recordings_heard_at_once_leave_torch_the_threads_it_had(monkeypatch):
    monkeypatch.setattr(torch, "set_num_threads", lambda number: threads.append(number))
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    threads = [7]
    first, second = (vad._probabilities([silence(0.1)]) for _ in range(2))
    next(first), next(second)
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    first.close(), second.close()
    assert threads == [7, 1, 1, 7, 7]
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


@pytest.mark.parametrize("block", [700, 16_000, 100_000])
def test_probabilities_are_those_of_the_models_own_call(block):
    sound, _ = soundfile.read(TEST, frames=16_000 * 6 + 100, dtype="float32")
    model = torch.jit.load(str(vad._weights())).eval()
    chunks = np.pad(sound, (0, -len(sound) % 512)).reshape(-1, 512)
    with torch.inference_mode():
        own = [model(torch.from_numpy(chunk), SAMPLE_RATE_HZ).item() for chunk in chunks]
    streamed = list(vad._probabilities(sound[at : at + block] for at in range(0, len(sound), block)))
    assert max(own) > 0.9 and streamed == pytest.approx(own, abs=1e-4)
