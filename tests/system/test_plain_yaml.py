"""YAML that means harm, or was spoilt: one clear error, at once."""

import time

import pytest
import yaml

from lsa_whisper.corpus import read_card
from lsa_whisper.errors import CorpusError, RecipeError
from lsa_whisper.finetuning import recipe
from lsa_whisper.system import plain_yaml

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
MERGES = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30))
HOSTILE = {
    "aliases of aliases": BOMB + "data: *a29\n",
    "merges of merges": MERGES + "data: *a29\n",
    "itself": "data: &d {train: *d}\n",
    "deep lists": "data: " + "[" * 100_000,
    "deep mappings": "data: " + "{a: " * 100_000,
    "deep blocks": "".join(" " * n + "a:\n" for n in range(1000)),
    "an object": "data: !!python/object/apply:os.system [true]\n",
    "a tag": "data: !!timestamp 2001-99-99\n",
    "a bad tag": "data: !!bool perhaps\n",
    "no digits": "seed: 0x_\n",
    "a long number": "seed: " + "9" * 5000 + "\n",
    "a number of base sixty": "seed: 1" + ":59" * 10_000 + "\n",
    "a list for a key": "? [a]\n: b\n",
    "control characters": "data: \x00\x07\n",
    "a lone quote": 'data: "\n',
    "tabs": "data:\n\t- a\n",
    "too much": "# " + "x" * 10_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_one_error_quickly(text, tmp_path):
    path = tmp_path / "card.yaml"
    path.write_text(text, encoding="utf-8")
    began = time.process_time()
    with pytest.raises(yaml.YAMLError):
        plain_yaml.parse(text)
    with pytest.raises(RecipeError) as said:
        recipe.read_recipe(path)
    with pytest.raises(CorpusError):
        read_card(path)
    assert time.process_time() - began < 60  # unbounded it would be hours; how fast it is, is no matter of a test
    assert len(str(said.value)) < 1000 and "\n" not in str(said.value) and "unicode string" not in str(said.value)


def test_a_file_that_is_not_utf8_or_has_no_end_is_an_error(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_bytes("data: Mädchen".encode("latin-1"))
    with pytest.raises(RecipeError, match="not UTF-8"):
        recipe.read_recipe(path)
    with pytest.raises(CorpusError, match="not UTF-8"):
        read_card(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(RecipeError):
        recipe.read_recipe(path)


def test_overrides_are_parsed_as_strictly():
    good = "{data: {train: t.jsonl}, out: runs/a, model: {base: m}}"
    for override in ("seed=[", "seed=*a", "seed=0x_", f"training.a={'[' * 10_000}"):
        with pytest.raises(RecipeError, match="--set"):
            recipe.parse_recipe(good, set=[override])
    for text in ("- a", "text", "3"):
        with pytest.raises(RecipeError, match="expected a mapping"):
            recipe.parse_recipe(text, set=["seed=3"])


def test_only_the_start_of_a_wrong_value_is_printed():
    with pytest.raises(RecipeError) as said:
        recipe.parse_recipe("{data: [" + "x, " * 10_000 + "], out: runs/a, model: {base: m}}")
    assert "expected a mapping" in str(said.value) and len(str(said.value)) < 300


def test_an_error_has_one_line_for_each_problem_for_any_keys():
    for text, override in (('{"a\\nb": 1}', "seed=1"), ("{}", "\n"), ("{}", "a\nb=1")):
        with pytest.raises(RecipeError) as said:
            recipe.parse_recipe(text, set=[override])
        first, *problems = str(said.value).split("\n")
        assert first.endswith(f": {len(problems)} problems") and all(line.startswith("  ") for line in problems)


def test_ordinary_yaml_is_parsed():
    text = "name: Ann's\nspeakers: [a, 'b', 3]\nsince: 2001-02-03\nrate: 1.5\nnone: ~\nyes: true\n"
    assert plain_yaml.parse(text) == {
        "name": "Ann's",
        "speakers": ["a", "b", 3],
        "since": "2001-02-03",
        "rate": 1.5,
        "none": None,
        True: True,
    }
    nested = "[" * 31 + "1" + "]" * 31
    assert str(plain_yaml.parse(nested)) == nested
