"""A model, and a recipe for it that ``finetune`` must refuse."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from tiny_whisper import build_checkpoint

from lsa_whisper.cli import main


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("base"), multilingual=True)


@pytest.fixture
def call(windows, base, tmp_path, monkeypatch):
    """Return what ``finetune`` prints about a recipe that it must refuse before it loads weights."""

    def never(*_, **__):
        raise AssertionError("weights were loaded")

    monkeypatch.setattr("lsa_whisper.finetuning.training.run.starting_checkpoint", never)
    recipe, out = tmp_path / "recipe.yaml", tmp_path / "out"
    recipe.write_text(
        f"{{data: {{train: {windows}}}, out: {out}, model: {{base: {base}}},"
        " training: {use_cpu: true, max_steps: 1}}"
    )
    (tmp_path / "empty").mkdir()

    def made(overrides, *options):
        given = [word.replace("FOLDER", str(tmp_path / "empty")) for word in overrides]
        words = [part for word in given for part in ("--set", word)]
        done = CliRunner().invoke(main, ["finetune", str(recipe), *words, *options])
        assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done.exception
        said = done.stderr.replace(str(tmp_path / "empty"), "FOLDER")
        assert "Traceback" not in said and not out.exists()
        return said[said.index("lsa-whisper: ") :]

    return made
