import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.hallucination import find_word_loops
from lsa_whisper.scoring.score_file import ScoringOptions, score_file
from lsa_whisper.scoring.timing import match_onsets, word_times
from lsa_whisper.scoring.words import file_words
from lsa_whisper.timespan import TimeSpan

FILLED = Disfluency.FILLED_PAUSE


def said(text, start=None, end=None, words=None, speaker="CHI"):
    return chat.utterance(speaker, text, None if start is None else TimeSpan(start, end), words)


def scored(reference, hypothesis, **wanted):
    return score_file(
        "file", ParsedTranscript(reference, {}), ParsedTranscript(hypothesis, {}), ScoringOptions(**wanted)
    )


def test_words_have_the_times_of_wor_or_a_share_of_the_utterance():
    exact = said("&-um go .", 0, 1000, [("um", TimeSpan(100, 300)), ("go", TimeSpan(600, 900))])
    shared = said("aaa b .", 2000, 2600)
    times = word_times(file_words([exact, shared, said("late .")]))
    assert times[:2].tolist() == [[100, 300], [600, 900]]
    assert times[2:4].tolist() == [[2000, 2400], [2400, 2600]], "letters and one space each"
    assert np.isnan(times[4]).all()


def test_an_event_agrees_by_time_though_every_word_is_wrong():
    reference = [said("&-um I want it .", 0, 2000)]
    hypothesis = [said("&-er we sell hats .", 100, 2000)]
    assert scored(reference, hypothesis).timed[FILLED].f1 == 1
    late = [said("&-er we sell hats .", 700, 2000)]
    assert scored(reference, late).timed[FILLED].true_positives == 0
    assert scored(reference, late, collar_ms=700).timed[FILLED].true_positives == 1


def test_without_times_there_are_no_timed_scores():
    found = scored([said("&-um no .", 0, 900)], [said("&-um no .")]).timed[FILLED]
    assert (found.not_scored, found.f1) == (1, None)
    found = scored([said("&-um no .")], [said("&-um no .", 0, 900)]).timed[FILLED]
    assert (found.not_scored, found.f1) == (1, None)
    missed = scored([said("&-um no .", 0, 900)], []).timed[FILLED]
    assert (missed.false_negatives, missed.not_scored) == (1, 0), "an empty transcript is no excuse"


def test_pauses_have_a_time():
    two = [said("no (.) yes .", 0, 1000)]
    assert scored(two, two).timed[Disfluency.PAUSE].f1 == 1
    first = [said("(.) yes .", 0, 1000)]
    assert scored(first, first).timed[Disfluency.PAUSE].f1 == 1


times = st.lists(st.integers(0, 60), max_size=7).map(sorted)


@given(times, times, st.integers(0, 8))
def test_no_pairing_by_time_has_more_pairs(reference, hypothesis, collar):
    best = _largest(tuple(reference), tuple(hypothesis), collar)
    assert match_onsets(reference, hypothesis, collar).true_positives == best


def _largest(left, right, collar):
    """The size of the largest matching, trying every way."""
    if not left:
        return 0
    skipped = _largest(left[1:], right, collar)
    taken = [
        1 + _largest(left[1:], right[:n] + right[n + 1 :], collar)
        for n, time in enumerate(right)
        if abs(time - left[0]) <= collar
    ]
    return max([skipped, *taken])


def test_insertions_without_speech_are_counted_per_minute():
    reference = [said("hello there .", 10_000, 12_000), said("bye .", 40_000, 41_000)]
    hypothesis = [*reference[:1], said("thank you for watching .", 20_000, 24_000), *reference[1:]]
    found = scored(reference, hypothesis).hallucinations
    # 0 to 9.75 s, 12.25 to 39.75 s: 37.25 s, up to the last end, which lies in the margin
    assert (found.words_in_silence, found.silence_ms) == (4, 37_250)
    assert found.words_per_minute_of_silence == pytest.approx(4 / 37.25 * 60)
    late = scored(reference, [*reference, said("one two .", 50_000, 60_000)]).hallucinations
    assert (late.words_in_silence, late.silence_ms) == (2, 37_250 + 18_750)
    assert (found.words_outside, late.words_outside) == (0, 2)
    early = scored(reference, [said("one two .", 1_000, 3_000), *reference]).hallucinations
    assert early.words_outside == 2
    assert scored([], [said("one two .", 1_000, 3_000)]).hallucinations.words_outside == 0
    beside = scored(reference, [said("hello dear there .", 10_000, 12_000)]).hallucinations
    assert beside.words_in_silence == 0, "an added word within speech is an error, but not one in silence"


def test_files_without_times_have_no_silence():
    found = scored([said("no .")], [said("no more of it now at all .")]).hallucinations
    assert found.words_per_minute_of_silence is None
    assert (found.utterances, found.runs) == (1, 1), "six words in a row were added"
    assert scored([said("no .")], [said("no more of it now .")]).hallucinations.runs == 0, "four were"


def test_a_loop_is_one_only_where_the_reference_does_not_say_it():
    loop = [said("no " + "I see " * 6 + ".")]
    found = scored([said("no I see .")], loop).hallucinations
    assert (found.loops, found.words_in_loops) == (1, 10), "one round of the six was said"
    assert scored(loop, loop).hallucinations.loops == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [("aaa", []), ("aaaa", [(0, 4)]), ("ababab", []), ("xabababab", [(1, 9)]), ("", []), ("abcabcabcabcd", [(0, 12)])],
)
def test_loops(words, expected):
    assert find_word_loops(tuple(words)) == expected
