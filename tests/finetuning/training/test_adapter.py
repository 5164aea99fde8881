"""Adapters of every kind: where they stand, that they are saved whole, and that merging them changes nothing.

A second stage is stacked on the merged first one, or is the same adapter trained further.
"""

from __future__ import annotations

import importlib.util
import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_whisper import build_checkpoint
from training_run import logged

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError, MissingExtraError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import AdapterSettings, ModelSettings
from lsa_whisper.finetuning.training.adapter import add_adapter, quantization_config
from lsa_whisper.finetuning.training.model import freeze_parameters
from lsa_whisper.labels import Labels

BITSANDBYTES = importlib.util.find_spec("bitsandbytes") is not None


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("base"))


def heard(model):
    torch.manual_seed(3)
    features = torch.randn(1, 40, 800)
    with torch.no_grad():
        return model.eval()(input_features=features, decoder_input_ids=torch.tensor([[300, 301, 40, 41]])).logits


def trained(base, adapter, tokens=()):
    """Return the base with an adapter none of whose matrices is still zero."""
    loaded = checkpoint.load(base)
    model = add_adapter(loaded.model, adapter, tokens)
    torch.manual_seed(1)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data += 0.02 * torch.randn_like(parameter)
    return loaded, model


def saved(loaded, model, folder):
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer, "labels": Labels("chat")}
    return checkpoint.save(folder, model=model, **parts)


@pytest.mark.parametrize(
    ("adapter", "tokens"),
    [
        (AdapterSettings(), ()),
        (AdapterSettings(dora=True), ()),
        (AdapterSettings(rank_stabilized=True, target_modules=("q_proj", "fc1"), stacks="decoder"), ()),
        (AdapterSettings(modules_to_save=("layer_norm",)), ()),
        (AdapterSettings(token_embeddings=True, stacks="encoder"), (40, 41)),
    ],
    ids=["lora", "dora", "rank-stabilized", "modules-to-save", "embeddings"],
)
def test_saved_loaded_and_merged_adapters_agree(base, tmp_path, adapter, tokens):
    from peft import PeftModel

    loaded, model = trained(base, adapter, tokens)
    before = heard(model)
    assert (before - heard(checkpoint.load(base).model)).abs().max() > 1e-3  # the adapter does something
    out = saved(loaded, model, tmp_path / "adapter")
    assert all(tensor.numel() for tensor in load_file(out / "adapter_model.safetensors").values())
    unmerged = PeftModel.from_pretrained(checkpoint.load(base).model, out)
    torch.testing.assert_close(heard(unmerged), before, rtol=0, atol=1e-6)
    torch.testing.assert_close(heard(checkpoint.load(out).model), before, rtol=0, atol=1e-5)


def test_an_incomplete_adapter_is_not_saved(base, tmp_path, monkeypatch):
    """What FSDP2 once wrote: a file, without an error, that lacked the trained matrices."""
    loaded, model = trained(base, AdapterSettings(target_modules=("q_proj",)))
    whole = type(model).save_pretrained

    def half(self, folder, **options):
        whole(self, folder, **options)
        file = folder / "adapter_model.safetensors"
        save_file({name: each for name, each in load_file(file).items() if "lora_A" in name}, file)

    monkeypatch.setattr(type(model), "save_pretrained", half)
    with pytest.raises(CheckpointError, match="lacks 6 tensors"):
        saved(loaded, model, tmp_path / "half")
    assert not (tmp_path / "half").exists()


def test_stacks(base):
    for part, other in (("encoder", "decoder"), ("decoder", "encoder")):
        names = [n for n, p in trained(base, AdapterSettings(stacks=part))[1].named_parameters() if p.requires_grad]
        assert names and all(f".{part}.layers." in n and f".{other}.layers." not in n for n in names)


def test_rank_stabilization_scales_by_the_root_of_the_rank(base):
    layers = [
        trained(base, AdapterSettings(rank=16, alpha=32, rank_stabilized=on))[1]
        .get_encoder()
        .layers[0]
        .self_attn.q_proj
        for on in (False, True)
    ]
    assert [layer.scaling["default"] for layer in layers] == [2.0, 8.0]


@pytest.mark.parametrize(
    ("adapter", "problem"),
    [
        (
            AdapterSettings(target_modules=("q_proj", "query")),
            "target_modules: no layer is named query; choose from fc1, fc2, k_proj",
        ),
        (AdapterSettings(modules_to_save=("layernorm",)), "modules_to_save: no module is named layernorm"),
    ],
)
def test_names_that_are_not_in_the_model(base, adapter, problem):
    """PEFT passes over names it does not find as long as it finds one."""
    with pytest.raises(RecipeError, match=problem):
        add_adapter(checkpoint.load(base).model, adapter)


@pytest.mark.parametrize(
    ("wanted", "free"),
    [
        (ModelSettings(freeze_encoder=True), {"decoder"}),
        (
            ModelSettings(top_layers=1),
            {"encoder.layers.1", "encoder.layer_norm", "decoder.layers.1", "decoder.layer_norm"},
        ),
        (ModelSettings(freeze_encoder=True, top_layers=1), {"decoder.layers.1", "decoder.layer_norm"}),
    ],
)
def test_partial_fine_tuning(base, wanted, free):
    model = checkpoint.load(base).model
    freeze_parameters(model, wanted)
    for name, parameter in model.named_parameters():
        inside = any(name.startswith(f"model.{part}.") for part in free)
        assert parameter.requires_grad == inside, name


@pytest.mark.skipif(BITSANDBYTES, reason="bitsandbytes is installed")
def test_a_quantized_base_without_bitsandbytes():
    with pytest.raises(MissingExtraError, match=r"needs bitsandbytes: pip install 'lsa-whisper\[quantize\]'"):
        quantization_config(AdapterSettings(quantize="4bit"), "float32")


@pytest.mark.skipif(not BITSANDBYTES, reason="bitsandbytes is not installed")
@pytest.mark.parametrize("bits", ["8bit", "4bit"])
def test_an_adapter_trains_on_a_quantized_base(windows, tmp_path, bits):
    base = build_checkpoint(tmp_path / "base", multilingual=True)
    path = tmp_path / "r.yaml"
    path.write_text(
        f"{{data: {{train: {windows}}}, out: {tmp_path / 'out'}, model: {{base: {base}}},"
        f" adapter: {{rank: 16, quantize: {bits}}}, training: {{use_cpu: true, max_steps: 8, learning_rate: 1e-2,"
        " per_device_train_batch_size: 6, logging_steps: 1}}"
    )
    out = finetune(path, report=lambda _: None).out
    losses = logged(out)
    assert losses[-1] < losses[0] - 0.1
    assert checkpoint.load(out).model.dtype is torch.float32


@pytest.fixture(scope="module")
def first(windows, tmp_path_factory):
    """The recipe's text and the folder of a first stage."""
    folder = tmp_path_factory.mktemp("first")
    base = build_checkpoint(folder / "base")
    text = f"""
data: {{train: {windows}}}
out: {folder / "group"}
model: {{base: {base}}}
adapter: {{rank: 12, alpha: 24}}
training: {{use_cpu: true, max_steps: 2, per_device_train_batch_size: 2, learning_rate: 1e-2}}
"""
    (folder / "recipe.yaml").write_text(text, "utf-8")
    finetune(folder / "recipe.yaml", report=print)
    return folder


def weight(folder):
    model = checkpoint.load(folder).model
    return model.model.decoder.layers[0].self_attn.q_proj.weight.detach()


def second(first, name, *overrides):
    settings = [f"model.base={first / 'group'}", *overrides]
    return finetune(first / "recipe.yaml", set=settings, out=first / name, report=print).out


@pytest.mark.slow
def test_a_stacked_adapter_contains_the_first_one(first):
    before, base = weight(first / "group"), weight(first / "base" / "model")
    assert not torch.allclose(before, base)
    still = second(first, "still", "training.learning_rate=0")
    torch.testing.assert_close(weight(still), before, atol=1e-6, rtol=1e-5)
    moved = weight(second(first, "speaker"))
    assert not torch.allclose(moved, before)
    assert (first / "group" / "merged" / "model.safetensors").is_file()
    written = (first / "group" / "merged" / "model.safetensors").stat().st_mtime_ns
    second(first, "other-speaker", "seed=1")
    assert (first / "group" / "merged" / "model.safetensors").stat().st_mtime_ns == written


@pytest.mark.slow
def test_a_continued_adapter_is_the_same_one_trained_further(first):
    still = second(first, "kept", "adapter.second_stage=continue", "training.learning_rate=0")
    torch.testing.assert_close(weight(still), weight(first / "group"), atol=1e-6, rtol=1e-5)
    settings = [json.loads((folder / "adapter_config.json").read_text()) for folder in (still, first / "group")]
    assert settings[0]["r"] == settings[1]["r"] == 12
    moved = second(first, "further", "adapter.second_stage=continue")
    assert not torch.allclose(weight(moved), weight(first / "group"))


def test_a_continued_adapter_keeps_its_settings(first):
    with pytest.raises(RecipeError, match="has rank 12, not 16; set the same, or stack"):
        second(first, "wider", "adapter.second_stage=continue", "adapter.rank=16")
