"""A CTranslate2 folder as faster-whisper's users have it: four files; what is missing comes from the tokenizer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError

pytest.importorskip("ctranslate2")
BASE = Path(__file__).resolve().parents[3] / "shared" / "data" / "whisper" / "base"
OWN = ("lsa_whisper.json", "generation_config.json", "preprocessor_config.json", "tokenizer_config.json")
IDS = (
    "decoder_start_token_id",
    "eos_token_id",
    "pad_token_id",
    "no_timestamps_token_id",
    "prev_sot_token_id",
    "lang_to_id",
)
IDS += ("task_to_id", "suppress_tokens", "begin_suppress_tokens", "alignment_heads", "is_multilingual", "max_length")


def bare(folder, to, *, text=False):
    """Return a copy of a converted checkpoint with the files that faster-whisper needs only."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns(*OWN))
    if text:
        words = json.loads((to / "vocabulary.json").read_text("utf-8"))
        (to / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words), "utf-8")
        (to / "vocabulary.json").unlink()
    return to


@pytest.mark.slow
@pytest.mark.parametrize("text", [True, False])
def test_what_is_missing_comes_from_the_tokenizer(text, tmp_path):
    if not BASE.is_dir():
        pytest.skip("no real Whisper beside the project (../shared/data/whisper/base)")
    full = checkpoint.export(BASE, tmp_path / "full", to="ct2", dtype="int8")
    expected, found = (
        checkpoint.load_converted(full),
        checkpoint.load_converted(bare(full, tmp_path / "bare", text=text)),
    )
    assert {name: getattr(found.settings, name, None) for name in IDS} == {
        name: getattr(expected.settings, name, None) for name in IDS
    }
    assert (found.size, found.context_s, found.labels) == (expected.size, expected.context_s, expected.labels)
    said = "um, the the dog <|en|>"
    assert found.tokenizer.encode(said) == expected.tokenizer.encode(said)
    assert found.tokenizer.decode(found.tokenizer.encode(said)) == expected.tokenizer.decode(
        expected.tokenizer.encode(said)
    )


def test_a_folder_without_a_tokenizer_is_a_sentence(tiny, tmp_path):
    folder = bare(checkpoint.export(tiny, tmp_path / "full", to="ct2"), tmp_path / "bare")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json"):
        checkpoint.load_converted(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.json; copy it"):
        checkpoint.load_converted(folder)
