from __future__ import annotations

import pytest

from lsa_whisper.align import measuring
from lsa_whisper.align.model import AlignmentHeads, LaggedHead
from lsa_whisper.labels import Labels

NANO_HEADS = AlignmentHeads((LaggedHead(2, 0, 2), LaggedHead(0, 0), LaggedHead(0, 2)), Labels("verbatim"))


@pytest.fixture
def known_heads(monkeypatch):
    """Use nano's heads without measuring them, which one test does."""
    monkeypatch.setattr(measuring, "measure_heads", lambda *_: NANO_HEADS)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
