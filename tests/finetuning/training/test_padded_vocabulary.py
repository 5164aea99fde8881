from __future__ import annotations

import json

import pytest
import torch

from benchmarks import parity
from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.padded_vocabulary import MULTIPLE, pad_vocabulary

PADDED = "model.pad_vocabulary=true"


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return parity.prepare(tmp_path_factory.mktemp("padded"))


def test_the_model_computes_the_same_and_loads_weights_without_padding(recipe):
    model = checkpoint.load(recipe.parent / "base" / "model").model.eval()
    given = {"input_features": torch.randn(1, 40, 800), "decoder_input_ids": torch.tensor([[1, 2, 3]])}
    before, weights = model(**given).logits, {name: value.clone() for name, value in model.state_dict().items()}
    assert model.config.vocab_size % MULTIPLE
    pad_vocabulary(model)
    assert model.proj_out.weight is model.get_input_embeddings().weight
    assert len(model.proj_out.weight) % MULTIPLE == 0
    torch.testing.assert_close(model(**given).logits, before)
    torch.nn.init.zeros_(model.proj_out.weight)
    model.load_state_dict(weights)
    torch.testing.assert_close(model(**given).logits, before)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", parity.ADAPTERS)
def test_a_run_resumes_and_saves_what_it_does_without_padding(recipe, adapter):
    settings = ["training.max_steps=4", f"data.dev={recipe.parent / 'train.jsonl'}", *parity.ADAPTERS[adapter]]
    settings += ["evaluation.every_steps=2", "evaluation.metric=loss", "evaluation.generate=false"]
    outs = [recipe.parent / f"{name}-{adapter}" for name in ("plain", "padded")]

    def stop_at_three(line):
        if line.startswith("step 3/"):
            raise KeyError

    finetune(recipe, set=settings, out=outs[0], report=lambda _: None)
    with pytest.raises(KeyError):
        finetune(recipe, set=[*settings, PADDED], out=outs[1], report=stop_at_three)
    finetune(recipe, set=[*settings, PADDED], out=outs[1], report=lambda _: None)
    assert parity.losses(outs[1]) == pytest.approx(parity.losses(outs[0]), abs=1e-5)
    plain, padded = (checkpoint.load(out).model.state_dict() for out in outs)
    assert plain.keys() == padded.keys()
    for name, value in plain.items():
        torch.testing.assert_close(padded[name], value, atol=1e-4, rtol=1e-3)
    if adapter == "full":
        assert json.loads((outs[1] / "config.json").read_text())["vocab_size"] == len(padded["proj_out.weight"])


def test_single_trained_embeddings_exclude_padding():
    with pytest.raises(RecipeError, match=r"pad_vocabulary: adapter\.token_embeddings"):
        parse_recipe("{data: {train: t}, out: o, model: {base: m}}", set=[PADDED, "adapter.token_embeddings=true"])
