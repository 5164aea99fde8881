"""``prepare --reviewed``: what a person has reviewed becomes training data, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.preparation import prepare
from lsa_whisper.review.edits import set_reviewed, set_text

STORYBOOK = Path(__file__).resolve().parents[2] / "corpora" / "storybook" / "test"
CORRECTED = "the goat &-um was new ."


@pytest.fixture
def corrected(tmp_path):
    """One session, of which a reviewer has corrected one utterance and marked it and another as reviewed."""
    folder = tmp_path / "corrected"
    folder.mkdir()
    shutil.copy(STORYBOOK / "test01.flac", folder)
    transcript = set_text(chat.read(STORYBOOK / "test01.cha"), 1, CORRECTED)
    for number in (1, 4):
        transcript = set_reviewed(transcript, number)
    chat.write(transcript, folder / "test01.cha")
    return folder


def utterances(out, name):
    return [json.loads(line) for line in (out / name).read_text().splitlines()]


def test_only_reviewed_utterances_become_training_data(corrected, tmp_path):
    out = tmp_path / "data"
    prepare([corrected], out, one_utterance=True, non_speech=0, reviewed=True)
    rows = [row for split in ("train", "dev", "test") for row in utterances(out, f"{split}.jsonl")]
    texts = " ".join(json.dumps(row) for row in rows)
    assert len(rows) == 2 and "the goat um was new" in texts and "the sister the sister" in texts
    rejected = {row["reason"] for row in utterances(out, "rejected.jsonl")}
    assert "not reviewed" in rejected


def test_without_the_option_all_utterances_are_taken(corrected, tmp_path):
    prepared = tmp_path / "data"
    prepare([corrected], prepared, one_utterance=True, non_speech=0)
    rows = [row for split in ("train", "dev", "test") for row in utterances(prepared, f"{split}.jsonl")]
    assert len(rows) > 20
