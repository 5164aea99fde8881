from __future__ import annotations

import pytest

from lsa_whisper.align import heads
from lsa_whisper.align.heads import LaggedHead


@pytest.fixture
def known_heads(monkeypatch):
    """Use nano's heads without measuring them, which one test does."""
    monkeypatch.setattr(heads, "measure_heads", lambda *_: [LaggedHead(2, 0), LaggedHead(2, 3), LaggedHead(0, 0)])


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
