"""``lsa-whisper mark``: proposed marks in copies of transcripts."""

import csv
from unicodedata import normalize

import pytest

from lsa_whisper import chat
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces.propose import mark

TEXT = (
    "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Participant\n@ID:\teng|x|PAR|||||Participant|||\n"
    "*PAR:\tum I want I want the sto- story .\n%com:\tquiet\n*PAR:\tI [/] I know know .\n*PAR:\tthe\n\tthe dog .\n"
    "@End\n"
)


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "visit.cha"
    path.write_text(TEXT)
    return path


def test_fillers_cut_off_words_and_retraces_are_marked(transcript, tmp_path):
    done = mark([transcript], out=tmp_path / "marked")
    text = (tmp_path / "marked" / "visit.cha").read_text()
    assert "*PAR:\t&-um <I want> [/] I want the &+sto story .\n%com:\tquiet\n" in text
    assert "*PAR:\tI [/] I know know .\n" in text, "the marks of a person stay"
    assert "*PAR:\tthe [/]\n\tthe dog .\n" in text
    assert (done.files[0].marks, done.files[0].unchanged, done.exit_code) == (2, 1, 0)
    assert not chat.parse(text).problems
    assert transcript.read_text() == TEXT


def test_a_hum_alone_is_an_answer(tmp_path):
    path = tmp_path / "visit.cha"
    path.write_text(TEXT.replace("um I want I want the sto- story .", "hmm .\n*PAR:\thmm the dog .\n*PAR:\tum ."))
    mark([path], out=tmp_path / "marked")
    text = (tmp_path / "marked" / "visit.cha").read_text()
    assert "*PAR:\thmm .\n*PAR:\t&-hmm the dog .\n*PAR:\t&-um .\n" in text


def test_answers_of_two_words_are_not_filled_pauses_and_a_cut_off_one_is(tmp_path):
    path = tmp_path / "visit.cha"
    path.write_text(
        TEXT.replace("um I want I want the sto- story .", "uh huh .\n*PAR:\tuh oh it fell .\n*PAR:\tum- yes .")
    )
    mark([path], out=tmp_path / "marked")
    text = (tmp_path / "marked" / "visit.cha").read_text()
    assert "*PAR:\tuh huh .\n*PAR:\tuh oh it fell .\n*PAR:\t&-um yes .\n" in text


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_other_languages_get_no_number_of_retraces(form, tmp_path):
    path = tmp_path / "visit.cha"
    path.write_text(normalize(form, TEXT.replace("eng", "deu").replace("um I want I", "äh ich ich")))
    done = mark([path], out=tmp_path / "marked")
    assert normalize(form, "*PAR:\t&-äh ich ich want") in (tmp_path / "marked" / "visit.cha").read_text()
    assert done.files[0].marks is None and str(done).endswith(
        "visit.cha: no retraces, which are found in English only, 1 utterance already marked"
    )


def test_every_mark_is_listed_with_its_confidence(transcript, tmp_path):
    mark([transcript], out=tmp_path / "marked")
    with (tmp_path / "marked" / "visit.marks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["line"], row["words"], row["code"]) for row in rows] == [("6", "I want", "[/]"), ("9", "the", "[/]")]
    assert all(0.42 <= float(row["confidence"]) <= 1 for row in rows)


def test_what_a_person_changed_is_never_replaced(transcript, tmp_path):
    mark([transcript], out=tmp_path / "marked")
    copy = tmp_path / "marked" / "visit.cha"
    copy.write_text(copy.read_text().replace("story", "tale"))
    again = mark([tmp_path], out=tmp_path / "marked")
    assert "tale" in copy.read_text()
    assert "exists with other content" in str(again)
    assert again.exit_code


def test_one_unreadable_file_does_not_stop_the_others(transcript, tmp_path):
    (tmp_path / "notes.cha").write_text("no transcript")
    done = mark([tmp_path / "notes.cha", tmp_path / "absent.cha", transcript], out=tmp_path / "marked")
    assert (len(done.files), len(done.failed)) == (1, 2)
    assert "is this a CHAT transcript?" in str(done)


@pytest.mark.parametrize("threshold", [0.0, 1.0, float("nan")])
def test_a_threshold_out_of_range_is_an_error(transcript, tmp_path, threshold):
    with pytest.raises(LsaWhisperError, match="choose a probability"):
        mark([transcript], out=tmp_path / "marked", threshold=threshold)


def test_fillers_are_those_of_the_language_and_only_english_has_retraces(tmp_path):
    path = tmp_path / "besuch.cha"
    path.write_text(TEXT.replace("eng", "deu").replace("um I want", "um äh er I want"))
    mark([path], out=tmp_path / "marked")
    assert "*PAR:\tum &-äh er I want I want the &+sto story ." in (tmp_path / "marked" / "besuch.cha").read_text()


def test_hidden_files_and_marked_copies_are_no_transcripts(transcript, tmp_path):
    (tmp_path / "._visit.cha").write_text("metadata of macOS")
    for _ in range(2):
        done = mark([tmp_path], out=tmp_path / "marked")
        assert ([one.source for one in done.files], done.failed) == ([transcript], ())


def test_what_is_not_chat_is_not_copied(transcript, tmp_path):
    sound = transcript.rename(tmp_path / "visit.flac")
    assert "visit.flac: not .cha" in str(mark([sound], out=tmp_path / "marked"))
    assert not (tmp_path / "marked").exists()


def test_nothing_is_written_if_the_table_would_replace_another(transcript, tmp_path):
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / "visit.marks.csv").write_text("mine")
    assert "visit.marks.csv: exists with other content" in str(mark([transcript], out=tmp_path / "marked"))
    assert not (tmp_path / "marked" / "visit.cha").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(transcript, tmp_path):
    (tmp_path / "marked").write_text("a file")
    assert "visit.cha" in str(mark([transcript], out=tmp_path / "marked"))
