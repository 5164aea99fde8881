"""Errors that a transcriber coded: ``[*]`` after words, and ``[+ gram]`` after utterances.

A transcript without any such code is not taken as one without errors, because its errors may not have been coded. Its
speakers then have no values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.tree import Item, Marker, walk
from lsa_whisper.scoring.counts import ratio
from lsa_whisper.scoring.language_sample import counts_for_mlu

_UNGRAMMATICAL = re.compile(r"\[\+ gram\]")


class CodedErrors(NamedTuple):
    """The errors of one speaker: how many of each code (``m:=ed``), and the share of grammatical utterances.

    That share is over finished utterances with words and nothing unintelligible: those without ``[*]``, ``[+ gram]``.
    """

    by_code: Counter[str]
    grammatical_share: float | None


def has_error_codes(utterances: Iterable[Utterance]) -> bool:
    """Return whether any utterance has an error code, so that errors were coded at all."""
    return any("[*" in each.body or _UNGRAMMATICAL.search(each.body) for each in utterances)


def coded_errors(utterances: Sequence[Utterance]) -> CodedErrors:
    """Return the coded errors of one speaker; those in retraced words count, too.

    >>> from lsa_whisper import chat
    >>> two = [chat.utterance("CHI", "he goed [: went] [* m:=ed] home ."), chat.utterance("CHI", "no more .")]
    >>> coded_errors(two)
    CodedErrors(by_code=Counter({'m:=ed': 1}), grammatical_share=0.5)
    """
    by_code = Counter(code for each in utterances for code in _codes(each.tree.items))
    judged = [each for each in utterances if each.written() and counts_for_mlu(each) and not each.abandoned]
    return CodedErrors(by_code, ratio(sum(not has_error_codes([each]) for each in judged), len(judged)))


def _codes(items: Iterable[Item]) -> Iterator[str]:
    for item in walk(items):
        if not isinstance(item, Marker):
            yield from (code[2:-1].strip() or "*" for code in item.codes if code.startswith("[*"))
