"""Tensor parallelism on two ranks, and stopped runs whose ranks share a model; ``test_parity.py`` trains in both."""

from __future__ import annotations

import json
import re

import pytest
import torch
from pages import text_of
from rank_work import count_step, run_ranks, train_stop_and_resume
from small_whisper import SHAPE, small_whisper
from traffic import step_traffic

from benchmarks import parity
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed import model_parallel
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.strategies import check_processes
from lsa_whisper.finetuning.workload.parameters import MicroBatch
from lsa_whisper.finetuning.workload.shape import SHAPES
from lsa_whisper.system.machine import GIB


def recipe(*settings):
    text = "{data: {train: t}, out: o, model: {base: m}, strategy: tensor_parallel, training: {use_cpu: true}}"
    return parse_recipe(text, set=settings)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (["precision=fp16"], "precision: fp16 cannot scale"),
        (["adapter.dora=true"], "adapter.dora: needs the norms"),
        (["adapter.token_embeddings=true"], "adapter.token_embeddings: tensor_parallel"),
        (["adapter.modules_to_save=[fc1]"], "adapter.modules_to_save: tensor_parallel"),
        (["strategy=ddp", "tensor_parallel=2"], "tensor_parallel: needs strategy tensor_parallel"),
        (["tensor_parallel=1"], "tensor_parallel"),
        (["training.ema_decay=0.9"], "training.ema_decay: tensor_parallel"),
    ],
)
def test_settings_that_divided_layers_exclude(settings, problem):
    with pytest.raises(RecipeError, match=problem):
        recipe(*settings)


def test_ranks_are_divided_into_those_with_the_same_windows_and_the_same_layers():
    assert model_parallel.ranks_of(recipe(), 4) == (1, 4)
    assert model_parallel.ranks_of(recipe("tensor_parallel=2"), 4) == (2, 2)
    assert (recipe().window_ranks(4), recipe("tensor_parallel=2").window_ranks(4)) == (1, 2)
    with pytest.raises(RecipeError, match=r"a multiple of that .* not 3"):
        check_processes(recipe("tensor_parallel=2"), 3)
    with pytest.raises(RecipeError, match="strategy: tensor_parallel needs several processes"):
        check_processes(recipe(), 1)


@pytest.mark.parametrize(
    ("strategy", "element", "gradient"),
    [("ddp", 2, 4), ("zero2", 2, 2), ("zero3", 2, 2), ("fsdp2", 2, 4), ("tensor_parallel", 2, 2)],
)
def test_the_page_about_strategies_states_the_formulas_figures(strategy, element, gradient):
    sent = step_traffic(strategy, SHAPES["large-v3"], MicroBatch(8, 128), element=element, gradient=gradient)
    (row,) = re.findall(rf"^\| `{strategy}` \| .* \| (\d+\.\d) \|$", text_of("docs/parallelism.md"), re.MULTILINE)
    assert row == f"{sent.sent_by_rank(4) / GIB:.1f}"


def test_a_rank_keeps_its_share_of_the_layers():
    from lsa_whisper.finetuning.workload.parameters import ParameterCounts, linear_layer_parameters

    counts = ParameterCounts.of(SHAPES["large-v3"])
    trained, total = counts.on_one_rank(4)
    assert total == counts.total - 3 * linear_layer_parameters(counts.shape) // 4
    assert trained < total < counts.total / 3
    assert counts.on_one_rank(1) == (counts.trained, counts.total)


@pytest.mark.slow
def test_a_step_sends_what_the_plan_counts(tmp_path):
    batch = {"input_features": torch.randn(2, 8, 40), "decoder_input_ids": torch.randint(0, 101, (2, 9))}
    recipes = {"tensor_parallel": recipe(), "ddp": None, "fsdp2": None}
    run_ranks(count_step, 2, recipes, small_whisper, batch, tmp_path / "counted.json")
    counted = json.loads((tmp_path / "counted.json").read_text())
    micro_batch = MicroBatch(batch=2, label_tokens=9, checkpointing=False)
    for strategy, found in counted.items():
        planned = step_traffic(strategy, SHAPE, micro_batch)
        expected = {name: value for name, value in vars(planned).items() if value}
        assert found == pytest.approx(expected, rel=1e-3), strategy  # FSDP2 pads shards to equal sizes


LOSSES = {"loss", "dev_loss", "eval_loss"}
WORD_ERRORS = {"wer_verbatim", "eval_wer_verbatim"}
FROZEN = "model.freeze_encoder=true"  # one stage then has every trained weight
DIVIDED = {
    "tensor_parallel": (6, LOSSES | WORD_ERRORS, []),
    "pipeline": (4, LOSSES | {"grad_norm"}, ["pipeline.micro_batches=2"]),
}
"""By strategy: the steps, what is compared at each of them, and the settings of the ranks alone."""


@pytest.mark.slow(minutes=0.7)
@pytest.mark.parametrize("strategy", DIVIDED)
def test_stopped_and_resumed_equals_undisturbed_and_evaluates_as_one_process(strategy, tmp_path):
    recipe, (steps, figures, own) = parity.prepare(tmp_path), DIVIDED[strategy]
    settings = [f"data.dev={tmp_path / 'train.jsonl'}", f"training.max_steps={steps}", "evaluation.batch_size=5"]
    settings += [f"evaluation.every_steps={steps // 2}", "evaluation.keep_best=true", "evaluation.plot=false"]
    settings += ["evaluation.metric=loss", *([] if figures > WORD_ERRORS else ["evaluation.generate=false", FROZEN])]
    run_ranks(train_stop_and_resume, 2, recipe, [*settings, f"strategy={strategy}", *own])
    finetune(recipe, set=settings, out=tmp_path / "one", report=lambda _: None)
    curves = {
        name: [json.loads(line) for line in (tmp_path / name / "curve.jsonl").read_text().splitlines()]
        for name in ("one", "whole", "cut")
    }
    for name in ("whole", "cut"):
        assert len(curves[name]) == len(curves["one"]) > steps
        for found, expected in zip(curves[name], curves["one"], strict=True):
            for key in expected.keys() & figures:
                assert found[key] == pytest.approx(expected[key], abs=1e-4), (name, key)
    found = parity.compare(recipe, tmp_path / "cut", tmp_path / "whole", steps=steps)
    assert found["max_abs_weight_difference"] < 1e-5
