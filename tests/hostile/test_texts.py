"""YAML, JSON and tables that would fill memory or the stack: one sentence, quickly."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path

import pytest

import lsa_whisper
from lsa_whisper import manifest
from lsa_whisper.corpus import read_card
from lsa_whisper.decoding.confidences import load_calibration
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import CheckpointError, CorpusError, LsaWhisperError, ManifestError, RecipeError
from lsa_whisper.finetuning import recipe
from lsa_whisper.finetuning.compare_runs.training_runs import read_run
from lsa_whisper.transcription.assembly.speaker_turns import read_turns

ROW = '{"audio_filepath": "a.wav", "offset": 0, "duration": 1, "text": "a"'
BOMBS = {
    "deep": "[" * 1_000_000,
    "just too deep": f'{ROW}, "extra": {"[" * 64}{"]" * 64}}}',
    "deep objects": '{"a":' * 1_000_000,
    "many digits": '{"offset": ' + "9" * 1_000_000 + "}",
    "a large number": f'{ROW}, "offset": 1{"0" * 400}}}',
    "beyond any recording": f'{ROW}, "offset": 1e300}}',
    "no number": f'{ROW}, "duration": NaN}}',
    "infinite": f'{ROW}, "duration": 1e999}}',
    "a truth value": f'{ROW}, "duration": true}}',
    "a list for a text": f'{ROW}, "speaker": {json.dumps([0] * 100_000)}}}',
    "ten million characters": f'{ROW}, "speaker": "{"x" * 10_000_000}"}}',
    "ten million spaces": " " * 10_000_000,
    "no line end": "x" * 10_000_000,
}


@pytest.fixture(autouse=True)
def quick():
    """Unbounded it would be hours; how fast it is, is not a matter for a test."""
    began = time.process_time()
    yield
    assert time.process_time() - began < 60


@pytest.mark.parametrize("name", BOMBS)
def test_manifest_lines(tmp_path, name):
    path = tmp_path / "train.jsonl"
    path.write_text(f"{ROW}}}\n{BOMBS[name]}\n")
    with pytest.raises(ManifestError) as said:
        manifest.read(path)
    assert f"{path}:2: " in str(said.value) and len(str(said.value)) < 400 and "\n" not in str(said.value)


def test_a_long_row_is_read(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(f'{ROW}, "prompt": "{"x" * 100_000}"}}\n')
    assert len(manifest.read(path)[0].prompt) == 100_000


ANCHORS = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
)


@pytest.mark.parametrize(
    "text",
    [
        ANCHORS,
        "!!python/object/apply:os.system ['touch HARM']",
        "a: !!python/name:os.system",
        "<<: *a",
        "[" * 100_000,
        "9" * 1_000_000,
        "x" * 10_000_000,
    ],
    ids=["anchors", "apply", "name", "merge", "deep", "digits", "long"],
)
def test_recipes_and_cards(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(f"name: a\n{text}" if ":" in text else text)
    with pytest.raises(RecipeError) as recipes:
        recipe.read_recipe(Path("a.yaml"))
    with pytest.raises(RecipeError):
        recipe.parse_recipe("{}", set=[f"a={text}"])
    with pytest.raises(CorpusError) as cards:
        read_card("a.yaml")
    assert max(len(str(said.value)) for said in (recipes, cards)) < 1000
    assert not Path("HARM").exists()


def test_all_yaml_is_parsed_by_plain_yaml():
    for path in Path(lsa_whisper.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "yaml":
                allowed = {"YAMLError", "safe_dump"} if path.name != "plain_yaml.py" else {node.attr}
                assert node.attr in allowed, f"{path}:{node.lineno} yaml.{node.attr}"


@pytest.mark.parametrize("name", ["deep", "just too deep", "deep objects", "many digits", "no line end"])
def test_json_of_models_and_runs(tmp_path, name):
    for file in ("calibration.json", "curve.jsonl", "lsa_whisper.json"):
        (tmp_path / file).write_text(f"{BOMBS[name]}\n{{}}\n")
    with pytest.raises(CheckpointError):
        load_calibration(tmp_path)
    with pytest.raises(CorpusError):
        read_run(tmp_path)
    partial = PartialDecoding(tmp_path / "a.cha", "0" * 16)
    partial.path.write_text(f"{BOMBS[name]}\n")
    assert partial.read() == []


TURNS = {
    ".rttm": ["SPEAKER a 1 0 1 <NA> <NA> " + "x" * 10_000_000, "SPEAKER a 1 1e308 1e308 <NA> <NA> A", "SPEAKER a"],
    ".TextGrid": [
        '"ooTextFile" "TextGrid" 0 1 <exists> 999999 ',
        '"ooTextFile" "TextGrid" 0 1 <exists> 1e300 ',
        '"ooTextFile" "TextGrid" 0 1 <exists> 1 "IntervalTier" "A" 0 1 999999 0 1 ',
        '"' * 1_000_000,
    ],
}


@pytest.mark.parametrize(("suffix", "text"), [(suffix, text) for suffix, texts in TURNS.items() for text in texts])
def test_turns(tmp_path, suffix, text):
    path = tmp_path / f"a{suffix}"
    path.write_text(text)
    try:
        turns = read_turns(path, tmp_path / "a.wav", 60_000)
    except LsaWhisperError as error:
        assert len(str(error)) < 400
    else:
        assert [code for code, _ in turns.spans] == ["PAR0"]
