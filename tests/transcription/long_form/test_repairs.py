"""A window is decoded again in halves where its model is uncertain, and its rest where the model ended its text.

Halves are kept only if they are more probable; of rests, noise, loops and short ones are not kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, SegmentParser
from lsa_whisper.decoding.no_speech import NoSpeechRule
from lsa_whisper.transcription.long_form.decode import decode_repaired
from lsa_whisper.transcription.long_form.repair import Sound, join_windows
from lsa_whisper.transcription.long_form.repairs import LOOPS, RESTS, UNCERTAIN

RATE_HZ = 1000


class Unsure:
    """Writes the number of the first sample, with one log-probability for long windows and one for short ones."""

    batch_size = 8

    def __init__(self, long=-1.2, short=-0.4, longest_s=9.5, **fields):
        self.long, self.short, self.longest_s, self.fields = long, short, longest_s, fields
        self.decoded = []

    def decode(self, windows):
        self.decoded += [(int(window[0]), len(window)) for window in windows]
        return [self._one(window) for window in windows]

    def _one(self, window):
        length_s = len(window) / RATE_HZ
        logprob = self.long if length_s > self.longest_s else self.short
        segment = DecodedSegment(f"words {int(window[0])}", 0.5, length_s, logprob)
        return replace(DecodedWindow((segment,), logprob, tokens=9), **self.fields)


def ramp(seconds, first=0):
    """Sound whose samples are numbered."""
    return np.arange(first, first + seconds * RATE_HZ, dtype=np.float32)


def decode(decoder, *windows):
    sounds = [Sound(window, ((0.0, len(window) / RATE_HZ),), RATE_HZ) for window in windows]
    return decode_repaired(decoder, sounds, (LOOPS, RESTS, UNCERTAIN))


def test_an_improbable_window_is_decoded_in_halves_that_keep_their_times():
    (result,) = decode(Unsure(), ramp(12))
    first, second = result.segments
    assert first.text == "words 0" and second.text == f"words {round(1000 * first.end_s)}"
    assert 3.0 <= first.end_s <= 9.0 and second.start_s == first.end_s + 0.5 and second.end_s == 12.0
    assert result.avg_logprob == pytest.approx(-0.4) and result.tokens == 18 and not result.retried


@pytest.mark.parametrize(
    ("decoder", "seconds"),
    [
        (Unsure(long=-1.0), 12),
        (Unsure(longest_s=1.0), 4),
        (Unsure(silent=True), 12),
        (Unsure(retried=True), 12),
    ],
    ids=["probable", "short", "silent", "was a loop"],
)
def test_others_are_decoded_once(decoder, seconds):
    (result,) = decode(decoder, ramp(seconds))
    assert len(decoder.decoded) == len(result.segments) == 1


@pytest.mark.parametrize("fields", [{}, {"segments": ()}], ids=["less probable", "without words"])
def test_halves_that_are_no_better_are_not_kept(fields):
    decoder = Unsure(short=-1.3, **fields) if not fields else Unsure(**fields)
    (result,) = decode(decoder, ramp(12))
    assert len(decoder.decoded) == 3 and result.avg_logprob == -1.2


def test_halves_in_another_language_are_not_kept():
    class Bilingual(Unsure):
        def _one(self, window):
            return replace(super()._one(window), language="en" if window[0] == 0 else "es")

    (result,) = decode(Bilingual(), ramp(12))
    assert result.language == "en" and len(result.segments) == 1


def test_each_window_is_what_it_is_alone():
    windows = [ramp(5), ramp(12, 20_000), ramp(6, 40_000), ramp(10, 60_000)]
    together = decode(Unsure(), *windows)
    assert together == [decode(Unsure(), each)[0] for each in windows]
    assert [len(result.segments) for result in together] == [1, 2, 1, 2]


def test_the_mean_of_two_windows_is_that_of_their_tokens():
    parser = SegmentParser(end=0, timestamps_s={}, text_of=str)
    short, long = parser.window([7, 0], [-1.0, -1.0], 1.0, 9), parser.window([7, 7, 7, 7, 7, 0], [-0.2] * 6, 2.0, 9)
    assert (short.tokens, long.tokens) == (2, 6)
    assert join_windows(short, long, 1.0).avg_logprob == pytest.approx(-0.4)


def test_a_part_that_was_a_loop_is_still_reported():
    loop, plain = DecodedWindow((), retried=True, truncated=True, removed=('3 times "no"',)), DecodedWindow(())
    for joined in (join_windows(loop, plain, 1.0), join_windows(plain, loop, 1.0)):
        assert joined.retried and joined.truncated and joined.removed == loop.removed


def test_a_window_without_speech_is_marked_silent():
    text = DecodedWindow((DecodedSegment("Thank you.", 0.0, 2.0),), -1.6)
    assert NoSpeechRule().apply(text, 0.9).silent and not NoSpeechRule().apply(text, 0.5).silent


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


class LoopsOnce(EarlyStopper):
    """Writes a loop for the whole rest, and the words for its halves."""

    def _one(self, window):
        if int(window[0]) == 2 * RATE_HZ and len(window) > 6 * RATE_HZ:
            return DecodedWindow((DecodedSegment("no no no no no no no no no no", 0.5, 1.0, -0.2),), -0.2)
        return super()._one(window)


def test_a_rest_that_is_a_loop_only_as_a_whole_is_kept():
    found = [text for text, _, _ in texts(LoopsOnce())]
    assert found[:2] == ["words 0", "words 2000"] and len(found) > 2 and not any("no no" in text for text in found)


def test_little_speech_after_the_text_is_left_alone():
    decoder = EarlyStopper()
    assert texts(decoder, speech=[(0.0, 3.9)]) == [("words 0", 0.5, 2.0)]
    assert decoder.decoded == [0]


def test_windows_keep_their_order():
    silent, long = np.full(3 * RATE_HZ, 7, np.float32), windows()[0]
    results = decode_with_rests(EarlyStopper(), [silent, long], [[(0.0, 1.0)], SPEECH])
    assert [len(result.segments) for result in results] == [1, 6]
