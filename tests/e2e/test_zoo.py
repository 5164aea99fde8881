"""Tiny random models of every published shape go through loading, training, transcribing and export."""

from __future__ import annotations

import json

import model_zoo
import numpy as np
import pytest
import soundfile
import torch
from tiny_whisper import voice

from lsa_whisper import checkpoint, manifest
from lsa_whisper.chat import read
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning import finetune
from lsa_whisper.transcription import transcribe

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not model_zoo.are_here(), reason="../shared/data/whisper is absent"),
]
ADAPTED = ("turbo", "crisper-2")
"""Trained with LoRA; the others in full."""
CONVERTED = ("en", "large-v3", "kotoba")
"""Also converted to CTranslate2, which cannot use the vocabularies of CrisperWhisper with timestamps."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A manifest of four windows of two seconds, and a recording."""
    folder = tmp_path_factory.mktemp("data")
    rows = []
    for number, text in enumerate(("<|0.20|>um I want want it.<|1.60|>", "the dog ra- ran.") * 2):
        path = folder / f"{number}.wav"
        soundfile.write(path, voice(2.0, seed=number), 16_000)
        rows.append(manifest.Segment(str(path), 0.0, 2.0, text, prompt="before" if number == 2 else ""))
    manifest.write(rows, folder / "train.jsonl")
    soundfile.write(folder / "visit.wav", np.concatenate([voice(1.5), np.zeros(8_000, np.float32)]), 16_000)
    return folder


def recipe(base, data, out, name):
    adapter = "adapter: {rank: 10, alpha: 20, target_modules: [q_proj, v_proj]}" if name in ADAPTED else ""
    text = f"""
model: {{base: {base}}}
data: {{train: {data / "train.jsonl"}}}
out: {out}
{adapter}
training: {{use_cpu: true, max_steps: 3, per_device_train_batch_size: 2, learning_rate: 1.0e-3}}
"""
    path = out.with_name("recipe.yaml")
    path.write_text(text)
    return path


def logits(folder, name):
    """Return the logits of a checkpoint after its own prompt and a word."""
    loaded = checkpoint.load(folder)
    prompt = checkpoint.decoder_prompt(loaded.tokenizer, loaded.model.generation_config)
    words = loaded.tokenizer.encode("um I want", add_special_tokens=False)
    sound = torch.randn(1, model_zoo.ZOO[name].mels, 3000, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        return loaded.model(input_features=sound, decoder_input_ids=torch.tensor([[*prompt, *words]])).logits


@pytest.mark.parametrize("name", tuple(model_zoo.ZOO))
def test_it_is_trained_exported_and_transcribes(data, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    base = model_zoo.write_tiny(name, tmp_path / "base")
    lines = []
    finetune(recipe("base", data, tmp_path / "trained", name), report=lines.append)
    monkeypatch.chdir("/")
    assert any(line.startswith("base: ") for line in lines), "what the base is, in one line"
    trained = logits(tmp_path / "trained", name)
    assert torch.isfinite(trained).all() and not torch.allclose(trained, logits(base, name), atol=1e-3)
    checkpoint.export(tmp_path / "trained", tmp_path / "exported")
    assert torch.allclose(logits(tmp_path / "exported", name), trained, atol=1e-4)
    settings = json.loads((tmp_path / "exported" / "generation_config.json").read_text())
    assert bool(settings.get("return_timestamps")) == name.startswith("crisper")
    for number, model in enumerate((base, tmp_path / "trained")):
        out = tmp_path / f"transcripts-{number}"
        options = {"word_times": bool(number), "vad": "energy", "language": "eng"}
        done = transcribe(data / "visit.wav", model, out=out, **options)
        assert not done.failed and read(out / "visit.cha").utterances is not None
    if name in CONVERTED:
        pytest.importorskip("ctranslate2")
        checkpoint.export(tmp_path / "exported", tmp_path / "ct2", to="ct2")  # compares the logits
    if name.startswith("crisper"):
        pytest.importorskip("ctranslate2")
        with pytest.raises(CheckpointError, match="cannot be converted for CTranslate2"):
            checkpoint.export(tmp_path / "exported", tmp_path / "ct2", to="ct2")
