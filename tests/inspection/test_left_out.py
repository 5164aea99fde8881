"""What a model did not transcribe is shown as zero in no output; what was observed is counted."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.chat.flucalc import COUNTS
from lsa_whisper.evaluation import evaluate
from lsa_whisper.formats.convert import convert
from lsa_whisper.inspection import inspect
from lsa_whisper.inspection.left_out import _TOTALS
from lsa_whisper.labels import NOT_TRANSCRIBED, Coverage, Labels
from lsa_whisper.review.edits import draft_banner

_NORM = "suggests stuttering"
_DATA = Path(__file__).parents[3] / "shared" / "data"
_HEAD = (
    "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Participant\n@ID:\teng|day|PAR|||||Participant|||\n"
    "@Comment:\ttranscribed by lsa-whisper 0.1.0 with model whisper-base (labels fluent/4, engine ct2, int8); "
    "not checked by a person\n"
)
_WORDS = (
    "*PAR:\tso this is the acoustic corpus . \x150_1500\x15\n*PAR:\tand that should be all . \x151500_3000\x15\n@End\n"
)


@pytest.fixture(params=["named", "from labels"])
def draft(request, tmp_path):
    """A transcript with the header of a stock model: with the classes named, and from before they were."""
    named = f"@Comment:\t{Coverage.of(Labels('fluent'), is_trained=False).comment()}\n"
    path = tmp_path / "visit.cha"
    path.write_text(_HEAD + (named if request.param == "named" else "") + _WORDS)
    return path


def verify_no_zero(path: Path, folder: Path) -> None:
    """Verify that no output on a draft without any disfluency shows a zero, a total, or a norm."""
    page, table = folder / "page.html", folder / "measures.csv"
    texts = [inspect(path), inspect(path, measures=True, csv=table, out=page), inspect(path, events=True)]
    texts += [inspect(path, profile=True), page.read_text(encoding="utf-8")]
    for text in texts:
        assert _NORM not in text
        assert "DRAFT" in text and not re.search(r"\b0 disfluencies", text)
        for line in text.splitlines():
            if re.search(r"│ (filled pause|cut-off word|pause|SLD|TD|weighted SLD|maze words|block)", line):
                assert NOT_TRANSCRIBED in line
    assert not re.search(r'class="name">(SLD|TD|weighted SLD|pauses|blocks)</th><td>[0-9]', texts[-1])
    (row,) = csv.DictReader(table.open(encoding="utf-8"))
    assert {row[name] for name in (*_TOTALS, "pauses", "timed_pause_s")} == {NOT_TRANSCRIBED}
    assert row["checked"] == "not checked by a person"
    (found,) = json.loads(inspect(path, json=True)).values()
    assert set(found["counts"].values()) == {NOT_TRANSCRIBED} and set(found["counts"]) == set(COUNTS)
    (measures,) = json.loads(inspect(path, measures=True, json=True))[str(path)].values()
    assert measures["weighted_sld"] == measures["maze_share"] == NOT_TRANSCRIBED
    assert "This model leaves out disfluencies" in draft_banner(chat.read(path))


def test_no_output_shows_a_zero_of_what_was_not_transcribed(draft, tmp_path):
    verify_no_zero(draft, tmp_path)


def test_observed_disfluencies_are_counted_but_no_total_is_given(draft):
    draft.write_text(draft.read_text().replace("so this", "&-um so this [/] this"))
    found = json.loads(inspect(draft, json=True))["PAR"]
    assert found["counts"]["filled_pause"] == found["counts"]["whole_word_repetition"] == 1
    assert found["counts"]["block"] == found["sld"] == found["td"] == NOT_TRANSCRIBED


def test_a_checked_transcript_has_its_zeros_and_norm_again(draft, tmp_path):
    draft.write_text(re.sub(r"(\*PAR:.*\n)", r"\1%xrev:\treviewed\n", draft.read_text()))
    text = inspect(draft, out=tmp_path / "page.html")
    assert NOT_TRANSCRIBED not in text and "DRAFT" not in text and _NORM in text
    assert NOT_TRANSCRIBED not in (tmp_path / "page.html").read_text() and draft_banner(chat.read(draft)) == ""


def test_speakers_of_several_files_are_not_summed_over_a_gap(draft, tmp_path):
    human = _HEAD.partition("@Comment")[0] + _WORDS.replace("so this", "&-um so this")
    (tmp_path / "human.cha").write_text(human)
    inspect(tmp_path, out=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    gaps = rf"<td>{NOT_TRANSCRIBED}</td>" * 2
    assert f"filled pauses</th><td>1</td>{gaps}" in page, "the number was observed, a rate would be a total"
    assert f"blocks</th><td>{NOT_TRANSCRIBED}</td>{gaps}" in page
    assert " words in an utterance. Not all disfluencies were transcribed." in page


def test_an_evaluation_gives_no_total_over_a_gap(draft, tmp_path):
    human = _HEAD.partition("@Comment")[0] + _WORDS.replace("so this", "&-um so this is [/] this")
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "visit.cha").write_text(human)
    found = evaluate(tmp_path / "reference", [draft], out=tmp_path / "report")
    assert f"filled pauses                    {NOT_TRANSCRIBED} (1)" in found.table()
    assert f"Disfluencies detected              {NOT_TRANSCRIBED}" in found.table()
    assert "This model does not write 1 filled pause and 1 repetition, so no total" in " ".join(found.verdict)
    for name in ("report.html", "report.md", "summary.html"):
        text = (tmp_path / "report" / name).read_text(encoding="utf-8")
        assert NOT_TRANSCRIBED in text and "Maze words" not in re.sub(r"<dt.*", "", text)
    report = json.loads((tmp_path / "report" / "report.json").read_text())["systems"][0]
    assert "filled_pause" in report["not_transcribed"] and report["metrics"]["disfluency_f1"]["value"] is None
    assert "DRAFT as a reference" in evaluate(draft, [tmp_path / "reference"]).table()


@pytest.mark.slow(1)
def test_a_transcript_of_a_real_stock_model_shows_no_zero(tmp_path):
    from lsa_whisper.transcription import transcribe

    if not (_DATA / "whisper" / "base").is_dir():
        pytest.skip("the real whisper-base is not beside this checkout")
    made = transcribe(
        _DATA / "paired" / "michael.flac", _DATA / "whisper" / "base", out=tmp_path, style="fluent", device="cpu"
    )
    path = made.done[0].transcript
    path.write_text(re.sub(r" \[/\]", "", path.read_text()))  # what words alone show is counted
    verify_no_zero(path, tmp_path)


def test_transcripts_of_one_name_are_told_apart_by_their_folders(draft, tmp_path):
    for child in ("ann", "ben"):
        (tmp_path / "visits" / child).mkdir(parents=True)
        (tmp_path / "visits" / child / "one.cha").write_text(draft.read_text().replace("so this", "so &-um this"))
    for report in ({}, {"measures": True}, {"events": True}):
        text = inspect(tmp_path / "visits", **report)
        assert "ann/one.cha, ben/one.cha" in text, report
        assert text.count("ann/one") == 3, "the two banners and the table"


def test_a_copy_that_no_longer_says_that_it_is_a_draft_is_named(draft, tmp_path):
    """A TextGrid has no headers: converted back, its zeros would look like findings."""
    text = convert([draft], tmp_path / "praat", format="textgrid").table()
    assert "no longer says that it is a draft" in text and "headers" in text
    back = convert([tmp_path / "praat"], tmp_path / "back", headers=draft)
    assert back.notes == [] and "DRAFT" in inspect(back.files[0])
    for kept in ("eaf", "docx"):
        assert convert([draft], tmp_path / kept, format=kept).notes == [], kept
