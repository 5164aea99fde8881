"""Which code each speaker gets: by pitch where one is a child, else by how long they speak."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from lsa_whisper import chat
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import TranscriptionOptions, transcribe
from lsa_whisper.transcription.assembly.roles import assign_roles, median_pitch_hz
from lsa_whisper.transcription.assembly.speaker_turns import named_turns

DATA = Path(__file__).parents[4] / "shared" / "data"


def voice(hz, seconds):
    """A voice without words: the harmonics of ``hz``, louder and softer three times a second."""
    at = np.arange(int(seconds * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    harmonics = sum(np.sin(2 * np.pi * hz * number * at) / number for number in range(1, 12))
    return (0.1 * harmonics * (1.2 + np.sin(6 * np.pi * at))).astype(np.float32)


@pytest.fixture
def spliced(tmp_path):
    """Return a function that writes sounds one after the other, and returns the recording and its turns."""

    def write(**sounds):
        place, turns = 0, []
        for name, samples in sounds.items():
            end = place + round(1000 * len(samples) / SAMPLE_RATE_HZ)
            turns.append((name, TimeSpan(place, end)))
            place = end
        soundfile.write(tmp_path / "visit.wav", np.concatenate([*sounds.values()]), SAMPLE_RATE_HZ)
        return Recording.open(tmp_path / "visit.wav"), named_turns(turns, place)

    return write


def codes(turns):
    return [code for code, _ in turns.spans]


def test_the_highest_voice_is_the_childs(spliced):
    recording, turns = spliced(one=voice(120, 6), other=voice(260, 3))
    found = assign_roles(turns, ("CHI", "MOT"), recording)
    assert codes(found) == ["MOT", "CHI"]
    assert [each.role for each in found.participants] == ["Mother", "Target_Child"]
    assert "by the pitch of their voices (MOT 120 Hz, CHI 26" in found.note and "check it in review" in found.note
    assert [span for _, span in found.spans] == [span for _, span in turns.spans]


def test_two_children_and_two_adults_are_told_by_pitch_and_then_by_time(spliced):
    recording, turns = spliced(a=voice(110, 3), b=voice(280, 3), c=voice(250, 5), d=voice(130, 5))
    assert codes(assign_roles(turns, ("INV", "CHI", "FAT", "SIB"), recording)) == ["FAT", "SIB", "CHI", "INV"]


def test_without_a_child_the_first_code_is_that_of_the_one_who_speaks_longest(spliced):
    recording, turns = spliced(one=voice(120, 2), other=voice(260, 4))
    found = assign_roles(turns, ("PAR", "INV"), recording)
    assert codes(found) == ["INV", "PAR"] and "by the time that each speaks" in found.note


@pytest.mark.parametrize("first", [voice(220, 3), np.zeros(48_000)])
def test_voices_that_cannot_be_told_apart_keep_their_codes(spliced, first):
    recording, turns = spliced(a=first, b=voice(240, 3))
    found = assign_roles(turns, ("CHI", "MOT"), recording)
    assert codes(found) == ["PAR0", "PAR1"] and "too near to tell the child by pitch" in found.note


def test_another_number_of_speakers_is_told_and_codes_that_are_right_stay(spliced):
    recording, turns = spliced(one=voice(120, 2), other=voice(260, 2))
    found = assign_roles(turns, ("CHI", "MOT", "FAT"), recording)
    assert codes(found) == ["PAR0", "PAR1"] and "3 roles were named, but 2 speakers found" in found.note
    recording, turns = spliced(CHI=voice(120, 2), MOT=voice(260, 2))
    assert assign_roles(turns, ("MOT", "CHI"), recording) is turns


def test_the_transcript_says_how_roles_were_found(spliced, scripted, tmp_path):
    recording, _ = spliced(one=voice(120, 3), other=voice(260, 3))
    (tmp_path / "turns.rttm").write_text(
        "SPEAKER visit 1 0 3 <NA> <NA> A <NA> <NA>\nSPEAKER visit 1 3 3 <NA> <NA> B <NA> <NA>\n"
    )
    done = transcribe(recording.path, scripted, speakers=tmp_path / "turns.rttm", roles="CHI,MOT", out=tmp_path / "out")
    written = chat.read(done.done[0].transcript)
    assert {each.role for each in written.participants.values()} == {"Target_Child", "Mother"}
    assert any("who is who was found by" in line.value for line in written.headers if line.name == "@Comment")
    assert "who is who was found by" in done.table()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"roles": "CHI"}, "name one code for each of several speakers"),
        ({"roles": "CHI,CHI"}, "name one code for each of several speakers"),
        ({"roles": "CHI,M T"}, "the speaker code 'M T'"),
        ({"roles": "CHI,MOT", "channels": "CHI,MOT"}, "both say who speaks"),
    ],
)
def test_roles_that_cannot_be_meant_are_refused(changes, said):
    with pytest.raises(LsaWhisperError, match=said):
        TranscriptionOptions(**changes)


@pytest.mark.skipif(not DATA.exists(), reason="recordings of real people are not here")
def test_a_real_child_is_told_from_a_real_adult(spliced):
    child = np.concatenate([Recording.open(path).load() for path in sorted((DATA / "children").glob("01046*"))[:5]])
    adult = np.concatenate([Recording.open(path).load() for path in sorted((DATA / "speech").glob("spk2_*.flac"))])
    recording, turns = spliced(one=adult, other=child)
    assert codes(assign_roles(turns, ("CHI", "FAT"), recording)) == ["FAT", "CHI"]
    assert 230 < median_pitch_hz(recording, [turns.spans[1][1]]) < 300
