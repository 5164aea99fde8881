"""Speakers are added, described, renamed and merged; headers and utterances keep CHAT's rules."""

from __future__ import annotations

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.review import edits

TEXT = """@UTF8
@Begin
@Languages:\teng
@Participants:\tPAR Participant, MOT Ann Mother
@ID:\teng|corpus|PAR|||TD||Participant|||
@ID:\teng|corpus|MOT||female|||Mother||note|
@Birth of PAR:\t01-JAN-2020
*PAR:\tI want it .
*MOT:\tno .
%com:\tshe laughs
*PAR:\tyes .
@End
"""


@pytest.fixture
def transcript():
    return chat.parse(TEXT)


def headers(transcript):
    return [line.raw.rstrip("\n") for line in transcript.headers if line.name[:4] in ("@Par", "@ID", "@Bir")]


def speakers(transcript):
    return [each.speaker for each in transcript.utterances]


def test_a_speaker_is_renamed_and_described(transcript):
    person = Participant("CHI", "Target_Child", "Tom Lee", age="2;03.", sex="male")
    changed = edits.describe_person(transcript, "PAR", person)
    assert headers(changed) == [
        "@Participants:\tCHI Tom_Lee Target_Child, MOT Ann Mother",
        "@ID:\teng|corpus|CHI|2;03.|male|TD||Target_Child|||",
        "@ID:\teng|corpus|MOT||female|||Mother||note|",
        "@Birth of CHI:\t01-JAN-2020",
    ]
    assert speakers(changed) == ["CHI", "MOT", "CHI"] and not chat.check(changed)
    assert "%com:\tshe laughs\n" in chat.serialize(changed)
    edits.verify_edit(transcript, changed)


@pytest.mark.parametrize(("typed", "written"), [("4;6", "4;06."), ("4;6.3", "4;06.03"), ("4", "4;"), ("", "")])
def test_an_age_is_written_as_chat_writes_it(typed, written):
    transcript = edits.describe_person(chat.parse(TEXT), "PAR", Participant("PAR", "Participant", age=typed))
    assert transcript.participants["PAR"].age == written


def test_a_speaker_is_added(transcript):
    changed = edits.describe_person(transcript, "", Participant("FAT", "Father"))
    assert headers(changed)[0].endswith("MOT Ann Mother, FAT Father")
    assert headers(changed)[3] == "@ID:\teng|corpus|FAT|||||Father|||" and not chat.check(changed)
    assert speakers(changed) == speakers(transcript)


def test_a_code_with_a_role_is_added_when_an_utterance_gets_it(transcript):
    changed = edits.assign_speaker(transcript, 1, "CHI")
    assert speakers(changed) == ["PAR", "CHI", "PAR"] and changed.participants["CHI"].role == "Target_Child"
    assert not chat.check(changed)
    with pytest.raises(edits.EditError, match="not in @Participants"):
        edits.assign_speaker(transcript, 1, "XYZ")


def test_one_voice_is_given_to_another_speaker(transcript):
    changed = edits.merge_people(transcript, "PAR", "MOT")
    assert headers(changed) == ["@Participants:\tMOT Ann Mother", "@ID:\teng|corpus|MOT||female|||Mother||note|"]
    assert speakers(changed) == ["MOT"] * 3 and not chat.check(changed)


def test_without_id_lines_they_are_written():
    bare = chat.parse("@UTF8\n@Begin\n@Languages:\tspa\n@Participants:\tPAR Participant\n*PAR:\tsí .\n@End")
    changed = edits.describe_person(bare, "PAR", Participant("CHI", "Target_Child"))
    assert "@ID:\tspa|corpus_name|CHI" in chat.serialize(changed)
    assert speakers(changed) == ["CHI"]


@pytest.mark.parametrize(
    ("code", "person"),
    [
        ("PAR", Participant("MOT", "Mother")), ("PAR", Participant("C:I", "Mother")), ("", Participant("", "Mother")),
        ("PAR", Participant("TOOLONGCODE", "Mother")), ("PAR", Participant("CHI", "Kid")),
        ("XXX", Participant("CHI", "Mother")),
        ("PAR", Participant("CHI", "Target_Child", age="two")), ("PAR", Participant("CHI", "Target_Child", sex="f")),
    ],
)  # fmt: skip
def test_what_chat_does_not_allow_is_refused(transcript, code, person):
    with pytest.raises(edits.EditError):
        edits.describe_person(transcript, code, person)


@pytest.mark.parametrize(("code", "other"), [("PAR", "PAR"), ("PAR", "XXX"), ("XXX", "PAR")])
def test_only_two_known_speakers_are_merged(transcript, code, other):
    with pytest.raises(edits.EditError):
        edits.merge_people(transcript, code, other)
