from __future__ import annotations

import numpy as np
import pytest
import soundfile
from rank_work import run_ranks, train_as_rank

from lsa_whisper import finetuning, manifest

TEXTS = (
    "<|0.10|>um I want want it.<|1.20|>",
    "the dog ra- ran.",
    "<|0.20|>no.<|0.60|>",
    "<|0.10|>the the cat sat.<|1.40|><|1.60|>yes.<|1.90|>",
    "I I I see a : ball.",
    "<|0.10|>oh.<|0.30|>",
)
WORD_TIMES = (
    "0.10 0.30 um 0.35 0.40 I 0.40 0.60 want 0.70 0.90 want 0.90 1.20 it",
    "0.10 0.20 the 0.20 0.50 dog 0.60 0.70 ra- 0.80 1.20 ran",
    "",
    "0.10 0.30 the - - the 0.50 0.90 cat 0.90 1.40 sat 1.60 1.90 yes",
    "0.10 0.20 I 0.20 0.30 I 0.40 0.50 I 0.50 0.70 see 0.70 0.80 a 0.90 1.30 ball",
    "",
)
"""Two windows have none, and one word."""


@pytest.fixture(scope="session")
def windows(tmp_path_factory):
    """A manifest of six windows of noise, of unequal lengths and with labels of unequal lengths."""
    folder = tmp_path_factory.mktemp("windows")
    rng = np.random.default_rng(0)
    rows = []
    for number, text in enumerate(TEXTS):
        path = folder / f"{number}.wav"
        soundfile.write(path, 0.1 * rng.standard_normal(16_000 * 2), 16_000)
        times = WORD_TIMES[number]
        rows.append(manifest.Segment(str(path), 0.0, 2.0 - 0.1 * number, text, word_times=times))
    manifest.write(rows, folder / "train.jsonl")
    return folder / "train.jsonl"


@pytest.fixture(scope="session")
def scratch_recipe():
    """Return a recipe's text for a Whisper of a few thousand parameters that hears two seconds."""

    def text(windows, out, extra="", training=""):
        return f"""
data: {{train: {windows}}}
out: {out}
model:
  scratch: {{d_model: 16, encoder_layers: 1, decoder_layers: 1, attention_heads: 2, mel_bins: 20, context_s: 2,
            max_target_positions: 64, vocab_size: 300}}
{extra}
training: {{use_cpu: true, max_steps: 4, per_device_train_batch_size: 2, learning_rate: 1e-2, logging_steps: 1,
           {training}}}
"""

    return text


@pytest.fixture
def forked_ranks(monkeypatch):
    """The ranks of ``finetune`` begin with everything imported: its own launcher, which is tested too, takes longer."""

    def launch(recipe, *, set, processes, out, force=False):
        run_ranks(train_as_rank, processes, recipe, set, out, force, trainings=1)

    monkeypatch.setattr(finetuning, "launch", launch)
