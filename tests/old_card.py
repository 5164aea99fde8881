"""A card without bfloat16 of its own, as torch reports it: a V100 of 32 GB (compute capability 7.0)."""

from __future__ import annotations

from types import SimpleNamespace

GIB = 2**30


def mock_card(monkeypatch, *, capability=(7, 0), gib=32, name="Tesla V100-SXM2-32GB", built_for=("sm_75", "sm_80")):
    """Let ``torch.cuda`` report one card; bfloat16 is supported by emulation only below capability 8.0."""
    import torch

    def bf16(including_emulation=True):
        return including_emulation or capability >= (8, 0)

    properties = SimpleNamespace(name=name, total_memory=gib * GIB, major=capability[0], minor=capability[1])
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "is_bf16_supported": bf16,
        "get_device_capability": lambda *_: capability,
        "get_device_properties": lambda *_: properties,
        "get_device_name": lambda *_: name,
        "get_arch_list": lambda: list(built_for),
        "mem_get_info": lambda *_: (gib * GIB - GIB, gib * GIB),
    }
    for function, answer in answers.items():
        monkeypatch.setattr(torch.cuda, function, answer)
