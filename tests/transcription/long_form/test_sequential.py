"""Whisper's own way through a recording, and going on with a recording that was left half-way."""

from __future__ import annotations

import pytest

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.sequential import sequential_windows


class Talker:
    """A model that hears words of ``word_s`` seconds, and is cut off by the end of its window as Whisper is."""

    def __init__(self, word_s=3.0, **marks):
        self.word_s, self.marks, self.asked = word_s, marks, []

    def __call__(self, span, previous):
        self.asked.append((span.start_ms / 1000, span.end_ms / 1000, previous))
        start, end = span.start_ms / 1000, span.end_ms / 1000
        segments, at = [], start
        while at < end - 1e-6:
            closed = at + self.word_s <= end
            text = f"w{round(at / self.word_s)}" if closed else "cu"
            last = at + self.word_s if closed else end
            segments.append(DecodedSegment(text, at - start, last - start, closed=closed))
            at += self.word_s
        return DecodedWindow(tuple(segments), **self.marks)


def walk(talker, *spoken, before=()):
    spans = [TimeSpan(*(round(1000 * edge) for edge in each)) for each in spoken]
    return list(sequential_windows(spans, context_s=8.0, decode=talker, before=before))


def test_a_window_begins_where_the_last_complete_stamp_ended():
    talker = Talker()
    heard = walk(talker, (0, 21))
    assert [(start, end) for start, end, _ in talker.asked] == [(0, 8), (6, 14), (12, 20), (18, 21)]
    assert [segment.text for _, result in heard for segment in result.segments] == [f"w{n}" for n in range(7)]
    assert [previous for *_, previous in talker.asked] == ["", "w0 w1", "w2 w3", "w4 w5"]


def test_silence_is_passed_over_and_ends_the_prompt():
    talker = Talker()
    walk(talker, (0, 6), (30, 36))
    assert talker.asked == [(0, 6, ""), (30, 36, "")]


@pytest.mark.parametrize("marks", [{"retried": True}, {"complete": False}])
def test_failed_windows_are_no_prompt(marks):
    talker = Talker(**marks)
    walk(talker, (0, 9))
    # A text that was stopped and is heard again loses only what the next window hears.
    assert talker.asked[1][2] == ("" if "retried" in marks else "w0 w1")


def test_a_sentence_longer_than_the_window_does_not_stand_still():
    talker = Talker(word_s=100.0)
    heard = walk(talker, (0, 20))
    assert [(start, end) for start, end, _ in talker.asked] == [(0, 8), (8, 16), (16, 20)]
    assert [len(result.segments) for _, result in heard] == [1, 1, 1]


@pytest.mark.parametrize("end_s", [0.0, 0.02, 0.5])
def test_timestamps_at_the_very_beginning_do_not_stand_still(end_s):
    def stuck(span, previous):
        return DecodedWindow((DecodedSegment("a", 0.0, end_s), DecodedSegment("b", end_s, end_s, closed=False)))

    heard = walk(stuck, (0, 12), (15, 18))
    starts = [span.start_ms for span, _ in heard]
    assert starts == sorted(set(starts)) and len(heard) <= 8


def test_empty_windows_advance_and_no_speech_gives_no_window():
    assert [span for span, _ in walk(lambda span, previous: DecodedWindow(()), (0, 10))] == [
        TimeSpan(0, 8000),
        TimeSpan(8000, 10_000),
    ]
    assert walk(Talker()) == []


def test_interrupted_sequential_decoding_resumes_with_the_same_result(tmp_path):
    whole = Talker()
    heard = walk(whole, (0, 21), (40, 44))
    for kept in range(len(heard) + 1):
        again = Talker()
        assert [*heard[:kept], *walk(again, (0, 21), (40, 44), before=heard[:kept])] == heard
        assert again.asked == whole.asked[kept:]


RESULT = DecodedWindow(
    (
        DecodedSegment(
            "ça \ud83d va", 0.1, 0.30000000000000004, -1 / 3, (TimedToken("ça", 0.1, 0.2),), (("ça", -1 / 3),), False
        ),
    ),
    -0.25,
    complete=False,
    retried=True,
)


def test_decoded_windows_are_read_back_exactly(tmp_path):
    partial = PartialDecoding(tmp_path / "deep" / "visit.cha", "0123456789abcdef")
    assert partial.read() == []
    first, second = [(TimeSpan(0, 900), RESULT)], [(TimeSpan(900, 1800), DecodedWindow(()))] * 2
    partial.append(first)
    partial.append(second)
    assert partial.read() == [*first, *second]
    assert partial.read([TimeSpan(0, 900), TimeSpan(900, 1800), TimeSpan(900, 1800), TimeSpan(1, 2)])
    assert PartialDecoding(tmp_path / "deep" / "visit.cha", "f" * 16).read() == []


@pytest.mark.parametrize("torn", [b'[[0, 9, {"segments": [', b"null\n", b'[[1, 2, {"segments": 3}]]\n', b"\xff\xfe\n"])
def test_a_line_that_was_not_finished_is_cut_off(torn, tmp_path):
    partial = PartialDecoding(tmp_path / "a.cha", "0" * 16)
    kept = [(TimeSpan(0, 900), RESULT)]
    partial.append(kept)
    with partial.path.open("ab") as file:
        file.write(torn)
    assert partial.read() == kept
    partial.append(kept)
    assert partial.read() == kept * 2


def test_other_windows_are_not_taken_for_these(tmp_path):
    partial = PartialDecoding(tmp_path / "a.cha", "0" * 16)
    partial.append([(TimeSpan(0, 900), RESULT)])
    assert partial.read([TimeSpan(0, 901)]) == [] and partial.read() == []


def test_partial_results_are_removed_with_their_transcript_only(tmp_path):
    mine = [PartialDecoding(tmp_path / "a[1].cha", digest * 16) for digest in "01"]
    other = [PartialDecoding(tmp_path / name, "0" * 16) for name in ("a1.cha", "a[1].b.cha", "b.cha")]
    for each in (*mine, *other):
        each.append([(TimeSpan(0, 900), RESULT)])
    mine[0].remove()
    assert [each.path.exists() for each in (*mine, *other)] == [False, False, True, True, True]
