r"""Morphemes and lemmas of ``%mor``, as MOR writes it (``n|dog-PL``) or as Universal Dependencies (``noun|dog-Plur``).

Conventions, from the CLAN manual (section on MLU) and the published descriptions of its morpheme count:

- A stem and each clitic (``~``) count one. Each counts one more if it is a plural, past, possessive, or present
  participle: the morphemes that CLAN traces. However many of these it has, it counts one more, not several.
- In MOR they are the suffixes ``-PL``, ``-PAST``, ``-PASTP``, ``-POSS``, ``-PRESP`` (formerly ``-PROG``); what is fused
  (``v|go&PAST``) does not count. In Universal Dependencies they are the features ``Plur``, ``Past``, ``Ger``, and
  ``Part`` with ``Pres``, also of irregular words.
- Third persons (``-3S``, ``Pres-S3``), comparatives, cases and all other features do not count.
- Punctuation, fillers, omitted words (``0aux|be``) and what was not understood (``unk|xxx``) are not words. Of several
  analyses (``n|walk^v|walk``) the first counts.
- Which utterances count is as for MLU in words (:mod:`lsa_whisper.scoring.language_sample`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.scoring.language_sample import mean_length, mlu_part

_ITEM = re.compile(r"[^\s|]+\|\S+")
_CLITIC = re.compile(r"[~$]")
_LEMMA = re.compile(r"[^-&=]*")
_SUFFIX = re.compile(r"-([0-9A-Za-z]+)")
_NOT_WORDS = frozenset({"cm", "end", "beg", "bq", "eq", "bq2", "eq2", "punct", "fil"})
_TRACED = frozenset({"PL", "PAST", "PASTP", "POSS", "PRESP", "PROG", "Plur", "Past", "Pastp", "Ger"})
_PRESENT_PARTICIPLE = frozenset({"Part", "Pres"})


class Morpheme(NamedTuple):
    """A stem or clitic of ``%mor``: part of speech, lemma, and its suffixes or features in order."""

    pos: str
    lemma: str
    features: tuple[str, ...]

    @property
    def traced(self) -> bool:
        """Whether it has an inflection that MLU counts."""
        features = set(self.features)
        return not features.isdisjoint(_TRACED) or features >= _PRESENT_PARTICIPLE


def morphemes(utterance: Utterance) -> list[Morpheme] | None:
    r"""Return the stems and clitics of an utterance's ``%mor``; ``None`` without that tier.

    >>> from lsa_whisper.chat import parse
    >>> [each.lemma for each in morphemes(parse("*CHI:\tit's .\n%mor:\tpro|it~cop|be&3S .\n").utterances[0])]
    ['it', 'be']
    """
    tier = next((line.raw for line in utterance.tiers if line.name == "%mor"), None)
    return None if tier is None else list(_morphemes(tier.partition(":")[2]))


def _morphemes(tier: str) -> Iterator[Morpheme]:
    for item in _ITEM.findall(tier):
        for part in _CLITIC.split(item.partition("^")[0]):
            pos, stem, body = part.partition("|")
            lemma = _stem(body)
            if stem and pos not in _NOT_WORDS and not pos.startswith("0") and lemma not in UNTRANSCRIBED:
                yield Morpheme(pos, lemma, tuple(_SUFFIX.findall(body.partition("=")[0])))


def _stem(body: str) -> str:
    """Return the lemma; of a compound (``+n|week+n|end``) the parts joined."""
    if body.startswith("+"):
        return "".join(_stem(part.rpartition("|")[2]) for part in body.split("+")[1:])
    return _LEMMA.match(body)[0]  # type: ignore[index]


def mlu_morphemes(utterances: Sequence[Utterance]) -> float | None:
    r"""Return the mean length in morphemes of the utterances with ``%mor`` that CLAN's MLU counts; ``None`` of none.

    >>> from lsa_whisper.chat import parse
    >>> mlu_morphemes(parse("*CHI:\tit's dogs .\n%mor:\tpro|it~cop|be&3S n|dog-PL .\n").utterances)
    4.0
    >>> mlu_morphemes(parse("*CHI:\tdogs ran .\n%mor:\tnoun|dog-Plur verb|run-Fin-Ind-Past-S3 .\n").utterances)
    4.0
    """
    tagged = ((utterance, morphemes(utterance) or ()) for utterance in utterances)
    return mean_length(mlu_part(utterance, sum(1 + morpheme.traced for morpheme in own)) for utterance, own in tagged)


def lemmas(utterances: Sequence[Utterance]) -> list[str]:
    """Return the lemmas of ``%mor`` in order, those of clitics too."""
    return [morpheme.lemma for utterance in utterances for morpheme in morphemes(utterance) or () if morpheme.lemma]
