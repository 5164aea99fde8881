"""A step of decoding computes what comes next on the device: a copy to the host would make a GPU wait in each step."""

from __future__ import annotations

import itertools

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.suffixes import Suffixes
from lsa_whisper.labels import Labels

ROLES = Labels("chat", roles=True)
CODES = {"CHI", "MOT", "Theo"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return checkpoint.load(build_checkpoint(tmp_path_factory.mktemp("roles"), labels=ROLES))


def rules_of(loaded, device, **options):
    settings = checkpoint.fit_generation_config(loaded.model, loaded.tokenizer, ROLES, trained_codes=CODES)
    size = loaded.model.config.vocab_size
    return DecodingRules(loaded.tokenizer, settings, size, device, words=["friend", "the mat"], **options)


@pytest.mark.parametrize("timestamps", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_nothing_is_copied_to_the_host(loaded, timestamps, length):
    """A tensor on the device ``meta`` has no values that could be copied."""
    rules = rules_of(loaded, "meta", timestamps=timestamps)
    logits = torch.empty((4, loaded.model.config.vocab_size), device="meta")
    tokens = torch.empty((4, length), dtype=torch.long, device="meta")
    chosen, logprobs = rules.choose(logits, tokens, torch.empty(4, device="meta"))
    assert chosen.shape == logprobs.shape == (4,)
    with pytest.raises((RuntimeError, NotImplementedError)):
        tokens.sum().item()


def test_rows_end_with_what_they_end_with():
    """Compared with Python's own lists, for every row and sequence."""
    generator = torch.Generator().manual_seed(0)
    sequences = [tuple(torch.randint(0, 3, (1 + n % 4,), generator=generator).tolist()) for n in range(40)]
    for length in range(7):
        tokens = torch.randint(0, 3, (60, length), generator=generator)
        wanted = [[tuple(row[-len(one) :]) == one for one in sequences] for row in tokens.tolist()]
        assert Suffixes(sequences).ended(tokens).tolist() == wanted
    assert Suffixes([]).ended(tokens).shape == (60, 0)


@pytest.mark.parametrize("length", range(6))
def test_the_tokens_since_a_segment_began_are_counted(loaded, length):
    rules = rules_of(loaded, "cpu")
    stamp, other = min(rules.timestamps_s), 5
    rows = torch.tensor(list(itertools.product([stamp, other], repeat=length)), dtype=torch.long)

    def count(row):
        after = next((n for n, token in enumerate(reversed(row)) if token == stamp), len(row))
        before = row[: len(row) - after]
        pair = before[-2:] == [stamp] * 2 or before == [stamp]
        return min(2, after) if pair else 2

    assert rules._since_begin(rows).tolist() == [count(row) for row in rows.tolist()]
