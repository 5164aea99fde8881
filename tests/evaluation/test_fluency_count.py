"""Whether a fluency count may be taken from a system's transcripts, and the page that shows it first."""

from __future__ import annotations

import re

from scored_transcripts import write_transcript

from lsa_whisper.evaluation import evaluate

SAID = ["&-um the dog ran home today .", "I [/] I want the big ball .", "the dog [//] cat went out now ."]


def evaluated(tmp_path, change, files=6, **options):
    for number in range(files):
        texts = SAID * (2 + number % 3)
        write_transcript(
            tmp_path / "reference" / f"s{number}.cha", texts, language="eng", name=f"P{number}", corpus="x"
        )
        heard = [change(text) for text in texts]
        write_transcript(tmp_path / "heard" / f"s{number}.cha", heard, language="eng", name=f"P{number}", corpus="x")
    return evaluate(tmp_path / "reference", [tmp_path / "heard"], samples=40, **options)


def test_all_classes_can_be_counted(tmp_path):
    (answer,) = evaluated(tmp_path, lambda text: text).answers
    assert answer == (
        "A fluency count may be taken from the transcripts of heard. Can be counted: filled pauses, repetitions and "
        "revisions. Its counts per 100 words are right in each recording."
    )


def test_some_classes_can_be_counted(tmp_path):
    (answer,) = evaluated(tmp_path, lambda text: text.replace("&-um ", "")).answers
    assert answer.startswith("A fluency count may be taken from the transcripts of heard, of some classes only. ")
    assert "Can be counted: repetitions and revisions; cannot: filled pauses." in answer
    assert "6.7 too low in each recording" in answer


def test_invented_disfluencies_forbid_a_count(tmp_path):
    (answer,) = evaluated(tmp_path, lambda text: text.replace(" the ", " &-uh the ").replace("[//]", "")).answers
    assert "cannot: filled pauses and revisions" in answer or "Cannot be counted: filled pauses" in answer


def test_few_events_and_few_recordings_tell_nothing(tmp_path):
    (answer,) = evaluated(tmp_path, lambda text: text, files=1).answers
    assert answer == (
        "Whether a fluency count may be taken from the transcripts of heard cannot be told. Fewer than 10, too few to "
        "tell: filled pauses, repetitions and revisions. How far off its counts are cannot be told: 1 recording is too "
        "few."
    )


def test_the_page_shows_counts_and_then_says_what_follows(tmp_path):
    evaluated(tmp_path, lambda text: text.replace("&-um ", ""), out=tmp_path / "out")
    page = (tmp_path / "out" / "summary.html").read_text("utf-8")
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.index("<table") < page.index("May a fluency count be taken?") < page.index("of some classes only")
    assert "0 found, 18 missed, 0 made up" in page and page.count("<tbody>") == 3
    assert re.search(r'<section class="verdict".*?<a href="([^"]+)"', report, re.DOTALL).group(1) == "summary.html"


def test_no_page_where_none_is_wanted(tmp_path):
    evaluated(tmp_path, lambda text: text, out=tmp_path / "out", summary=False)
    assert not (tmp_path / "out" / "summary.html").exists()
    assert "summary.html" not in (tmp_path / "out" / "report.html").read_text("utf-8")
