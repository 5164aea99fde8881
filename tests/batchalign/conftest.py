from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SPOKEN = (
    "<|0.20|>*CHI:&-um I [/] I [/] I want &+fr it .<|1.40|><|1.40|>*ADU:<the cat> [//] the (.) dog sat +//.<|2.40|>"
)


@pytest.fixture(scope="session")
def scripted(tmp_path_factory):
    """The folder of a model that writes ``SPOKEN``, roles included, for every window."""
    from tiny_whisper import build_checkpoint, teach

    from lsa_whisper.labels import Labels

    labels = Labels("chat", roles=True, version=1)
    random = build_checkpoint(tmp_path_factory.mktemp("tiny"), labels=labels)
    return teach(random, tmp_path_factory.mktemp("scripted") / "model", SPOKEN)


@pytest.fixture(scope="session")
def storybook():
    """The folder of storybook's test sessions."""
    return ROOT / "corpora" / "storybook" / "test"


@pytest.fixture(scope="session")
def nano():
    """The folder of the demo's base model."""
    return ROOT / "models" / "nano"
