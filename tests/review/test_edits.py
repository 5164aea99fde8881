"""Edits keep every byte that they do not change, keep CHAT's rules, and can all be undone."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import chat
from lsa_whisper.chat import serialize
from lsa_whisper.review import edits
from lsa_whisper.review.edits import EditError
from lsa_whisper.review.edits import words as words_of
from lsa_whisper.review.history import History, step_as_dict, step_from_dict

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data" / "chat"
FILES = (
    sorted(SHARED.rglob("*.cha")) if SHARED.exists() else sorted((ROOT / "corpora/storybook/test").glob("*.cha"))[:8]
)
HEAD = (
    "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Target_Child, MOT Mother\n"
    "@ID:\teng|x|CHI|||||Target_Child|||\n@ID:\teng|x|MOT|||||Mother|||\n@Media:\ta, audio\n"
)
BODY = (
    "*CHI:\tum I want the ball . \x150_2000\x15\n%wor:\tum \x150_200\x15 I \x15300_400\x15 want \x15500_900\x15 "
    "the \x15900_1000\x15 ball \x151000_1900\x15 .\n%mor:\tco|um pro|I v|want\n\tdet|the n|ball .\n"
    "*CHI:\tI see two dogs . \x152000_4000\x15\n%com:\told\n*MOT:\tyou know yes . \x154000_5000\x15\n@End\n"
)


def example():
    return chat.parse(HEAD + BODY)


def marked(text, first, last, mark):
    return edits.MARKS[mark].change(text, words_of.chosen_words(text, first, last))


@pytest.mark.parametrize(
    "text, first, last, mark, wanted",
    [
        ("um I see .", 0, 0, "filled_pause", "&-um I see ."),
        ("you know I see .", 0, 1, "filled_pause", "&-you_know I see ."),
        ("the sto- story .", 1, 1, "fragment", "the &+sto story ."),
        ("&+um I see .", 0, 0, "filled_pause", "&-um I see ."),
        ("I I want .", 0, 0, "repetition", "I [/] I want ."),
        ("I want I want it .", 0, 1, "repetition", "<I want> [/] I want it ."),
        ("the dog [/] the cat .", 0, 1, "revision", "<the dog> [//] the cat ."),
        ("<the dog> [/] the cat .", 0, 1, "revision", "<the dog> [//] the cat ."),
        ("so we went they left .", 0, 2, "reformulation", "<so we went> [///] they left ."),
        ("so we they left .", 0, 1, "false_start", "<so we> [/-] they left ."),
        ("a story .", 1, 1, "prolongation", "a sto:ry ."),
        ("a story .", 1, 1, "block", "a ≠story ."),
        ("a story .", 1, 1, "part_word_repetition", "a ↫st↫story ."),
        ("I want it .", 0, 0, "pause", "I (.) want it ."),
        ("I (...) want it .", 0, 0, "pause", "I want it ."),
        ("<I want> [/] I want it .", 0, 1, "pause", "<I want> [/] (.) I want it ."),
        ("I mumble mumble now .", 1, 2, "unintelligible", "I xxx now ."),
        ("I see laughs .", 2, 2, "event", "I see &=laughs ."),
    ],
)
def test_a_mark_is_written_and_taken_away(text, first, last, mark, wanted):
    assert marked(text, first, last, mark) == wanted
    assert not chat.parse(f"*CHI:\t{wanted}\n").problems
    several_steps = ("pause", "unintelligible", "part_word_repetition", "fragment")
    if mark not in several_steps and "[" not in text and "&" not in text:
        count = len(words_of.word_tokens(wanted)) - len(words_of.word_tokens(text))
        assert marked(wanted, first, last + count, mark) == text


def test_a_mark_across_a_group_is_refused():
    with pytest.raises(EditError, match="partly inside a group"):
        marked("<I want> [/] I want it .", 1, 2, "revision")


def test_typing_keeps_times_and_other_tiers():
    after = edits.set_text(example(), 0, "&-um I wanted the ball .")
    first = after.utterances[0]
    assert first.main == "*CHI:\t&-um I wanted the ball . \x150_2000\x15\n"
    assert [span.start_ms for span in first.word_spans()] == [0, 300, 500, 900, 1000]
    assert first.tiers[1].raw == "%mor:\tco|um pro|I v|want\n\tdet|the n|ball .\n"
    assert serialize(after).partition("*CHI:\tI see")[2] == serialize(example()).partition("*CHI:\tI see")[2]


def test_split_and_join_keep_words_and_times():
    halves = edits.split_at_word(example(), 0, 2)
    first, second = halves.utterances[:2]
    assert (first.text, second.text) == ("um I .", "want the ball .")
    assert first.span.end_ms == second.span.start_ms == 500
    assert second.word_spans()[0].start_ms == 500 and first.tiers[-1].name == "%mor"
    joined = edits.join_utterances(halves, 0).utterances[0]
    assert joined.text == "um I want the ball ." and joined.span == example().utterances[0].span
    assert joined.word_spans() == example().utterances[0].word_spans()
    with pytest.raises(EditError, match="by MOT"):
        edits.join_utterances(example(), 1)


def test_speaker_span_comment_and_review():
    after = edits.set_speaker(example(), 1, "MOT")
    after = edits.set_span(after, 1, 2100, 3900)
    after = edits.set_comment(after, 1, "a new\n comment")
    after = edits.set_reviewed(after, 1)
    raw = "*MOT:\tI see two dogs . \x152100_3900\x15\n%com:\ta new comment\n%xrev:\treviewed\n"
    assert raw in serialize(after) and after.utterances[1].reviewed and not chat.check(after)
    back = edits.set_comment(edits.set_reviewed(after, 1, False), 1, "")
    assert not back.utterances[1].tiers
    with pytest.raises(EditError, match="choose one of them"):
        edits.set_speaker(after, 0, "XYZ")


def test_a_transcript_with_a_first_bullet_does_not_say_that_it_has_none():
    plain = chat.parse(f"{HEAD.replace('audio', 'audio, unlinked')}*CHI:\tI see .\n@End\n")
    after = edits.set_span(plain, 0, 100, 900)
    assert after.header("@Media") == "a, audio" and not chat.check(after)
    edits.verify_edit(plain, after)


def test_a_word_is_moved_between_its_neighbors_only():
    after = edits.set_word_span(example(), 0, 2, 450, 880)
    assert after.utterances[0].word_times[2][1].start_ms == 450
    with pytest.raises(EditError, match="overlap"):
        edits.set_word_span(example(), 0, 2, 350, 880)


def test_an_utterance_is_inserted_in_the_gap_and_deleted():
    gap = edits.set_span(example(), 1, 3000, 4000)
    after = edits.insert_utterance(gap, 1, "MOT", "what .")
    assert after.utterances[1].main == "*MOT:\twhat . \x152000_3000\x15\n"
    edits.verify_edit(gap, after)
    assert serialize(edits.delete_utterance(after, 1)) == serialize(gap)


BESIDE_CODES = [
    ("the <dog> [>] ran .", (0, 1), "repetition", "<the <dog> [>]> [/] ran ."),
    ("he goed [: went] [*] home .", (0, 1), "revision", "<he goed [: went] [*]> [//] home ."),
    ("<the dog> [>] the dog .", (0, 1), "repetition", "<the dog> [/] [>] the dog ."),
    ("the &=laughs dog ran .", (0, 2), "revision", "<the &=laughs dog> [//] ran ."),
    ("hola@s:spa .", (0, 0), "prolongation", "ho:la@s:spa ."),
    ("&-um yes .", (0, 0), "block", "&-≠um yes ."),
]


@pytest.mark.parametrize(("text", "chosen", "mark", "marked"), BESIDE_CODES)
def test_marks_leave_the_codes_and_markers_of_words_whole(text, chosen, mark, marked):
    before = chat.parse(f"*CHI:\t{text}\n")
    once = edits.mark_words(before, 0, *chosen, mark)
    assert once.utterances[0].text == marked
    assert edits.mark_words(once, 0, *chosen, mark).utterances[0].text == text


@pytest.mark.parametrize(
    ("text", "chosen", "mark", "message"),
    [
        ("&=laughs yes .", (0, 0), "filled_pause", "not a spoken word"),
        ("0is yes .", (0, 1), "fragment", "not a spoken word"),
        ("&=laughs yes .", (0, 0), "repetition", "not a spoken word"),
        ("hello@c bye .", (0, 1), "filled_pause", "only neighboring words without other marks"),
    ],
)
def test_what_is_not_spoken_becomes_no_word_and_no_word_is_lost(text, chosen, mark, message):
    with pytest.raises(EditError, match=message):
        edits.mark_words(chat.parse(f"*CHI:\t{text}\n"), 0, *chosen, mark)


@pytest.mark.parametrize(
    "after, message",
    [
        (lambda t: edits.set_text(t, 0, "I have 2 balls ."), "digits in .* write numbers as words"),
        (lambda t: edits.set_text(t, 0, "I have balls"), "no terminator"),
        (lambda t: edits.set_span(t, 1, 1000, 1500), "before"),
        (lambda t: edits.set_text(t, 0, "<I want [/] it ."), "has no"),
    ],
)
def test_an_edit_that_breaks_a_rule_is_refused(after, message):
    before = example()
    with pytest.raises(EditError, match=message):
        edits.verify_edit(before, after(before))


@pytest.mark.parametrize(
    "typed, wanted",
    [
        ("I see 2 dogs", "I see two dogs ."),
        ("I don’t know .", "I don't know ."),
        ("<I want [/] I want it .", "<I want> [/] I want it ."),
        ("I see xx .", "I see xxx ."),
        ("the [x 3] dog .", "the [/] the [/] the dog ."),
        ("the dog [//] .", "the dog ."),
        ("I see .", None),
    ],
)
def test_a_proposal_keeps_the_rules(typed, wanted):
    assert edits.propose(example(), 0, typed) == wanted


def any_edit(draw, transcript):
    """Return an edit of a random utterance, and its kind; ``draw(n)`` is a number below n."""
    number = draw(max(1, len(transcript.utterances)))
    words = len(words_of.word_tokens(transcript.utterances[number].text))
    first = draw(max(1, words))
    mark = list(edits.MARKS)[draw(len(edits.MARKS))]
    people = list(transcript.participants) or ["CHI"]
    return [
        lambda: edits.set_text(transcript, number, f"&-um {transcript.utterances[number].text}"),
        lambda: edits.set_text(transcript, number, "the dog [//] the cat ."),
        lambda: edits.mark_words(transcript, number, first, min(words - 1, first + draw(3)), mark),
        lambda: edits.split_at_word(transcript, number, first),
        lambda: edits.join_utterances(transcript, number),
        lambda: edits.insert_utterance(transcript, number, people[draw(len(people))]),
        lambda: edits.delete_utterance(transcript, number),
        lambda: edits.set_speaker(transcript, number, people[draw(len(people))]),
        lambda: edits.set_span(transcript, number, draw(9000), 9000 + draw(9000)),
        lambda: edits.set_word_span(transcript, number, first, draw(9000), 9000 + draw(9000)),
        lambda: edits.set_comment(transcript, number, ["", "unclear", "two words"][draw(3)]),
        lambda: edits.set_reviewed(transcript, number, bool(draw(2))),
    ][draw(12)]


def edited(text, draw, count):
    """Make edits, and undo and redo some; return the history and the texts of every step."""
    history = History(chat.parse(text))
    for _ in range(count):
        if not history.transcript.utterances:
            break
        try:
            history.take(any_edit(draw, history.transcript)(), "edit")
        except EditError:
            continue
        if draw(5) == 0:
            now = serialize(history.transcript)
            if history.undo():
                history.redo()
            assert serialize(history.transcript) == now
    return history


@given(st.randoms(use_true_random=False), st.integers(1, 25), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_sequence_of_edits_can_be_undone_to_the_same_bytes(source, count, end, closed):
    text = (HEAD + BODY).replace("\n", end)
    text = text if closed else text.removesuffix(f"@End{end}").removesuffix(end)
    history = edited(text, source.randrange, count)
    final = serialize(history.transcript)
    assert serialize(chat.parse(final)) == final
    assert [u.main for u in chat.parse(final).utterances] == [u.main for u in history.transcript.utterances]
    while history.undo():
        pass
    assert serialize(history.transcript) == text
    while history.redo():
        pass
    assert serialize(history.transcript) == final


def test_every_shared_file_keeps_what_was_not_touched():
    """Every tier of an utterance that no edit names is byte-identical, in every file; and all can be undone."""
    assert FILES
    for number, path in enumerate(FILES):
        before = chat.read(path)
        text = serialize(before)
        if not before.utterances:
            continue
        history = edited(text, random.Random(number).randrange, 12)
        kept = Counter(u.main + "".join(t.raw for t in u.tiers) for u in history.transcript.utterances)
        own = Counter(u.main + "".join(t.raw for t in u.tiers) for u in before.utterances)
        touched = sum(len(s.change.removed) + len(s.change.added) for s in history.done)
        assert sum((own - kept).values()) <= touched, path
        headers = [line.raw for line in before.linked().headers]
        assert [line.raw for line in history.transcript.linked().headers] == headers, path
        stored = [step_from_dict(step_as_dict(step)) for step in history.done]
        assert stored == history.done
        while history.undo():
            pass
        assert serialize(history.transcript) == text, path


def test_verified_edits_of_valid_files_stay_valid():
    files = [path for path in FILES if not chat.check(chat.read(path)) and chat.read(path).utterances][:60]
    assert files
    for number, path in enumerate(files):
        draw = random.Random(number).randrange
        history = History(chat.read(path))
        for _ in range(10):
            if not history.transcript.utterances:
                break
            try:
                after = any_edit(draw, history.transcript)()
                edits.verify_edit(history.transcript, after)
            except EditError:
                continue
            history.take(after, "edit")
        now = chat.parse(serialize(history.transcript), path=str(path))
        assert not chat.check(now), path
