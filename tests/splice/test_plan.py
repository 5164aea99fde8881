"""What is written: legal CHAT, counted as the classes that were intended, with the fluent words of the original."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Participant, check
from lsa_whisper.splice import count_profile
from lsa_whisper.splice.edits import EditContext
from lsa_whisper.splice.plan import draw_plan
from lsa_whisper.splice.profile import SPLICED_CLASSES, ClassProfile, DisfluencyProfile, read_profile
from lsa_whisper.splice.speech import source_utterances, speaker_sounds
from lsa_whisper.timespan import TimeSpan

FLUCALC = {
    Disfluency.FILLED_PAUSE: ("filled_pause",),
    Disfluency.REPETITION: ("whole_word_repetition", "phrase_repetition"),
    Disfluency.PART_WORD_REPETITION: ("part_word_repetition",),
    Disfluency.FRAGMENT: ("fragment",),
    Disfluency.REVISION: ("word_revision", "phrase_revision"),
    Disfluency.PROLONGATION: ("prolongation",),
    Disfluency.BLOCK: ("block",),
    Disfluency.PAUSE: ("pause",),
}
"""The counts of ``Transcript.fluency`` for each class; a false start counts nothing there."""


def counts(text):
    (one,) = chat.parse(f"*CHI:\t{text}\n").fluency().values()
    return {kind: sum(one.counts[name] for name in names) for kind, names in FLUCALC.items()}


def test_every_spliced_utterance_counts_as_intended(spliced):
    total = Counter()
    for each in spliced:
        originals = Counter(tuple(one.fluent()) for one in each.transcript.utterances)
        by_words = {tuple(one.fluent()): one for one in each.transcript.utterances}
        for one, kinds in zip(each.speech.utterances, each.speech.kinds, strict=True):
            words = tuple(one.fluent())
            assert originals[words], f"{one.text}: not the fluent words of any utterance"
            if originals[words] > 1:
                continue
            original, total = by_words[words], total + kinds
            events = Counter(event.kind for event in one.events())
            assert events == Counter(event.kind for event in original.events()) + kinds, one.text
            before, after = counts(original.text), counts(one.text)
            assert {kind: after[kind] - before[kind] for kind in FLUCALC if after[kind] != before[kind]} == {
                kind: count for kind, count in kinds.items() if kind in FLUCALC
            }, one.text
    assert set(total) == set(SPLICED_CLASSES), "a class was never spliced"


def test_spliced_transcripts_pass_the_check(spliced):
    for each in spliced:
        made = chat.compose(
            languages=["eng"],
            participants=[Participant("CHI", "Target_Child"), Participant("ADU", "Adult")],
            utterances=each.speech.utterances,
            media="spliced",
        )
        made.path = "spliced.cha"
        assert check(made) == []
        assert [one.main for one in made.utterances] == [one.main for one in each.speech.utterances]


def test_every_word_has_its_time_in_order(spliced):
    for each in spliced:
        for one in each.speech.utterances:
            spans = one.word_spans()
            assert None not in spans, one.text
            starts = [span.start_ms for span in spans]
            assert starts == sorted(starts), one.text
            assert one.span.start_ms <= starts[0] and spans[-1].end_ms <= one.span.end_ms


WORDS = ("the", "dog", "story", "ran", "happy", "I", "don't", "you", "cat", "sees", "ice+cream", "gonna")
CODED = ("the [/] the", "<a big> [//] the small", "&-um", "(.)", "dog@c", "s:ome", "↫b-b↫ball", "&+fr", "goed [: went]")


@given(
    st.lists(st.lists(st.sampled_from(WORDS + CODED), min_size=1, max_size=9), min_size=2, max_size=6),
    st.integers(0, 1_000),
)
def test_any_tier_keeps_its_words_and_gets_what_was_intended(tiers, seed):
    utterances, at_ms = [], 0
    for pieces in tiers:
        plain = chat.utterance("CHI", f"{' '.join(pieces)} dog .")
        words = [(word, TimeSpan(at_ms + 200 * at, at_ms + 200 * at + 190)) for at, word in enumerate(plain.verbatim())]
        span = TimeSpan(words[0][1].start_ms, words[-1][1].end_ms)
        utterances.append(chat.utterance("CHI", plain.text, span, words))
        at_ms = span.end_ms + 100
    timed = source_utterances(utterances, at_ms)
    profile = DisfluencyProfile(1, {kind.value: ClassProfile(1, 0.5, 1.5) for kind in SPLICED_CLASSES})
    for number, one in enumerate(timed):
        sounds = speaker_sounds(timed)["CHI"]
        plan = draw_plan(EditContext(timed, number, sounds, profile, random.Random(seed)))
        if plan is None:
            continue
        made = chat.utterance("CHI", plan.text)
        assert made.fluent() == one.utterance.fluent()
        assert made.verbatim() == list(plan.words)
        events = Counter(event.kind for event in made.events())
        assert events == Counter(event.kind for event in one.utterance.events()) + plan.kinds
        assert not made.tree.faults


def test_a_class_that_the_corpus_never_marks_is_never_spliced():
    profile = count_profile([chat.utterance("CHI", "&-um the dog ran .")])
    assert set(profile.weights()) == {Disfluency.FILLED_PAUSE}
    assert not count_profile([chat.utterance("CHI", "the dog ran .")]).weights()


@pytest.mark.parametrize(
    ("second", "why"),
    [("the dog ran .", "overlap"), ("the dog xxx .", "untranscribed")],
)
def test_sounds_come_from_usable_speech_alone(second, why):
    def timed(text, start_ms):
        starts = [start_ms + 200 * at for at in range(3)]
        words = [(word, TimeSpan(at, at + 150)) for word, at in zip(text.split(), starts, strict=False)]
        return chat.utterance("CHI", text, TimeSpan(start_ms, start_ms + 600), words)

    start_ms = 400 if why == "overlap" else 700
    found = source_utterances([timed("a cat ran .", 0), timed(second, start_ms)], 2_000)
    assert [one.utterance.text for one in found] == ([] if why == "overlap" else ["a cat ran ."])


def test_the_shipped_profile_is_of_adults_in_meetings():
    profile = read_profile("fluent-adults")
    assert profile.fluent_words > 100_000
    assert (
        profile.classes["filled_pause"].count > profile.classes["repetition"].count > profile.classes["revision"].count
    )
    assert "block" not in profile.classes
