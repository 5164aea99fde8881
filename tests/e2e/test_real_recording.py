"""Real, spontaneous, disfluent speech through the whole path, until a model knows it by heart.

This says nothing about accuracy on other recordings. It proves that audio, labels, time stamps, decoding and scoring
agree with one another: one shifted label or one suppressed bracket, and it fails.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation import evaluate
from lsa_whisper.finetuning import finetune
from lsa_whisper.preparation import prepare
from lsa_whisper.transcription import transcribe

DATA = Path("../shared/data").resolve()
BODY = DATA / "whisper" / "tiny.en-relearned-2"

pytestmark = [
    pytest.mark.slow(minutes=0.4),
    pytest.mark.skipif(not BODY.exists(), reason="the real recording and model are not beside the project"),
]

RECIPE = """
data: {{train: {train}, cache: true}}
out: {out}
model: {{base: {base}, freeze_encoder: true}}
training: {{use_cpu: true, learning_rate: 7e-4, warmup_steps: 5, lr_scheduler_type: linear,
           per_device_train_batch_size: 2, max_steps: 60}}
"""
LOOSE = {"\x151059_7541\x15": "\x150_7541\x15", "\x1526723_39529\x15": "\x1527950_39529\x15"}
"""Bullets that leave a breath out, or begin a second before the voice. Who knows two windows by heart, and nothing
else, knows where in them each word stands; so they must begin where `transcribe`, which has no bullets, begins."""


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The recording's transcript as a model writes it that was trained on nothing else."""
    folder = tmp_path_factory.mktemp("michael")
    corpus = folder / "corpus"
    corpus.mkdir()
    for name in ("michael.cha", "michael.flac"):
        shutil.copyfile(DATA / "paired" / name, corpus / name)
    transcript = (corpus / "michael.cha").read_text("utf-8")
    for loose, tight in LOOSE.items():
        assert loose in transcript
        transcript = transcript.replace(loose, tight)
    (corpus / "michael.cha").write_text(transcript, "utf-8")
    prepared = prepare([corpus], folder / "data", labels="chat", without_timestamps=0.0)
    assert not prepared.rejected
    recipe = folder / "recipe.yaml"
    recipe.write_text(RECIPE.format(train=folder / "data" / "train.jsonl", out=folder / "model", base=BODY))
    model = finetune(recipe).out
    done = transcribe([corpus / "michael.flac"], model=model, out=folder / "written")
    return corpus / "michael.cha", done.done[0].transcript


def test_the_written_chat_is_valid(learned):
    transcript = chat.read(learned[1], strict=True)
    assert chat.check(transcript) == []
    assert transcript.media == "michael"
    spans = [utterance.span for utterance in transcript.utterances]
    assert spans == sorted(spans) and spans[-1].end_ms <= 52_000


def test_the_words_are_the_recordings(learned):
    reference, hypothesis = learned
    system = evaluate(reference, [hypothesis], names=["learned"]).systems["learned"]
    assert system.word_errors_verbatim.rate < 0.15


def test_the_disfluencies_are_kept(learned):
    said, written = (
        Counter(event.kind for utterance in chat.read(path).utterances for event in utterance.events())
        for path in learned
    )
    for kind in (Disfluency.FILLED_PAUSE, Disfluency.REPETITION, Disfluency.REVISION):
        assert written[kind] == pytest.approx(said[kind], abs=1), kind
    assert said[Disfluency.REVISION] == 1 and written[Disfluency.REVISION] == 1
