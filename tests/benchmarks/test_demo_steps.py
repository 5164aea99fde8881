"""The demo's recipes take the same first steps with the lowest and with the installed, the newest, transformers."""

from __future__ import annotations

import re
from importlib.metadata import requires, version

import pytest

from benchmarks import demo_steps, result
from lsa_whisper.demo import ADAPTATIONS

LOWEST = re.search(r"transformers[^;]*>=([\d.]+)", next(r for r in requires("lsa-whisper") if "transformers" in r))[1]


def test_the_steps_with_the_lowest_version_are_recorded():
    recorded = result.last("demo_steps")["losses"]
    found = [losses for name, losses in recorded.items() if name.startswith(f"{LOWEST}.")]
    assert len(found) == 1
    assert {name: len(losses) for name, losses in found[0].items()} == dict.fromkeys(ADAPTATIONS, demo_steps.STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ADAPTATIONS)
def test_the_installed_version_takes_the_same_steps(name, tmp_path):
    assert not version("transformers").startswith(f"{LOWEST}."), "this is the test of the newest version"
    recorded = result.last("demo_steps")["losses"]
    lowest = next(losses for number, losses in recorded.items() if number.startswith(f"{LOWEST}."))
    assert demo_steps.first_losses(name, tmp_path, print) == pytest.approx(lowest[name], rel=0.02)
