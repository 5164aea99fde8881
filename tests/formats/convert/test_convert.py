"""The command as people use it: folders, conventions of a laboratory, and files that must not be lost."""

from __future__ import annotations

import pytest

from lsa_whisper import chat
from lsa_whisper.errors import FormatError, LsaWhisperError
from lsa_whisper.formats.convert import convert

SALT = "$ Child, Examiner\nE What is it?\nC (Um) a (a) dog.\n"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "salt"
    (place / "visits").mkdir(parents=True)
    (place / "visits" / "one.slt").write_text(SALT)
    (place / "two.SLT").write_text(SALT)
    (place / "notes.odt").write_text("x")
    (place / ".hidden.slt").write_text("x")
    return place


def texts(path):
    return [(each.speaker, each.text) for each in chat.read(path).utterances]


def test_a_folder_keeps_its_structure(folder, tmp_path):
    done = convert([folder], tmp_path / "out")
    assert done.exit_code == 0 and sorted(done.files) == [
        tmp_path / "out" / "two.cha",
        tmp_path / "out" / "visits" / "one.cha",
    ]
    assert texts(tmp_path / "out" / "two.cha") == [("INV", "What is it ?"), ("CHI", "&-um a [/] a dog .")]
    assert "converted" in done.table()


def test_beside_chat_its_derived_files_are_not_read(folder, tmp_path):
    """As after ``transcribe --format srt,eaf``."""
    convert([folder], folder)
    (folder / "Two.TextGrid").write_text("no interval tier")
    convert([folder / "two.cha"], folder, format="srt")
    done = convert([folder], tmp_path / "out", format="txt")
    assert [failed.path.name for failed in done.failed] == ["Two.TextGrid"]
    assert sorted(path.name for path in done.files) == ["one.txt", "two.txt"]
    assert "um" in (tmp_path / "out" / "two.txt").read_text()


def test_pages_and_tables_in_a_folder_are_passed_over(folder, tmp_path):
    (folder / "report.html").write_text("<p>not a transcript</p>")
    (folder / "participants.tsv").write_text("id\tage\n1\t4\n")
    (folder / "three.html").write_text('<p><a name="ts_0_900_S00">Yes.</a></p>')
    (folder / "four.tsv").write_text("start\tend\ttext\n0\t900\tYes.\n")
    done = convert([folder], tmp_path / "out")
    assert done.exit_code == 0 and {path.name for path in done.files} == {
        "one.cha",
        "two.cha",
        "three.cha",
        "four.cha",
    }
    assert convert([folder / "report.html"], tmp_path / "other").exit_code == 1


def test_a_broken_file_costs_only_itself(folder, tmp_path):
    (folder / "bad.slt").write_text("$ Child\nQ no\n")
    done = convert([folder], tmp_path / "out")
    assert done.exit_code == 1 and len(done.files) == 2 and "bad.slt:2:" in done.table()


def test_called_again_nothing_changes_and_corrections_are_taken(folder, tmp_path):
    out = tmp_path / "out"
    convert([folder], out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.cha")}
    convert([folder], out)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.cha")} == before
    (folder / "two.SLT").write_text(SALT.replace("dog", "cat"))
    assert convert([folder], out).exit_code == 0
    assert "cat" in (out / "two.cha").read_text()


def test_a_file_of_a_person_is_kept(folder, tmp_path):
    out = tmp_path / "out"
    convert([folder], out)
    mine = (out / "two.cha").read_text() + "@Comment:\tcorrected\n"
    (out / "two.cha").write_text(mine)
    (folder / "two.SLT").write_text(SALT.replace("dog", "cat"))
    done = convert([folder], out)
    assert done.exit_code == 1 and "was changed since" in done.table()
    assert (out / "two.cha").read_text() == mine


def test_two_files_of_one_name_are_not_mixed(folder, tmp_path):
    (folder / "two.txt").write_text("hello\n")
    done = convert([folder], tmp_path / "out")
    assert done.exit_code == 1 and "`from_`" in done.table()
    assert convert([folder], tmp_path / "other", from_=["slt"]).exit_code == 0


def test_the_input_is_not_written_over(tmp_path):
    (tmp_path / "a.cha").write_text("@UTF8\n@Begin\n*CHI:\thi .\n@End\n")
    done = convert([tmp_path / "a.cha"], tmp_path)
    assert done.exit_code == 1 and "would be written over" in done.table()


def test_headers_that_are_not_there_are_a_sentence(folder, tmp_path):
    with pytest.raises(LsaWhisperError, match="absent: no such file or folder of headers"):
        convert([folder], tmp_path / "out", headers="absent")
    assert not (tmp_path / "out").exists()


def test_nothing_to_convert_is_a_sentence(tmp_path):
    with pytest.raises(FormatError, match="has no transcript"):
        convert([tmp_path], tmp_path / "out")
    with pytest.raises(FormatError, match="no such file"):
        convert([tmp_path / "absent"], tmp_path / "out")


def test_the_conventions_of_a_laboratory(tmp_path):
    (tmp_path / "conventions.yaml").write_text(
        'speakers:\n  Kid: CHI Target_Child\n  T: INV Investigator\nmarks:\n  "[...]": comment\n  "((...))": maze\n'
        '  "/.../": unintelligible\nreplace:\n  "hmph": "&-hmph"\n'
    )
    (tmp_path / "visit.txt").write_text("T: What is it? [points]\nKid: hmph ((a dog)) a cat /ga/ there\n")
    done = convert([tmp_path / "visit.txt"], tmp_path / "out", conventions=tmp_path / "conventions.yaml")
    assert done.exit_code == 0
    transcript = chat.read(tmp_path / "out" / "visit.cha")
    assert texts(tmp_path / "out" / "visit.cha") == [
        ("INV", "what is it ?"),
        ("CHI", "&-hmph <a dog> [//] a cat xxx there ."),
    ]
    assert [tier.value for tier in transcript.utterances[0].tiers] == ["points"]
    assert transcript.participants["CHI"].role == "Target_Child"


def test_plain_words_are_marked_only_if_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("Um, I I want it.\n")
    convert([tmp_path / "a.txt"], tmp_path / "marked")
    convert([tmp_path / "a.txt"], tmp_path / "plain", infer_marks=False)
    assert texts(tmp_path / "marked/a.cha") == [("PAR", "&-um I [/] I want it .")]
    assert texts(tmp_path / "plain/a.cha") == [("PAR", "um I I want it .")]


def test_a_meeting_of_several_files_is_one_transcript(tmp_path):
    for agent, word, start in (("A", "hello", 0.5), ("B", "yes", 1.5)):
        (tmp_path / f"EN1.{agent}.words.xml").write_text(
            '<nite:root xmlns:nite="http://nite.sourceforge.net/">'
            f'<w nite:id="1" starttime="{start}" endtime="{start + 0.4}">{word}</w>'
            f'<w nite:id="2" starttime="{start + 0.4}" endtime="{start + 0.4}" punc="true">.</w>'
            f'<w nite:id="3" starttime="{start + 3}" endtime="{start + 3.4}" trunc="true">go</w></nite:root>'
        )
    done = convert([tmp_path], tmp_path / "out")
    assert [path.name for path in done.files] == ["EN1.cha"]
    found = chat.read(tmp_path / "out" / "EN1.cha")
    assert [(u.text, u.span.start_ms) for u in found.utterances] == [
        ("hello .", 500),
        ("yes .", 1500),
        ("&+go .", 3500),
        ("&+go .", 4500),
    ]


@pytest.mark.parametrize("name", ["eaf", "textgrid", "srt", "vtt"])
def test_a_transcript_without_times_is_a_sentence_and_no_empty_file(name, folder, tmp_path):
    convert([folder], tmp_path / "cha")
    done = convert([tmp_path / "cha"], tmp_path / "out", format=name)
    assert done.exit_code == 2 and not done.files and "no utterance has times" in done.table()
    assert not (tmp_path / "out").exists()
    for untimed in ("txt", "salt", "json"):
        assert convert([tmp_path / "cha"], tmp_path / f"as {untimed}", format=untimed).exit_code == 0


def test_some_utterances_without_times_are_named(tmp_path):
    (tmp_path / "a.cha").write_text("@UTF8\n@Begin\n*CHI:\thi . \x150_900\x15\n*CHI:\tyes .\n@End\n")
    done = convert([tmp_path / "a.cha"], tmp_path / "out", format="eaf")
    assert done.exit_code == 0 and done.losses == [
        f"{tmp_path / 'a.cha'}: utterances: 1, first at line 4",
        f"{tmp_path / 'a.cha'}: words: 1, first at line 4",
    ]


@pytest.mark.parametrize("name", ["eaf", "srt"])
def test_the_lost_utterance_is_named_not_another_without_words(name, tmp_path):
    turns = "*CHI:\t&+no yes . \x150_900\x15\n*CHI:\t&=nods .\n*CHI:\t0 [=! nods] . \x15900_1000\x15\n"
    (tmp_path / "a.cha").write_text(f"@UTF8\n@Begin\n{turns}@End\n")
    done = convert([tmp_path / "a.cha"], tmp_path / "out", format=name)
    assert next(loss for loss in done.losses if "utterances" in loss).endswith("first at line 4")


def test_times_in_a_comment_become_no_tabs(tmp_path):
    comment = "@Comment:\tseen at \x150_900\x15 too\n"
    (tmp_path / "a.cha").write_text(f"@UTF8\n@Begin\n{comment}*CHI:\thi . \x150_900\x15\n@End\n")
    convert([tmp_path / "a.cha"], tmp_path / "eaf", format="eaf")
    convert([tmp_path / "eaf"], tmp_path / "out", headers=tmp_path / "a.cha")
    assert "@Comment:\tseen at  0_900  too\n" in (tmp_path / "out" / "a.cha").read_text()
