"""Untrusted model folders: none of their code runs, and folders that require it are rejected with a one-line error."""

from __future__ import annotations

import ast
import json
import pickle
import shutil
from pathlib import Path

import pytest
from safetensors.numpy import load_file
from tiny_whisper import build_checkpoint

import lsa_whisper
from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning.training.resume import weights_only_loading

SOURCES = sorted(Path(lsa_whisper.__file__).parent.rglob("*.py"))
SETTINGS = [
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "tokenizer_config.json",
    "processor_config.json",
]


class Runs:
    """Pickled, it creates a file when it is read."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (Path.touch, (self.mark,))


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("clean"))


@pytest.fixture
def model(clean, tmp_path):
    """Return a copy of a model folder with code in it that leaves a mark when it is run."""
    folder = shutil.copytree(clean, tmp_path / "model")
    code = f"import pathlib\npathlib.Path({str(tmp_path / 'mark')!r}).touch()\n"
    code += "class Evil:\n    @classmethod\n    def from_pretrained(cls, *a, **k): return cls()\n"
    code += "def generate(*a, **k): pass\n"
    for name in ("evil.py", "modeling_evil.py", "custom_generate/generate.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code)
    shutil.rmtree(folder / "custom_generate")
    return folder


def change(path, **entries):
    before = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(before | entries))


def refused(folder, mark):
    """Return the sentence with which a folder is refused; nothing of it may have run."""
    with pytest.raises(CheckpointError) as said:
        checkpoint.load(folder)
    assert not mark.exists()
    assert "\n" not in str(said.value) and str(folder.parent) in str(said.value)
    return str(said.value)


def test_sources_never_trust_remote_code_or_load_pickles():
    wrong = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("trust_remote_code", "weights_only", "allow_pickle"):
                expected = node.arg == "weights_only"
                if not (isinstance(node.value, ast.Constant) and node.value.value is expected):
                    wrong.append(f"{path}:{node.value.lineno}")
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called == "torch.load" and any(each.arg == "weights_only" for each in node.keywords):
                continue  # it is True, or found above
            if called == "pickle.loads" and ast.unparse(node.args[0]).startswith("pickle.dumps("):
                continue  # a test whether an object can be pickled
            if called in (
                "torch.load",
                "pickle.load",
                "pickle.loads",
                "eval",
                "exec",
                "yaml.unsafe_load",
                "yaml.load_all",
            ):
                wrong.append(f"{path}:{node.lineno} {called}")
            if called == "yaml.load" and path.name != "plain_yaml.py":
                wrong.append(f"{path}:{node.lineno} {called}")
    assert not wrong and len(SOURCES) > 100


@pytest.mark.parametrize("name", SETTINGS)
def test_auto_map_is_rejected_in_any_file(model, tmp_path, name):
    classes = ("AutoModelForSpeechSeq2Seq", "AutoTokenizer", "AutoFeatureExtractor", "AutoProcessor", "AutoConfig")
    change(model / name, auto_map=dict.fromkeys(classes, "evil.Evil"))
    assert f"{name}: auto_map" in refused(model, tmp_path / "mark")


def test_nested_auto_map_is_rejected(model, tmp_path):
    change(model / "processor_config.json", feature_extractor={"auto_map": {"AutoFeatureExtractor": "evil.Evil"}})
    assert "auto_map" in refused(model, tmp_path / "mark")


def test_unreferenced_code_in_a_model_folder_is_ignored(model, tmp_path):
    change(model / "tokenizer_config.json", chat_template="{% for i in range(10**9) %}{{ i }}{% endfor %}")
    (model / "chat_template.jinja").write_text("{{ ''.__class__.__mro__[1].__subclasses__() }}")
    assert checkpoint.load(model).tokenizer is not None
    assert not (tmp_path / "mark").exists()


def test_custom_generate_code_is_rejected(model, tmp_path):
    (model / "custom_generate").mkdir()
    shutil.copy(model / "evil.py", model / "custom_generate" / "generate.py")
    assert "custom_generate" in refused(model, tmp_path / "mark")


@pytest.mark.parametrize(
    "entry",
    [
        {"attn_implementation": "evil/kernels"},
        {"_attn_implementation": {"": "evil/kernels:forward"}},
        {"transformers_weights": "pytorch_model.bin"},
        {"d_model": 10**9},
        {"encoder_layers": 10**6},
        {"max_source_positions": 10**12},
    ],
)
def test_other_code_references_and_huge_sizes_are_rejected(model, tmp_path, entry):
    change(model / "config.json", **entry)
    assert next(iter(entry)) in refused(model, tmp_path / "mark")


def test_a_huge_feature_extractor_is_rejected(model, tmp_path):
    change(model / "preprocessor_config.json", feature_size=10**9)
    assert "feature_size" in refused(model, tmp_path / "mark")


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, "\ud800", '"text"', "{", ""])
@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "lsa_whisper.json"])
def test_invalid_json_is_a_one_line_error(model, tmp_path, name, text):
    (model / name).write_text(text, "utf-8", "surrogatepass")
    assert name in refused(model, tmp_path / "mark")


def test_invalid_labels_are_a_one_line_error(model):
    for labels in (5, [], {"style": "evil"}, {"style": [], "version": {}}, {"version": 10**30}):
        change(model / "lsa_whisper.json", labels=labels)
        with pytest.raises(lsa_whisper.errors.LsaWhisperError, match="labels: "):
            checkpoint.load(model)


def test_pickled_weights_are_never_read(model, tmp_path):
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(Runs(tmp_path / "mark")))
    checkpoint.load(model)  # beside safetensors they do no harm
    assert not (tmp_path / "mark").exists()
    (model / "model.safetensors").unlink()
    assert "pickled weights are not read" in refused(model, tmp_path / "mark")
    (model / "model-decoy.safetensors").touch()  # a name that only looks like weights
    refused(model, tmp_path / "mark")


@pytest.mark.parametrize("file", ["pytorch_model.bin", "../outside.safetensors", "/etc/passwd", 5])
def test_an_index_lists_only_safetensors_of_its_folder(model, tmp_path, file):
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(Runs(tmp_path / "mark")))
    names = load_file(model / "model.safetensors")
    (model / "model.safetensors").rename(model / "model-00001.safetensors")
    change(model / "model.safetensors.index.json", weight_map=dict.fromkeys(names, file))
    assert "not a safetensors file in this folder" in refused(model, tmp_path / "mark")


def test_an_index_of_existing_files_is_read(model):
    names = load_file(model / "model.safetensors")
    (model / "model.safetensors").rename(model / "model-00001.safetensors")
    weights = dict.fromkeys(names, "model-00001.safetensors")
    change(model / "model.safetensors.index.json", metadata={"total_size": 1}, weight_map=weights)
    assert checkpoint.load(model).model is not None


@pytest.fixture
def adapter(model, tmp_path):
    from peft import LoraConfig, get_peft_model

    loaded = checkpoint.load(model)
    made = get_peft_model(loaded.model, LoraConfig(r=2, target_modules=["q_proj"]))
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer, "labels": loaded.labels}
    return checkpoint.save(tmp_path / "adapter", model=made, **parts)


def test_a_saved_adapter_loads(adapter):
    assert "auto_mapping" in json.loads((adapter / "adapter_config.json").read_text())
    assert checkpoint.load(adapter).model is not None


def test_code_references_of_adapters_are_rejected(adapter, tmp_path):
    mark = tmp_path / "mark"
    cases = {
        "auto_mapping": {"base_model_class": "Evil", "parent_library": "evil"},
        "megatron_config": {"a": 1},
        "auto_map": {"AutoModel": "evil.Evil"},
    }
    before = (adapter / "adapter_config.json").read_text()
    for key, value in cases.items():
        change(adapter / "adapter_config.json", **{key: value, "megatron_core": "evil"})
        assert key in refused(adapter, mark)
        (adapter / "adapter_config.json").write_text(before)
    (adapter / "adapter_model.safetensors").unlink()
    (adapter / "adapter_model.bin").write_bytes(pickle.dumps(Runs(mark)))
    assert "no adapter_model.safetensors" in refused(adapter, mark)


def test_the_base_of_an_adapter_is_checked_too(adapter, model, tmp_path):
    mark = tmp_path / "mark"
    change(model / "config.json", auto_map={"AutoModelForSpeechSeq2Seq": "evil.Evil"})
    assert "auto_map" in refused(adapter, mark)
    reasons = {
        ".": "is an adapter itself",
        "../../no": "does not exist",
        "..": "no config.json",
        "/": "no config.json",
    }
    for base, reason in reasons.items():
        change(adapter / "adapter_config.json", base_model_name_or_path=base)
        for use in (checkpoint.load, checkpoint.digest):
            with pytest.raises(CheckpointError, match=reason):
                use(adapter)


def test_the_base_of_an_adapter_is_not_downloaded(adapter):
    change(adapter / "adapter_config.json", base_model_name_or_path="evil/base")
    with pytest.raises(CheckpointError, match=r"evil/base: the base of an adapter must be downloaded first"):
        checkpoint.load(adapter)


def test_a_ctranslate2_folder_with_code_is_rejected(clean, tmp_path):
    pytest.importorskip("ctranslate2")
    folder = checkpoint.export(clean, tmp_path / "ct2", to="ct2")
    assert checkpoint.load_converted(folder).size > 300
    for name in ("tokenizer_config.json", "preprocessor_config.json", "generation_config.json", "config.json"):
        before = (folder / name).read_text()
        change(folder / name, auto_map={"AutoTokenizer": "evil.Evil"})
        with pytest.raises(CheckpointError, match="auto_map refers to code"):
            checkpoint.load_converted(folder)
        (folder / name).write_text(before)
    (folder / "vocabulary.json").write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match="nested too deep"):
        checkpoint.load_converted(folder)
    change(folder / "lsa_whisper.json", labels=5)
    with pytest.raises(lsa_whisper.errors.LsaWhisperError):
        checkpoint.load_converted(folder)


def test_a_training_state_with_code_is_rejected(tmp_path):
    import torch

    state = tmp_path / "optimizer.pt"
    for zipped in (True, False):  # DeepSpeed writes the older form
        torch.save({"step": Runs(tmp_path / "mark")}, state, _use_new_zipfile_serialization=zipped)
        with pytest.raises(RecipeError, match="could run code; remove it"), weights_only_loading(tmp_path):
            torch.load(state, weights_only=False)  # as DeepSpeed does
        assert not (tmp_path / "mark").exists()
    torch.save({"step": torch.ones(1)}, state)
    with weights_only_loading(tmp_path):
        assert torch.load(state, weights_only=False)["step"] == 1


def test_a_linked_checkpoint_folder_is_not_followed(tmp_path):
    from lsa_whisper.finetuning.training.resume import last_complete_checkpoint

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept.txt").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoint-9").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecipeError, match="is a symbolic link"):
        last_complete_checkpoint(tmp_path / "run", print)
    assert (tmp_path / "elsewhere" / "kept.txt").exists()


@pytest.mark.parametrize("text", ["[", "[]", "5", '{"files": 5}', '{"files": [1]}', "[" * 100_000])
def test_an_invalid_completion_mark_means_incomplete(tmp_path, text):
    from lsa_whisper.finetuning.training.resume import MARK, checkpoint_problem

    (tmp_path / MARK).write_text(text)
    assert checkpoint_problem(tmp_path) is not None
