"""What a frozen encoder makes of a window is computed once, and training goes the same way."""

from __future__ import annotations

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.model import prepare_for_training


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
