"""Hundreds of broken files, each a sentence with its place; and random damage, which never raises another error."""

from __future__ import annotations

import json
import random
import re

import pytest

from lsa_whisper import formats
from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.errors import FormatError, LsaWhisperError
from lsa_whisper.formats.reading import READABLE, ReadingOptions, read_transcripts
from lsa_whisper.formats.reading.conventions import read_conventions
from lsa_whisper.timespan import TimeSpan

WORDS = [("the", TimeSpan(500, 700)), ("dog", TimeSpan(700, 1100))]
VISIT = compose(
    languages=["eng"],
    participants=[Participant("CHI", "Target_Child"), Participant("MOT", "Mother")],
    utterances=[
        utterance("CHI", "the dog .", TimeSpan(500, 1100), WORDS),
        utterance("MOT", "&-um yes [/] yes !", TimeSpan(1300, 2100)),
    ],
    media="visit",
)
NXT = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<nite:root nite:id="a" xmlns:nite="http://nite.sourceforge.net/">\n'
    '<w nite:id="w1" starttime="0.5" endtime="0.9">hello</w>\n<w nite:id="w2" starttime="1.0" endtime="1.4">you</w>\n'
    "</nite:root>\n"
)
GOOD = {
    "visit.eaf": formats.serialize(VISIT, "eaf"),
    "visit.TextGrid": formats.serialize(VISIT, "textgrid"),
    "visit.slt": "$ Child, Mother\n- 0:00\nC the dog.\n; :02\nM (um) yes!\n",
    "visit.srt": formats.serialize(VISIT, "srt"),
    "visit.vtt": formats.serialize(VISIT, "vtt"),
    "visit.json": formats.serialize(VISIT, "json"),
    "whisper.json": json.dumps({"segments": [{"start": 0.5, "end": 1.1, "text": "the dog."}]}),
    "chunks.json": json.dumps({"chunks": [{"text": "dog", "timestamp": [0.5, 1.1]}]}),
    "nemo.jsonl": '{"audio_filepath": "a.wav", "duration": 2.5, "text": "the dog"}\n'
    '{"audio_filepath": "b.wav", "duration": 1.5, "text": "a cat"}\n',
    "visit.ctm": "visit 1 0.50 0.20 the\nvisit 1 0.70 0.40 dog\n",
    "visit.stm": "visit 1 A 0.50 1.10 <o> the dog\nvisit 1 B 1.30 2.10 <o> yes\n",
    "visit.A.words.xml": NXT,
}
TIMES = ("nan", "-3", "inf", "1e400", "x", "1,5", "0x10", "9" * 30)
"""None of these is a time."""
REPLACED = {
    "visit.eaf": [
        ("<ANNOTATION_DOCUMENT", "<DOCUMENT"),
        ("</TIER>", ""),
        ("<ANNOTATION_DOCUMENT", "<!DOCTYPE a><ANNOTATION_DOCUMENT"),
        ("<ANNOTATION_DOCUMENT", '<!DOCTYPE a [<!ENTITY e "x">]><ANNOTATION_DOCUMENT'),
        ("<ANNOTATION_DOCUMENT", '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><ANNOTATION_DOCUMENT'),
        ("the dog", "&undefined;"),
        ("the dog", "the & dog"),
        ("the dog", "the < dog"),
        ('encoding="UTF-8"', 'encoding="UTF-99"'),
    ],
    "visit.TextGrid": [
        *[
            ("xmax = 1.100\n            text", f"xmax = {time}\n            text")
            for time in ("nan", "inf", "x", "9" * 30)
        ],
        ("xmin = 0.500\n            xmax = 1.100", "xmin = 1.500\n            xmax = 1.100"),
        ("xmin = 0.500\n            xmax = 1.100", "xmin = -0.500\n            xmax = 1.100"),
        ("intervals: size = ", "intervals: size = 9"),
        ("size = 3", "size = 33"),
        ('"IntervalTier"', "IntervalTier"),
        ("ooTextFile", "ooBinaryFile"),
        ('"TextGrid"', '"Pitch"'),
        ('"the dog ."', "the dog ."),
    ],
    "visit.slt": [  # one line that is not understood costs only itself: tests of SALT
        ("$ Child, Mother", "$ Xavier, Yves"),
        ("C the dog.\n; :02\nM (um) yes!\n", "12\n"),
        ("C the dog.\n; :02\nM (um) yes!\n", "*CHI:\tyes .\n@End\n"),
        ("C the dog.\n; :02\nM (um) yes!\n", "C\nM .\n"),
    ],
    "visit.srt": [("-->", "->"), ("-->", "")],  # a damaged cue costs its times: tests of subtitles
    "visit.vtt": [("-->", "->"), ("-->", "")],
    "visit.json": [
        ('"chat"', '"chut"'),
        ('"the dog ."', "7"),
        ("{", "["),
        ('"utterances"', '"outterances"'),
    ],
    "whisper.json": [
        *[
            ('[{"start": 0.5, "end": 1.1, "text": "the dog."}]', bad)
            for bad in ("[1]", '["x"]', "[null]", "[[1]]", "3", "[]")
        ],
        ('{"segments"', '{"sigments"'),
        ("the dog.", "..."),
    ],
    "chunks.json": [
        ('"text": "dog"', '"txt": "dog"'),
        ('"dog"', "7"),
        ('[{"text"', '[7, {"text"'),
    ],
    "nemo.jsonl": [
        *[("2.5", time) for time in ("NaN", "-3", "Infinity", '"x"', "[1]", "true", "1e99")],
        ("audio_filepath", "audio"),
        ('"text"', '"txt"'),
        ('"the dog"', "7"),
        ('{"audio_filepath": "b.wav"', '["audio_filepath": "b.wav"'),
        ("}\n{", "\n{"),
        ('"a cat"}', '"a cat"'),
    ],
    "visit.ctm": [
        *[("0.50 0.20", f"{time} 0.20") for time in TIMES],
        *[("0.70 0.40", f"0.70 {time}") for time in TIMES],
        ("visit 1 0.50 0.20 the", "visit 1 0.50 0.20"),
        ("visit 1 0.50 0.20 the", "the"),
        ("visit 1 0.50", "visit 0.50"),
    ],
    "visit.stm": [
        *[("0.50 1.10", f"{time} 1.10") for time in TIMES],
        *[("1.30 2.10", f"1.30 {time}") for time in TIMES],
        ("0.50 1.10", "1.10 0.50"),
        ("visit 1 B 1.30 2.10 <o> yes", "visit 1 B"),
        ("1 A 0.50", "A 0.50"),
    ],
    "visit.A.words.xml": [
        *[('endtime="1.4"', f'endtime="{time}"') for time in (*TIMES, "0.2")],
        ("<w nite", "<v nite"),
        ("</w>", ""),
        ("</nite:root>", ""),
        ("<nite:root", "<!DOCTYPE nite:root><nite:root"),
        ("hello", "&nbsp;"),
    ],
}
CUT = {"visit.eaf", "visit.TextGrid", "visit.json", "whisper.json", "chunks.json", "visit.A.words.xml"}
"""Formats in which a file that was cut off can be told from a complete one."""
EVERYWHERE = {
    "empty": b"",
    "blank": b" \n\t\n",
    "binary": b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00",
    "zip": b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00",
    "old word processor": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00",
    "odd UTF-16": b"\xff\xfea\x00b",
    "no text": b"hello \x81\x8d\x8f\x90\x9d",
}


def broken():
    for name, good in GOOD.items():
        for old, new in REPLACED[name]:
            assert old in good, (name, old)
            if name == "visit.A.words.xml" and old == "<w nite":
                yield name, f"{old} -> {new}", good.replace("<w ", "<v ").replace("</w>", "</v>").encode()
            else:
                count = -1 if "-->" in old else 1
                yield name, f"{old} -> {new}", good.replace(old, new, count).encode()
        for what, data in EVERYWHERE.items():
            yield name, what, data
        if name in CUT:
            end = len(good.rstrip()) - 1
            for part in range(1, 9):
                yield name, f"cut after {part} ninths", good[: end * part // 9].encode()


BROKEN = list(broken())


def test_there_are_hundreds():
    assert len(BROKEN) > 200


@pytest.mark.parametrize("name", GOOD)
def test_the_files_are_good_before(name, tmp_path):
    (tmp_path / name).write_text(GOOD[name], "utf-8")
    assert read_transcripts(tmp_path / name)


@pytest.mark.parametrize("name", GOOD)
def test_a_broken_file_is_a_sentence_with_its_place(name, tmp_path):
    path = tmp_path / name
    for kind, what, data in BROKEN:
        if kind != name:
            continue
        path.write_bytes(data)
        try:
            found = read_transcripts(path)
        except FormatError as error:
            message = str(error)
            assert message.startswith(str(path)), (what, message)
            assert len(message) > len(str(path)) + 20 and "\n" not in message, (what, message)
            assert not re.search(r"Traceback|Error\b|object has no|NoneType", message), (what, message)
        else:
            pytest.fail(f"{name}: {what}: read as {[u.main for u in found[0].transcript.utterances]}")


BAD_TIMES = {
    "visit.eaf": ("1100", "{}", (*TIMES, "1.5", "100")),
    "visit.json": ('"start_ms": 500', '"start_ms": {}', ("-1", '"x"', "null", "[]", "1e99", "5000", "NaN")),
    "whisper.json": ("0.5", "{}", ("NaN", "-3", "Infinity", '"x"', "null", "[1]", "{}", "true", "1e99", "9.5")),
    "chunks.json": ("[0.5, 1.1]", "[{}, 1.1]", ("NaN", "-3", "Infinity", '"x"', "[1]", "true", "{}")),
}


@pytest.mark.parametrize("name", BAD_TIMES)
def test_words_with_times_that_cannot_be_right_stay(name, tmp_path):
    path = tmp_path / name
    path.write_text(GOOD[name])
    words = [each.verbatim() for each in read_transcripts(path)[0].transcript.utterances]
    old, new, times = BAD_TIMES[name]
    for time in times:
        path.write_text(GOOD[name].replace(old, new.replace("{}", time), 1))
        (found,) = read_transcripts(path)
        assert [each.verbatim() for each in found.transcript.utterances] == words, time
        assert any(str(path) in note and "cannot be right" in note for note in found.notes), time


@pytest.mark.parametrize("name", GOOD)
def test_random_damage_raises_no_other_error(name, tmp_path):
    drawn = random.Random(name)
    path = tmp_path / name
    good = GOOD[name].encode()
    for _ in range(25):
        data = bytearray(good)
        for _ in range(drawn.choice((1, 3, 20))):
            at = drawn.randrange(len(data) + 1)
            data[at : at + drawn.choice((0, 1, 30))] = drawn.randbytes(drawn.choice((0, 1, 5)))
        path.write_bytes(data)
        try:
            read_transcripts(path)
        except LsaWhisperError as error:
            assert str(error).startswith(str(path))


def bomb(levels=12):
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(levels))
    return f'<?xml version="1.0"?><!DOCTYPE a [{entities}]><ANNOTATION_DOCUMENT>&e{levels - 1};</ANNOTATION_DOCUMENT>'


EXTERNAL = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><ANNOTATION_DOCUMENT>&x;</ANNOTATION_DOCUMENT>'
REMOTE = '<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><ANNOTATION_DOCUMENT/>'
PARAMETER = '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/hostname"> %x;]><ANNOTATION_DOCUMENT/>'


@pytest.mark.parametrize("text", [bomb(), EXTERNAL, REMOTE, PARAMETER], ids=["bomb", "external", "remote", "parameter"])
@pytest.mark.parametrize("name", ["a.eaf", "a.A.words.xml"])
def test_entities_and_document_types_are_not_read(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match="document type or entities"):
        read_transcripts(tmp_path / name)


def test_deep_xml_and_json_are_sentences(tmp_path):
    (tmp_path / "a.eaf").write_text("<a>" * 5000 + "</a>" * 5000)
    (tmp_path / "a.json").write_text("[" * 5000 + "]" * 5000)
    for name in ("a.eaf", "a.json"):
        with pytest.raises(FormatError, match=name):
            read_transcripts(tmp_path / name)


def test_wrong_paths_are_sentences(tmp_path):
    (tmp_path / "folder.eaf").mkdir()
    for name in ("absent.eaf", "folder.eaf", "a.docx"):
        with pytest.raises(FormatError, match=name):
            read_transcripts(tmp_path / name)
    assert ".eaf" in READABLE


@pytest.mark.parametrize(
    "text",
    [
        "marks: {'[': comment}",
        "marks: {'[...]': joke}",
        "tiers: {a: b}",
        "other: {}",
        "[1]",
        "speakers: [a]",
        "a: &a [*a]",
        "{",
    ],
)
def test_broken_conventions_are_sentences(text, tmp_path):
    path = tmp_path / "conventions.yaml"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"conventions\.yaml"):
        read_conventions(path)


@pytest.mark.parametrize(
    ("encoding", "language", "note"),
    [
        ("cp1252", "spa", "not UTF-8, read as Windows-1252"),
        ("mac_roman", "spa", "not UTF-8, read as Mac Roman"),
        ("cp1251", "rus", "not UTF-8, read as Windows-1251"),
        ("utf-16", "spa", ""),
        ("utf-16-le", "spa", ""),
    ],
)
def test_old_encodings_are_told(encoding, language, note, tmp_path):
    text = "él está allí" if language == "spa" else "мальчик бежит домой"
    path = tmp_path / "a.txt"
    path.write_bytes(f"CHI: {text}.\n".encode(encoding))
    (found,) = read_transcripts(path, ReadingOptions(language=language))
    assert found.transcript.utterances[0].text == f"{text} ."
    assert [line.partition(",")[0] for line in found.notes] == ([note.partition(",")[0]] if note else [])
    assert all(note in line for line in found.notes)


def test_lines_of_two_encodings_are_read_alone(tmp_path):
    path = tmp_path / "a.srt"
    times = "00:00:01,000 --> 00:00:02,000"
    path.write_bytes(f"1\n{times}\nel niño corrió\n\n".encode() + f"2\n{times}\nmañana\n".encode("latin-1"))
    (found,) = read_transcripts(path, ReadingOptions(language="spa"))
    assert [each.text for each in found.transcript.utterances] == ["el niño corrió .", "mañana ."]
    assert "1 line(s) not UTF-8, read as Windows-1252, from line 7 on" in found.notes[0]
