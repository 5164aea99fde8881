"""Added decoder layers, and what a frozen encoder made of each window."""

from __future__ import annotations

import json

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.model import add_decoder_layers, prepare_for_training


@pytest.fixture
def base(tmp_path):
    return build_checkpoint(tmp_path / "base")


def logits(model, use_cache=False):
    """What the model makes of noise, step by step with the cache or at once."""
    features = torch.randn(1, 40, 800, generator=torch.Generator().manual_seed(0))
    written = torch.tensor([[1, 2, 3, 4]])
    with torch.inference_mode():
        if not use_cache:
            return model(features, decoder_input_ids=written).logits
        heard, past, found = model.model.encoder(features), None, []
        for step in written.T[:, None]:
            out = model(encoder_outputs=heard, decoder_input_ids=step, past_key_values=past, use_cache=True)
            past = out.past_key_values
            found.append(out.logits)
        return torch.cat(found, 1)


@pytest.mark.parametrize("use_cache", [False, True])
def test_new_layers_change_nothing_at_first(base, use_cache):
    model = checkpoint.load(base).model.eval()
    before = logits(model)
    model.generation_config.alignment_heads = [[1, 0]]
    add_decoder_layers(model, 4)
    assert len(model.model.decoder.layers) == model.config.decoder_layers == 4
    assert model.generation_config.alignment_heads == [[2, 0]]
    torch.testing.assert_close(logits(model, use_cache), before, rtol=0, atol=1e-5)


@pytest.mark.parametrize("layers", [1, 3])
def test_a_number_of_layers_that_is_no_multiple_is_rejected(base, layers):
    with pytest.raises(RecipeError, match=r"must be a multiple of the base's 2 layers, not \d"):
        add_decoder_layers(checkpoint.load(base).model, layers)


def test_a_recipe_trains_the_new_layers_and_saves_them(base, windows, tmp_path):
    path = tmp_path / "deep.yaml"
    path.write_text(f"""
data: {{train: {windows}}}
out: {tmp_path / "deep"}
model: {{base: {base}, decoder_layers: 4}}
training: {{use_cpu: true, max_steps: 2, per_device_train_batch_size: 2, learning_rate: 1e-3}}
""")
    trained = checkpoint.load(finetune(path, report=lambda _: None).out).model
    assert json.loads((tmp_path / "deep" / "config.json").read_text())["decoder_layers"] == 4
    assert all(layer.fc2.weight.abs().max() > 0 for layer in trained.model.decoder.layers)


@pytest.fixture
def begun(tmp_path):
    return checkpoint.load(build_checkpoint(tmp_path / "tiny"))


def recipe(data="cache: true", model="freeze_encoder: true"):
    return parse_recipe(f"data: {{train: a.jsonl, {data}}}\nout: out\nmodel: {{base: tiny, {model}}}\n")


def test_each_window_is_encoded_once_and_alike(begun):
    features = torch.randn(3, 40, 800)
    plain = begun.model.get_encoder()(features).last_hidden_state
    layer, calls = begun.model.get_encoder().layers[0], []
    layer.register_forward_hook(lambda *_: calls.append(1))
    encoder = prepare_for_training(begun, recipe()).get_encoder()
    for rows in ([0, 1], [1, 2], [2, 0]):
        assert torch.allclose(encoder(features[rows]).last_hidden_state, plain[rows], atol=1e-5)
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("data", "model"),
    [
        ("cache: false", "freeze_encoder: true"),
        ("cache: true", "top_layers: 1"),
        ("cache: true, trim: true", "freeze_encoder: true"),
        ("cache: true, augment: {mask_time_prob: 0.5}", "freeze_encoder: true"),
        ("cache: true", "freeze_encoder: true, dropout: 0.1"),
    ],
)
def test_what_changes_from_step_to_step_is_not_kept(begun, data, model):
    encoder = prepare_for_training(begun, recipe(data, model)).get_encoder()
    assert "forward" not in vars(encoder) or "Remembered" not in type(vars(encoder)["forward"]).__name__
