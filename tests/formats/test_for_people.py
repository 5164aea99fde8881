"""Formats that people read: a Word document, and a table of utterances."""

from __future__ import annotations

import csv
import io

import docx
import pytest

from lsa_whisper import chat, formats
from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.formats.convert import convert
from lsa_whisper.timespan import TimeSpan


@pytest.fixture
def visit():
    return compose(
        languages=["eng"],
        participants=[Participant("CHI", "Target_Child"), Participant("MOT", "Mother")],
        utterances=[
            utterance("CHI", "&-um I want [/] want it .", TimeSpan(500, 2250)),
            utterance("MOT", "<the cat> [//] the dog xxx +...", TimeSpan(3_661_000, 3_662_000)),
            utterance("CHI", "no !"),
        ],
        media="visit",
        comments=["not checked by a person", "lsa-whisper record 01 23 45 67"],
    )


def document(transcript):
    return docx.Document(io.BytesIO(formats.serialize(transcript, "docx")))


def rows(table):
    return [tuple(cell.text for cell in row.cells) for row in table.rows]


def test_a_document_has_who_said_what_and_when(visit):
    made = document(visit)
    assert rows(made.tables[-1]) == [
        ("Speaker", "Time", "Text"),
        ("CHI", "0:00", "&-um I want [/] want it ."),
        ("MOT", "1:01:01", "<the cat> [//] the dog xxx +..."),
        ("CHI", "", "no !"),
    ]
    text = "\n".join(each.text for each in made.paragraphs)
    assert text.startswith("visit\nCHI: Target Child; MOT: Mother\nnot checked by a person\n")
    assert "record" not in text, "a comment for programs says nothing to people"


def test_a_document_explains_the_marks_that_occur_and_no_other(visit):
    marks, _ = document(visit).tables
    assert [sign for sign, _ in rows(marks)] == ["&-", "[/]", "[//]", "xxx", "+...", "<"]
    assert rows(marks)[0][1] == "Filled pauses: Fillers such as um, uh (CHAT: &-um)"
    plain = compose(
        languages=["eng"], participants=[Participant("PAR", "Adult")], utterances=[utterance("PAR", "yes .")], media="a"
    )
    assert len(document(plain).tables) == 1


def test_each_page_begins_with_the_head_and_columns_are_as_wide_as_what_they_hold(visit):
    table = document(visit).tables[-1]
    assert [bool(row._tr.xpath("./w:trPr/w:tblHeader")) for row in table.rows] == [True, False, False, False]
    assert all(row._tr.xpath("./w:trPr/w:cantSplit") for row in table.rows)
    assert table.columns[2].width > 5 * table.columns[0].width


def test_notes_of_people_stand_where_they_were_written(tmp_path):
    text = (
        "@UTF8\n@Begin\n@Comment:\tfirst\n*CHI:\tda .\n%com:\tpoints at it\n%gra:\t1|0|ROOT\n@Comment:\tnew task\n"
        "@Comment:\tlsa-whisper record 01 23\n*CHI:\tno .\n@End\n"
    )
    made = document(chat.parse(text))
    assert [row[2] for row in rows(made.tables[-1])[1:]] == ["da .\npoints at it", "new task", "no ."]
    assert [each.text for each in made.paragraphs].count("first") == 1
    (tmp_path / "a.cha").write_text(text)
    (lost,) = (each for each in convert([tmp_path / "a.cha"], tmp_path, format="docx").losses if "tiers" in each)
    assert "dependent tiers: 1" in lost


def test_equal_transcripts_give_equal_documents(visit):
    assert formats.serialize(visit, "docx") == formats.serialize(visit, "docx")


def test_times_and_signs_inside_a_text_that_no_document_can_hold_are_left_out():
    odd = chat.parse("@UTF8\n@Begin\n*CHI:\thi \x15100_200\x15 you \x02a\x01 . \x150_900\x15\n@End\n")
    assert rows(document(odd).tables[-1])[1][2].split() == ["hi", "you", "a", "."]


def test_a_table_has_a_row_for_each_utterance(visit):
    table = list(csv.DictReader(io.StringIO(formats.serialize(visit, "csv"))))
    assert table[0] == {
        "speaker": "CHI",
        "role": "Target_Child",
        "start_s": "0.5",
        "end_s": "2.25",
        "words": "um I want want it.",
        "chat": "&-um I want [/] want it .",
    }
    assert [row["start_s"] for row in table] == ["0.5", "3661.0", ""]


@pytest.mark.parametrize("name", formats.FOR_PEOPLE)
def test_what_was_changed_by_hand_is_kept(name, visit, tmp_path):
    chat.write(visit, tmp_path / "visit.cha")
    for _ in range(2):
        done = convert([tmp_path / "visit.cha"], tmp_path / "out", format=name)
        assert done.exit_code == 0 and [path.name for path in done.files] == [f"visit.{name}"]
        assert done.before.words == done.after.words == 10
    done.files[0].write_bytes(b"changed by hand")
    assert convert([tmp_path / "visit.cha"], tmp_path / "out", format=name).exit_code == 1


@pytest.mark.parametrize(("format", "lost"), [("docx", 5), ("csv", 6)])
def test_the_headers_that_a_copy_holds_are_not_lost(visit, tmp_path, format, lost):
    """Roles stand in both, comments for people in the document; names of persons, and media beside it, in neither."""
    chat.write(visit, tmp_path / "visit.cha")
    assert f"headers: {lost}," in convert([tmp_path / "visit.cha"], tmp_path / "out", format=format).table()
    text = (tmp_path / "visit.cha").read_text().replace("CHI Target_Child,", "CHI Ann Target_Child,")
    (tmp_path / "visit.cha").write_text(text)
    assert f"headers: {lost + 1}," in convert([tmp_path / "visit.cha"], tmp_path / "named", format=format).table()
