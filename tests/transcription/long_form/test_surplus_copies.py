"""Copies of a phrase that share the time of one are removed; what a person repeats stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.transcription.long_form.surplus_copies import without_surplus_copies

ALL = ((0.0, 12.0),)
SPOKEN = ((0.0, 0.5),)
"""Where what is written has no speech beside it, so that no copy can have lost its time."""
PHRASE = " what your country can do for you."


def said(*copies, phrase=PHRASE):
    """A window in which a phrase is written once for each (start, length in seconds), after two other words."""
    tokens = [TimedToken(" so", 0.0, 0.2), TimedToken(" then,", 0.2, 0.5)]
    for start_s, length_s in copies:
        words = [f" {word}" for word in phrase.split()]
        each_s = length_s / len(words)
        tokens += [
            TimedToken(word, start_s + at * each_s, start_s + (at + 1) * each_s) for at, word in enumerate(words)
        ]
    text = "".join(token.text for token in tokens).strip()
    scored = tuple((token.text, -0.1) for token in tokens)
    return DecodedWindow((DecodedSegment(text, 0.0, 30.0, -0.1, tuple(tokens), scored, closed=False),), -0.1)


def starts(window, word=" what"):
    return [round(token.start_s, 2) for token in window.segments[0].timed if token.text == word]


def test_copies_in_the_time_of_one_are_removed_and_the_rest_gets_the_time():
    window = said((1, 2), (3.3, 2), (5.6, 2), (7.9, 0.7), (8.6, 0.6), (9.2, 0.7))
    result = without_surplus_copies(window, SPOKEN)
    assert result.removed == ('2 times "what your country can do for you"',)
    assert starts(result) == [1, 3.3, 5.6, 7.9]
    segment = result.segments[0]
    assert segment.text.count("country") == 4 and len(segment.logprobs) == len(segment.timed)
    assert segment.timed[-1].end_s == pytest.approx(9.9) and segment.timed[-1].text == " you."


def test_copies_that_lost_their_time_to_speech_without_words_stay():
    window = said((1, 2), (3.3, 2), (7.9, 2), (10.2, 0.9), (11.1, 0.9))
    assert without_surplus_copies(window, ALL) is window
    heard = ((0.0, 5.3), (7.9, 12.0))
    assert without_surplus_copies(window, heard).removed == ('once "what your country can do for you"',)
    assert without_surplus_copies(window, (*heard, (12.2, 15.0))) is window  # it may be the speech behind the last word


def test_a_last_copy_that_has_no_time_is_removed_with_its_other_first_word():
    window = said((1, 2), (3.3, 2), (5.6, 2), (7.6, 0.3))
    (segment,) = window.segments
    timed = tuple(
        TimedToken(" uh", token.start_s, token.end_s) if token.text == " what" and token.start_s > 7 else token
        for token in segment.timed
    )
    changed = DecodedWindow((DecodedSegment(segment.text, 0, 8, -0.1, timed),), -0.1)
    for each in (window, changed):
        result = without_surplus_copies(each, ((0.0, 8.0),)).segments[0]
        assert result.text.endswith("what your country can do for you.") and len(result.timed) == 2 + 3 * 7


def test_the_mark_of_the_last_copy_stays():
    window = said((1, 2), (3.3, 2), (5.6, 2), (7.9, 0.5), (8.4, 0.5), phrase=" can I please go now,")
    (segment,) = window.segments
    timed = (*segment.timed[:-1], replace(segment.timed[-1], text=" now?"))
    asked = replace(segment, text=f"{segment.text[:-1]}?", timed=timed)
    (result,) = without_surplus_copies(replace(window, segments=(asked,)), SPOKEN).segments
    assert result.text.count("go") == 4 and result.text.endswith("go now?")


@pytest.mark.parametrize(
    "window",
    [
        said((1, 2), (3.3, 2), (5.6, 2), (7.9, 2)),
        said((1, 2), (3.3, 2), (5.6, 1.4), (7, 1.4)),  # said faster, without a pause
        said((1, 2), (3.3, 2), (5.6, 2), (7.9, 0.5)),  # alone, between pauses
        said((1, 2), (3.3, 0.1)),  # two are not a run
        said((1, 0), (1, 0), (1, 0), (1, 0)),  # without times
        said((1, 1), (2.3, 1), (3.6, 1), (4.9, 0.55), (5.45, 0.55), phrase="go away."),
        said((1, 1), (2.3, 1), (3.6, 1), (4.9, 0.45), (5.35, 0.45), (5.8, 0.45), phrase="I don't know."),
        said((1, 1.1), (2.4, 1), (3.7, 1), (5, 0.35), (5.35, 0.35), (5.7, 0.35), phrase="I want,"),
        said((1, 0.4), (1.6, 0.4), (2.3, 0.4), (3, 0.2), (3.2, 0.2), (3.4, 0.2), phrase="no."),
        said((1, 0.3), (1.3, 0.3), (1.6, 0.3), (1.9, 0.02), phrase="I"),
        said((1, 2), (3.3, 2), (5.6, 2), (7.6, 0.2), phrase="<can you really do> [/]"),
        said((1, 2), (3.3, 2), (5.6, 2), (7.6, 0.2), phrase="*MOT: can you do that ."),
        DecodedWindow((DecodedSegment("what can you do. " * 5, 0.0, 5.0),)),  # without token times
        DecodedWindow(()),
    ],
)
def test_what_a_person_repeats_stays(window):
    assert without_surplus_copies(window, SPOKEN) is window


def test_text_without_spaces_stays():
    phrase = "わたしはいきたいです。"
    copies = ((1, 2), (3.3, 2), (5.6, 2), (7.9, 0.2), (8.1, 0.2))
    timed = tuple(TimedToken(letter, at, at + long / 11) for at, long in copies for letter in phrase)
    window = DecodedWindow((DecodedSegment(phrase * 5, 0, 9, -0.1, timed),), -0.1)
    assert without_surplus_copies(window, SPOKEN) is window
