from __future__ import annotations

import dataclasses
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
    assert {"demo-lora", "demo-full", "nano-base", "whisper-large-v3-zero3-offload"} <= {p.stem for p in SHIPPED}


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
        ("seed", "write section.key=value"),
        ("out.x=1", "not a section"),
    ],
)
def test_contradictions(override, problem):
    with pytest.raises(RecipeError, match=problem):
        recipes.parse(GOOD, set=[override])


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
    source = Path(recipes.__file__).read_text("utf-8").splitlines()
    for kind in (
        recipes.Data,
        recipes.Scratch,
        recipes.Model,
        recipes.Adapter,
        recipes.Offload,
        recipes.Fsdp,
        recipes.Recipe,
    ):
        for field in dataclasses.fields(kind):
            line = next(n for n, text in enumerate(source) if text.startswith(f"    {field.name}: "))
            assert source[line + 1].strip().startswith('"""'), f"{kind.__name__}.{field.name}"
