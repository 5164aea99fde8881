"""Word error rates by the scoring rules of other tools, for comparison with published results.

The counts of a mode enter no other figure. Its ``rules`` describe it in every report. Word lists of the original tools
(Batchalign's first names, compounds and abbreviations) are not part of this package, as the rules state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from rapidfuzz.distance import LCSseq

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.errors import CorpusError, MissingExtraError
from lsa_whisper.scoring import verbatim_benchmark
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.wer import plain_errors

Utterances = Sequence[Utterance]

_FILLERS = frozenset(("um", "uhm", "em", "mhm", "uhhm", "eh", "uh", "hm"))
_ENDINGS = (("'s", "is"), ("'ve", "have"), ("'d", "had"), ("'m", "am"))
_SPELLINGS = """
    ok: okay; gimme: give me; hafta: have to; havta: have to; hadta: had to; dunno: don't know; wanna: want to;
    gonna: going to; gotta: got to; kinda: kind of; sorta: sort of; alright: all right; alrightie: all right;
    shoulda: should have; sposta: supposed to; til: until; mm: hm; hmm: hm; this'll: this will
"""
_SPELLED_OUT = {
    word.strip(): spelling.split() for word, _, spelling in (row.partition(":") for row in _SPELLINGS.split(";"))
}
_SPELLED_OUT_LATER = {"lemme": ["let", "me"], "outta": ["out", "of"]}
_REACH = 2
"""By how many words a window of Batchalign's search may be longer or shorter than the reference utterance."""


@dataclass(frozen=True)
class PublishedMode:
    """The scoring rules of another tool: ``errors`` counts one file, of English."""

    name: str
    title: str
    rules: str
    errors: Callable[[Utterances, Utterances], WordErrors]
    not_measured: str
    """What the figure does not measure."""


def check_modes(names: Collection[str]) -> None:
    """Raise if a mode is unknown, or a package it needs is missing.

    Raises:
        CorpusError: There is no such mode.
        MissingExtraError: The package a mode needs is not installed.
    """
    for name in names:
        if name not in MODES and name != verbatim_benchmark.MODE:
            modes = ", ".join([*MODES, verbatim_benchmark.MODE])
            raise CorpusError(f"`as_={name}`: there is no such mode; choose from {modes}")
    if "whisper" in names:
        _whisper_normalizer()


def batchalign2_errors(reference: Utterances, hypothesis: Utterances) -> WordErrors:
    """Return the counts as Batchalign 2's ``benchmark`` makes them; see ``MODES["batchalign2"].rules``.

    >>> from lsa_whisper import chat
    >>> reference, hypothesis = chat.utterance("CHI", "I'm gonna go ."), chat.utterance("CHI", "I am going home .")
    >>> batchalign2_errors([reference], [hypothesis])
    WordErrors(hits=3, substitutions=1, deletions=1, insertions=0, ...)
    """
    expected, actual = _conformed(_verbatim(reference)), _conformed(_verbatim(hypothesis))
    hits = substitutions = deletions = insertions = 0
    for missing, extra, matched in _gaps(expected, actual):
        # A placeholder such as firstname stands for any name.
        names = sum("name" in word and not word.startswith("name") for word in missing)
        absent, more = len(missing) - names, max(extra - names, 0)
        hits += matched + names
        substitutions += min(absent, more)
        deletions += max(absent - more, 0)
        insertions += max(more - absent, 0)
    return WordErrors(hits, substitutions, deletions, insertions)


def _gaps(reference: list[str], hypothesis: list[str]) -> Iterator[tuple[list[str], int, int]]:
    """Yield (reference words missing, hypothesis words extra, then how many match), along a longest common sequence."""
    r = h = 0
    for block in LCSseq.opcodes(reference, hypothesis):
        if block.tag == "equal":
            yield reference[r : block.src_start], block.dest_start - h, block.src_end - block.src_start
            r, h = block.src_end, block.dest_end
    yield reference[r:], len(hypothesis) - h, 0


def batchalign_compare_errors(reference: Utterances, hypothesis: Utterances) -> WordErrors:
    """Return the counts as Batchalign 0.10's ``compare`` makes them; see ``MODES["batchalign-compare"].rules``.

    >>> from lsa_whisper import chat
    >>> reference = [chat.utterance("CHI", "the dog ran ."), chat.utterance("CHI", "no .")]
    >>> batchalign_compare_errors(reference, [chat.utterance("CHI", "the cat ran .")])
    WordErrors(hits=2, substitutions=0, deletions=1, insertions=1, ...)
    >>> batchalign_compare_errors(reference, [chat.utterance("CHI", "something else .")]).rate is None
    True
    """
    expected = [_without_fillers(utterance) for utterance in reference]
    actual = [_without_fillers(utterance) for utterance in hypothesis]
    words = [word for own in actual for word in own]
    owner = [number for number, own in enumerate(actual) for _ in own]
    by_utterance: dict[int, list[str]] = {}
    begin = 0
    for own in expected:
        window = _most_similar(own, words, owner, begin)
        if window is not None:
            start, begin = window
            by_utterance.setdefault(_majority(owner[start:begin]), []).extend(own)
    total = WordErrors()
    for number, expected_words in by_utterance.items():
        hits = LCSseq.similarity(expected_words, actual[number])
        total += WordErrors(hits, 0, len(expected_words) - hits, len(actual[number]) - hits)
    return total


def _most_similar(reference: list[str], words: list[str], owner: list[int], begin: int) -> tuple[int, int] | None:
    """Return the range of ``words`` from ``begin`` on that shares most words with ``reference``; ``None`` if none.

    Among equals the one with most words in order, then the latest, then the one with fewest other words.
    """
    counts = Counter(reference)
    matches = [0, *accumulate(word in counts for word in words)]
    best, window = (0, 0, 0, 0), None
    for span in range(max(1, len(reference) - _REACH), min(len(words) - begin, len(reference) + _REACH) + 1):
        for start in range(begin, len(words) - span + 1):
            if matches[start + span] - matches[start] < max(best[0], 1):
                continue
            first, last = _of_one_utterance(owner, start, start + span)
            inside = words[first:last]
            common = sum((Counter(inside) & counts).values())
            if common < max(best[0], 1):
                continue
            key = (common, LCSseq.similarity(inside, reference), last, common - len(inside))
            if key > best:
                best, window = key, (first, last)
    return window


def _of_one_utterance(owner: list[int], start: int, end: int) -> tuple[int, int]:
    """Return a stretch without what, at its ends, is not of the utterance most of it is of."""
    if owner[start] == owner[end - 1]:
        return start, end
    majority = _majority(owner[start:end])
    while owner[start] != majority:
        start += 1
    while owner[end - 1] != majority:
        end -= 1
    return start, end


def _majority(numbers: Sequence[int]) -> int:
    return Counter(numbers).most_common(1)[0][0]


def errors(mode: str, reference: Utterances, hypothesis: Utterances, language: str) -> WordErrors:
    """Return the counts of one file in a mode; the ``language`` (ISO 639-3) matters to ``whisper`` only."""
    if mode == "whisper":
        return whisper_errors(reference, hypothesis, language)
    return MODES[mode].errors(reference, hypothesis)


def whisper_errors(reference: Utterances, hypothesis: Utterances, language: str = "eng") -> WordErrors:
    """Return the counts after Whisper's normalizer for the language; see ``MODES["whisper"].rules``."""
    normalize = _whisper_normalizer(language)
    expected, actual = (_verbatim(utterances, without_unintelligible=True) for utterances in (reference, hypothesis))
    return plain_errors(normalize(" ".join(expected)).split(), normalize(" ".join(actual)).split())


_NOT_OPENAIS = (r"\bkinda\b", r"\bsorta\b", r"\bdunno\b", r"\bcause\b")
"""Rules of the package that OpenAI's normalizer does not have: with them, 2 % of AMI's utterances differ."""


_LETTERS = frozenset(("zho", "cmn", "yue", "jpn", "tha", "lao", "mya"))
"""Languages without spaces between words, in which Whisper's paper compares letters."""


@lru_cache(maxsize=1 << 3)
def _whisper_normalizer(language: str = "eng") -> Callable[[str], str]:
    try:
        from whisper_normalizer.basic import BasicTextNormalizer
        from whisper_normalizer.english import EnglishTextNormalizer
    except ImportError:
        raise MissingExtraError("`as_=whisper`", "whisper-normalizer", "whisper") from None
    if language != "eng":
        basic: Callable[[str], str] = BasicTextNormalizer(split_letters=language in _LETTERS)
        return basic
    normalizer = EnglishTextNormalizer()
    for pattern in _NOT_OPENAIS:
        normalizer.replacers.pop(pattern, None)
    rules: Callable[[str], str] = normalizer
    return rules


def _verbatim(utterances: Utterances, *, without_unintelligible: bool = False) -> list[str]:
    dropped = UNTRANSCRIBED if without_unintelligible else frozenset()
    return [word for utterance in utterances for word in utterance.verbatim() if word not in dropped]


def _without_fillers(utterance: Utterance) -> list[str]:
    words = [word for word in utterance.verbatim() if word.lower() not in _FILLERS]
    return _conformed(words, _SPELLED_OUT_LATER)


def _conformed(words: Sequence[str], more: dict[str, list[str]] | None = None) -> list[str]:
    return [part for word in words for part in _conform(word.lower().replace("’", "'"), more or {}) if part]


def _conform(word: str, more: dict[str, list[str]]) -> list[str]:
    parts = _SPELLED_OUT.get(word) or more.get(word)
    if parts is not None:
        return parts
    for ending, verb in _ENDINGS:
        if word.endswith(ending) and word != ending:
            return [word.removesuffix(ending), verb]
    if word in _FILLERS:
        return ["um"]
    return word.replace("_", "-").split("-")


_CONFORMED = (
    "Words are put in lower case; 's, 've, 'd and 'm become is, have, had and am (not 're, 'll or n't); words joined "
    "by a hyphen or underscore are separated; gonna, wanna, kinda and a dozen such spellings are written out; xxx is "
    "a word like any other. Batchalign's lists of first names (which it folds to 'name'), compounds and abbreviations "
    "are not part of lsa-whisper: such words count as they are written."
)
MODES = {
    mode.name: mode
    for mode in (
        PublishedMode(
            "batchalign2",
            "Batchalign 2 (benchmark)",
            "All spoken words of a file; um, uhm, em, mhm, uhhm, eh, uh and hm are one word; words that "
            "hold 'name' (firstname) match anything. Words match along a longest common sequence, and what is missing "
            "and extra between two matches is paired as substitutions. " + _CONFORMED,
            batchalign2_errors,
            "which filler was spoken",
        ),
        PublishedMode(
            "batchalign-compare",
            "Batchalign 0.10 (compare)",
            "Fillers are left out. Each reference utterance is assigned to the transcript utterance that shares most "
            "words with it, at most two words longer or shorter, after the previous one; one that shares none is "
            "dropped, and so is a transcript utterance without an assigned one: a completely wrong transcript has no "
            "errors. A wrong word counts twice, as a deletion and as an insertion. " + _CONFORMED,
            batchalign_compare_errors,
            "fillers, and utterances that were missed altogether",
        ),
        PublishedMode(
            "whisper",
            "Whisper's papers (its normalizers)",
            "All spoken words of a file, xxx, yyy and www left out, through Whisper's English normalizer: it deletes "
            "um, uh, hmm, mm and mhm and what stands in brackets, writes numbers as digits, American spellings and "
            "full forms. Other languages pass its basic normalizer: lower case, no punctuation and no brackets, and "
            "letters for words where no spaces are written. Then plain word errors.",
            whisper_errors,
            "fillers: the English normalizer deletes them",
        ),
    )
}
"""The modes by name."""
