"""Stages of a pipeline on two ranks; ``test_parity.py`` and ``test_model_parallel.py`` train and resume in them."""

from __future__ import annotations

import json
import re

import pytest
import torch
from pages import text_of
from rank_work import run_ranks, train_one_step_in_stages
from small_whisper import SHAPE, small_whisper
from traffic import step_traffic

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.division import is_on_other_ranks
from lsa_whisper.finetuning.distributed.model_parallel import keep_weights_of, stages_of
from lsa_whisper.finetuning.memory import Hardware
from lsa_whisper.finetuning.memory.plan import TrainingJob
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.strategies import check_processes
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch
from lsa_whisper.finetuning.workload.shape import SHAPES
from lsa_whisper.finetuning.workload.stages import idle_share, layer_costs, stage_layers, stage_parts
from lsa_whisper.system.machine import GIB


def recipe(*settings):
    text = "{data: {train: t, dev: d}, out: o, model: {base: m}, strategy: pipeline, training: {use_cpu: true}}"
    return parse_recipe(text, set=settings)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (["precision=fp16"], "precision: fp16 cannot scale"),
        (["precision=fp8"], "precision: fp8 needs strategy"),
        (["tensor_parallel=2"], "tensor_parallel: needs strategy tensor_parallel"),
        (["strategy=ddp", "pipeline.schedule=gpipe"], "pipeline: needs strategy pipeline"),
        (["pipeline.schedule=dual"], "pipeline.schedule: must be one of 1f1b, gpipe"),
        (["pipeline.micro_batches=0"], "pipeline.micro_batches: must be 1 or more"),
        (["pipeline.micro_batches=9"], "pipeline.micro_batches: 9 need as many windows"),
        (["adapter.quantize=4bit"], "adapter.quantize: pipeline cannot shard"),
        (["adapter.token_embeddings=true"], "adapter.token_embeddings: pipeline"),
        (["model.ctc_weight=0.3"], "model.ctc_weight: pipeline does not"),
        (["model.decoder_layers=4"], "model.decoder_layers: pipeline cannot"),
        (["loss.kl_to_base=0.1"], "loss.kl_to_base: the base cannot"),
        (["evaluation.every_steps=5"], "evaluation.generate: under pipeline"),
        (["training.ema_decay=0.9"], "training.ema_decay: pipeline"),
        (["optimizer=adafactor"], "optimizer: pipeline"),
        (["offload.optimizer=cpu"], "offload.optimizer: cpu needs"),
    ],
)
def test_settings_that_stages_exclude(settings, problem):
    with pytest.raises(RecipeError, match=problem):
        recipe(*settings)


def test_every_stage_needs_a_micro_batch_and_a_layer():
    for ranks in (2, 12):
        check_processes(recipe(), ranks)
    check_processes(recipe("pipeline.schedule=gpipe", "pipeline.micro_batches=2"), 4)
    with pytest.raises(RecipeError, match="1f1b needs one for each of the 4 stages at least, not 2"):
        check_processes(recipe("pipeline.micro_batches=2"), 4)
    with pytest.raises(RecipeError, match="strategy: pipeline needs several processes"):
        check_processes(recipe(), 1)
    with pytest.raises(RecipeError, match="cannot divide 5 layers among 6 ranks"):
        stage_layers(SHAPE, 6)
    assert recipe().window_ranks(4) == 1


@pytest.mark.parametrize("sizes", [(5,), (2, 3), (1, 2, 2), (1, 1, 1, 1, 1)])
def test_stages_one_after_the_other_compute_what_the_model_does(sizes):
    model = small_whisper().eval()
    stages = stages_of(model, sizes)
    features, tokens = torch.randn(2, 8, 40), torch.randint(0, 101, (2, 9))
    passed = (features,)
    with torch.no_grad():
        for stage in stages:
            found = stage.eval()(*passed, decoder_input_ids=tokens)
            passed = found if isinstance(found, tuple) else (found,)
        assert torch.equal(found, model(input_features=features, decoder_input_ids=tokens).logits)
    weights = [weight for stage in stages for weight in stage.parameters()]
    table = model.proj_out.weight
    assert {id(weight) for weight in weights} == {id(weight) for weight in model.parameters()}
    assert len(weights) == len(set(map(id, weights))) + (stages[-1].starts_decoder is False)
    keep_weights_of(stages[0], model)
    assert all(
        is_on_other_ranks(weight) == (weight not in set(stages[0].parameters())) for weight in model.parameters()
    )
    assert is_on_other_ranks(table) == (not stages[0].starts_decoder)


def test_stages_take_about_as_long_and_wait_as_the_formula_says():
    shape = SHAPES["large-v3"]
    costs, sizes = layer_costs(shape), stage_layers(shape, 4)
    times = [sum(costs[sum(sizes[:n]) : sum(sizes[: n + 1])]) for n in range(4)]
    assert max(times) < 1.1 * sum(times) / 4
    assert idle_share(shape, 4, 8) == pytest.approx(1 - 8 * sum(times) / (4 * 11 * max(times)))
    assert idle_share(shape, 1, 4) == 0
    parts = stage_parts(shape, 4)
    table = shape.count("decoder.embed_tokens")
    assert sum(part.parameters(shape) for part in stage_parts(shape, 2)) == pytest.approx(shape.parameters, rel=1e-4)
    apart = [part for part in stage_parts(SHAPE, 4) if part.starts_decoder or part.is_last]
    assert len(apart) == 2 and sum(part.decoder_layers for part in parts) == 32
    assert max(part.parameters(shape) for part in parts) > table


def test_a_plan_counts_the_largest_stage_and_the_waiting():
    job = TrainingJob(SHAPES["large-v3"], Hardware(4, 24.0))
    alone, plan = (
        job.plan(TrainingConfiguration(strategy, stages=stages), MicroBatch(batch=8))
        for strategy, stages in (("single", 1), ("pipeline", 4))
    )
    assert plan.name == f"pipeline 4, bf16, {100 * idle_share(job.shape, 4, 8):.0f} % idle"
    assert 1 / 4 < plan.memory.optimizer / alone.memory.optimizer < 2 / 3
    more = job.plan(plan.configuration, MicroBatch(batch=32))
    assert more.memory.activations == plan.memory.activations  # no more micro-batches at once than stages
    assert more.idle_share < plan.idle_share


def test_the_page_about_strategies_states_the_figures():
    shape, page = SHAPES["large-v3"], text_of("docs/parallelism.md")
    sent = step_traffic("pipeline", shape, MicroBatch(8, 128), stages=4).sent_by_rank(4) / GIB
    (row,) = re.findall(r"^\| `pipeline` \| .* \| (\d+\.\d) \|$", page, re.MULTILINE)
    assert row == f"{sent:.1f}"
    for parts in (4, 8, 32):
        assert (
            f"| {parts} | {100 * idle_share(shape, 2, parts):.0f} % | {100 * idle_share(shape, 4, parts):.0f} % |"
            in page
        )
    last = stage_parts(shape, 4)[-1].parameters(shape) / shape.parameters
    assert f"the last of four stages has {100 * last:.0f} %" in " ".join(page.split())


@pytest.mark.slow
def test_a_step_in_stages_gives_the_gradients_of_the_model_and_sends_what_the_plan_counts(tmp_path):
    batch = {"input_features": torch.randn(3, 8, 40), "decoder_input_ids": torch.randint(0, 101, (3, 9))}
    batch["labels"] = torch.randint(0, 101, (3, 9))
    cases = {"border": ((2, 3), False), "inside": ((3, 2), False), "frozen": ((2, 3), True)}
    run_ranks(train_one_step_in_stages, 2, recipe("pipeline.micro_batches=2"), small_whisper, batch, cases, tmp_path)
    counted = {
        name: sum(json.loads((tmp_path / f"{name}-{rank}.json").read_text()) for rank in range(2)) for name in cases
    }
    frames, tokens, filled = 20 * 32 * 4, 9 * 32 * 4, 4  # a window is repeated to fill two micro-batches of two
    assert counted["border"] == 2 * filled * frames
    assert counted["inside"] == 2 * filled * (frames + tokens) + 2 * 101 * 32 * 4
    assert counted["frozen"] == filled * frames
    assert stage_layers(SHAPE, 2) == (3, 2)
    assert step_traffic("pipeline", SHAPE, MicroBatch(filled, 9), stages=2).passed == counted["inside"]
