"""The command: a clean transcript and its recording become a transcript with disfluencies, and no word changes."""

from __future__ import annotations

import json
import shutil

import pytest
from model_fixtures import stopped_with_results
from tiny_whisper import build_checkpoint

from lsa_whisper import chat
from lsa_whisper.errors import CheckpointError, CorpusError, LsaWhisperError
from lsa_whisper.labels import Labels
from lsa_whisper.verbatimize import verbatimize, verbatimizer, vocabulary
from lsa_whisper.verbatimize.verbatimizer import Verbatimizer

HEAD = (
    "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Child\n@ID:\teng|s|CHI|||||Child|||\n@Media:\tvisit, audio\n"
)
TURNS = (
    "*CHI:\tI want it . \x151000_4000\x15\n%wor:\tI \x151000_1400\x15 want \x151500_2000\x15 it \x152100_4000\x15 .\n",
    "%mor:\tpro|I v|want pro|it .\n",
    "*CHI:\txxx the \x154500_5000\x15\n",
    "*CHI:\tthe dog sat . \x159000_13000\x15\n",
    "*CHI:\tand went home .\n",
)


@pytest.fixture
def folder(visit, tmp_path):
    shutil.copy(visit, tmp_path / "visit.wav")
    (tmp_path / "visit.cha").write_text(HEAD + "".join(TURNS) + "@End\n")
    return tmp_path


def test_disfluencies_are_inserted_and_the_words_stay(folder, scripted, capsys):
    before = (folder / "visit.cha").read_text()
    summary = verbatimize(folder / "visit.cha", model=scripted, verbose=True)
    source, written = chat.read(folder / "visit.cha"), chat.read(folder / "verbatim" / "visit.cha")
    assert (folder / "visit.cha").read_text() == before
    assert [each.fluent() for each in written.utterances] == [each.fluent() for each in source.utterances]
    assert [each.span for each in written.utterances] == [each.span for each in source.utterances]
    assert written.utterances[0].text == "I [/] I [/] I want it ."
    assert [tier.name for tier in written.utterances[0].tiers] == ["%mor"]  # %wor lacks the new words
    (comment,) = (line.value for line in written.headers if line.name == "@Comment")
    assert "disfluencies inserted by lsa-whisper" in comment and "model model" in comment
    assert f"{sum(len(each.events()) for each in written.utterances)} disfluencies in" in summary.table()
    assert "lines 10, 12" in summary.table()  # unknown words; no times
    assert f"{scripted}: Whisper" in capsys.readouterr().err


def test_a_finished_transcript_is_kept_and_another_text_is_refused(folder, scripted):
    verbatimize(folder, model=scripted)
    target = folder / "verbatim" / "visit.cha"
    corrected = target.read_text().replace("I [/] I want", "&-uh I want")
    target.write_text(corrected)
    assert "0 written, 1 kept" in verbatimize(folder, model=scripted).table()
    assert target.read_text() == corrected
    target.write_text(corrected.replace("sat", "stood"))
    with pytest.raises(LsaWhisperError, match="has other words; move it"):
        verbatimize(folder, model=scripted)


def test_an_interrupted_run_resumes(folder, scripted, monkeypatch):
    verbatimize(folder, model=scripted, out=folder / "whole")
    with stopped_with_results(1):
        verbatimize(folder, model=scripted)
    assert len(list((folder / "verbatim").iterdir())) == 1
    searched, search = [], Verbatimizer.verbatimize

    def counted(self, utterances, window, recording):
        searched.append(window)
        return search(self, utterances, window, recording)

    monkeypatch.setattr(Verbatimizer, "verbatimize", counted)
    verbatimize(folder, model=scripted)
    assert len(searched) == 1
    assert (folder / "verbatim" / "visit.cha").read_bytes() == (folder / "whole" / "visit.cha").read_bytes()
    assert [path.name for path in (folder / "verbatim").iterdir()] == ["visit.cha"]


def test_a_model_that_was_trained_with_prompts_is_given_them(folder, scripted, tmp_path, monkeypatch):
    model = shutil.copytree(scripted, tmp_path / "prompted")
    record = json.loads((model / "lsa_whisper.json").read_text())
    (model / "lsa_whisper.json").write_text(json.dumps(record | {"provenance": {"prompt": "fluent"}}))
    given = []

    class Recorded(Verbatimizer):
        def __init__(self, *args, prompt, **options):
            given.append(prompt)
            super().__init__(*args, prompt=prompt, **options)

        def windows(self, *_):
            return []

    monkeypatch.setattr(verbatimizer, "Verbatimizer", Recorded)
    for prompt, path in (("auto", model), ("none", model), ("auto", scripted), ("fluent", scripted)):
        verbatimize(folder / "visit.cha", model=path, prompt_kind=prompt, out=tmp_path / f"{prompt}-{len(given)}")
    assert given == [True, False, False, True]


def test_what_cannot_be_done_is_said(folder, scripted, tmp_path, monkeypatch):
    plain = folder / "plain.cha"
    plain.write_text(HEAD + "*CHI:\tthe dog .\n@End\n")
    with pytest.raises(CorpusError, match=r"plain\.cha: has no times; add them with 'lsa-whisper align' first"):
        verbatimize(plain, audio=folder / "visit.wav", model=scripted)
    with pytest.raises(CorpusError, match="one recording for 2 transcripts"):
        verbatimize(folder, audio=folder / "visit.wav", model=scripted)
    with pytest.raises(LsaWhisperError, match="`prompt_kind=clean`: choose auto, fluent or none"):
        verbatimize(folder, model=scripted, prompt_kind="clean")
    fluent = build_checkpoint(tmp_path / "fluent", labels=Labels("fluent"))
    monkeypatch.setattr(vocabulary, "is_stock", lambda checkpoint: False)  # as if it had been fine-tuned
    with pytest.raises(CheckpointError, match="writes no disfluencies; fine-tune a model"):
        verbatimize(folder / "visit.cha", model=fluent)
    assert not (folder / "verbatim" / "visit.cha").exists()
