"""The text that a model is given: which token belongs to which word, and speaker codes, which are not heard."""

from __future__ import annotations

import re

import numpy as np

from lsa_whisper.align.model import token_spans
from lsa_whisper.align.text import TokenizedText, text_tokens, text_words
from lsa_whisper.chat import utterance
from lsa_whisper.labels import Labels

SPACE = 1 << 21  # more than any character


class Letters:
    """A tokenizer with a token for each letter and the space before it."""

    def encode(self, text, add_special_tokens):
        return [ord(part[-1]) + SPACE * part.startswith(" ") for part in re.findall(r" ?.", text)]

    def decode(self, tokens, clean_up_tokenization_spaces):
        return "".join(" " * (token >= SPACE) + chr(token % SPACE) for token in tokens)


def conversation(max_tokens=100):
    utterances = [utterance("CHI", "<a b> [//] c ."), utterance("INV", "d e .")]
    words = text_words(utterances)
    return TokenizedText(words, text_tokens(utterances, words, Letters(), Labels("chat", roles=True)), max_tokens)


def written(tokens):
    return Letters().decode([token.token for token in tokens], False)


def test_tokens_of_signs_belong_to_the_word_before():
    utterances = [utterance("CHI", "<a b> [//] c xxx .")]
    words = text_words(utterances)
    tokens = text_tokens(utterances, words, Letters(), Labels("chat"))
    assert [word.text for word in words] == ["a", "b", "c"]
    assert [word.disfluent for word in words] == [True, True, False]
    spoken = {chr(token.token % SPACE): words[token.word].text for token in tokens if token.spoken}
    assert {sign: spoken[sign] for sign in "abc"} == {"a": "a", "b": "b", "c": "c"}
    assert [token.word for token in tokens] == sorted(token.word for token in tokens)


def test_a_text_that_begins_inside_an_utterance_begins_with_its_speaker_code():
    text = conversation()
    assert written(text.tokens_between(0, 5)).startswith(" *CHI: < a")
    inside = text.tokens_between(1, 5)
    assert written(inside).startswith(" *CHI: b >") and " *INV: d e." in written(inside)
    assert [token.word for token in inside] == sorted(token.word for token in inside) and inside[0].word == 1
    assert written(text.tokens_between(4, 5)) == " *INV: e."
    assert written(text.tokens_between(3, 5)) == " *INV: d e."
    assert not text.tokens_between(1, 1) and not text.tokens_between(5, 5)
    assert len(conversation(max_tokens=9).tokens_between(1, 5)) == 9


def test_the_scores_of_a_text_count_its_repeated_code():
    text = conversation()
    row = text.tokens_between(4, 5)
    logprobs, ends = -np.arange(1.0, len(row) + 1), -100 * np.arange(1.0, len(row) + 2)
    # Nothing at all, or everything: the code is no text of its own.
    assert text.end_scores(4, row, logprobs, ends).tolist() == [ends[0], logprobs.sum() + ends[-1]]


def test_a_speaker_code_takes_no_time_and_does_not_pull_its_word_into_the_pause_before():
    row = conversation().tokens_between(2, 5)
    at = {sign: max(n for n, token in enumerate(row) if token.token % SPACE == ord(sign)) for sign in "cde"}
    weights = np.full((len(row), 60), 1e-3, np.float32)
    for sign, frames in (("c", range(5, 15)), ("d", range(40, 48)), ("e", range(48, 55))):
        weights[at[sign], frames] = 0.1
    silence = np.zeros(60, np.float32)
    silence[16:39] = 1
    spans = token_spans(weights, row, silence, 20)
    assert spans[at["d"]] == (40, 48) and spans[at["e"]][0] == 48
    code = [span for span, token in zip(spans, row, strict=True) if token.in_code and token.word == 3]
    assert len(code) == len("*INV:") and all(start == end for start, end in code)
