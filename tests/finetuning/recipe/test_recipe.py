from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.system.shipped import NANO, shipped

GOOD = "{data: {train: t.jsonl}, out: runs/a, model: {base: m}}"
SHIPPED = sorted(Path("recipes").glob("**/*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_recipe_is_valid_and_states_its_needs(path):
    assert recipes.read_recipe(path).out
    assert path.read_text("utf-8").startswith("# For: ")


def test_shipped_recipes_are_found():
    assert {"demo-lora", "demo-full", "1-short-utterances", "whisper-large-v3-zero3-offload"} <= {
        p.stem for p in SHIPPED
    }


def test_all_problems_are_reported_at_once():
    bad = "{dta: {}, model: {base: m, scratch: {d_model: wide}}, strategy: 3, adapter: {rnak: 4}}"
    with pytest.raises(RecipeError) as caught:
        recipes.parse_recipe(bad)
    message = str(caught.value)
    for part in ("dta: unknown key (did you mean 'data'?)", "data: missing", "out: missing", "did you mean 'rank'"):
        assert part in message
    assert "d_model: expected a whole number, not 'wide'" in message and "strategy: expected text, not 3" in message
    assert message.startswith("recipe: 9 problems\n  ")


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("model.base=null", "set either base"),
        ("model.freeze_encoder=decoder", "model.freeze_encoder: expected true or false"),
        ("offload.optimizer=disk", "must be one of none"),
        ("offload.parameters=cpu", "needs strategy zero3 or fsdp2"),
        ("fsdp.sharding_strategy=hybrid_shard", "fsdp: needs strategy fsdp2"),
        ("fsdp.sharding_strategy=half", "must be one of full_shard, shard_grad_op, hybrid_shard, no_shard"),
        ("adapter.stacks=middle", "adapter.stacks: must be one of both"),
        ("adapter.quantize=3bit", "adapter.quantize: must be one of none"),
        ("adapter.dropout=1.5", "adapter.dropout: must be at least 0 and below 1"),
        ("model.top_layers=0", "model.top_layers: must be 1 or more"),
        ("loss.kl_to_base=-1", "loss.kl_to_base: must be 0 or more"),
        ("optimizer=sgd", "optimizer: must be one of adamw"),
        ("data.workers=-1", "data.workers: must be 0 or more, not -1"),
        ("model.context_s=-3", "model.context_s: must be a whole number of seconds, 1 or more, not -3"),
        ("model.context_s=2.5", "model.context_s: must be a whole number of seconds, 1 or more, not 2.5"),
        ("model.ctc_weight=-1", "model.ctc_weight: must be 0 or more, not -1"),
        ("training.data_seed=3", "training.data_seed: set seed instead"),
        ("out.x=1", "not a section"),
    ],
)
def test_invalid_values(override, problem):
    with pytest.raises(RecipeError, match=problem):
        recipes.parse_recipe(GOOD, set=[override])


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (["adapter.rank=16", "model.freeze_encoder=true"], "use adapter.stacks instead"),
        (["adapter.rank=16", "model.top_layers=2"], "leave one of the two out"),
        (["adapter.rank=16", "model.decoder_layers=4"], "model.decoder_layers: .*on that checkpoint with a second"),
        (["adapter.rank=16", "model.context_s=6"], "model.context_s: .*on that checkpoint with a second"),
        (["adapter.rank=16", "model.ctc_weight=1"], "model.ctc_weight: .*on that checkpoint with a second"),
        (["strategy=zero3", "model.decoder_layers=4"], "zero3 cannot add layers"),
        (
            [
                "model.base=null",
                "model.scratch={d_model: 8, encoder_layers: 1, decoder_layers: 1, attention_heads: 1}",
                "model.decoder_layers=4",
            ],
            "a new model has",
        ),
        (["adapter.quantize=8bit", "strategy=zero2"], "cannot shard quantized weights"),
        (["loss.kl_to_base=1", "strategy=zero3"], "cannot be evaluated under zero3"),
        (["precision=fp8", "adapter.rank=16"], "use bf16 with an adapter"),
        (["precision=pure-bf16", "strategy=zero2"], "use bf16 with zero2"),
        (["precision=pure-bf16", "strategy=ddp"], "needs strategy single; use bf16 with ddp"),
        (["precision=pure-bf16", "training.gradient_accumulation_steps=2"], "no gradients to accumulate; set it to 1"),
        (["precision=pure-bf16", "auto_micro_batch=true"], "no gradients to accumulate; leave it out"),
        (["precision=pure-bf16", "training.max_grad_norm=1"], "no gradients to clip"),
        (["precision=pure-bf16", "optimizer=adamw-8bit"], "steps with adafactor or adamw"),
        (["optimizer=adafactor", "strategy=zero3"], "has its own AdamW"),
        (["optimizer=adamw-cpu", "strategy=ddp"], "needs strategy single"),
        (["optimizer=adamw-cpu", "precision=fp16"], "cannot unscale"),
        (["optimizer=adamw-cpu", "training.max_grad_norm=1"], "cannot clip"),
        (["data.dev=d", "evaluation.generate=false"], "needs generate: true"),
        (["data.dev=d", "evaluation.patience=2", "evaluation.keep_best=false"], "needs keep_best"),
    ],
)
def test_conflicting_settings(overrides, problem):
    with pytest.raises(RecipeError, match=problem):
        recipes.parse_recipe(GOOD, set=overrides)


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("d_model=7", "d_model: must be even, 4 or more, and a multiple of the 1 attention heads, not 7"),
        ("attention_heads=3", "d_model: must be even, 4 or more, and a multiple of the 3 attention heads, not 8"),
        ("attention_heads=0", "attention_heads: must be 1 or more, not 0"),
        ("decoder_layers=0", "decoder_layers: must be 1 or more, not 0"),
        ("context_s=2.5", "context_s: must be a whole number of seconds, 1 or more, not 2.5"),
        ("vocab_size=100", "vocab_size: must be 256 or more"),
        ("dropout=1", "dropout: must be at least 0 and below 1"),
    ],
)
def test_invalid_dimensions(override, problem):
    shape = "model: {scratch: {d_model: 8, encoder_layers: 1, decoder_layers: 1, attention_heads: 1}}"
    text = GOOD.replace("model: {base: m}", shape)
    assert not list(recipes.parse_recipe(text).model.scratch.problems())
    with pytest.raises(RecipeError, match=rf"model\.scratch\.{problem}"):
        recipes.parse_recipe(text, set=[f"model.scratch.{override}"])


def test_overrides_of_a_recipe_are_validated():
    recipe = recipes.parse_recipe(GOOD, set=["adapter.target_modules=[q_proj, fc1]", "training.learning_rate=1e-5"])
    assert recipes.with_overrides(recipe, []) == recipe
    assert recipes.with_overrides(recipe, ["seed=3"]) == dataclasses.replace(recipe, seed=3)
    with pytest.raises(RecipeError, match="must be one of single"):
        recipes.with_overrides(recipe, ["strategy=zero4"])


def test_a_base_may_have_a_short_name_as_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bases = [recipes.parse_recipe(GOOD, set=[f"model.base={name}"]).model.base for name in ("large-v3", "nano", "m")]
    assert bases == ["openai/whisper-large-v3", str(shipped(NANO)), "m"]


@pytest.mark.parametrize("key", ["data.train", "out", "model.base"])
def test_the_folder_of_a_user_is_written_out(key, monkeypatch):
    """A shell replaces ``~`` only where it sees a path; here it would become a folder of that name."""
    monkeypatch.setenv("HOME", "/home/ann")
    with pytest.raises(RecipeError, match=f"{key}: ~/x: ~ is not replaced in a recipe; write /home/ann/x"):
        recipes.parse_recipe(GOOD, set=[f"{key}=~/x"])
    assert recipes.parse_recipe(GOOD, set=["out=~~/x"]).out == "~~/x"


@pytest.mark.parametrize("name", ["adapter", "evaluation"])
def test_a_section_with_nothing_under_it_is_refused(name):
    """It would be that of a recipe without the section: all weights, or no evaluation."""
    text = f"data: {{train: t}}\nout: o\nmodel: {{base: m}}\n{name}:\n"
    with pytest.raises(RecipeError, match=f"{name}: nothing stands under it; write its settings, or leave it out"):
        recipes.parse_recipe(text)
    assert recipes.parse_recipe(text, set=[f"{name}=null"]).adapter is None
    assert recipes.parse_recipe(GOOD, set=["adapter=null"]).adapter is None


def test_overrides_and_yaml_exponents_become_numbers():
    recipe = recipes.parse_recipe(GOOD, set=["training.learning_rate=1e-5", "adapter.rank=16"])
    assert recipe.training == recipes.TrainingSettings(learning_rate=1e-5)
    assert recipe.adapter == recipes.AdapterSettings(rank=16)


def test_missing_file_is_one_sentence():
    with pytest.raises(RecipeError, match=r"nowhere\.yaml: cannot be read"):
        recipes.read_recipe(Path("nowhere.yaml"))


def test_every_field_is_documented_where_it_stands():
    kinds = [each for each in vars(recipes).values() if dataclasses.is_dataclass(each)]
    assert recipes.Recipe in kinds and recipes.LossSettings in kinds
    for kind in kinds:
        source = inspect.getsource(kind).splitlines()
        for field in dataclasses.fields(kind):
            line = next(n for n, text in enumerate(source) if text.startswith(f"    {field.name}: "))
            assert source[line + 1].strip().startswith('"""'), f"{kind.__name__}.{field.name}"


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("data.task=translate", "data.task: translate is not supported: labels made from CHAT are transcripts"),
        ("data.task=sing", "data.task: must be transcribe"),
        ("data.corpora={a: {weight: 0}}", "data.corpora.a.weight: must be more than 0, not 0"),
        ("data.corpora={a: {max_hour: 2}}", "data.corpora.a.max_hour: unknown key .did you mean 'max_hours'"),
        ("data.corpora={a: 2}", "data.corpora.a: expected a mapping of keys, not 2"),
        ("training.ema_decay=1.5", "training.ema_decay"),
        ("model.attention=flash", "model.attention: must be one of sdpa, flash_attention_2, eager"),
        ("model.attention=flash_attention_2", "flash_attention_2 computes in 16 bits; use precision bf16, not fp32"),
        ("data.augment.mask_time_length=0", "mask_time_length: must be 1 or more, not 0"),
        ("adapter.second_stage=both", "adapter.second_stage: must be one of stack, continue"),
    ],
)
def test_settings_of_corpora_averages_and_stages_are_checked(override, sentence):
    with pytest.raises(RecipeError, match=sentence):
        recipes.parse_recipe("{data: {train: t}, out: o, model: {base: b}}", set=[override])


def test_corpora_and_dev_sets_are_mappings_by_name():
    recipe = recipes.parse_recipe(
        "{data: {train: t, dev: d, corpora: {a: {weight: 2}, b-c: {max_hours: 0.5}}}, out: o, model: {base: b}, "
        "evaluation: {dev_sets: {children: c.jsonl}, out_of_domain: o.jsonl}}"
    )
    assert recipe.data.corpora["a"].weight == 2 and recipe.data.corpora["b-c"].max_hours == 0.5
    assert recipe.evaluation.other_sets == {"out_of_domain": "o.jsonl", "children": "c.jsonl"}
    for wrong in ("Children", "loss", "out_of_domain", "a b"):
        with pytest.raises(RecipeError, match=r"evaluation\.dev_sets"):
            recipes.with_overrides(recipe, [f"evaluation.dev_sets={{{wrong}: x}}"])
