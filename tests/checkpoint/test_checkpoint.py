"""Checkpoints: what is written comes back the same, and what cannot be used is refused with a reason."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import warnings
from pathlib import Path

import pytest
import torch
from tiny_whisper import CONTEXT_S, build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.loading import quiet_transformers
from lsa_whisper.errors import CheckpointError, MissingExtraError
from lsa_whisper.labels import Labels, tokens_to_allow

PROCESSORS = Path(__file__).resolve().parents[3] / "shared" / "data" / "whisper"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("checkpoint"))


def logits(loaded):
    frames = torch.randn(1, 40, CONTEXT_S * 100, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        return loaded.model(input_features=frames, decoder_input_ids=torch.tensor([[301, 5, 6]])).logits


def test_load_reads_everything_from_the_folder(folder):
    loaded = checkpoint.load(folder)
    assert loaded.labels == Labels("chat")
    assert loaded.context_s == pytest.approx(CONTEXT_S)
    assert loaded.time_precision_s == pytest.approx(0.02)
    assert loaded.provenance == {"made": "for a test"}
    assert loaded.feature_extractor.feature_size == 40
    assert not loaded.model.training


def test_weights_that_are_read_one_at_a_time_are_the_same(folder):
    whole, one_by_one = (checkpoint.load(folder, dtype="bfloat16", by_weight=way) for way in (False, True))
    values = one_by_one.model.state_dict()
    assert all(torch.equal(values[name], tensor) for name, tensor in whole.model.state_dict().items())
    assert one_by_one.model.proj_out.weight is one_by_one.model.get_decoder().embed_tokens.weight
    assert one_by_one.model.dtype == torch.bfloat16 and not one_by_one.model.training


def test_a_folder_without_our_file_is_fluent(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "plain")
    (tmp_path / "plain" / "lsa_whisper.json").unlink()
    assert checkpoint.load(tmp_path / "plain").labels == Labels("fluent")


def test_saved_generation_settings_allow_every_chat_mark(folder):
    loaded = checkpoint.load(folder)
    settings = loaded.model.generation_config
    allowed = tokens_to_allow(loaded.tokenizer, loaded.labels)
    # The fixture suppressed "[" and "/" and the start token before saving; only the last may stay.
    assert settings.suppress_tokens == [settings.decoder_start_token_id]
    assert not allowed & set(settings.suppress_tokens)
    assert settings.alignment_heads == [[1, 0], [1, 2]]
    assert settings.no_timestamps_token_id == loaded.tokenizer.convert_tokens_to_ids("<|notimestamps|>")
    config = json.loads((folder / "config.json").read_text())
    assert not config.get("suppress_tokens") and "max_length" not in config


@pytest.mark.parametrize("name", ["processor", "processor-large-v3", "processor-tiny.en"])
def test_openai_suppression_is_lifted_for_chat_and_kept_for_the_rest(name):
    source = PROCESSORS / name
    if not (source / "generation_config.json").exists():
        pytest.skip(f"{source} is not here")
    from types import SimpleNamespace

    from transformers import AutoTokenizer, GenerationConfig

    tokenizer = AutoTokenizer.from_pretrained(source)
    before = GenerationConfig.from_pretrained(source)
    config = SimpleNamespace(max_target_positions=448, decoder_start_token_id=1, eos_token_id=2, pad_token_id=2)
    model = SimpleNamespace(generation_config=before, config=config)
    after = checkpoint.fit_generation_config(model, tokenizer, Labels("chat"))
    allowed = tokens_to_allow(tokenizer, Labels("chat"))
    assert allowed & set(before.suppress_tokens)
    assert set(after.suppress_tokens) == set(before.suppress_tokens) - allowed
    assert after.eos_token_id in after.begin_suppress_tokens
    assert after.alignment_heads == before.alignment_heads
    assert after.no_timestamps_token_id == before.no_timestamps_token_id
    assert len(before.suppress_tokens) > len(after.suppress_tokens)
    prompt = checkpoint.decoder_prompt(tokenizer, after, language="en")
    expected = ["<|startoftranscript|>"] + ([] if name.endswith(".en") else ["<|en|>", "<|transcribe|>"])
    assert tokenizer.convert_ids_to_tokens(prompt) == expected
    assert checkpoint.timestamp_tokens(tokenizer)[tokenizer.convert_tokens_to_ids("<|7.44|>")] == 7.44


def test_a_round_trip_keeps_logits_and_text(folder, tmp_path):
    loaded = checkpoint.load(folder)
    out = checkpoint.export(loaded, tmp_path / "export")
    again = checkpoint.load(out)
    assert torch.equal(logits(again), logits(loaded))
    assert again.labels == loaded.labels
    assert again.provenance["exported_from"] == folder.name
    assert checkpoint.digest(out) == checkpoint.digest(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"export"}
    expected = {"config.json", "generation_config.json", "model.safetensors", "preprocessor_config.json"}
    assert expected | {"tokenizer.json", "lsa_whisper.json"} <= {path.name for path in out.iterdir()}


@pytest.mark.parametrize("to", ["hf", "ct2", "ggml"])
def test_export_does_not_replace_what_it_exports(folder, tmp_path, monkeypatch, to):
    """An adapter would be gone once it is merged, and trained weights once they are of eight bits."""
    monkeypatch.chdir(folder.parent)
    before = checkpoint.digest(folder)
    for source in (folder, checkpoint.load(folder)):
        with pytest.raises(CheckpointError, match="is the checkpoint itself"):
            checkpoint.export(source, folder.name, to=to)
    assert checkpoint.digest(folder) == before


def test_a_folder_of_something_else_is_refused_before_a_model_is_loaded(folder, tmp_path, monkeypatch):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    for module in ("exporting", "merging"):
        monkeypatch.setattr(f"lsa_whisper.checkpoint.{module}.load", lambda *_, **__: pytest.fail("a model is loaded"))
    for write in (lambda out: checkpoint.export(folder, out), lambda out: checkpoint.merge([folder, "other"], out)):
        with pytest.raises(CheckpointError, match="photos: exists and is not a checkpoint"):
            write(tmp_path / "photos")


def test_export_finds_weights_that_changed_on_the_way(folder, tmp_path, monkeypatch):
    from lsa_whisper.checkpoint import exporting

    loaded = checkpoint.load(folder)

    def damaged(path, **options):
        again = checkpoint.load(path, **options)
        with torch.no_grad():
            again.model.model.decoder.layer_norm.bias.add_(0.1)
        return again

    monkeypatch.setattr(exporting, "load", damaged)
    with pytest.raises(CheckpointError, match="differs"):
        checkpoint.export(loaded, tmp_path / "export")
    assert not list(tmp_path.iterdir())


def test_export_writes_the_vocabulary_as_transformers_4_reads_it(folder, tmp_path):
    from tokenizers.models import BPE

    out = checkpoint.export(folder, tmp_path / "out")
    whole = json.loads((out / "tokenizer.json").read_text("utf-8"))
    vocabulary, merges = BPE.read_file(str(out / "vocab.json"), str(out / "merges.txt"))
    assert vocabulary == whole["model"]["vocab"]
    assert [list(merge) for merge in merges] == whole["model"]["merges"]
    added = json.loads((out / "added_tokens.json").read_text("utf-8"))
    assert added == {token["content"]: token["id"] for token in whole["added_tokens"]}


def test_export_to_ctranslate2_names_the_extra(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(MissingExtraError, match=r"lsa-whisper\[ct2\]"):
        checkpoint.export(checkpoint.load(folder), tmp_path / "out", to="ct2")
    with pytest.raises(CheckpointError, match="choose hf, ct2, ggml"):
        checkpoint.export(checkpoint.load(folder), tmp_path / "out", to="onnx")
    assert not list(tmp_path.iterdir())


def adapter(folder, out):
    """Write an adapter whose effect is not nothing, and return its folder."""
    from peft import LoraConfig, get_peft_model

    loaded = checkpoint.load(folder)
    model = get_peft_model(loaded.model, LoraConfig(r=2, target_modules=["q_proj", "v_proj"]))
    torch.manual_seed(3)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.normal_()
    model.peft_config["default"].base_model_name_or_path = str(folder)
    expected = logits(type(loaded)(str(folder), model.eval(), *[None] * 3))
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer}
    return checkpoint.save(out, model=model, labels=Labels("verbatim"), **parts), expected


def test_an_adapter_folder_loads_merged(folder, tmp_path):
    out, expected = adapter(folder, tmp_path / "adapter")
    assert not (out / "model.safetensors").exists()
    loaded = checkpoint.load(out)
    assert torch.allclose(logits(loaded), expected, atol=1e-4)
    assert (logits(checkpoint.load(folder)) - expected).abs().max() > 1e-2
    assert loaded.labels == Labels("verbatim")
    merged = checkpoint.export(loaded, tmp_path / "merged")
    assert torch.allclose(logits(checkpoint.load(merged)), expected, atol=1e-4)
    assert not (merged / "adapter_config.json").exists()


def test_an_adapter_without_its_base_is_an_error(folder, tmp_path):
    out, _ = adapter(folder, tmp_path / "adapter")
    settings = json.loads((out / "adapter_config.json").read_text())
    settings["base_model_name_or_path"] = str(tmp_path / "gone" / "base")
    (out / "adapter_config.json").write_text(json.dumps(settings))
    weights = json.loads((out / "lsa_whisper.json").read_text())["base"]["weights_sha256"][:12]
    with pytest.raises(CheckpointError, match=rf"gone/base does not exist \(weights {weights}\).*set base_model_name"):
        checkpoint.load(out)


def test_devices_and_numbers_that_are_not_there_are_refused(folder):
    with pytest.raises(CheckpointError, match="float8"):
        checkpoint.load(folder, dtype="float8")
    with pytest.raises(CheckpointError, match="device 'nowhere' cannot be used"):
        checkpoint.load(folder, device="nowhere")
    half = checkpoint.load(folder, dtype="bfloat16")
    assert half.model.dtype == torch.bfloat16


def test_a_missing_tensor_is_not_made_up(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, tmp_path / "holed")
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.decoder.layers.1.fc1.weight"]
    save_file(tensors, tmp_path / "holed" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"1 tensors are missing, first model\.decoder\.layers\.1\.fc1\.weight"):
        checkpoint.load(tmp_path / "holed")


def test_save_is_whole_or_not_at_all(folder, tmp_path):
    loaded = checkpoint.load(folder)
    parts = {"feature_extractor": loaded.feature_extractor, "labels": loaded.labels, "model": loaded.model}

    class Broken:
        def get_added_vocab(self):
            return loaded.tokenizer.get_added_vocab()

        def encode(self, *args, **options):
            return loaded.tokenizer.encode(*args, **options)

        def save_pretrained(self, out):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(tmp_path / "out", tokenizer=Broken(), **parts)
    assert not list(tmp_path.iterdir())
    first = checkpoint.save(tmp_path / "out", tokenizer=loaded.tokenizer, **parts)
    (first / "note.txt").write_text("from before")
    checkpoint.save(tmp_path / "out", tokenizer=loaded.tokenizer, **parts)
    assert not (first / "note.txt").exists() and {path.name for path in tmp_path.iterdir()} == {"out"}


def test_save_leaves_other_folders_alone(folder, tmp_path):
    loaded = checkpoint.load(folder)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        checkpoint.export(loaded, tmp_path / "photos")
    assert (tmp_path / "photos" / "cat.jpg").exists()


def test_empty_tensors_are_not_saved(folder, tmp_path):
    loaded = checkpoint.load(folder)
    layer = loaded.model.model.decoder.layers[0].fc1
    layer.weight = torch.nn.Parameter(torch.empty(0))
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer, "labels": loaded.labels}
    with pytest.raises(CheckpointError, match="empty"):
        checkpoint.save(tmp_path / "out", model=loaded.model, **parts)
    assert not list(tmp_path.iterdir())


def test_the_digest_follows_content_not_names(folder, tmp_path):
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert checkpoint.digest(copy) == checkpoint.digest(folder)
    ours = json.loads((copy / "lsa_whisper.json").read_text())
    ours["labels"]["style"] = "verbatim"
    (copy / "lsa_whisper.json").write_text(json.dumps(ours))
    assert checkpoint.digest(copy) != checkpoint.digest(folder)
    assert checkpoint.digest("owner/model") == "hub:owner/model"


def test_a_multilingual_prompt_names_language_and_task(tmp_path):
    loaded = checkpoint.load(build_checkpoint(tmp_path, languages=("en", "es"), multilingual=True))
    settings = loaded.model.generation_config
    prompt = checkpoint.decoder_prompt(loaded.tokenizer, settings, language="es", with_timestamps=False)
    expected = ["<|startoftranscript|>", "<|es|>", "<|transcribe|>", "<|notimestamps|>"]
    assert loaded.tokenizer.convert_ids_to_tokens(prompt) == expected
    with pytest.raises(CheckpointError, match="'it'"):
        checkpoint.decoder_prompt(loaded.tokenizer, settings, language="it")


def test_messages_of_libraries_are_kept_from_a_person(caplog, recwarn):
    with quiet_transformers():
        logging.getLogger("DeepSpeed").warning("Setting accelerator to CPU")
        warnings.warn("use dtype", FutureWarning, stacklevel=1)
    assert not caplog.records and not recwarn.list
    logging.getLogger("DeepSpeed").warning("again")
    assert [record.getMessage() for record in caplog.records] == ["again"]
