"""What is said after a model ended its text is decoded; noise, loops and short rests are not kept."""

from __future__ import annotations

import numpy as np
import pytest

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.transcription.long_form.decode import decode_repaired
from lsa_whisper.transcription.long_form.repair import Sound
from lsa_whisper.transcription.long_form.repairs import LOOPS, RESTS

RATE_HZ = 1000
SPEECH = [(0.0, 3.0), (4.0, 12.0)]


class EarlyStopper:
    """Writes one segment of up to two seconds for each window, with the number of the first sample."""

    batch_size = 8

    def __init__(self, logprob=-0.2, text="words {}", closed=True, most=99):
        self.logprob, self.text, self.closed, self.most = logprob, text, closed, most
        self.decoded = []

    def decode(self, windows):
        self.decoded += [int(window[0]) for window in windows]
        return [self._one(window) for window in windows]

    def _one(self, window):
        if len(self.decoded) > self.most:
            return DecodedWindow((), self.logprob)
        end_s = min(2.0, len(window) / RATE_HZ)
        segment = DecodedSegment(self.text.format(int(window[0])), 0.5, end_s, self.logprob, closed=self.closed)
        return DecodedWindow((segment,), self.logprob)


def windows(seconds=12):
    return [np.arange(seconds * RATE_HZ, dtype=np.float32)]


def decode_with_rests(decoder, windows, speech):
    sounds = [Sound(*pair, RATE_HZ) for pair in zip(windows, speech, strict=True)]
    return decode_repaired(decoder, sounds, (LOOPS, RESTS))


def texts(decoder, seconds=12, speech=SPEECH):
    (result,) = decode_with_rests(decoder, windows(seconds), [speech])
    return [(segment.text, segment.start_s, segment.end_s) for segment in result.segments]


def test_the_rest_is_decoded_until_little_speech_is_left():
    assert texts(EarlyStopper()) == [
        (f"words {1000 * begin}", begin + 0.5, begin + 2.0) for begin in (0, 2, 4, 6, 8)
    ] + [("words 10000", 10.5, 12.0)]


def test_a_rest_without_words_ends_it():
    assert texts(EarlyStopper(most=2)) == [("words 0", 0.5, 2.0), ("words 2000", 2.5, 4.0)]


@pytest.mark.parametrize(
    "decoder",
    [EarlyStopper(closed=False), EarlyStopper(logprob=-1.2), EarlyStopper(text="no no no no no no no no no no no no")],
    ids=["lasts to the end", "improbable", "loop"],
)
def test_what_is_whole_improbable_or_a_loop_gets_no_rest(decoder):
    assert len(texts(decoder)) == 1


def test_little_speech_after_the_text_is_left_alone():
    decoder = EarlyStopper()
    assert texts(decoder, speech=[(0.0, 3.9)]) == [("words 0", 0.5, 2.0)]
    assert decoder.decoded == [0]


def test_windows_keep_their_order():
    silent, long = np.full(3 * RATE_HZ, 7, np.float32), windows()[0]
    results = decode_with_rests(EarlyStopper(), [silent, long], [[(0.0, 1.0)], SPEECH])
    assert [len(result.segments) for result in results] == [1, 6]
