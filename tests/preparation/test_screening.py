"""Each reason to reject an utterance, and what is just good enough."""

import numpy as np
import pytest

from lsa_whisper.chat import utterance
from lsa_whisper.labels import Labels
from lsa_whisper.preparation.peak_levels import PeakLevels
from lsa_whisper.preparation.screening import screen_utterances
from lsa_whisper.timespan import TimeSpan


def levels(duration_ms: int = 60_000, amplitude: float = 0.1) -> PeakLevels:
    wave = amplitude * np.sin(np.arange(duration_ms * 16) / 3)
    return PeakLevels.measure([wave.astype(np.float32)])


def screened(*lines, sound: PeakLevels | None = None, style: str = "chat", context_ms: int = 30_000):
    utterances = [utterance("CHI", text, TimeSpan(*span) if span else None) for text, span in lines]
    return screen_utterances(utterances, sound or levels(), Labels(style), context_ms=context_ms)


def reason(text: str, span: tuple[int, int] | None, **options) -> str | None:
    return screened((text, span), **options)[0].reason


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("I want it .", (0, 1000), None),
        ("I want xxx .", (0, 1000), "untranscribed"),
        ("www .", (0, 1000), "untranscribed"),
        ("I want &*MOT:mhm it .", (0, 1000), "other speaker"),
        ("I want bubu@u .", (0, 1000), "phonetic"),
        ("&=laughs .", (0, 1000), "no words"),
        ("I want it .", None, "no bullet"),
        ("I want it .", (500, 500), "zero or negative span"),
        ("I want it .", (900, 500), "zero or negative span"),
        ("I want it .", (59_000, 60_100), None),
        ("I want it .", (59_000, 60_101), "past the end of the file"),
        ("I want it .", (60_000, 60_050), "past the end of the file"),
        ("I want it .", (90_000, 91_000), "past the end of the file"),
        ("one two three four five six .", (0, 30_000), None),
        ("one two three four five six .", (0, 30_001), "longer than the context"),
        ("one two three four five six seven eight nine .", (0, 900), "too fast"),
        ("one two three four five six seven eight nine .", (0, 1000), None),
        ("uh .", (0, 60), None),
        ("uh .", (0, 40), "too fast"),
        ("&-um .", (0, 14_900), None),
        ("&-um .", (0, 15_100), "too slow"),
    ],
)
def test_reasons_in_text_and_time(text, span, expected):
    assert reason(text, span) == expected


@pytest.mark.parametrize(
    ("amplitude", "expected"), [(0.0, "silent audio"), (0.0005, "silent audio"), (0.005, None), (0.9, None)]
)
def test_silence(amplitude, expected):
    assert reason("I want it .", (0, 1000), sound=levels(amplitude=amplitude)) == expected


@pytest.mark.parametrize(("gain", "expected"), [(0.98, None), (1.5, "clipped audio"), (20.0, "clipped audio")])
def test_clipping(gain, expected):
    wave = np.clip(gain * np.sin(np.arange(32_000) / 3), -1, 1).astype(np.float32)
    assert reason("I want it .", (0, 1000), sound=PeakLevels.measure([wave])) == expected


def test_the_second_of_two_equal_utterances_is_a_duplicate():
    found = screened(("yes .", (0, 500)), ("yes .", (0, 500)), ("yes .", (600, 900)), ("no .", (600, 900)))
    assert [one.reason for one in found] == [None, "duplicate", None, None]
    assert not found[1].breaks


def test_a_filler_alone_is_nothing_to_write_in_fluent_style():
    (one,) = screened(("&-um .", (0, 500)), style="fluent")
    assert (one.reason, one.breaks) == ("no words", False)


def test_an_utterance_without_time_lies_in_the_gap_of_its_neighbours():
    found = screened(("yes .", (1000, 2000)), ("&-um no .", None), ("maybe .", (9, 9)), ("yes .", (3000, 4000)))
    assert [one.span for one in found[1:3]] == [TimeSpan(2000, 3000)] * 2
    assert all(one.breaks for one in found[1:3])


def test_at_the_ends_the_gap_reaches_to_the_ends_of_the_file():
    found = screened(("first .", None), ("yes .", (1000, 2000)), ("last .", None))
    assert [one.span for one in found] == [TimeSpan(0, 1000), TimeSpan(1000, 2000), TimeSpan(2000, 60_000)]


def test_words_that_do_not_fit_the_gap_were_spoken_with_the_neighbours():
    found = screened(("yes .", (1000, 2000)), ("I want that one too .", None), ("yes .", (2100, 4000)))
    assert found[1].span == TimeSpan(1000, 4000)


def test_candidates_come_in_order_of_time():
    found = screened(("b .", (3000, 4000)), ("a .", (1000, 2000)), ("c .", (3000, 3500)))
    assert [one.utterance.verbatim() for one in found] == [["a"], ["b"], ["c"]]


def test_levels_do_not_depend_on_the_blocks():
    wave = np.random.default_rng(0).standard_normal(50_001).astype(np.float32)
    whole = PeakLevels.measure([wave])
    for size in (1, 7, 319, 320, 321, 16_000):
        parts = PeakLevels.measure([wave[at : at + size] for at in range(0, len(wave), size)] if size > 1 else [wave])
        assert np.array_equal(parts.peaks, whole.peaks) and np.array_equal(parts.clipped, whole.clipped)
        assert parts.samples == whole.samples == 50_001
    assert whole.peak(TimeSpan(20, 40)) == np.abs(wave[320:640]).max()
    assert whole.peak(TimeSpan(9999, 10_000)) == 0.0
