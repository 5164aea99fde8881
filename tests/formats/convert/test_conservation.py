"""Words in are words out and named losses: for every format, over drawn transcripts and over all real files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as draw

from lsa_whisper import chat, formats
from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.formats import FOR_PEOPLE, FORMATS, TIMED_FORMATS
from lsa_whisper.formats.convert import convert
from lsa_whisper.formats.convert.conservation import counts_of, kept_counts, losses_of_writing, read_back
from lsa_whisper.formats.reading import read_transcripts
from lsa_whisper.formats.reading.lost_words import lost_words
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.timespan import TimeSpan

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
PIECES = (
    "dog",
    "I",
    "&-um",
    "the [/] the",
    "<a dog> [//] a cat",
    "&+fr",
    "ice_cream",
    "goed [: went]",
    "b:all",
    "(be)cause",
)
PIECES += ("Johnny", "xxx", "(.)", "&=laughs", "↫b-b↫ball", "don't", "Ärger")
ENDS = (".", "?", "!", "+...", "+/.")
UTTERANCES = draw.lists(
    draw.tuples(
        draw.sampled_from(("CHI", "MOT")),
        draw.lists(draw.sampled_from(PIECES), min_size=1, max_size=6),
        draw.sampled_from(ENDS),
        draw.booleans(),
    ),
    min_size=1,
    max_size=8,
)


def made(drawn):
    people = [Participant("CHI", "Target_Child", age="4;00."), Participant("MOT", "Mother")]
    said = [
        utterance(speaker, f"{' '.join(pieces)} {end}", TimeSpan(1000 * at, 1000 * at + 900) if timed else None)
        for at, (speaker, pieces, end, timed) in enumerate(drawn)
    ]
    return compose(languages=["eng"], participants=people, utterances=said, media="visit", comments=["a remark"])


def named(losses, kind):
    return sum(loss.count for loss in losses if loss.kind == kind)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "cha"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=UTTERANCES)
def test_words_in_are_words_out_and_named_losses(name, drawn):
    before = made(drawn)
    after = read_back(formats.serialize(before, name), before, name)
    losses = list(losses_of_writing(before, after))
    held, left = counts_of(before), kept_counts(before, after)
    assert held.words == left.words + named(losses, "words")
    assert held.times == left.times + named(losses, "times")
    if name in ("eaf", "textgrid", "salt", "json", *FOR_PEOPLE):  # they keep the marks of what they keep
        untimed = [each for each in before.utterances if each.span is None] if name in TIMED_FORMATS else []
        assert named(losses, "words") == sum(len([w for w in u.verbatim() if w != "xxx"]) for u in untimed)
        assert named(losses, "marks") == sum(len(each.events()) for each in untimed)
    else:
        timed = [each for each in before.utterances if each.span or name == "txt"]
        assert left.words == sum(len([word for word in each.verbatim() if word != "xxx"]) for each in timed)


WORDS = draw.lists(
    draw.sampled_from(("dog", "um", "I", "don't", "the", "[laughs]", "ball-", "Rex", "yes")), min_size=1, max_size=8
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    texts=draw.lists(WORDS, min_size=1, max_size=5),
    suffix=draw.sampled_from(("txt", "srt", "vtt", "json", "tsv", "ctm", "stm")),
)
def test_no_word_is_lost_on_the_way_to_chat(texts, suffix, tmp_path):
    lines = [" ".join(text) for text in texts]
    spans = [(at, at + 0.9) for at in range(len(lines))]
    rows = list(zip(lines, spans, strict=True))
    clock = "00:00:{:06.3f} --> 00:00:{:06.3f}"
    written = {
        "txt": "\n".join(lines),
        "srt": "\n\n".join(f"{clock.format(*span)}\n{line}" for line, span in rows),
        "vtt": "WEBVTT\n\n" + "\n\n".join(f"{clock.format(*span)}\n{line}" for line, span in rows),
        "json": json.dumps({"segments": [{"start": s, "end": e, "text": line} for line, (s, e) in rows]}),
        "tsv": "start\tend\ttext\n" + "\n".join(f"{s * 1000}\t{e * 1000}\t{line}" for line, (s, e) in rows),
        "ctm": "\n".join(
            f"a 1 {s + n / 100} 0.01 {word}" for line, (s, _) in rows for n, word in enumerate(line.split())
        ),
        "stm": "\n".join(f"a 1 A {s} {e} {line}" for line, (s, e) in rows),
    }
    (tmp_path / f"a.{suffix}").write_text(written[suffix])
    found = read_transcripts(tmp_path / f"a.{suffix}")[0]
    spoken = [word for line in lines for word in line.split() if word != "[laughs]"]
    if not any(re.search(r"\w", word) for word in spoken):
        return
    said = [word for each in found.transcript.utterances for word in each.verbatim()]
    assert [word.casefold() for word in said] == [word.casefold() for word in spoken]
    assert (found.lost_words, found.words) == (0, len(spoken))


def test_a_lost_word_is_counted_and_placed():
    source = Source("a", [SpokenText("", "one two", place="a.txt:1"), SpokenText("", "three four", place="a.txt:2")])
    transcript = chat.parse("*PAR:\tone two .\n*PAR:\tthree .\n")
    assert lost_words(source, transcript) == (4, 1, "a.txt:2")
    assert lost_words(source, chat.parse("*PAR:\tone two three .\n%com:\tfour\n")) == (4, 0, "")


def test_a_word_with_a_hyphen_is_one_word_in_and_out(tmp_path):
    (tmp_path / "a.txt").write_text("Mm-hmm, a dry-read.\nWell, yes - no.\n")
    done = convert([tmp_path / "a.txt"], tmp_path / "out")
    assert done.before.words == done.after.words == 6 and not done.losses


def test_what_says_that_words_are_unclear_is_not_a_lost_word(tmp_path):
    (tmp_path / "a.txt").write_text("He said [unclear: the dog] ran.\n")
    assert not convert([tmp_path / "a.txt"], tmp_path / "out").losses


def test_strict_fails_on_a_loss_and_writes_nothing(tmp_path):
    (tmp_path / "a.cha").write_text(chat.serialize(made([("CHI", ["the [/] the", "dog"], ".", True)])))
    done = convert([tmp_path / "a.cha"], tmp_path / "srt", format="srt", lossless=True)
    assert done.exit_code == 1 and not done.files and "marks: 1, first at line" in done.table()
    assert not (tmp_path / "srt").exists()
    done = convert([tmp_path / "a.cha"], tmp_path / "eaf", format="eaf", lossless=True)
    assert done.exit_code == 0 and not done.losses


def test_the_report_counts_before_and_after(tmp_path):
    (tmp_path / "a.txt").write_text("um the the dog [unclear]\nyes\n")
    done = convert([tmp_path / "a.txt"], tmp_path / "out")
    assert (done.before.words, done.after.words, done.before.utterances, done.after.utterances) == (5, 5, 2, 2)
    assert done.before.marks is None and done.after.marks == 2
    rows = [re.split(r"\s*│\s*", line.strip("│ ")) for line in done.table().splitlines()]
    assert ["words", "5", "5"] in rows and ["marks", "", "2"] in rows


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "cha"])
def test_real_files_lose_nothing_unnamed(name):
    files = sorted(SHARED.rglob("*.cha"))
    if not files:
        pytest.skip("no real transcripts beside the project (../shared/data)")
    for path in files:
        before = chat.read(path)
        after = read_back(formats.serialize(before, name), before, name)
        losses = list(losses_of_writing(before, after))
        held, left = counts_of(before), kept_counts(before, after)
        assert held.words == left.words + named(losses, "words"), path
        if name in ("salt", "json"):
            assert not named(losses, "words") and not named(losses, "marks"), path
