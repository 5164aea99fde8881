"""What needs no Batchalign: the messages of those who lack it, or have another than the one we know."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from lsa_whisper.batchalign_engine import command
from lsa_whisper.batchalign_engine.command import verify_command_module
from lsa_whisper.cli import main
from lsa_whisper.errors import LsaWhisperError


@pytest.mark.parametrize(
    "words",
    [
        ("batchalign", "transcribe", "a.wav", "--model", "models/nano", "--lang", "eng"),
        ("batchalign", "run", "--", "transcribe", "a.wav", "--engine", "lsa", "--lang", "eng"),
    ],
    ids=lambda words: words[1],
)
def test_without_batchalign_one_line_names_the_extra(words, monkeypatch):
    def absent(name):
        raise command.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(command.metadata, "version", absent)
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert result.stderr.strip().endswith("needs Batchalign: pip install 'lsa-whisper[batchalign]'")
    assert result.stderr.count("\n") == 1


def test_another_version_is_named_with_the_way_round_it(monkeypatch):
    monkeypatch.setattr(command.metadata, "version", lambda name: "0.8.3")
    with pytest.raises(LsaWhisperError, match=r"0\.8\.3 is installed.*--engine whisper"):
        command.require("the engine lsa")


def as_known():
    """A module that has all that the engine changes."""
    return SimpleNamespace(
        AsrEngine=Enum("AsrEngine", {"rev": "rev"}, type=str),
        _DEFAULT_MODEL={},
        _build_asr=lambda ba, engine, model, lang, num_speakers=2, device=None: None,
        _build_utseg=lambda ba, lang, engine=None, *, segmenter=None, device=None: None,
        write_outcome=lambda outcome, root, out_dir, *, output_suffix=None, strip_word_timing=False: None,
    )


def test_the_known_command_passes():
    verify_command_module(as_known(), "0.10.9")


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("AsrEngine", None),
        ("AsrEngine", "a string"),
        ("_DEFAULT_MODEL", []),
        ("_build_asr", lambda engine: None),
        ("_build_utseg", None),
        ("write_outcome", lambda outcome, target: None),
    ],
)
def test_changed_parts_are_named_and_nothing_is_patched(name, moved):
    place = as_known()
    setattr(place, name, moved)
    before = dict(vars(place))
    with pytest.raises(LsaWhisperError, match=rf"Batchalign 0\.10\.9 has changed {name}"):
        verify_command_module(place, "0.10.9")
    assert vars(place) == before
