"""Utterances that are written a little out of order are found in the order in which they were spoken."""

from __future__ import annotations

from lsa_whisper.align.anchors import DecodedWord, match_words, spoken_order
from lsa_whisper.align.text import text_words
from lsa_whisper.chat import utterance
from lsa_whisper.timespan import TimeSpan

WRITTEN = [
    "the dog sleeps under the table .",
    "I want a red apple .",
    "where did you find that ?",
    "it was in the box .",
]


def order(written, heard, **spans):
    utterances = [utterance("CHI", text, spans.get(f"u{at}")) for at, text in enumerate(written)]
    words = text_words(utterances)
    decoded = [DecodedWord(key, key, TimeSpan(at, at + 1), 0) for at, key in enumerate(heard.split())]
    return spoken_order(utterances, words, decoded, match_words(words, decoded))


def test_an_utterance_is_moved_to_where_it_was_heard():
    heard = "the dog sleeps under the table where did you find that i want a red apple it was in the box"
    assert order(WRITTEN, heard) == [0, 2, 1, 3]
    assert order(WRITTEN, heard.replace("red", "rat")) == [0, 2, 1, 3], "one word was not recognized"


def test_the_order_stays_where_nothing_else_was_heard():
    heard = "the dog sleeps under the table i want a red apple where did you find that it was in the box"
    assert order(WRITTEN, heard) == [0, 1, 2, 3]
    assert order(WRITTEN, "the dog sleeps under the table it was in the box") == [0, 1, 2, 3]
    assert order(WRITTEN, "") == [0, 1, 2, 3]


def test_a_bullet_fixes_the_order():
    heard = "the dog sleeps under the table where did you find that i want a red apple it was in the box"
    assert order(WRITTEN, heard, u0=TimeSpan(0, 900)) == [0, 1, 2, 3]
