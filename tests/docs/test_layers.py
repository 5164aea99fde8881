"""The architecture section lists the layers of the import contracts, in their order."""

from __future__ import annotations

import re
import tomllib

from pages import ROOT, text_of


def test_the_page_lists_the_layers_in_order():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (root,) = (each for each in contracts if each.get("containers") == ["lsa_whisper"])
    modules = [name for layer in root["layers"] for name in re.findall(r"\w+", layer) if name != "__main__"]
    block = text_of("docs/how-it-is-built.md").partition("## Architecture")[2].split("```")[1]
    names = (re.split(r"\s{2,}", line.strip())[0] for line in block.strip().splitlines())  # then what they are for
    assert [name for line in names for name in re.findall(r"\w+", line)] == modules
