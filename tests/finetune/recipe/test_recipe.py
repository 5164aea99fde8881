from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune import recipe as recipes

GOOD = "{data: {train: t.jsonl}, out: runs/a, model: {base: m}}"
SHIPPED = sorted(Path("recipes").glob("**/*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_recipe_is_read_and_says_for_whom(path):
    assert recipes.read(path).out
    assert path.read_text("utf-8").startswith("# For: ")


def test_shipped_recipes_are_found():
    assert {"demo-lora", "demo-full", "1-hears", "whisper-large-v3-zero3-offload"} <= {p.stem for p in SHIPPED}


def test_all_problems_are_reported_at_once():
    bad = "{dta: {}, model: {base: m, scratch: {d_model: wide}}, strategy: 3, adapter: {rnak: 4}}"
    with pytest.raises(RecipeError) as caught:
        recipes.parse(bad)
    message = str(caught.value)
    for part in ("dta: unknown key (did you mean 'data'?)", "data: missing", "out: missing", "did you mean 'rank'"):
        assert part in message
    assert "d_model: expected int, not 'wide'" in message and "strategy: expected str, not 3" in message


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("model.base=null", "give either base"),
        ("model.train=encoder", "'all' or 'decoder'"),
        ("strategy=zero4", "one of single"),
        ("offload.optimizer=cpu", "needs strategy zero2 or zero3"),
        ("offload.optimizer=disk", "one of none"),
        ("offload.parameters=cpu", "needs strategy zero3 or fsdp2"),
        ("fsdp.shard=hybrid", "fsdp: needs strategy fsdp2"),
        ("fsdp.shard=half", "one of full, gradients, hybrid, none"),
        ("adapter.parts=middle", "adapter.parts: one of both"),
        ("adapter.quantize=3bit", "adapter.quantize: one of none"),
        ("adapter.dropout=1.5", "adapter.dropout: from 0 up to 1"),
        ("model.top_layers=0", "model.top_layers: 1 or more"),
        ("loss.smoothing=1", "loss.smoothing: from 0"),
        ("evaluation.every=10", "evaluation: needs data.dev"),
        ("evaluation.metric=bleu", "evaluation.metric: one of wer_verbatim"),
        ("precision=int8", "precision: one of fp32"),
        ("optimizer=sgd", "optimizer: one of adamw"),
        ("data.workers=-1", "data.workers: 0 or more, not -1"),
        ("model.context_s=-3", "model.context_s: whole seconds from 1 on, not -3"),
        ("model.context_s=2.5", "model.context_s: whole seconds from 1 on, not 2.5"),
        ("model.ctc_weight=-1", "model.ctc_weight: 0 or more, not -1"),
        ("training.per_device_train_batch_size=eight", "batch_size: a whole number from 1 on, not 'eight'"),
        ("training.gradient_accumulation_steps=null", "steps: a whole number from 1 on, not None"),
        ("training.output_dir=elsewhere", "training.output_dir: the recipe's out says where"),
        ("training.seed=3", "training.seed: the recipe's seed says it"),
        ("training.data_seed=3", "training.data_seed: the recipe's seed decides"),
        ("seed", "write section.key=value"),
        ("out.x=1", "not a section"),
    ],
)
def test_contradictions(override, problem):
    with pytest.raises(RecipeError, match=problem):
        recipes.parse(GOOD, set=[override])


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (["adapter.rank=16", "model.train=decoder"], "say adapter.parts instead"),
        (["adapter.rank=16", "model.top_layers=2"], "leave one of the two out"),
        (
            ["adapter.rank=16", "model.decoder_layers=4"],
            "model.decoder_layers: .*adapter on that checkpoint by a second",
        ),
        (["adapter.rank=16", "model.context_s=6"], "model.context_s: .*adapter on that checkpoint by a second"),
        (["adapter.rank=16", "model.ctc_weight=1"], "model.ctc_weight: .*adapter on that checkpoint by a second"),
        (["strategy=zero3", "model.decoder_layers=4"], "zero3 cannot add layers"),
        (
            [
                "model.base=null",
                "model.scratch={d_model: 8, encoder_layers: 1, decoder_layers: 1, heads: 1}",
                "model.decoder_layers=4",
            ],
            "new weights have",
        ),
        (["adapter.quantize=8bit", "strategy=zero2"], "cannot shard quantised weights"),
        (["loss.smoothing=0.1", "training.label_smoothing_factor=0.1"], "says it too"),
        (["loss.stay_near_base=1", "strategy=zero3"], "cannot be asked under zero3"),
        (["precision=bf16", "training.bf16=true"], "says it too"),
        (["precision=fp8", "adapter.rank=16"], "use bf16 with an adapter"),
        (["precision=pure-bf16", "strategy=zero2"], "use bf16 with zero2"),
        (["optimizer=adafactor", "training.optim=adafactor"], "says it too"),
        (["optimizer=adafactor", "strategy=zero3"], "brings its own AdamW"),
        (["optimizer=adamw-cpu", "strategy=ddp"], "for one process"),
        (["optimizer=adamw-cpu", "precision=fp16"], "loss scale"),
        (["optimizer=adamw-cpu", "training.max_grad_norm=1"], "cannot clip"),
        (["data.dev=d", "evaluation.generate=false"], "needs generate: true"),
        (["data.dev=d", "evaluation.patience=2", "evaluation.keep_best=false"], "needs keep_best"),
    ],
)
def test_settings_that_do_not_go_together(overrides, problem):
    with pytest.raises(RecipeError, match=problem):
        recipes.parse(GOOD, set=overrides)


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("d_model=7", "d_model: an even number from 4 on that its 1 heads divide, not 7"),
        ("heads=3", "d_model: an even number from 4 on that its 3 heads divide, not 8"),
        ("heads=0", "heads: 1 or more, not 0"),
        ("decoder_layers=0", "decoder_layers: 1 or more, not 0"),
        ("context_s=2.5", "context_s: whole seconds from 1 on, not 2.5"),
        ("vocabulary=100", "vocabulary: 256 or more"),
        ("dropout=1", "dropout: from 0 up to 1"),
    ],
)
def test_a_shape_that_no_model_has(override, problem):
    shape = "model: {scratch: {d_model: 8, encoder_layers: 1, decoder_layers: 1, heads: 1}}"
    text = GOOD.replace("model: {base: m}", shape)
    assert not list(recipes.parse(text).model.scratch.problems())
    with pytest.raises(RecipeError, match=rf"model\.scratch\.{problem}"):
        recipes.parse(text, set=[f"model.scratch.{override}"])


def test_a_recipe_that_is_changed_is_checked_like_one_that_is_read():
    recipe = recipes.parse(GOOD, set=["adapter.targets=[q_proj, fc1]", "training.learning_rate=1e-5"])
    assert recipes.changed(recipe, []) == recipe
    assert recipes.changed(recipe, ["seed=3"]) == dataclasses.replace(recipe, seed=3)
    with pytest.raises(RecipeError, match="one of single"):
        recipes.changed(recipe, ["strategy=zero4"])


def test_nvme_needs_a_path():
    with pytest.raises(RecipeError, match="name a folder"):
        recipes.parse(GOOD, set=["strategy=zero3", "offload.optimizer=nvme"])


def test_overrides_and_yaml_exponents_become_numbers():
    recipe = recipes.parse(GOOD, set=["training.learning_rate=1e-5", "adapter.rank=16"])
    assert recipe.training == {"learning_rate": 1e-5}
    assert recipe.adapter == recipes.Adapter(rank=16)


def test_missing_file_is_one_sentence():
    with pytest.raises(RecipeError, match=r"nowhere\.yaml: cannot be read"):
        recipes.read(Path("nowhere.yaml"))


def test_every_field_is_documented_where_it_stands():
    sections = (recipes.Adapter, recipes.Loss, recipes.Evaluation)
    kinds = (recipes.Data, recipes.Scratch, recipes.Model, recipes.Offload, recipes.Fsdp, recipes.Recipe)
    for kind in (*kinds, *sections):
        source = inspect.getsource(kind).splitlines()
        for field in dataclasses.fields(kind):
            line = next(n for n, text in enumerate(source) if text.startswith(f"    {field.name}: "))
            assert source[line + 1].strip().startswith('"""'), f"{kind.__name__}.{field.name}"
