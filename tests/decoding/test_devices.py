"""Apple's GPU is chosen where it computes; elsewhere the CPU is, with one sentence where a reason is due."""

from __future__ import annotations

import pytest
import torch

from lsa_whisper.decoding import engines
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import CheckpointError


@pytest.fixture
def mac(monkeypatch):
    """A machine that says it has Apple's GPU; this PyTorch cannot compute there."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)


@pytest.fixture
def working_mac(mac, monkeypatch):
    monkeypatch.setattr(engines, "_mps_failure", lambda: "")


def test_it_is_chosen_with_a_format_that_it_has(working_mac, capsys):
    assert resolve_device("auto", "auto") == resolve_device("mps", "auto") == ("mps", "float32")
    assert resolve_device("auto", "float16") == ("mps", "float16")
    assert resolve_device("auto", "auto", "ct2") == ("cpu", "auto") and not capsys.readouterr().err
    with pytest.raises(CheckpointError, match="mps does not compute in bfloat16; choose float32 or float16"):
        resolve_device("mps", "bfloat16")


def test_a_gpu_that_fails_is_not_used_and_one_sentence_says_so(mac, capsys):
    assert resolve_device("auto", "auto") == ("cpu", "float32")
    assert capsys.readouterr().err.strip().count("\n") == 0


@pytest.mark.parametrize(("engine", "reason"), [("transformers", "has none"), ("ct2", "CTranslate2 does not use it")])
def test_a_machine_without_it_computes_on_the_cpu(engine, reason, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("mps", "auto", engine)[0] == "cpu"
    said = capsys.readouterr().err.strip()
    assert reason in said and "the CPU computes" in said and "\n" not in said


def test_a_graphics_card_of_nvidia_comes_first(working_mac, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    assert resolve_device("auto", "auto") == ("cuda", "bfloat16")
