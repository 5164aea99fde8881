"""A strategy is one class and one row: nothing else compares names, and a new one is complete with these two."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import torch

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import estimate_memory, finetune
from lsa_whisper.finetuning.memory import Hardware, estimate_run
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.strategies import STRATEGIES, check_processes
from lsa_whisper.finetuning.strategies.single import Single

PACKAGE = Path(__file__).parents[3] / "lsa_whisper"
AMBIGUOUS = {"single", "pipeline"}
"""Names that are also plain words: compared with anything but a strategy, they are not one."""


def places_that_know_names(source):
    """Return the lines that compare a strategy with a name, and those with a collection of names."""
    nodes = [node for node in ast.walk(ast.parse(source)) if hasattr(node, "lineno")]
    return sorted({node.lineno for node in nodes if compares(node) or lists(node)})


def compares(node):
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Match):
        sides = [node.subject, *(part.value for part in ast.walk(node) if isinstance(part, ast.MatchValue))]
    else:
        return False
    of_strategy = any(getattr(side, "attr", getattr(side, "id", "")) == "strategy" for side in sides)
    return of_strategy or bool(names_in(*sides) - AMBIGUOUS)


def lists(node):
    members = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    given = [member for member in members if member is not None]
    return len(given) > 1 and len(names_in(*given)) == len(given)


def names_in(*nodes):
    inside = [part for node in nodes for part in [node, *getattr(node, "elts", ())]]
    return {part.value for part in inside if isinstance(part, ast.Constant) and part.value in STRATEGIES}


@pytest.mark.parametrize(
    "source",
    [
        "if recipe.strategy == 'single': pass",
        "if recipe.strategy not in _UNSHARDED: pass",
        "a = 'zero3' != name",
        "a = name in ('zero2', 'other')",
        "_ZERO = ('zero2', 'zero3')",
        "a = {'single': 1, 'ddp': 2}",
        "match name:\n    case 'fsdp2': pass",
    ],
)
def test_a_comparison_of_names_is_seen(source):
    assert places_that_know_names(source)


def test_only_the_strategies_compare_names():
    # In transcription, a strategy is one of finding the speakers.
    others = {PACKAGE / "finetuning" / "strategies", PACKAGE / "transcription"}
    files = [file for file in PACKAGE.rglob("*.py") if not others & {*file.parents}]
    lines = [f"{file}:{line}" for file in files for line in places_that_know_names(file.read_text("utf-8"))]
    assert len(files) > 300 and lines == []


class PlainSteps(Single):
    """One process that takes steps of plain gradient descent, without moments, on at most 8 windows at once."""

    name = "plain_steps"
    own_settings = ()
    precisions = ("fp32",)

    @property
    def rules(self):
        return ((("training",), self._batch_problems),)

    def _batch_problems(self, recipe):
        if recipe.training.per_device_train_batch_size > 8:
            yield "training.per_device_train_batch_size: plain_steps trains on 8 windows at most"

    def check_ranks(self, recipe, ranks):
        if ranks > 1:
            raise RecipeError("strategy: plain_steps has one process")

    def state_kind(self, recipe):
        return self.name

    def on_ranks(self, configuration, ranks):
        return configuration

    def buffers(self, load):
        return 7 * 2**30, 0, 0

    def optimizer_class(self, recipe, arguments):
        return torch.optim.SGD, {"lr": arguments.learning_rate}


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setitem(STRATEGIES, PlainSteps.name, PlainSteps())


def recipe(*settings):
    return parse_recipe("{data: {train: t}, out: o, model: {base: openai/whisper-tiny}}", set=settings)


def test_a_recipe_may_name_a_strategy_once_it_has_a_row(monkeypatch):
    with pytest.raises(RecipeError, match=r"strategy: must be one of single, ddp, .*, pipeline, not 'plain_steps'"):
        recipe("strategy=plain_steps")
    monkeypatch.setitem(STRATEGIES, PlainSteps.name, PlainSteps())
    assert recipe("strategy=plain_steps", "loss.kl_to_base=0.1").window_ranks(1) == 1


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("auto_micro_batch=true", "auto_micro_batch: needs strategy single; one of several ranks"),
        ("precision=bf16", "precision: bf16 needs strategy single or ddp or .*; use bf16 with plain_steps"),
        ("offload.optimizer=cpu", "offload.optimizer: cpu needs strategy zero2 or zero3"),
        ("training.per_device_train_batch_size=9", "plain_steps trains on 8 windows at most"),
    ],
)
def test_validation_asks_it(setting, problem):
    with pytest.raises(RecipeError, match=problem):
        recipe("strategy=plain_steps", setting)


@pytest.mark.usefixtures("made_up")
def test_other_strategies_messages_name_it():
    with pytest.raises(
        RecipeError, match=r"model\.decoder_layers: zero3 cannot add layers; use single or ddp or plain"
    ):
        recipe("strategy=zero3", "model.decoder_layers=8")


@pytest.mark.usefixtures("made_up")
def test_the_memory_estimate_asks_it():
    hardware = Hardware(1, 24.0)
    plain, own = (estimate_run(recipe(f"strategy={name}"), hardware).memory for name in ("single", "plain_steps"))
    assert own.buffers - plain.buffers == own.peak - plain.peak == 7 * 2**30


@pytest.mark.usefixtures("made_up")
def test_the_table_of_estimates_lists_it(monkeypatch):
    monkeypatch.setattr(PlainSteps, "precisions", ("fp32", "bf16"))
    assert "  plain_steps, bf16\n" in estimate_memory("tiny").table()
    assert "plain_steps" not in estimate_memory("tiny", gpus=2).table()


@pytest.mark.usefixtures("made_up")
def test_processes_are_checked_by_it():
    check_processes(recipe("strategy=plain_steps"), 1)
    with pytest.raises(RecipeError, match="plain_steps has one process"):
        check_processes(recipe("strategy=plain_steps"), 2)


@pytest.mark.usefixtures("made_up")
def test_it_trains(windows, scratch_recipe, tmp_path, monkeypatch):
    kinds = set()
    step = torch.optim.SGD.step
    monkeypatch.setattr(
        torch.optim.SGD, "step", lambda optimizer, *given: kinds.add(type(optimizer)) or step(optimizer)
    )
    path = tmp_path / "recipe.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out", extra="strategy: plain_steps", training="save_steps: 2"))
    run = finetune(path, report=lambda _: None)
    assert run.steps == 4 and run.loss > 0 and kinds
    record = json.loads((run.out / "lsa_whisper.json").read_text("utf-8"))["provenance"]
    assert record["recipe"]["strategy"] == "plain_steps" and checkpoint.load(run.out).context_s == 2.0


def test_heads_that_cannot_be_divided_are_named_before_any_rank_starts(tmp_path):
    config = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 12, "decoder_ffn_dim": 12}
    (tmp_path / "config.json").write_text(json.dumps(config))
    text = f"{{data: {{train: t}}, out: o, model: {{base: '{tmp_path}'}}, strategy: tensor_parallel}}"
    recipe = parse_recipe(text, set=["training.use_cpu=true"])
    check_processes(recipe, 2)
    with pytest.raises(RecipeError, match="tensor_parallel cannot divide 4 attention heads among 3 ranks"):
        check_processes(recipe, 3)


@pytest.mark.parametrize(
    ("strategy", "ranks", "said"),
    [
        ("tensor_parallel", 4, "tensor_parallel cannot divide 6 attention heads among 4 ranks"),
        ("pipeline", 9, "pipeline cannot divide 8 layers among 9 ranks"),
    ],
)
def test_a_published_model_that_cannot_be_divided_is_named_before_any_rank_starts(strategy, ranks, said):
    text = f"{{data: {{train: t}}, out: o, model: {{base: openai/whisper-tiny}}, strategy: {strategy}}}"
    sets = ["training.use_cpu=true", "training.per_device_train_batch_size=16"]
    recipe = parse_recipe(text, set=sets)
    check_processes(recipe, 2)
    with pytest.raises(RecipeError, match=said):
        check_processes(recipe, ranks)
