"""Who speaks comes from any diarizer; utterances go to whoever speaks in them, and are cut only where that is safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats import textgrid
from lsa_whisper.labels import Labels
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.assemble import TranscriptHeader, assemble
from lsa_whisper.transcription.assembly.placement import SpeakerLookup, attribute_speakers
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns, find_turns, read_turns

AUDIO = Path("visit.wav")
RTTM = (
    "SPEAKER visit 1 0.5 2.0 <NA> <NA> {} <NA> <NA>\n"
    ";; a comment\n"
    "SPKR-INFO visit 1 <NA> <NA> <NA> unknown x <NA>\n"
    "SPEAKER visit 1 2.25 4.75 <NA> <NA> {} <NA> <NA>\n"
)
SPANS = [TimeSpan(500, 2500), TimeSpan(2250, 7000)]


def stored(folder, name, text, encoding="utf-8"):
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def turns(*spans):
    return SpeakerTurns(tuple((code, TimeSpan(*span)) for code, *span in spans), ())


def said(text, span, words):
    return utterance("PAR", text, TimeSpan(*span), [(word, TimeSpan(*at)) for word, *at in words])


@pytest.mark.parametrize(
    ("names", "codes", "roles"),
    [
        (("SPEAKER_01", "SPEAKER_00"), ["PAR0", "PAR1"], ["Participant", "Participant"]),
        (("CHI", "MOT"), ["CHI", "MOT"], ["Target_Child", "Mother"]),
        (("KCHI", "FEM"), ["CHI", "FEM"], ["Target_Child", "Female"]),
        (("INV", "Frau Müller|x,y"), ["INV", "PAR0"], ["Investigator", "Participant"]),
    ],
)
def test_rttm_gives_codes_roles_and_times(names, codes, roles, tmp_path):
    if any(" " in name for name in names):
        names = tuple(name.replace(" ", "_") for name in names)
    found = read_turns(stored(tmp_path, "visit.rttm", RTTM.format(*names)), AUDIO, 10_000)
    assert [*found.spans] == list(zip(codes, SPANS, strict=True))
    assert [person.code for person in found.participants] == codes
    assert [person.role for person in found.participants] == roles


def test_rttm_about_many_recordings_gives_this_ones_turns(tmp_path):
    text = RTTM.format("A", "B") + RTTM.format("C", "D").replace(" visit ", " other ")
    assert {code for code, _ in read_turns(stored(tmp_path, "all.rttm", text), AUDIO, 9000).spans} == {"A", "B"}
    with pytest.raises(LsaWhisperError, match="no speaker turn"):
        read_turns(tmp_path / "all.rttm", Path("third.wav"), 9000)
    alone = stored(tmp_path, "one.rttm", RTTM.format("A", "B").replace(" visit ", " /data/audio.wav "))
    assert len(read_turns(alone, AUDIO, 9000).spans) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no speaker turn"),
        ("SPEAKER visit 1 0.5\n", r"a\.rttm:1: a SPEAKER line has 4 fields"),
        ("\nSPEAKER visit 1 zero 2 <NA> <NA> A <NA>\n", r"a\.rttm:2: 'zero' and '2'"),
        ("SPEAKER visit 1 nan 2 <NA> <NA> A <NA>\n", "not a start and a duration"),
        ("SPEAKER visit 1 1 1e400 <NA> <NA> A <NA>\n", "not a start and a duration"),
        ("SPEAKER visit 1 -3 2 <NA> <NA> A <NA>\n", "not a start and a duration"),
        ("SPEAKER visit 1 1 0 <NA> <NA> A <NA>\n", "no speaker turn"),
        ("SPEAKER visit 1 3600 2 <NA> <NA> A <NA>\n", "starts after the end"),
        ("start,end,speaker\n0,1,A\n", "is not the start of an RTTM line"),
        ("SPEAKER visit 1 1 2 <NA> <NA> \x00\udc80 <NA>\n", "UTF-8"),
    ],
)
def test_a_bad_rttm_is_one_clear_error(text, reason, tmp_path):
    (tmp_path / "a.rttm").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(LsaWhisperError, match=reason):
        read_turns(tmp_path / "a.rttm", AUDIO, 10_000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_textgrid_we_wrote_is_read_back(encoding, tmp_path):
    spoken = [said('say "hi" .', (0, 900), [("say", 0, 400)]), utterance("CHI", "no !", TimeSpan(900, 1500))]
    people = [Participant("PAR", "Adult"), Participant("CHI", "Child")]
    text = textgrid.serialize(compose(languages=["eng"], participants=people, utterances=spoken, media="visit"))
    path = stored(tmp_path, "visit.TextGrid", text, encoding)
    assert textgrid.read(path)["PAR"] == [(TimeSpan(0, 900), 'say "hi" .')]
    found = read_turns(path, AUDIO, 10_000)
    assert found.spans == (("PAR", TimeSpan(0, 900)), ("CHI", TimeSpan(900, 1500)))  # no tier of words


def test_praats_short_format_and_a_tier_of_names(tmp_path):
    head = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n3\n<exists>\n2\n'
    tiers = '"TextTier"\n"bell"\n0\n3\n1\n1.5\n"ding"\n"IntervalTier"\n"speaker"\n0\n3\n2\n0\n1.2\n"MOT"\n1.2\n3\n""\n'
    found = read_turns(stored(tmp_path, "a.TextGrid", head + tiers), AUDIO, 10_000)
    assert found.spans == (("MOT", TimeSpan(0, 1200)),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "junk",
        'File type = "ooTextFile"\nObject class = "TextGrid"\n0\n3\n<exists>\n999999\n"IntervalTier"\n"x"\n',
        '"ooTextFile" "TextGrid" 0 3 <exists> 1 "IntervalTier" "x" 0 3 1 0 1e999 "a"',
    ],
)
def test_a_bad_textgrid_is_one_clear_error(text, tmp_path):
    with pytest.raises(LsaWhisperError, match="is not a TextGrid"):
        read_turns(stored(tmp_path, "a.TextGrid", text), AUDIO, 10_000)


def test_a_chat_file_lends_its_people(tmp_path):
    people = [Participant("ANN", "Target_Child", name="Ann", age="4;02.", sex="female"), Participant("MOT", "Mother")]
    spoken = [utterance("ANN", "hi .", TimeSpan(0, 900)), utterance("MOT", "no !", TimeSpan(900, 1500))]
    chat.write(compose(languages=["eng"], participants=people, utterances=spoken, media="old"), tmp_path / "old.cha")
    found = read_turns(tmp_path / "old.cha", AUDIO, 10_000)
    assert [(p.code, p.name, p.age, p.role) for p in found.participants] == [
        ("ANN", "Ann", "4;02.", "Target_Child"),
        ("MOT", "", "", "Mother"),
    ]


def test_of_a_folder_the_file_of_the_same_stem(tmp_path):
    wanted = stored(tmp_path, "visit.rttm", RTTM)
    stored(tmp_path, "visit.wav", "")
    assert find_turns(tmp_path, AUDIO) == wanted
    with pytest.raises(LsaWhisperError, match=r"add other\.rttm"):
        find_turns(tmp_path, Path("other.wav"))
    stored(tmp_path, "visit.cha", "")
    with pytest.raises(LsaWhisperError, match="keep one"):
        find_turns(tmp_path, AUDIO)
    with pytest.raises(LsaWhisperError, match="no such file"):
        find_turns(tmp_path / "gone", AUDIO)
    with pytest.raises(LsaWhisperError, match="are read from"):
        read_turns(stored(tmp_path, "visit.csv", ""), AUDIO, 1000)


def test_the_longest_overlap_decides_and_a_gap_takes_the_nearest():
    asked = SpeakerLookup(turns(("CHI", 0, 1000), ("MOT", 800, 3000), ("CHI", 5000, 5100)), "PAR")
    assert [asked.near(TimeSpan(*span)) for span in ((0, 1200), (700, 2000), (3300, 3600), (4000, 4400))] == [
        "CHI",
        "MOT",
        "MOT",
        "PAR",
    ]


def test_a_long_turn_does_not_lend_its_end_to_a_short_one():
    asked = SpeakerLookup(turns(("MOT", 0, 9000), ("CHI", 100, 200)), "PAR")
    assert asked.near(TimeSpan(8000, 8500)) == "MOT"
    assert asked.near(TimeSpan(9600, 9900)) == "PAR"


WORDS = [("do", 0, 400), ("you", 400, 800), ("no", 1000, 1400), ("I", 1400, 1600), ("do", 1600, 2000)]


def test_an_utterance_over_a_turn_change_is_cut_at_the_word():
    asked = SpeakerLookup(turns(("MOT", 0, 900), ("CHI", 950, 2000)), "PAR")
    first, second = attribute_speakers(said("do you no I do .", (0, 2000), WORDS), asked)
    assert (first.speaker, first.text, first.span) == ("MOT", "do you .", TimeSpan(0, 800))
    assert (second.speaker, second.text, second.span) == ("CHI", "no I do .", TimeSpan(1000, 2000))
    assert [word for word, _ in second.word_times] == ["no", "I", "do"]


@pytest.mark.parametrize(
    ("text", "words", "change_ms"),
    [
        ("do you no I do .", [], 900),
        ("do you no I do .", [("do", 0, 300), *WORDS[1:]], 300),
        (
            "<do you> [/] <do you> [/] do you .",
            [(w, n * 300, n * 300 + 300) for n, w in enumerate(["do", "you"] * 3)],
            900,
        ),
        ("I [/] I want .", [("I", 0, 500), ("I", 500, 1000), ("want", 1000, 1500)], 500),
    ],
    ids=["no word times", "too short a stretch", "inside a retracing's copy", "between copy and repair"],
)
def test_marks_are_not_split(text, words, change_ms):
    asked = SpeakerLookup(turns(("MOT", 0, change_ms), ("CHI", change_ms, 2000)), "PAR")
    (whole,) = attribute_speakers(said(text, (0, 2000), words), asked)
    assert whole.text == text and whole.speaker in ("MOT", "CHI")


def test_a_transcript_names_its_speakers_and_keeps_confidences():
    tokens = ["do", " you", " no", " I", " do", "."]
    segment = DecodedSegment(
        "do you no I do.",
        0.0,
        2.0,
        timed=tuple(
            TimedToken(text, *(t / 1000 for t in at))
            for text, (_, *at) in zip(tokens, [*WORDS, ("", 2000, 2000)], strict=True)
        ),
        logprobs=tuple((text, -0.1 * at) for at, text in enumerate(tokens)),
    )
    given = SpeakerTurns(
        (("MOT", TimeSpan(0, 900)), ("ANN", TimeSpan(950, 2000))),
        (
            Participant("MOT", "Mother"),
            Participant("ANN", "Target_Child", name="Ann", age="4;02."),
            Participant("FAT", "Father"),
        ),
    )
    made = assemble(
        [TimeSpan(0, 2000)],
        [DecodedWindow((segment,))],
        labels=Labels("chat"),
        duration_ms=2000,
        header=TranscriptHeader("visit", corpus="Visits", turns=given),
    )
    assert chat.check(chat.parse(chat.serialize(made.transcript), strict=True)) == []
    assert [(u.speaker, u.text) for u in made.transcript.utterances] == [("MOT", "do you ."), ("ANN", "no I do .")]
    assert made.transcript.participants["ANN"].age == "4;02." and made.transcript.participants["ANN"].corpus == "Visits"
    assert list(made.transcript.participants) == ["MOT", "ANN", "FAT"]
    assert [len(scores) for scores in made.scores] == [2, 3] and made.scores[1][0] == pytest.approx(-0.2)
