"""An utterance that was cut between two windows is decoded as a whole, and kept if the model is surer of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.borders import decode_across_borders
from lsa_whisper.transcription.long_form.decode import decode_repaired
from lsa_whisper.transcription.long_form.repair import Sound
from lsa_whisper.transcription.long_form.repairs import REPAIRS

RATE_HZ = 1000


class Whole:
    """Writes one segment, which fills its window and names the window's first and last sample."""

    batch_size = 8

    def __init__(self, logprob=-0.1, *, text="", **fields):
        self.logprob, self.text, self.fields, self.calls = logprob, text, fields, []

    def decode(self, windows):
        self.calls.append(len(windows))
        return [self._one(window) for window in windows]

    def _one(self, window):
        text = self.text or f"{int(window[0])} to {int(window[-1]) + 1}"
        segment = DecodedSegment(text, 0.2, len(window) / RATE_HZ - 0.2, self.logprob, logprobs=((text, self.logprob),))
        return replace(DecodedWindow((segment,), self.logprob, tokens=2), **self.fields)


def load(span):
    """Sound whose samples are numbered from the start of the recording, all of it speech."""
    return Sound(np.arange(span.start_ms, span.end_ms, dtype=np.float32), ((0.0, span.duration_ms / 1000),), RATE_HZ)


def window(start_ms, *segments, **fields):
    """A window of four seconds; segments are (start, end, log-probability)."""
    parts = tuple(
        DecodedSegment(f"{start_ms} {at}", first, last, logprob, logprobs=(("a", logprob), ("b", logprob)))
        for at, (first, last, logprob) in enumerate(segments)
    )
    return TimeSpan(start_ms, start_ms + 4000), replace(DecodedWindow(parts, -0.3, tokens=6), **fields)


CUT = [window(0, (0.1, 1.5, -0.02), (1.9, 3.8, -0.5)), window(4000, (0.3, 1.0, -0.4), (1.1, 3.9, -0.02))]
"""The second segment of the first window and the first one of the second are 0.5 s apart."""


def joined(windows, decoder=None, *, context_s=6.0, at_once=8):
    whole = decoder or Whole()

    def decode(spans):
        return decode_repaired(whole, [load(span) for span in spans], REPAIRS)

    return decode_across_borders(windows, decode, context_s=context_s, at_once=at_once)


def texts(windows):
    return [[segment.text for segment in result.segments] for _, result in windows]


def test_a_surer_whole_replaces_both_parts_and_keeps_its_times():
    (span, left), (other, right) = joined(CUT)
    # 200 ms before the first part; after the second only the 100 ms until the next segment
    assert texts([(span, left), (other, right)]) == [["0 0", "1700 to 5100"], ["4000 1"]]
    assert (span, other) == (CUT[0][0], CUT[1][0])
    whole = left.segments[-1]
    assert (whole.start_s, whole.end_s) == (pytest.approx(1.9), pytest.approx(4.9))


@pytest.mark.parametrize(
    "windows",
    [
        [window(0, (0.1, 3.8, -0.1)), window(4000, (0.3, 1.0, -0.1))],
        [window(0, (0.1, 2.0, -0.5)), window(4000, (0.3, 1.0, -0.5))],
        [window(0, (0.1, 3.8, -0.5)), window(4000, (0.3, 2.4, -0.5))],
        [window(0), window(4000, (0.3, 1.0, -0.5))],
        [window(0, (3.0, 3.8, -0.5), retried=True), window(4000, (0.3, 1.0, -0.5))],
        [window(0, (3.0, 3.8, -0.5)), window(4000, (0.3, 1.0, -0.5), complete=False)],
        [window(0, (3.0, 3.8, -0.5))],
        [],
    ],
    ids=["sure", "far apart", "longer than the context", "no words", "was a loop", "stopped", "one window", "none"],
)
def test_others_are_not_decoded_again(windows):
    decoder = Whole()
    assert joined(windows, decoder) == windows
    assert not decoder.calls


@pytest.mark.parametrize(
    "decoder",
    [
        Whole(-0.44),
        Whole(segments=()),
        Whole(complete=False),
        Whole(retried=True),
        Whole(silent=True),
        Whole(language="es"),
    ],
    ids=["hardly surer", "no words", "stopped", "a loop", "silent", "another language"],
)
def test_a_whole_that_is_no_better_is_not_kept(decoder):
    assert joined(CUT, decoder) == CUT
    assert decoder.calls


@pytest.mark.parametrize(
    ("text", "logprob", "kept"),
    [
        ("0 1 and I think that 4000 0", -0.7, True),
        ("0 1 and I think that 4000 0", -0.9, False),
        ("0 1 and that 4000 0", -0.7, False),
        ("0 1 and I think that 4000", -0.7, False),
    ],
    ids=["a passage more", "improbable", "two words more", "a word less"],
)
def test_a_whole_that_has_a_skipped_passage_is_kept_though_less_probable(text, logprob, kept):
    windows = joined(CUT, Whole(logprob, text=text))
    assert (texts(windows)[0][-1] == text) is kept
    assert (windows == CUT) is not kept


def test_a_segment_between_two_borders_belongs_to_one_utterance():
    windows = [window(0, (3.0, 3.8, -0.5)), window(4000, (0.1, 3.9, -0.5)), window(8000, (0.2, 1.0, -0.5))]
    assert texts(joined(windows)) == [["2800 to 8000"], [], ["8000 0"]]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_the_result_does_not_depend_on_how_many_are_decoded_together(at_once):
    windows = [window(4000 * at, (0.1, 1.0, -0.5), (2.8, 3.9, -0.5)) for at in range(6)]
    assert joined(windows, at_once=at_once) == joined(windows)
    assert len(joined(windows)[2][1].segments) == 1
