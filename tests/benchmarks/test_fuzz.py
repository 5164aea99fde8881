"""A little of ``benchmarks/fuzz.py``, and the texts it once broke something with."""

import os

import pytest

from benchmarks.fuzz import TARGETS, run

EXAMPLES = int(os.environ.get("LSA_WHISPER_TEST_EXAMPLES", "100")) // 4

BROKE = {
    "chat": ["*CHI:\t&~x&~x&~x\x00&=laughs\n", "*CHI:\tb-xxx .\n"],  # only a part of the word is unintelligible
    "tiers": ["*CHI:\t↫'↫b-b↫\n", "*CHI:\txxx↫b-b↫\n"],  # what is repeated holds no word; a part of a word is xxx
    "recipes": ["\n", '{"a\\nb": 1}', "a: !!bool perhaps", "a=[", "- a", "seed: 0x_"],
    "cards": ["name: a\nseed: 0x_\n", "name: a\nb: 2001-99-99\n", "[" * 2000],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BROKE.items() for text in texts])
def test_earlier_failures_are_fixed(name, text):
    TARGETS[name][0](text)


@pytest.mark.parametrize("name", TARGETS)
def test_random_texts_break_no_reader(name):
    run(*TARGETS[name], EXAMPLES)
