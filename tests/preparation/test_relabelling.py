"""``prepare --relabel``: what a model finds in train recordings goes into their labels, and into nothing else."""

from __future__ import annotations

import json
import math
import re

import pytest
import soundfile as sf
from model_fixtures import scripted, stopped_with_results, tiny, visit
from tiny_whisper import build_checkpoint

from lsa_whisper import chat, manifest
from lsa_whisper.decoding.confidences import read_confidences
from lsa_whisper.errors import CheckpointError, CorpusError
from lsa_whisper.labels import Labels
from lsa_whisper.preparation import prepare
from lsa_whisper.review.edits import set_text
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.verbatimize.verbatimizer import Verbatimizer

__all__ = ["scripted", "tiny", "visit"]
HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI {name} Child\n@ID:\teng|s|CHI|||||Child|||\n"
TURNS = "*CHI:\tI want it . \x151000_4000\x15\n*CHI:\tthe {thing} sat . \x159000_13000\x15\n@End\n"
THINGS = {"train": "dog", "dev": "cat", "test": "cow"}
OPTIONS = {"one_utterance": True, "non_speech": 0, "relabel_threshold": 0.01}


@pytest.fixture
def corpus(visit, tmp_path):
    """A corpus of three children, one in each split."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, thing in THINGS.items():
        sound, rate = sf.read(visit)
        sf.write(folder / f"{name}.wav", sound * (0.5 + 0.1 * len(name)), rate)
        turns = TURNS.format(thing=thing).replace("I want", "I want" if name == "train" else f"{name} wants")
        (folder / f"{name}.cha").write_text(HEAD.format(name=name) + f"@Media:\t{name}, audio\n" + turns)
    names = "".join(f"  {name}: [corpus/{name}-CHI]\n" for name in THINGS)
    (folder / "card.yaml").write_text(f"name: corpus\nsplits:\n{names}")
    return folder


def texts(out, split):
    return " ".join(row.text for row in manifest.read(out / f"{split}.jsonl"))


def test_train_alone_is_relabelled(corpus, scripted, tmp_path):
    before = {path: path.read_bytes() for path in corpus.iterdir()}
    out = tmp_path / "data"
    prepared = prepare([corpus], out, relabel=scripted, **OPTIONS)
    first, second = chat.read(out / "relabelled/corpus/train.cha").utterances
    assert "I [/] I want it" in first.text
    assert first.span == TimeSpan(0, 4000) and second.span == TimeSpan(7000, 13000)  # they have the sound of new words
    assert "I I want it" in texts(out, "train") and "the dog" in texts(out, "train")
    assert not {"test test", "dev dev", "the the"} & set(
        re.findall(r"(?=\b(\w+ \w+))", texts(out, "dev") + texts(out, "test"))
    )
    assert {path: path.read_bytes() for path in corpus.iterdir()} == before
    assert [path.name for path in (out / "relabelled").rglob("*.cha")] == ["train.cha"]
    summary = json.loads((out / "prepared.json").read_text())
    assert summary["options"]["relabel"] == str(scripted) and summary["options"]["relabel_threshold"] == 0.01
    assert summary["relabelled"]["recordings"] == 1 and summary["relabelled"]["added"]["repetition"] > 0
    assert "model found in 1 train recordings (0.3 minutes)" in prepared.notes[-1]


def test_the_review_page_is_given_the_confidences_of_added_words(corpus, scripted, tmp_path):
    prepare([corpus], tmp_path / "data", relabel=scripted, **OPTIONS)
    copy = tmp_path / "data/relabelled/corpus/train.cha"
    first = read_confidences(copy).utterances[0]
    assert first.text == chat.read(copy).utterances[0].text
    added = [word for word, score in zip(first.words, first.scores, strict=True) if score is not None]
    assert added == list(first.words[: len(added)]) and list(first.words[len(added) :]) == ["I", "want", "it"]
    assert all(math.log(0.01) <= score <= 0 for score in first.scores[: len(added)])


def test_copies_inside_the_corpus_are_no_sessions(corpus, scripted):
    first, again = (prepare([corpus], corpus / "data", relabel=scripted, **OPTIONS) for _ in range(2))
    assert again.splits == first.splits and not any("relabelled" in each["path"] for each in again.skipped_files)


def test_a_corrected_copy_is_kept_and_one_of_other_inputs_is_refused(corpus, scripted, tmp_path):
    out = tmp_path / "data"
    prepare([corpus], out, relabel=scripted, **OPTIONS)
    copy = out / "relabelled/corpus/train.cha"
    chat.write(set_text(chat.read(copy), 0, "&-uh I want milk ."), copy)
    prepare([corpus], out, relabel=scripted, **OPTIONS)
    assert "uh I want milk" in texts(out, "train")
    with pytest.raises(CorpusError, match=r"train\.cha: was made with another model, threshold, transcript"):
        prepare([corpus], out, relabel=scripted, **OPTIONS | {"relabel_threshold": 0.5})
    assert "milk" in copy.read_text()


def test_an_interrupted_call_goes_on(corpus, scripted, tmp_path, monkeypatch):
    out, found = tmp_path / "data", []
    search = Verbatimizer.verbatimize
    with stopped_with_results(1):
        prepare([corpus], out, relabel=scripted, **OPTIONS)
    assert not list(out.rglob("*.cha"))
    monkeypatch.setattr(Verbatimizer, "verbatimize", lambda *given: found.append(given[2]) or search(*given))
    prepare([corpus], out, relabel=scripted, **OPTIONS)
    assert len(found) == 1  # of two windows
    prepare([corpus], tmp_path / "whole", relabel=scripted, **OPTIONS)
    assert texts(out, "train") == texts(tmp_path / "whole", "train")
    assert not list(out.rglob(".*.jsonl"))


def test_what_cannot_be_done_is_said_before_a_model_is_loaded(corpus, scripted, tmp_path, monkeypatch):
    monkeypatch.setattr("lsa_whisper.checkpoint.load", None)
    out = tmp_path / "data"
    with pytest.raises(CheckpointError, match="no such folder"):
        prepare([corpus], out, relabel=tmp_path / "nothing")
    with pytest.raises(CorpusError, match="`relabel_threshold=2`: it must be a probability"):
        prepare([corpus], out, relabel=scripted, relabel_threshold=2)
    fluent = build_checkpoint(tmp_path / "fluent", labels=Labels("fluent"))
    record = json.loads((fluent / "lsa_whisper.json").read_text()) | {"recipe": {"out": "runs/fluent"}}
    (fluent / "lsa_whisper.json").write_text(json.dumps(record))
    with pytest.raises(CheckpointError, match="writes no disfluencies"):
        prepare([corpus], out, relabel=fluent)
    path = corpus / "train.cha"
    path.write_text(re.sub("\x15.*\x15", "", path.read_text()))
    with pytest.raises(CorpusError, match=r"train\.cha: has no times; add them with 'lsa-whisper align' first"):
        prepare([corpus], out, relabel=scripted)
    assert not out.exists()
