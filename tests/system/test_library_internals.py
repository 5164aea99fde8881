"""Private parts of other libraries are touched in one module only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import lsa_whisper
from lsa_whisper.system import library_internals

PACKAGE = Path(lsa_whisper.__file__).parent
LIBRARIES = ("accelerate", "datasets", "deepspeed", "peft", "torch", "transformers")
UNDOCUMENTED = {
    "__compatible_ops__",
    "cdb",
    "fragment_address",
    "get_length_grouped_indices",
    "rotate_checkpoints",
    "sinusoids",
    "unset_hf_deepspeed_config",
}
DOCUMENTED = {("os", "_exit")}
# The engine inside Batchalign replaces parts of Batchalign, and of nothing else.
EXEMPT = ("system/library_internals.py", "batchalign_engine/")


def sources():
    return [file for file in sorted(PACKAGE.rglob("*.py")) if not str(file.relative_to(PACKAGE)).startswith(EXEMPT)]


NAMED_TUPLE = ("_replace", "_asdict", "_fields", "_make")  # underscored lest they clash with fields; documented


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in NAMED_TUPLE


def private_parts(tree):
    """Yield ``line, name`` of every private attribute of another object and every private or undocumented import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (is_private(node.attr) or node.attr in UNDOCUMENTED):
            owner = node.value.id if isinstance(node.value, ast.Name) else None
            if owner not in ("self", "cls", "other") and (owner, node.attr) not in DOCUMENTED:
                yield node.lineno, node.attr
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LIBRARIES:
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from ((node.lineno, name) for name in names if is_private(name) or name in UNDOCUMENTED)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("model._from_config(config)", ["_from_config"]),
        ("super()._save_checkpoint(model)", ["_save_checkpoint"]),
        ("from transformers.modeling_whisper import sinusoids", ["sinusoids"]),
        ("from deepspeed._private import part", ["_private"]),
        ("comm.cdb = None", ["cdb"]),
        ("self._own()\nos._exit(1)\nprint(__file__)", []),
    ],
)
def test_private_parts_are_recognized(line, found):
    assert [name for _, name in private_parts(ast.parse(line))] == found


@pytest.mark.parametrize("file", sources(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_other_module_touches_private_parts(file):
    found = [
        f"{file.relative_to(PACKAGE)}:{line}: {name}"
        for line, name in private_parts(ast.parse(file.read_text("utf-8")))
    ]
    assert not found, f"move into lsa_whisper/system/library_internals.py: {', '.join(found)}"


def test_the_trainer_overrides_no_private_method():
    from transformers import Seq2SeqTrainer

    from lsa_whisper.finetuning.training.trainer import SpeechTrainer

    own = {name for name in vars(SpeechTrainer) if is_private(name) and not name.startswith("_abc")}
    assert not own & {name for cls in Seq2SeqTrainer.__mro__ for name in vars(cls)}
    assert all(hasattr(Seq2SeqTrainer, name) for name in vars(library_internals.TrainerHooks) if is_private(name))
