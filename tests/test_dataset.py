from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch

from lsa_whisper import manifest
from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.dataset import IGNORED, Collator, WindowDataset, label_ids
from lsa_whisper.errors import CheckpointError, ManifestError
from lsa_whisper.labels import Labels

PROCESSORS = Path("../shared/data/whisper")
needs_processors = pytest.mark.skipif(not PROCESSORS.exists(), reason="the real tokenizers are not beside the project")


def load(name):
    """A checkpoint with the real tokenizer, features and generation settings, and no weights."""
    from transformers import GenerationConfig, WhisperFeatureExtractor, WhisperTokenizer

    folder = PROCESSORS / name
    settings = GenerationConfig.from_pretrained(folder)
    model = SimpleNamespace(generation_config=settings, config=SimpleNamespace(max_target_positions=448))
    extractor, tokenizer = WhisperFeatureExtractor.from_pretrained(folder), WhisperTokenizer.from_pretrained(folder)
    return Checkpoint(name, model, extractor, tokenizer, Labels())


def ids_of(name, text, **options):
    model = load(name)
    return label_ids(text, model.tokenizer, model.model.generation_config, **options), model.tokenizer


@needs_processors
@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("processor", "<|startoftranscript|><|en|><|transcribe|>"),
        ("processor-large-v3", "<|startoftranscript|><|en|><|transcribe|>"),
        ("processor-tiny.en", "<|startoftranscript|>"),
    ],
)
def test_label_ids_are_whispers_own_sequence(name, prefix):
    (ids, given), tokenizer = ids_of(name, "<|0.00|>&-um I want it .<|2.40|>")
    assert given == 0
    tokens = tokenizer.convert_ids_to_tokens(ids)
    assert "".join(tokens).replace("Ġ", " ") == f"{prefix}<|0.00|> &-um I want it .<|2.40|><|endoftext|>"
    (plain, _), _ = ids_of(name, "yes .")
    assert tokenizer.decode(plain) == f"{prefix}<|notimestamps|> yes .<|endoftext|>"


@needs_processors
def test_prompt_is_given_not_learned():
    (ids, given), tokenizer = ids_of("processor", "yes .", prompt="do you see it ?")
    assert tokenizer.decode(ids[:given]) == "<|startofprev|> do you see it ?"
    row = {"input_features": torch.zeros(80, 4), "tokens": ids, "given": given}
    batch = Collator(tokenizer.pad_token_id)([row])
    assert (batch["labels"][0, : given - 1] == IGNORED).all()
    assert batch["labels"][0, given] == ids[given + 1]


@needs_processors
def test_unknown_language_is_refused():
    with pytest.raises(CheckpointError, match="language 'xx'"):
        ids_of("processor", "yes .", lang="xx")


def test_collator_shifts_by_one_and_masks_padding_only():
    rows = [
        {"input_features": torch.zeros(2, 4), "tokens": [7, 1, 2, 9], "given": 0},
        {"input_features": torch.zeros(2, 4), "tokens": [7, 9], "given": 0},
    ]
    batch = Collator(9)(rows)
    assert batch["decoder_input_ids"].tolist() == [[7, 1, 2], [7, 9, 9]]
    assert batch["labels"].tolist() == [[1, 2, 9], [9, IGNORED, IGNORED]]


@needs_processors
@pytest.mark.parametrize("name", ["processor", "processor-large-v3"])
def test_features_are_the_checkpoints_own(name, tmp_path):
    samples = (0.1 * np.random.default_rng(0).standard_normal(48_000)).astype(np.float32)
    soundfile.write(tmp_path / "a.wav", samples, 16_000, subtype="FLOAT")
    manifest.write([manifest.Segment(str(tmp_path / "a.wav"), 1.0, 1.5, "yes .")], tmp_path / "t.jsonl")
    model = load(name)
    wanted = model.feature_extractor(samples[16_000:40_000], sampling_rate=16_000, return_tensors="pt")
    for cache, tolerance in ((False, 1e-6), (True, 2e-3)):
        data = WindowDataset(tmp_path / "t.jsonl", model, cache=cache)
        for _ in range(2):
            torch.testing.assert_close(data[0]["input_features"], wanted.input_features[0], rtol=0, atol=tolerance)


@needs_processors
@pytest.mark.parametrize("cache", [False, True])
def test_augmented_windows_differ_and_their_time_stamps_follow(cache, tmp_path):
    soundfile.write(tmp_path / "a.wav", 0.1 * np.random.default_rng(0).standard_normal(32_000), 16_000)
    row = manifest.Segment(str(tmp_path / "a.wav"), 0.0, 2.0, "<|0.40|>yes.<|1.60|>")
    manifest.write([row], tmp_path / "t.jsonl")
    model = load("processor")
    data = WindowDataset(tmp_path / "t.jsonl", model, cache=cache, augmentation=Augmentation(speed=0.2))
    torch.manual_seed(0)
    first, second = data[0], data[0]
    assert not torch.equal(first["input_features"], second["input_features"])
    zero = model.tokenizer.convert_tokens_to_ids("<|0.00|>")
    starts, ends = zip(*([t - zero for t in one["tokens"] if t >= zero] for one in (first, second)), strict=True)
    for start, end in zip(starts, ends, strict=True):
        assert end / start == pytest.approx(4, rel=0.1) and 20 / 1.21 <= start <= 20 / 0.79
    assert ends[0] != ends[1]
    torch.manual_seed(0)
    assert torch.equal(data[0]["input_features"], first["input_features"])


@needs_processors
def test_label_longer_than_the_decoder_is_refused(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros(16_000), 16_000)
    row = manifest.Segment(str(tmp_path / "a.wav"), 0.0, 1.0, "yes " * 500)
    manifest.write([row], tmp_path / "t.jsonl")
    with pytest.raises(ManifestError, match=r"t\.jsonl:1: a label of"):
        WindowDataset(tmp_path / "t.jsonl", load("processor"))
