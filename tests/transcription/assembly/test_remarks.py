"""Speech without words is listed, with and without word times, and complete transcripts list nothing."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.chat import utterance
from lsa_whisper.decoding.confidences import Confidences, confidences_path, read_confidences, write_confidences
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.remarks import missed_speech, window_remarks
from lsa_whisper.transcription.assembly.review import collect_reviews

WORDS = ("one", "two", "three", "four")


def said(at_ms, words=WORDS, *, times=True, missing=()):
    """An utterance of 300 ms per word that starts at ``at_ms``, without some of its words."""
    spans = [TimeSpan(at_ms + 300 * at, at_ms + 300 * at + 280) for at in range(len(words))]
    kept = [(word, span) for at, (word, span) in enumerate(zip(words, spans, strict=True)) if at not in missing]
    whole = TimeSpan(at_ms, at_ms + 300 * len(words))
    return utterance("PAR", " ".join(word for word, _ in kept) + " .", whole, kept if times else None)


def heard(*spans, duration_ms=30_000):
    regions = tuple((start // 20, end // 20) for start, end in spans)
    return SpeechActivity(np.zeros(duration_ms // 20, np.float32), regions)


def test_a_complete_transcript_lists_nothing():
    turns = [said(at) for at in range(1000, 20_000, 2000)]
    speech = heard(*((at, at + 1200) for at in range(1000, 20_000, 2000)))
    assert missed_speech(turns, speech, 30_000) == []
    assert missed_speech([said(at, times=False) for at in range(1000, 20_000, 2000)], speech, 30_000) == []


@pytest.mark.parametrize("times", [True, False])
def test_a_missed_utterance_is_listed(times):
    starts = range(1000, 20_000, 2000)
    turns = [said(at, times=times) for at in starts if at != 7000]
    (place,) = missed_speech(turns, heard(*((at, at + 1200) for at in starts)), 30_000)
    assert place == TimeSpan(7000, 8200)


def test_missed_words_within_an_utterance_are_listed_by_word_times():
    five = (*WORDS, "five")
    (place,) = missed_speech([said(1000, five, missing=(1, 2, 3))], heard((1000, 2500)), 30_000)
    assert 1300 <= place.start_ms < place.end_ms <= 2200
    assert missed_speech([said(1000, five)], heard((1000, 2500)), 30_000) == []


def test_without_word_times_an_utterance_with_far_too_little_text_is_listed():
    starts = range(1000, 20_000, 3000)
    turns = [said(at, WORDS * 2, times=False, missing=range(7) if at == 4000 else ()) for at in starts]
    assert missed_speech(turns, heard(*((at, at + 2400) for at in starts)), 30_000) == [TimeSpan(4000, 6400)]


def test_the_places_survive_in_the_file_and_come_first_in_the_review(tmp_path):
    found = Confidences((), recording="a.wav", missed=(TimeSpan(7000, 8200),))
    write_confidences(found, confidences_path(tmp_path / "a.cha"))
    assert read_confidences(tmp_path / "a.cha") == found
    collect_reviews([tmp_path / "a.cha"], tmp_path / "review.csv")
    (row,) = csv.DictReader((tmp_path / "review.csv").open())
    assert (row["kind"], row["start_ms"], row["end_ms"]) == ("missed", "7000", "8200")


def test_copies_that_were_removed_are_named_with_their_place():
    spans = [TimeSpan(0, 9_000), TimeSpan(9_000, 20_000)]
    surplus = DecodedWindow((DecodedSegment("go away .", 0, 2),), removed=('2 times "go away"',))
    (remark,) = window_remarks(spans, [DecodedWindow(()), surplus], True)
    assert "more copies of a phrase than there is time for at 9.0 to 20.0 s" in remark
    assert '(2 times "go away")' in remark
    (remark,) = window_remarks(spans, [DecodedWindow(()), replace(surplus, retried=True, truncated=True)], True)
    assert "also when decoded again" in remark and '(2 times "go away")' in remark
