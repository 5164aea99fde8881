"""The words of a transcript that are aligned, and the tokens that a model would write for them.

Every spoken word counts, in its place: fillers, fragments and each copy of a repetition. ``xxx`` and what another
speaker says inside an utterance (``&*INV:mhm``) are not aligned; their sound lies between the words around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsa_whisper.chat import Utterance
from lsa_whisper.labels import Labels, encode, in_speaker_code, letters_of, words_of_tokens
from lsa_whisper.scoring.normalize import normalize_word
from lsa_whisper.scoring.words import NON_WORDS, RETRACES, UNINTELLIGIBLE


@dataclass(frozen=True)
class TextWord:
    """A word of the transcript.

    Attributes:
        utterance: index of its utterance.
        position: index among the verbatim words of the utterance.
        text: the word as spoken.
        disfluent: whether it is a filler, a fragment, or retraced; models of fluent text do not write it.
    """

    utterance: int
    position: int
    text: str
    disfluent: bool = False

    @property
    def key(self) -> str:
        """The normalized word, by which it is compared with decoded words."""
        return word_key(self.text)


@dataclass(frozen=True)
class TextToken:
    """A token of the text.

    Attributes:
        token: its id.
        word: index of its word.
        spoken: whether the word is heard there: the token has letters of it, or is the sign of how it begins.
        letters: how many letters it has.
        in_code: whether it is a part of a speaker code, which takes no time.
    """

    token: int
    word: int
    spoken: bool
    letters: int = 0
    in_code: bool = False


def word_key(word: str) -> str:
    """Return a word in the form in which words of a transcript and of a model are compared.

    >>> word_key("Uhm"), word_key("sto-"), word_key("Don’t")
    ('um', 'sto', "don't")
    """
    return "".join(part.rstrip("-") for part in normalize_word(word))


def text_words(utterances: Sequence[Utterance]) -> list[TextWord]:
    """Return the words of all utterances in order, without those that cannot be aligned.

    >>> from lsa_whisper.chat import utterance
    >>> [word.text for word in text_words([utterance("CHI", "the [/] the &+sto story xxx .")])]
    ['the', 'the', 'sto-', 'story']
    """
    found = []
    for number, each in enumerate(utterances):
        disfluent = {
            at for event in each.events() if event.kind in NON_WORDS | RETRACES for at in range(event.start, event.end)
        }
        for position, word in enumerate(each.verbatim()):
            if word not in UNINTELLIGIBLE and word_key(word):
                found.append(TextWord(number, position, word, position in disfluent))
    return found


def text_tokens(
    utterances: Sequence[Utterance], words: Sequence[TextWord], tokenizer: Any, labels: Labels
) -> list[TextToken]:
    """Return the tokens of all utterances as the model writes them, each with its word.

    A model of fluent text is given the disfluent words, too: its alignment heads follow the sound all the same.
    Punctuation and signs belong to the word before them, or to the first word of the utterance; signs of a block or a
    prolongation to the word that begins with it.
    """
    found: list[TextToken] = []
    of_utterance: dict[int, list[int]] = {}
    for index, word in enumerate(words):
        of_utterance.setdefault(word.utterance, []).append(index)
    for number, indices in of_utterance.items():
        text = _label(utterances[number], labels)
        ids = tokenizer.encode(f" {text}", add_special_tokens=False) if text else []
        texts = [str(tokenizer.decode([token], clean_up_tokenization_spaces=False)) for token in ids]
        places = words_of_tokens(texts, [words[index].text for index in indices])
        found += [
            TextToken(token, indices[at], spoken, len(letters_of(own)) if spoken else 0, in_code)
            for token, own, (at, spoken), in_code in zip(ids, texts, places, in_speaker_code(texts), strict=True)
        ]
    return found


def _label(utterance: Utterance, labels: Labels) -> str:
    if labels.style != "fluent":
        return encode(utterance, labels)
    text = encode(utterance, Labels("verbatim"))
    return text[:1].upper() + text[1:]
