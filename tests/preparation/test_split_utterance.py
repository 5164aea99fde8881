"""Long utterances in pieces: the same words and stumbles, each piece with the sound of its own words."""

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Utterance, utterance
from lsa_whisper.labels import Labels, decode
from lsa_whisper.preparation.peak_levels import PeakLevels
from lsa_whisper.preparation.screening import screen_utterances
from lsa_whisper.preparation.split_utterance import UtterancePart, split_utterance
from lsa_whisper.timespan import TimeSpan


def timed(text: str, *, gaps: dict[int, int] | None = None, word_ms: int = 500, without: tuple[int, ...] = ()):
    """An utterance whose words are 500 ms long, with 100 ms between them, more before the words in ``gaps``."""
    words, at = [], 1000
    for number, word in enumerate(utterance("CHI", text).verbatim()):
        at += (gaps or {}).get(number, 100)
        words.append((word, TimeSpan(at, at + word_ms)))
        at += word_ms
    known = [pair for number, pair in enumerate(words) if number not in without]
    return utterance("CHI", text, TimeSpan(1000, at + 50), known)


def texts(pieces: list[UtterancePart]) -> list[str]:
    return [piece.utterance.text for piece in pieces]


TEN = "one two three four five six seven eight nine ten"


def test_the_cut_is_in_the_longest_silence_within_the_last_third():
    pieces = split_utterance(timed(f"{TEN} .", gaps={1: 900, 5: 300}), 5000, Labels())
    assert texts(pieces) == ["one two three four five", "six seven eight nine ten ."]
    assert [piece.label for piece in pieces] == ["one two three four five", "six seven eight nine ten."]
    assert [piece.utterance.span for piece in pieces] == [TimeSpan(1000, 4800), TimeSpan(5100, 8050)]


def test_without_a_place_in_the_last_third_the_cut_is_earlier():
    pieces = split_utterance(
        timed("one two <three four five six seven> [/] three four five six seven eight ."), 6200, Labels()
    )
    assert texts(pieces) == ["one two", "<three four five six seven> [/] three four five six seven", "eight ."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three four [/] four five .", ["one two three", "four [/] four five ."]),
        ("one two three <four> [//] five six .", ["one two three", "<four> [//] five six ."]),
        ("one two three ↫f-f↫four five six .", ["one two three", "↫f-f↫four five", "six ."]),
        ("one two three four (..) five six .", ["one two three four", "five six ."]),
        ("one two three four (.) [/] four six .", ["one two three", "four (.) [/] four six ."]),
        ("one two three goed [: went] [* m] five .", ["one two three goed [: went] [* m]", "five ."]),
        ("one two three four , five six +...", ["one two three four", "five six +..."]),
        ("one two three &+fo four five +/.", ["one two three &+fo", "four five +/."]),
        ("one two three four &=laughs five six .", ["one two three", "four &=laughs five six ."]),
    ],
)
def test_no_mark_is_taken_from_its_words(text, expected):
    assert texts(split_utterance(timed(text), 2700, Labels())) == expected


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (timed("<one two three four five six> [/] one two three four five six ."), "a retrace spans everything"),
        (utterance("CHI", f"{TEN} .", TimeSpan(0, 6000)), "there is no %wor"),
        (timed(f"{TEN} .", without=tuple(range(1, 10))), "only one word has a time"),
        (timed(f"{TEN} .", word_ms=3000), "a word is longer than the context"),
        (utterance("CHI", f"{TEN} ."), "there is no bullet"),
    ],
)
def test_what_cannot_be_cut_stays_whole(made, why):
    assert split_utterance(made, 2500, Labels()) == [], why


def test_words_missing_from_the_wor_tier_are_no_split_points():
    pieces = split_utterance(timed(f"{TEN} .", without=(4,)), 3000, Labels())
    assert all(not text.startswith("five") and not text.endswith("four") for text in texts(pieces))


def test_decreasing_times_are_no_split_points():
    words = [(word, TimeSpan(1000 + 600 * at, 1500 + 600 * at)) for at, word in enumerate(TEN.split())]
    words[2], words[6] = (words[2][0], words[6][1]), (words[6][0], words[2][1])
    pieces = split_utterance(utterance("CHI", f"{TEN} .", TimeSpan(1000, 7000), words), 4000, Labels())
    assert texts(pieces) == ["one two", "three four five six seven eight", "nine ten ."]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (Labels("chat", roles=True), ["*CHI: um one two two", "*CHI: three four."]),
        (Labels("chat", version=1), ["&-um one two [/] two", "three four ."]),
        (Labels("verbatim"), ["um one two two", "three four."]),
        (Labels("fluent"), ["One two", "three four."]),
    ],
)
def test_labels_of_pieces(labels, expected):
    assert [one.label for one in split_utterance(timed("&-um one two [/] two three four ."), 2600, labels)] == expected


STRANGE = ("&-um", "&+fr", "goed@c", "sto:re", "↫b-b↫ball", "ice_cream", "(be)cause", "&=laughs", "(.)", ",")
word = st.sampled_from(("we", "go", "home", "dog", *STRANGE))
piece = st.one_of(
    word,
    st.builds("{} [/] {}".format, st.just("we"), st.just("we")),
    st.builds("<{} {}> [//] {} {}".format, word, st.just("dog"), word, word),
    st.builds("{} [: went]".format, st.just("goed")),
    st.builds("{} [x 2]".format, st.just("so")),
)


@given(
    st.lists(piece, min_size=1, max_size=40),
    st.lists(st.integers(0, 900), max_size=60),
    st.integers(1500, 8000),
    st.sampled_from(["chat", "chat/1", "verbatim", "fluent"]),
)
def test_pieces_have_the_words_of_the_utterance(parts, gaps, context_ms, style):
    whole = timed(" ".join([*parts, "end ."]), gaps=dict(enumerate(gaps)))
    pieces = split_utterance(whole, context_ms, Labels.from_name(style))
    if not pieces or len(pieces) == 1:
        return
    said = [one.utterance for one in pieces]
    assert list(chain.from_iterable(one.verbatim() for one in said)) == whole.verbatim()
    assert list(chain.from_iterable(one.fluent() for one in said)) == whole.fluent()
    assert list(chain.from_iterable(kinds(one) for one in said)) == kinds(whole)
    assert all(one.span.duration_ms <= context_ms for one in said)
    assert all(before.span.end_ms <= after.span.start_ms for before, after in pairwise(said))
    assert (said[0].span.start_ms, said[-1].span.end_ms) == (whole.span.start_ms, whole.span.end_ms)
    if style.startswith("chat"):
        told = [decode(one.label, Labels.from_name(style)).utterances for one in pieces]
        assert [word for one in told for made in one for word in made.verbatim()] == whole.verbatim()
    times = dict.fromkeys(at for _, at in whole.word_times)
    for one in said:
        inside = [at for at in times if one.span & at]
        assert all(one.span & at == at for at in inside)


def kinds(one: Utterance) -> list[Disfluency]:
    return [event.kind for event in one.events() if event.kind is not Disfluency.PAUSE]


def test_pieces_are_judged_one_by_one():
    whole = timed(f"{TEN} .", gaps={5: 700})
    wave = 0.1 * np.sin(np.arange(16 * 9000) / 3).astype(np.float32)
    wave[: 16 * 4400] = 0
    found = screen_utterances([whole], PeakLevels.measure([wave]), Labels(), context_ms=4000)
    assert [(one.text, one.reason) for one in found] == [
        ("one two three four five", "silent audio"),
        ("six seven eight nine ten.", None),
    ]
    assert [one.words for one in found] == [5, 5] and chat.utterance("CHI", TEN).verbatim() == TEN.split()
