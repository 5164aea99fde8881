"""Damaged labels of real utterances decode to transcripts that pass the check."""

from pathlib import Path

import pytest

from benchmarks.damaged_labels import damage_and_check, damaged, real_utterances

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


class FixedDraw:
    """Draws one mistake at one place."""

    def __init__(self, mistake, at):
        self.mistake, self.at = mistake, at

    def randint(self, low, high):
        return low

    def randrange(self, length):
        return self.at

    def choice(self, mistakes):
        assert self.mistake in mistakes
        return self.mistake


@pytest.mark.parametrize(
    ("mistake", "made"), [("drop", [1, 3, 4]), ("double", [1, 2, 2, 3, 4]), ("swap", [1, 3, 2, 4]), ("cut", [1])]
)
def test_the_mistakes(mistake, made):
    assert damaged([1, 2, 3, 4], FixedDraw(mistake, 1)) == made


def test_damaged_labels_of_real_utterances_become_legal_chat():
    spoken = real_utterances([SHARED / "chat", SHARED / "paired"])
    if not spoken:
        pytest.skip("no real transcripts beside the project (../shared/data)")
    from transformers import WhisperTokenizerFast

    tokenizer = WhisperTokenizerFast.from_pretrained(SHARED / "whisper" / "processor")
    found = damage_and_check(spoken, tokenizer, seed=99, count=1000)
    assert found["utterances"] > 500
    assert found["rejected"] == 0, found["examples"]
