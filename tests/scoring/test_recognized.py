"""Disfluencies that are transcribed but not marked; and what ``xxx`` excuses."""

from __future__ import annotations

import random

import pytest
from scored_transcripts import write_transcript

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation import evaluate
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import score_file
from lsa_whisper.timespan import TimeSpan

REFERENCE = ["&-um the [/] the dog ran .", "I [/] I want &-uh a ball .", "no words [/] words words &+fr frog ."]


def evaluated(folder, texts, reference=REFERENCE, header=""):
    folder.mkdir(exist_ok=True)
    write_transcript(folder / "r.cha", reference, language="eng", name="Ann", corpus="x")
    write_transcript(folder / "h.cha", texts, language="eng", name="Ann", corpus="x")
    written = (folder / "h.cha").read_text("utf-8")
    (folder / "h.cha").write_text(written.replace("*", f"{header}*", 1), "utf-8")
    (system,) = evaluate(folder / "r.cha", [folder / "h.cha"], samples=40).systems.values()
    return system


def test_one_more_correct_mark_does_not_lower_a_score(tmp_path):
    """From plain words to all marks of the reference, in any order."""
    marks = [("um", "&-um"), ("the the", "the [/] the"), ("I I", "I [/] I"), ("uh", "&-uh"), ("fr-", "&+fr")]
    plain = ["um the the dog ran .", "I I want uh a ball .", "no words words words fr- frog ."]
    for seed in range(4):
        order = random.Random(seed).sample(marks, len(marks))
        texts, before = list(plain), None
        for step in range(len(order) + 1):
            system = evaluated(tmp_path / f"{seed}{step}", texts)
            found = system.total.disfluency.together
            word_errors = -system.total.verbatim.errors, -system.total.fluent.errors
            now = *word_errors, found.true_positives, -found.false_positives
            assert before is None or all(a >= b for a, b in zip(now, before, strict=True)), (seed, texts)
            before = now
            if step < len(order):
                old, new = order[step]
                texts = [text.replace(old, new, 1) if f" {old} " in f" {text} " else text for text in texts]


@pytest.mark.parametrize(
    ("reference", "drafts"),
    [
        ("<I want> [/] I want it .", ["I want I want it .", "I want [/] I want it .", "I [/] want [/] I want it ."]),
        ("<he went> [//] she went um home .", ["he went she went um home .", "he went she went &-um home ."]),
        ("&-um he [//] she went home .", ["um he she went home .", "&-um he she went home ."]),
        ("<I want> [//] I need it .", ["I want I need it .", "I want [//] I need it .", "<I want> [//] I need it ."]),
    ],
)
def test_a_right_mark_more_with_or_without_its_brackets_adds_no_word_error(tmp_path, reference, drafts):
    systems = [evaluated(tmp_path / str(at), [draft], [reference]) for at, draft in enumerate(drafts)]
    errors = [(system.total.verbatim.errors, system.total.fluent.errors) for system in systems]
    assert errors == sorted(errors, reverse=True), errors


def test_an_unmarked_repeat_is_found_where_the_reference_marks_it(tmp_path):
    system = evaluated(tmp_path, ["&-um the the dog ran .", "I I want a ball .", "no words [/] words words frog ."])
    assert system.disfluency[Disfluency.REPETITION].true_positives == 3
    assert system.total.fluent.errors == 0


ON_PURPOSE = ["no [/] no I want it .", "<you know> [/] you know it .", "ha [/] ha [/] ha ."]
ON_PURPOSE += ["<I want to go to the store> [/] I want to go to the store ."]


@pytest.mark.parametrize("tier", ON_PURPOSE)
@pytest.mark.parametrize("other", ["&-um yes .", "I see ."])
def test_words_that_may_be_said_twice_on_purpose_are_found_where_the_reference_marks_them(tier, other, tmp_path):
    plain = tier.replace(" [/]", "").replace("<", "").replace(">", "")
    system = evaluated(tmp_path, [plain, other], [tier, other])
    found = system.disfluency[Disfluency.REPETITION]
    assert (found.false_positives, found.false_negatives) == (0, 0)
    assert system.total.fluent.errors == 0
    assert not evaluated(tmp_path, [plain, other], [plain, other]).disfluency.together.false_positives


def test_one_mark_added_to_a_draft_leaves_the_repeats_in_its_words_found(tmp_path):
    """The header of a model that leaves out disfluencies says so; its words may still hold them."""
    writer = "transcribed by lsa-whisper 0.1.0 with model m (labels fluent/4, engine x)"
    header = f"@Comment:\t{writer}; not checked by a person\n"
    found = []
    for draft in ("words words frog .", "&-um words words frog ."):
        system = evaluated(tmp_path, [draft], ["&-um words [/] words &+fr frog ."], header)
        found.append((system.disfluency[Disfluency.REPETITION].true_positives, system.total.fluent.errors))
        assert system.disfluency[Disfluency.FRAGMENT].not_scored == 1
    assert found == [(1, 0), (1, 0)]


CODES = [
    "[: doggie] [*]",
    "[* p:w]",
    "[= a toy]",
    "[=! laughing]",
    "[% sic]",
    "&*INV:mhm",
    "0is",
    "↑",
    "(.)",
    "&=laughs",
]


@pytest.mark.parametrize("code", CODES)
def test_a_code_beside_words_leaves_unmarked_disfluencies_found(tmp_path, code):
    reference = ["&-um the [/] the &+d dog ran .", "&-um yes ."]
    system = evaluated(tmp_path, [f"um the the d- dog {code} ran .", "&-um yes ."], reference)
    found = system.disfluency
    kinds = (Disfluency.FILLED_PAUSE, Disfluency.REPETITION, Disfluency.FRAGMENT)
    assert [found[kind].true_positives for kind in kinds] == [2, 1, 1]


def test_what_neither_transcript_marks_is_no_false_alarm(tmp_path):
    texts = ["&-um the the dog ran .", "well well I see ."]
    system = evaluated(tmp_path, texts, reference=texts)
    assert not system.disfluency.together.false_positives and not system.total.fluent.errors


@pytest.mark.parametrize("texts", [["st- st- stop ."], ["st- st- stop .", "&-um yes ."], ["↫st-st↫stop ."]])
def test_cut_off_copies_before_a_word_are_found_as_the_cut_off_words_of_the_reference(tmp_path, texts):
    found = evaluated(tmp_path, texts, ["&+st &+st stop .", "&-um yes ."][: len(texts)]).disfluency
    assert (found[Disfluency.FRAGMENT], found.fragment_exact) == (Detections(2), Detections(2))
    assert not found[Disfluency.PART_WORD_REPETITION].hypothesis_events


@pytest.mark.parametrize("text", ["&+st &+st stop .", "&+st (.) &+st stop .", "↫st-st↫stop ."])
def test_cut_off_copies_before_a_word_are_found_as_a_part_word_repetition_of_the_reference(tmp_path, text):
    found = evaluated(tmp_path, [text, "s:o yes ."], ["↫st-st↫stop .", "s:o yes ."]).disfluency
    assert found[Disfluency.PART_WORD_REPETITION] == Detections(1)
    assert not found[Disfluency.FRAGMENT].hypothesis_events


def errors(reference, hypothesis):
    def side(texts):
        return ParsedTranscript([chat.utterance("CHI", *each) for each in texts], {})

    return score_file("a", side(reference), side(hypothesis)).verbatim


INVENTED = ("this is a long text of many words that was not spoken yes .",)


def test_xxx_excuses_a_few_words():
    found = errors([("xxx .",), ("yes .",)], [INVENTED])
    assert (found.hits, found.insertions, found.excluded_hypothesis) == (1, 9, 3)


@pytest.mark.parametrize(("seconds", "excused"), [(0.5, 3), (2, 8), (10, 12)])
def test_xxx_excuses_as_many_words_as_fit_into_its_time(seconds, excused):
    span = TimeSpan(0, int(seconds * 1000))
    found = errors([("xxx .", span), ("yes .", TimeSpan(20_000, 21_000))], [INVENTED])
    assert (found.excluded_hypothesis, found.insertions) == (excused, 12 - excused)


@pytest.mark.parametrize("tier", ["xxx .", "www .", "yyy xxx ."])
def test_identical_transcripts_have_the_same_boundaries(tier):
    side = ParsedTranscript([chat.utterance("CHI", text) for text in (tier, "hi .", tier, "the dog .", tier)], {})
    assert score_file("a", side, side).boundaries == Detections(1)


def test_the_boundaries_of_xxx_count_where_the_hypothesis_has_words_for_it():
    sides = (
        ParsedTranscript([chat.utterance("CHI", text) for text in ("hi .", tier, "the dog .")], {})
        for tier in ("xxx .", "yes .")
    )
    assert score_file("a", *sides).boundaries == Detections(2)


def test_several_xxx_excuse_more():
    assert errors([("xxx and xxx .",), ("yes .",)], [INVENTED]).excluded_hypothesis > 3


def test_the_excused_words_are_printed_beside_the_errors(tmp_path):
    folder = tmp_path
    write_transcript(folder / "r.cha", ["xxx .", "yes ."], language="eng", name="Ann", corpus="x")
    write_transcript(folder / "h.cha", [INVENTED[0]], language="eng", name="Ann", corpus="x")
    lines = evaluate(folder / "r.cha", [folder / "h.cha"], samples=40).table().splitlines()
    assert lines[4].startswith("words in place of xxx, not scored") and int(lines[4].split()[-1]) < 12


@pytest.mark.parametrize(
    ("reference", "hypothesis", "counts"),
    [
        ("<I want> [/] I want it .", "I want [/] I want it .", (1, 0, 0)),
        ("<I want> [/] I want it .", "I [/] want [/] I want it .", (1, 0, 0)),
        ("<I want> [/] I want it .", "<I want> [/] I want it .", (1, 0, 0)),
        ("<I want> [/] I want it .", "I want it .", (0, 0, 1)),
        ("I [/] I [/] I want it .", "I [/] I want it .", (1, 0, 1)),
        ("I [/] I [/] I want it .", "<I I> [/] I want it .", (2, 0, 0)),
        ("I [/] I want it .", "<I want> [/] it .", (0, 1, 1)),
        ("I want it .", "I [/] I want it .", (0, 1, 0)),
        ("<I &-um want> [/] I want it .", "<I want> [/] I want it .", (1, 0, 0)),
        ("<I &-um want> [/] I want it .", "<I want> [/] I &-um want it .", (1, 0, 0)),
        ("<I want> [/] I want it .", "<I &-um want> [/] I &-uh want it .", (1, 0, 0)),
        ("<I want> [/] I want it .", "I [/] &-um want [/] I want it .", (1, 0, 0)),
        ("<I &-um want> [/] I want it .", "&-um [/] I want it .", (0, 1, 1)),
        ("I [x 3] want .", "<I I> [/] I want .", (2, 0, 0)),
        ("<I want to> [/] I want to go .", "<I want> [/] I want to go .", (0, 1, 1)),
    ],
)
def test_a_repetition_is_found_when_its_copies_are_there(reference, hypothesis, counts):
    sides = (ParsedTranscript([chat.utterance("CHI", text)], {}) for text in (reference, hypothesis))
    found = score_file("a", *sides).disfluency[Disfluency.REPETITION]
    assert (found.true_positives, found.false_positives, found.false_negatives) == counts


def test_accents_behind_their_letters_hide_no_filler(tmp_path):
    write_transcript(tmp_path / "r.cha", ["&-äh ich möchte ."], language="deu", name="Ann", corpus="x")
    write_transcript(tmp_path / "h.cha", ["a\u0308h ich mo\u0308chte ."], language="deu", name="Ann", corpus="x")
    (system,) = evaluate(tmp_path / "r.cha", [tmp_path / "h.cha"], samples=40).systems.values()
    assert system.disfluency[Disfluency.FILLED_PAUSE].true_positives == 1
    assert system.total.fluent.errors == 0


@pytest.mark.parametrize(
    ("tier", "plain"),
    [
        ("(be)cause ball [/] ball &-um dog .", "(be)cause ball ball um dog ."),
        ("I goed [: went] [* m] to [/] to &-uh school .", "I goed [: went] [* m] to to uh school ."),
    ],
)
def test_a_mark_that_is_found_in_the_words_leaves_other_fluent_words_as_they_are_meant(tmp_path, tier, plain):
    assert evaluated(tmp_path, [plain, "&-um yes ."], [tier, "&-um yes ."]).total.fluent.errors == 0


def test_one_copy_beside_another_word_is_no_repetition(tmp_path):
    found = evaluated(tmp_path, ["was th- big house ."], ["was [/] was &+th big house ."]).disfluency
    assert found[Disfluency.REPETITION] == Detections(false_negatives=1)


def test_a_mark_elsewhere_leaves_an_unmarked_part_word_repetition_free_of_word_errors(tmp_path):
    for text in ("um yes .", "&-um yes ."):
        system = evaluated(tmp_path, ["b- b- ball .", text], ["↫b-b↫ball .", "&-um yes ."])
        assert (system.total.verbatim.errors, system.total.fluent.errors) == (0, 0)


def test_marking_fillers_keeps_what_shortened_and_wrong_words_mean(tmp_path):
    system = evaluated(tmp_path, ["um (be)cause he goed [: went] ."], ["&-um (be)cause he goed [: went] ."])
    assert (system.total.verbatim.errors, system.total.fluent.errors) == (0, 0)
