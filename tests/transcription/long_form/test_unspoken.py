"""Text without speech under it goes by two signs; what people said stays, also when they say it eight times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from tiny_whisper import silence, voice

from benchmarks import non_speech
from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech_energy import SpeechActivity, find_speech
from lsa_whisper.audio.vad import detect_speech
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.no_speech import NEVER_SILENT, WHISPERS_RULE
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.assembly.remarks import text_remarks
from lsa_whisper.transcription.long_form.decode import LongFormDecoder
from lsa_whisper.transcription.long_form.repairs import REPAIRS
from lsa_whisper.transcription.long_form.unspoken import without_unspoken

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
BASE, AMI = SHARED / "whisper" / "base", SHARED / "ami"
real_base = pytest.mark.skipif(not (BASE.exists() and AMI.exists()), reason="OpenAI's base is not beside the project")
ALL_VOICED = ((0, 9999),)


def spoken(*segments, no_speech=0.0, logprob=None, voiced=None, level_db=0):
    """Return the texts that stay of a window with segments (text, seconds, log-probability)."""
    at, pieces = 0.0, []
    for text, seconds, segment_logprob in segments:
        pieces.append(DecodedSegment(text, at, at + seconds, segment_logprob))
        at += seconds
    mean = np.mean([each.avg_logprob for each in pieces]) if logprob is None else logprob
    window = DecodedWindow(tuple(pieces), float(mean), no_speech_prob=no_speech)
    levels = np.concatenate([np.full(2000, level_db, np.float32), np.zeros(1000, np.float32)])
    speech = SpeechActivity(levels, ((0, 3000),), voiced)
    ((_, result),) = without_unspoken([(TimeSpan(0, 60_000), window)], speech)
    assert len(result.segments) + len(result.unspoken) == len(pieces)
    assert result.silent == (not result.segments)
    return [each.text for each in result.segments]


@pytest.mark.parametrize(
    ("segment", "known"),
    [
        (("Thank you.", 23.0, -1.32), {"no_speech": 0.585}),  # rain
        (("I'm sorry.", 2.0, -2.11), {"no_speech": 0.342}),  # applause
        (("Thank you.", 15.3, -0.91), {"no_speech": 0.337, "logprob": -1.05}),  # music
        (("Thank you.", 19.0, -0.96), {"no_speech": 0.196}),
        (("BEEP", 2.0, -2.54), {"no_speech": 0.447}),  # ringing
        (("you", 2.4, -2.6), {"no_speech": 0.15}),
        (("Well, at the moment are our best guesses.", 2.0, -0.6), {"no_speech": 0.339, "logprob": -1.03}),  # crowd
        (("Where's you in the town?", 4.0, -0.58), {"no_speech": 0.28, "voiced": ()}),  # an empty meeting room
        (("Yeah.", 1.0, -1.5), {"no_speech": 0.025, "voiced": ()}),
        (("Okay.", 7.0, -1.47), {"no_speech": 0.01}),
        (("I'm practicing the delivery. I'm", 17.2, -1.19), {"voiced": ALL_VOICED, "level_db": -20}),  # crowd
    ],
)
def test_what_a_model_wrote_in_noise_goes(segment, known):
    assert spoken(segment, **known) == []


@pytest.mark.parametrize(
    ("segment", "known"),
    [
        (("Yeah.", 1.0, -0.42), {"no_speech": 0.28, "logprob": -0.84}),  # softly, in a large room
        (("Montreal?", 1.0, -1.29), {"no_speech": 0.18, "logprob": -0.98}),  # cut-off words
        (("And I'm going to have to fit you with.", 8.0, -0.8), {"no_speech": 0.126, "voiced": ()}),  # nobody heard it
        (("Okay.", 4.0, -0.09), {"no_speech": 0.126, "logprob": -0.8, "voiced": ()}),
        (("Yeah.", 24.1, -0.85), {"no_speech": 0.029, "voiced": ()}),
        (("Yeah.", 2.0, -1.25), {"no_speech": 0.091, "voiced": ALL_VOICED}),
        (("The surprise and the disgust.", 7.1, -1.0), {"no_speech": 0.008, "logprob": -1.02}),
        (("So if you've backed up", 5.5, -1.43), {"no_speech": 0.155, "logprob": -0.7}),
        (("So first of all I'm just gonna be", 7.5, -0.71), {"voiced": (), "level_db": -25}),
    ],
)
def test_what_people_said_stays(segment, known):
    assert spoken(segment, **known) == [segment[0]]


def test_copies_go_where_speech_is_doubtful_and_stay_where_people_speak():
    copies = [("I'm going to have to go to the next one.", 2.0, -0.6 + 0.05 * number) for number in range(11)]
    assert spoken(*copies, no_speech=0.3) == []
    for voiced in (None, (), ALL_VOICED):  # a detector may miss a soft voice
        assert len(spoken(*copies, no_speech=0.1, voiced=voiced)) == 11
    short = [("I see.", 2.0, logprob) for logprob in (-0.5, -0.4, -0.3)]
    assert spoken(*short, no_speech=0.3) == []
    assert len(spoken(*short[::-1], no_speech=0.3)) == 3  # less and less sure: it does not read itself
    assert spoken(("no no no no no no no no no no no no no no no no", 6.0, -0.3), no_speech=0.3) == []


class Scripted:
    """Writes the same segments into every window, as they fit, with a probability of no speech."""

    batch_size = 4

    def __init__(self, text, every_s, logprob, no_speech_prob):
        self.text, self.every_s, self.logprob, self.no_speech_prob = text, every_s, logprob, no_speech_prob

    def decode(self, windows):
        return [self._one(len(window) / 16_000) for window in windows]

    def _one(self, seconds):
        starts = np.arange(0, max(seconds - 0.5, 0.1), self.every_s)
        pieces = tuple(
            DecodedSegment(self.text, float(at), float(min(at + self.every_s, seconds)), self.logprob) for at in starts
        )
        return DecodedWindow(pieces, self.logprob, no_speech_prob=self.no_speech_prob)


def decoded(decoder, sound, folder, silence=WHISPERS_RULE):
    path = folder / "sound.wav"
    soundfile.write(path, sound, 16_000)
    long_form = LongFormDecoder(decoder, context_s=30.0, window_s=30.0, repairs=REPAIRS, silence=silence)
    return long_form.decode(Recording.open(path), find_speech([sound], 16_000))


@pytest.mark.parametrize("name", non_speech.MADE)
def test_nothing_is_invented_in_a_sound(name, tmp_path):
    sound = non_speech.sounds(length_s=12.0)[name]
    invented = Scripted("I'm sorry .", 3.0, -1.2, 0.4)
    windows = decoded(invented, sound, tmp_path)
    assert not any(result.segments for _, result in windows)
    kept = decoded(invented, sound, tmp_path, NEVER_SILENT)
    assert all(result.segments for _, result in kept)
    if any(result.unspoken for _, result in windows):
        (said,) = [each for each in text_remarks(windows, find_speech([sound], 16_000), 12_000) if "left out" in each]
        assert "I'm sorry ." in said


def test_a_sentence_that_is_said_eight_times_stays_eight(tmp_path):
    sound = np.concatenate([part for n in range(8) for part in (voice(1.6, seed=n), silence(0.4, level=1e-4, seed=n))])
    windows = decoded(Scripted("I want the ball .", 2.0, -0.1, 0.02), sound, tmp_path)
    assert sum(len(result.segments) for _, result in windows) == 8
    assert list(text_remarks(windows, find_speech([sound], 16_000), 16_000)) == []


def test_sounds_are_the_same_for_the_same_seed():
    first, again, other = (non_speech.sounds(length_s=2.0, seed=seed) for seed in (1, 1, 2))
    for name, sound in first.items():
        assert len(sound) == 32_000 and sound.dtype == np.float32 and 0 < np.abs(sound).max() <= 1
        assert (sound == again[name]).all()
    assert not (first["rain"] == other["rain"]).all()


@pytest.mark.slow(minutes=0.7)
@real_base
@pytest.mark.parametrize("style", [None, "fluent"])
def test_openais_base_invents_nothing_between_sentences(style, tmp_path):
    michael = Recording.open(SHARED / "paired" / "michael.flac").load(TimeSpan(8_000, 17_400))
    sounds = non_speech.sounds(sorted(AMI.glob("*.flac")), length_s=20.0)
    transcriber = Transcriber(BASE, style=style, vad="energy")
    for name in ("applause", "music", "ringing", "breathing"):
        path = tmp_path / f"{name}.wav"
        soundfile.write(path, np.concatenate([michael, sounds[name], michael]), 16_000)
        said = " ".join(each.text.lower() for each in transcriber.transcribe(path).utterances)
        assert said.count("slow") == 2 and said.count("words") == 2, said
        assert not any(word in said for word in ("thank", "sorry", "you")), said


@pytest.mark.slow
@real_base
def test_either_detector_opens_a_window():
    clip = Recording.open(AMI / "EN2006a_000000.flac")  # Silero's model misses a sentence at 8.4 s
    found = {name: detect_speech(name, clip.stream()) for name in ("energy", "silero", "either")}
    soft = TimeSpan(8_400, 9_600)
    assert not found["silero"].within(soft) and found["either"].within(soft)
    assert found["either"].voiced == found["silero"].voiced and found["energy"].voiced is None


@pytest.mark.parametrize(("duration_s", "told"), [(47, True), (200, False)])
def test_a_large_part_of_a_short_recording_without_words_is_told(duration_s, told):
    windows = [(TimeSpan(0, 24_000), DecodedWindow((DecodedSegment("yes .", 0, 24),)))]
    windows += [(TimeSpan(44_000, 1000 * duration_s), DecodedWindow((DecodedSegment("no .", 0, duration_s - 44),)))]
    heard = SpeechActivity(np.zeros(50 * duration_s, np.float32), ((0, 50 * duration_s),))
    remarks = list(text_remarks(windows, heard, 1000 * duration_s))
    assert ("20 s of sound are without words at 24.0 to 44.0 s: listen whether there is speech" in remarks) == told
