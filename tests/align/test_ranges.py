"""Words go to the windows that they were spoken in, and those that were not spoken to none."""

from __future__ import annotations

import numpy as np

from lsa_whisper.align.anchors import DecodedWord, match_words
from lsa_whisper.align.ranges import WordRange, borders, divide
from lsa_whisper.align.text import text_words
from lsa_whisper.chat import utterance
from lsa_whisper.timespan import TimeSpan


def scorer(spoken, words):
    """A model that knows the words of each window: others are improbable, and so is an early end."""

    def score(window, starts, limit):
        found = []
        for start in starts:
            sums = [0.0]
            for at in range(start, limit):
                said = spoken[window]
                place = at - start
                sums.append(sums[-1] - (0.1 if place < len(said) and said[place] == words[at] else 12.0))
            found.append(np.array([total - 12.0 * (n != len(spoken[window])) for n, total in enumerate(sums)]))
        return found

    return score


def divided(spoken, words, anchors=()):
    return divide(borders(anchors, len(spoken), range(len(words))), scorer(spoken, words))


def test_text_is_divided_without_any_anchor():
    words = ["the", "cat", "sat", "on", "the", "mat"]
    spoken = [["the", "cat"], ["sat", "on", "the"], ["mat"]]
    assert divided(spoken, words) == [WordRange(0, 2), WordRange(2, 5), WordRange(5, 6)]


def test_words_that_were_not_spoken_are_skipped():
    words = ["the", "cat", "never", "never", "never", "sat", "down"]
    assert divided([["the", "cat"], ["sat", "down"]], words) == [WordRange(0, 2), WordRange(5, 7)]


def test_a_window_that_nobody_transcribed_stays_empty():
    words = ["the", "cat", "sat", "down"]
    spoken = [["the", "cat"], ["something", "else", "entirely", "here"], ["sat", "down"]]
    assert divided(spoken, words) == [WordRange(0, 2), WordRange(2, 2), WordRange(2, 4)]


def test_anchors_leave_no_choice():
    words = ["a", "b", "c", "d"]
    assert divided([["x"], ["y"]], words, anchors=[(0, 0), (1, 0), (2, 1)]) == [WordRange(0, 2), WordRange(2, 4)]


def test_only_runs_of_matching_words_are_anchors():
    words = text_words([utterance("CHI", "the yellow dog saw the cat in the house .")])
    spoken = ["yellow", "dog", "x", "y", "the", "z"]
    decoded = [DecodedWord(word, word, TimeSpan(at, at + 1), 0) for at, word in enumerate(spoken)]
    assert match_words(words, decoded).anchors == {1: 0, 2: 1}
