"""BPE dropout: without dropout the tokenizer's own split, with it other splits of the same text."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_whisper import TEXT, build_tokenizer

from lsa_whisper.finetuning.training.bpe_dropout import BpeDropout


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return build_tokenizer(tmp_path_factory.mktemp("tokenizer"))


def test_without_dropout_the_split_is_the_tokenizers(tokenizer):
    texts = [f" {line}" for line in TEXT.splitlines()] + [" naïve ☃ wörd"]
    assert BpeDropout(tokenizer, 0.0).encode(texts, np.random.default_rng(0)) == [
        tokenizer(text, add_special_tokens=False).input_ids for text in texts
    ]


def test_with_dropout_the_text_stays_and_the_split_depends_on_the_seed(tokenizer):
    text = f" {TEXT.splitlines()[1]}"
    usual = tokenizer(text, add_special_tokens=False).input_ids
    splits = [BpeDropout(tokenizer, 0.3).encode([text], np.random.default_rng(seed))[0] for seed in (0, 0, 1)]
    assert splits[0] == splits[1] != splits[2] != usual
    assert all(tokenizer.decode(split, clean_up_tokenization_spaces=False) == text for split in splits)
    assert all(len(split) >= len(usual) for split in splits)
