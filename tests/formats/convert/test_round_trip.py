"""CHAT to ELAN, Praat, SALT and JSON and back: words, speakers, times and every disfluency mark stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.formats.convert import convert

ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared" / "data" / "paired"
TESTED = [*sorted((ROOT / "corpora/storybook/test").glob("*.cha")), *sorted(SHARED.glob("*.cha"))]
"""Storybook, and real recordings where they are present."""
LEARNED = [*sorted((ROOT / "corpora/storybook").rglob("*.cha"))]


def facts(transcript, *, with_words=True):
    """What must be equal: speakers, texts with all marks, words, events, times."""
    return [
        (u.speaker, u.text, u.verbatim(), u.events(), u.span, u.word_times if with_words else None)
        for u in transcript.utterances
    ]


def roles(transcript):
    return {code: person.role for code, person in transcript.participants.items()}


FORMATS = [("eaf", "eaf"), ("textgrid", "TextGrid"), ("salt", "slt"), ("json", "json")]


@pytest.mark.parametrize("name, suffix", FORMATS)
def test_there_and_back_nothing_is_lost(name, suffix, tmp_path):
    there_and_back(TESTED, name, suffix, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name, suffix", FORMATS)
def test_there_and_back_nothing_is_lost_of_the_corpus(name, suffix, tmp_path):
    there_and_back(LEARNED, name, suffix, tmp_path)


def there_and_back(files, name, suffix, tmp_path):
    assert len(files) >= 5
    headers = {"headers": tmp_path / "originals"} if name == "textgrid" else {}
    originals = tmp_path / "originals"
    originals.mkdir()
    for path in files:
        (originals / path.name).write_bytes(path.read_bytes())
    there = convert([originals], tmp_path / "there", format=name)
    assert not there.failed and len(there.files) == len(files)
    back = convert([tmp_path / "there"], tmp_path / "back", from_=[suffix], **headers)
    assert not back.failed and len(back.files) == len(files)
    for path in files:
        before, after = chat.read(path), chat.read(tmp_path / "back" / path.name)
        assert facts(after, with_words=name != "salt") == facts(before, with_words=name != "salt"), path
        assert after.languages == before.languages and after.media == before.media
        assert roles(after) == roles(before)
        if name != "json":
            assert [line.value for line in after.headers] == [line.value for line in before.headers]


@pytest.mark.parametrize("options", ["", "@Options:\tCA\n"])
@pytest.mark.parametrize("name, suffix", [("eaf", "eaf"), ("salt", "slt")])
def test_ends_of_utterances_stay_as_they_are(name, suffix, options, tmp_path):
    said = ["it ran?", *(["vous partez≈", "so we"] if options else [])]
    body = "".join(f"*PAR:\t{text} \x15{at}_{at + 9}\x15\n" for at, text in enumerate(said))
    people = "@Participants:\tPAR Participant\n"
    ids = "@ID:\teng|corpus|PAR|||||Participant|||\n"
    (tmp_path / "a.cha").write_text(f"@UTF8\n@Begin\n@Languages:\teng\n{people}{options}{ids}{body}@End\n")
    convert([tmp_path / "a.cha"], tmp_path / name, format=name)
    convert([tmp_path / name / f"a.{suffix}"], tmp_path / "back")
    assert [each.text for each in chat.read(tmp_path / "back" / "a.cha").utterances] == said
