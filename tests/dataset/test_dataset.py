from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch

from lsa_whisper import manifest
from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.dataset import IGNORE_INDEX, Collator, LabelEncoder, StepIndex, WindowDataset
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
    return LabelEncoder(model.tokenizer, model.model.generation_config).encode(text, **options), model.tokenizer


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
def test_prompt_tokens_are_not_trained():
    (ids, given), tokenizer = ids_of("processor", "yes .", prompt="do you see it ?")
    assert tokenizer.decode(ids[:given]) == "<|startofprev|> do you see it ?"
    row = {"input_features": torch.zeros(80, 4), "tokens": ids, "prompt_length": given}
    batch = Collator(tokenizer.pad_token_id)([row])
    assert (batch["labels"][0, : given - 1] == IGNORE_INDEX).all()
    assert batch["labels"][0, given] == ids[given + 1]


@needs_processors
def test_unknown_language_is_refused():
    with pytest.raises(CheckpointError, match="language 'xx'"):
        ids_of("processor", "yes .", lang="xx")


def test_collator_shifts_by_one_and_masks_padding_only():
    rows = [
        {"input_features": torch.zeros(2, 4), "tokens": [7, 1, 2, 9], "prompt_length": 0},
        {"input_features": torch.zeros(2, 4), "tokens": [7, 9], "prompt_length": 0},
    ]
    batch = Collator(9)(rows)
    assert batch["decoder_input_ids"].tolist() == [[7, 1, 2], [7, 9, 9]]
    assert batch["labels"].tolist() == [[1, 2, 9], [9, IGNORE_INDEX, IGNORE_INDEX]]


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
    data = WindowDataset(tmp_path / "t.jsonl", model, cache=cache, augmentation=Augmentation(speed_perturbation=0.2))
    first, second = data[0], data[0 + len(data)]  # the same window in the first two epochs
    assert not torch.equal(first["input_features"], second["input_features"])
    zero = model.tokenizer.convert_tokens_to_ids("<|0.00|>")
    starts, ends = zip(*([t - zero for t in one["tokens"] if t >= zero] for one in (first, second)), strict=True)
    for start, end in zip(starts, ends, strict=True):
        assert end / start == pytest.approx(4, rel=0.1) and 20 / 1.21 <= start <= 20 / 0.79
    assert ends[0] != ends[1]
    assert torch.equal(data[0]["input_features"], first["input_features"])


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """A manifest of five windows of noise, 0.5 to 2.5 s long, of one recording."""
    folder = tmp_path_factory.mktemp("recordings")
    soundfile.write(folder / "a.wav", 0.1 * np.random.default_rng(0).standard_normal(48_000), 16_000)
    rows = [
        manifest.Segment(
            str(folder / "a.wav"), 0.1 * number, 0.5 + 0.5 * number, "<|0.10|>yes / yes.<|0.40|>" + " no" * number
        )
        for number in range(5)
    ]
    manifest.write(rows, folder / "train.jsonl")
    return folder / "train.jsonl"


def small(mels=80, context_s=4.0):
    """A checkpoint with features and tokenizer built here, and no weights."""
    from lsa_whisper.finetuning.recipe import ScratchModel
    from lsa_whisper.finetuning.training import model as scratch

    shape = ScratchModel(16, 1, 1, 2, mel_bins=mels, context_s=context_s, max_target_positions=64)
    tokenizer = scratch.new_tokenizer([" yes / yes. no"], 300, context_s)
    model = scratch.new_model(shape, tokenizer)
    return Checkpoint("", model, scratch.new_feature_extractor(shape), tokenizer, Labels())


@pytest.mark.parametrize("mels", [80, 128])
def test_features_of_either_size_are_those_of_transformers(recordings, mels):
    from transformers import WhisperFeatureExtractor

    samples, _ = soundfile.read(recordings.parent / "a.wav", dtype="float32")
    wanted = WhisperFeatureExtractor(feature_size=mels, chunk_length=4)(samples[3200:27_200], sampling_rate=16_000)
    features = WindowDataset(recordings, small(mels))[2]["input_features"]
    assert features.shape == (mels, 400)
    torch.testing.assert_close(features.numpy(), wanted.input_features[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("trim", [False, True])
def test_worker_processes_make_the_same_batches(recordings, trim):
    data = WindowDataset(recordings, small(), trim=trim)
    settings = {"batch_size": 2, "collate_fn": Collator(0)}
    alone = list(torch.utils.data.DataLoader(data, **settings))
    shared = list(torch.utils.data.DataLoader(data, num_workers=2, **settings))
    assert len(alone) == len(shared) == 3
    for one, two in zip(alone, shared, strict=True):
        assert all(torch.equal(one[key], two[key]) for key in one)


def test_a_trimmed_batch_ends_a_second_after_the_sound_of_its_longest_window(recordings):
    whole, trimmed = (WindowDataset(recordings, small(), trim=trim) for trim in (False, True))
    for rows, frames in (((0,), 152), ((0, 3), 302), ((1, 4), 352)):
        batch = Collator(0)([trimmed[row] for row in rows])["input_features"]
        wanted = torch.stack([whole[row]["input_features"] for row in rows])
        assert batch.shape[-1] == frames and torch.equal(batch, wanted[..., :frames])
    silence = whole[4]["input_features"][:, 252:]
    assert (silence == silence.min()).all() and (whole[4]["input_features"][:, 250] > silence.min()).any()


def test_a_trimmed_batch_is_as_long_as_the_augmented_sound(recordings):
    data = WindowDataset(recordings, small(), trim=True, augmentation=Augmentation(speed_perturbation=0.4))
    for row in [data[3 + epoch * len(data)] for epoch in range(10)]:
        sound = (row["input_features"] > row["input_features"].min()).any(0).nonzero().max()
        assert abs(row["frames"] - 1 - sound) <= 2
        frames = Collator(0)([row])["input_features"].shape[-1]
        assert frames == 400 or frames - row["frames"] in (100, 101)


def test_a_window_of_a_step_is_cut_at_the_length_of_the_step_in_worker_processes_too(recordings):
    data = WindowDataset(recordings, small(), trim=True)
    step = [StepIndex(index, 251) for index in range(4)]
    assert [pickle.loads(pickle.dumps(index)).frames for index in step] == [251] * 4
    settings = {"sampler": step, "batch_size": 2, "collate_fn": Collator(0), "num_workers": 1}
    batches = list(torch.utils.data.DataLoader(data, **settings))
    assert [batch["input_features"].shape[-1] for batch in batches] == [352, 352]


@pytest.mark.parametrize("speed", [0.0, 0.4])
def test_the_frames_of_an_item_are_known_before_it_is_read(recordings, speed):
    data = WindowDataset(recordings, small(), trim=True, augmentation=Augmentation(speed_perturbation=speed))
    for index in range(3 * len(data)):
        assert abs(data.frames(index) - data[index]["frames"]) <= (1 if speed else 0)


def test_no_label_has_more_tokens_than_it_was_thought_to_have_at_most():
    made = small()
    labels = LabelEncoder(made.tokenizer, made.model.generation_config)
    for text in ("", "no", "ʃ日本", "<|0.10|>q<|0.20|>", "<|0.10|> q <|0.20|>  <|0.30|>é<|0.40|>"):
        for prompt in ("", "zz 日 ?"):
            assert (
                len(labels.encode(text, prompt=prompt)[0]) <= labels.max_tokens(text, prompt) <= len(text.encode()) + 20
            )


def test_a_label_longer_than_the_decoder_is_refused_before_training(recordings):
    rows = [dataclasses.replace(row, text="no zebra " * 20) for row in manifest.read(recordings)[:3]]
    rows[0] = dataclasses.replace(rows[0], text="yes")
    long = recordings.with_name("long.jsonl")
    manifest.write(rows, long)
    with pytest.raises(ManifestError, match=r"row 2: a label of \d+ tokens, but the decoder has 64 positions"):
        WindowDataset(long, small())


def test_rows_can_be_chosen(windows_of_noise):
    """A subset keeps its own durations."""
    path, loaded = windows_of_noise
    kept = WindowDataset(path, loaded, keep=[2, 0])
    whole = WindowDataset(path, loaded)
    assert kept.durations.tolist() == whole.durations[[2, 0]].tolist() and len(kept) == 2
    assert kept.segment(0) == whole.segment(2) and kept[0]["tokens"] == whole[2]["tokens"]


@pytest.fixture
def windows_of_noise(tmp_path):
    """A manifest of three windows and the checkpoint of a tiny model."""
    from tiny_whisper import build_checkpoint

    from lsa_whisper import checkpoint

    soundfile.write(tmp_path / "a.wav", 0.1 * np.random.default_rng(0).standard_normal(16_000 * 4), 16_000)
    rows = [manifest.Segment(str(tmp_path / "a.wav"), 0.5 * n, 1.0 + 0.25 * n, "I want it .") for n in range(3)]
    manifest.write(rows, tmp_path / "train.jsonl")
    return tmp_path / "train.jsonl", checkpoint.load(build_checkpoint(tmp_path / "tiny"))
