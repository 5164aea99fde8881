"""Language-sample measures of one speaker's utterances.

Conventions (all over *fluent* words: fillers, fragments, nonwords, retraced words and ``xxx`` do not count):

- A word is what CHAT writes without a space: ``all_of_a_sudden`` and ``merry-go-round`` are one, as in CLAN. Words
  differ by their form markers (``a@l``, the letter, is not ``a``) and apostrophes, not by capitals, as in CLAN's FREQ.
- MLU in words, as CLAN's MLU counts: over utterances with at least one word, nothing unintelligible outside retraces
  and no ``[+ mlue]``. A bare ``um`` or ``uh`` is not a word of it. An utterance that was interrupted (``+/.``) and the
  speaker's completion of it (``+,``) are one; so are a tier that breaks off in ``+.`` and the next one.
- NTW, NDW: all and different words. ``ndw_100``: different words among the first 100, so that samples of different
  length can be compared. TTR = NDW / NTW.
- MATTR: the mean TTR of all windows of 50 words (Covington & McFall 2010).
- Maze words: the share of spoken words that are fillers, fragments, nonwords or retraced (SALT's % maze words).
- Words per minute: over utterances with times only, the time being that of the utterances, not of the silences.
  Those with ``xxx``, ``yyy`` or ``www``, and those without any word, are left out: their time has no known words.
- Samples too short for a measure have none: ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import normalize

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.scoring.counts import ratio
from lsa_whisper.scoring.normalize import is_unspaced, normalize_word

_EXCLUDED = re.compile(r"\[\+ mlue\]")
_SOUND = re.compile(r"[^\W_]")
_NOT_IN_MLU = frozenset(("um", "uh"))
_INTERRUPTED, _BREAK, _COMPLETION = "+/.", "+.", "+,"
FIXED_LENGTH = 100
WINDOW = 50


@dataclass(frozen=True, slots=True)
class LanguageSample:
    """The measures of a language sample; ``None`` = cannot be computed from this sample."""

    utterances: int
    total_words: int
    different_words: int
    abandoned: int
    mlu_words: float | None
    ndw_100: int | None
    ttr: float | None
    mattr: float | None
    maze_share: float | None
    words_per_minute: float | None


class MluPart(NamedTuple):
    """What one utterance adds to MLU: ``units`` (words or morphemes), 0 if CLAN's MLU leaves the utterance out.

    ``completes`` says that it begins with ``+,``; ``end`` is its terminator.
    """

    speaker: str
    units: int
    completes: bool
    end: str


def mlu_part(utterance: Utterance, units: int) -> MluPart:
    """Return what an utterance of so many ``units`` adds to MLU."""
    mlu_units = units if counts_for_mlu(utterance) else 0
    return MluPart(utterance.speaker, mlu_units, utterance.text.startswith(_COMPLETION), utterance.terminator)


def mean_length(parts: Iterable[MluPart]) -> float | None:
    """Return the mean length of utterances in order, each speaker's completed by the same; ``None`` if none counts.

    >>> from lsa_whisper import chat
    >>> two = [chat.utterance("CHI", "I want +/."), chat.utterance("CHI", "+, to go home .")]
    >>> mean_length([mlu_part(each, len(each.written())) for each in two])
    5.0
    """
    units = utterances = 0
    interrupted: dict[str, bool] = {}
    for part in parts:
        before = interrupted.get(part.speaker, False)
        units += part.units
        utterances += (part.units > 0 and part.end != _BREAK) - (part.completes and before)
        interrupted[part.speaker] = part.end == _INTERRUPTED if part.units else before and not part.completes
    return ratio(units, utterances)


@dataclass(frozen=True, slots=True)
class UtteranceCounts:
    """The contribution of one utterance to a sample."""

    speaker: str
    fluent: list[str]
    spoken: int
    """The number of spoken words, disfluent ones included."""
    mlu: MluPart
    abandoned: bool
    duration_ms: int | None


def count_words(utterances: Sequence[Utterance]) -> list[UtteranceCounts]:
    """Return the contribution of each utterance to a sample."""
    return [_count(utterance) for utterance in utterances]


def _count(utterance: Utterance) -> UtteranceCounts:
    fluent, spoken = _words(utterance.written()), utterance.verbatim()
    is_known = spoken and UNTRANSCRIBED.isdisjoint(spoken)
    return UtteranceCounts(
        utterance.speaker,
        fluent,
        len(_words(spoken)) - utterance.reading.joined,
        mlu_part(utterance, sum(word not in _NOT_IN_MLU for word in fluent)),
        utterance.abandoned,
        utterance.span.duration_ms if utterance.span and is_known else None,
    )


def sample_of(counts: Sequence[UtteranceCounts]) -> LanguageSample:
    """Return the measures of a sample.

    >>> from lsa_whisper import chat
    >>> utterances = [chat.utterance("CHI", "&-um <I want> [/] I want it ."), chat.utterance("CHI", "xxx no .")]
    >>> sample = sample_of(count_words(utterances))
    >>> sample.mlu_words, sample.total_words, round(sample.maze_share, 2)
    (3.0, 4, 0.43)
    """
    words = [word for count in counts for word in count.fluent]
    spoken = sum(count.spoken for count in counts)
    timed = [(len(count.fluent), count.duration_ms) for count in counts if count.duration_ms is not None]
    return LanguageSample(
        utterances=len(counts),
        total_words=len(words),
        different_words=len(set(words)),
        abandoned=sum(count.abandoned for count in counts),
        mlu_words=mean_length(count.mlu for count in counts),
        ndw_100=len(set(words[:FIXED_LENGTH])) if len(words) >= FIXED_LENGTH else None,
        ttr=ratio(len(set(words)), len(words)),
        mattr=moving_ttr(words),
        maze_share=ratio(max(spoken - len(words), 0), spoken),
        words_per_minute=ratio(60_000 * sum(n for n, _ in timed), sum(ms for _, ms in timed if ms > 0)),
    )


def moving_ttr(words: Sequence[str], window: int = WINDOW) -> float | None:
    """Return the mean type-token ratio of all windows of ``window`` words; ``None`` for fewer words than that.

    >>> moving_ttr(["a", "b", "a", "a"], window=2)
    0.8333333333333334
    """
    last = len(words) - window
    if last < 0:
        return None
    seen: dict[str, int] = {}
    different = 0
    for position, word in enumerate(words):
        # A word is new in every window that holds it and begins after its previous occurrence.
        earliest, latest = seen.get(word, -1) + 1, position
        if earliest <= position - window:
            earliest = position - window + 1
        if latest > last:
            latest = last
        if latest >= earliest:
            different += latest - earliest + 1
        seen[word] = position
    return different / (window * (last + 1))


def by_speaker(counts: Sequence[UtteranceCounts]) -> dict[str, list[UtteranceCounts]]:
    """Return the utterances of each speaker, speakers in order of appearance."""
    sorted_out: dict[str, list[UtteranceCounts]] = {}
    for count in counts:
        sorted_out.setdefault(count.speaker, []).append(count)
    return sorted_out


def counts_for_mlu(utterance: Utterance) -> bool:
    """Return whether CLAN's MLU counts the utterance: not with ``xxx``, ``yyy``, ``www`` or the code ``[+ mlue]``.

    Those in retraced words do not count, as the words there do not.
    """
    return UNTRANSCRIBED.isdisjoint(utterance.reading.written) and not _EXCLUDED.search(utterance.body)


def _words(spellings: Sequence[str]) -> list[str]:
    """Return written words without capitals; each stays one word, except in scripts without spaces."""
    words: list[str] = []
    for word in spellings:
        if is_unspaced(word):
            words += normalize_word(word.partition("@")[0], "raw")
        elif word not in UNTRANSCRIBED and _SOUND.search(word):
            words.append(normalize("NFC", word.casefold()))
    return words
