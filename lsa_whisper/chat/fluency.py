"""FluCalc's counts: stuttering-like and typical disfluencies per speaker.

Conventions
    ``strict`` counts the marks in this speaker's words. ``flucalc`` counts as CLAN's FluCalc does
    (:mod:`lsa_whisper.chat.flucalc`). In both, a pause counts only inside an utterance, ``::`` counts two, and
    ``[///]`` and ``[/-]`` count nothing.

Metrics
    SLD = prolongation + broken word + block + part-word repetition + monosyllabic whole-word repetition.
    TD = fragment + phrase repetition + word revision + phrase revision + pause + filled pause.
    Weighted SLD (Ambrose and Yairi 1999) = (part-word iterations + monosyllabic word repetitions + 2 x (prolongation +
    block)) per 100 syllables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from lsa_whisper.chat import flucalc
from lsa_whisper.chat.disfluencies import Disfluency
from lsa_whisper.chat.flucalc import Counts
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.syllables import syllables
from lsa_whisper.chat.tree import Item, Marker, Word, walk
from lsa_whisper.chat.word import WordKind, read_word
from lsa_whisper.errors import LsaWhisperError

COUNTING_MODES = ("strict", "flucalc")
_SPOKEN = frozenset((WordKind.WORD, WordKind.UNTRANSCRIBED, WordKind.PHONETIC))


@dataclass(frozen=True)
class Fluency:
    """One speaker's ``counts``, and their denominators: fluent ``words`` and their ``syllables``, if known."""

    counts: Counts
    utterances: int
    words: int
    syllables: int | None

    @property
    def sld(self) -> int | None:
        """Stuttering-like disfluencies; ``None`` where repeated words may have one syllable or more."""
        unknown = self.syllables is None and self.counts["whole_word_repetition"]
        return None if unknown else self._in_group("sld") + self.counts["monosyllabic_whole_word_repetition"]

    @property
    def td(self) -> int:
        """Typical disfluencies."""
        revisions = ("phrase_repetition", "word_revision", "phrase_revision")
        return self._in_group("td") + sum(self.counts[name] for name in revisions)

    def _in_group(self, group: str) -> int:
        return sum(self.counts[kind] for kind in Disfluency if kind.row.flucalc == group)

    @property
    def weighted_sld(self) -> float | None:
        """Weighted stuttering-like disfluencies per 100 syllables; above 4 suggests stuttering in a young child."""
        repetitions = self.counts["part_word_repetition_iterations"] + self.counts["monosyllabic_whole_word_repetition"]
        return _rate_per_100(repetitions + 2 * (self.counts["prolongation"] + self.counts["block"]), self.syllables)

    def as_dict(self) -> dict[str, Any]:
        """Return counts and rates, ready for JSON; a rate with an unknown or zero denominator is ``None``."""
        return {
            "counts": self.counts | ({} if self.sld is not None else {"monosyllabic_whole_word_repetition": None}),
            "utterances": self.utterances,
            "words": self.words,
            "syllables": self.syllables,
            "sld": self.sld,
            "td": self.td,
            "sld_per_100_words": _rate_per_100(self.sld, self.words),
            "td_per_100_words": _rate_per_100(self.td, self.words),
            "sld_per_100_syllables": _rate_per_100(self.sld, self.syllables),
            "td_per_100_syllables": _rate_per_100(self.td, self.syllables),
            "weighted_sld": self.weighted_sld,
        }


def _rate_per_100(count: int | None, of: int | None) -> float | None:
    return 100 * count / of if of and count is not None else None


def count_disfluencies(
    utterances: Iterable[Utterance], *, languages: Collection[str] = (), mode: str = "strict"
) -> dict[str, Fluency]:
    r"""Return the counts of every speaker, in order of appearance.

    Args:
        utterances: The main tiers of a transcript, in order.
        languages: ISO 639-3, the main language first; none means English. Syllables are those of English, if it is
            among them, else of the main language (see :mod:`lsa_whisper.chat.syllables`).
        mode: One of :data:`COUNTING_MODES`.

    >>> from lsa_whisper.chat import parse
    >>> tiers = parse("*PAR:\t↫b-b↫ball and <I want> [/] I want s:ome .").utterances
    >>> counts = count_disfluencies(tiers)["PAR"].counts
    >>> [counts[name] for name in ("part_word_repetition_iterations", "phrase_repetition", "prolongation")]
    [2, 1, 1]

    Raises:
        LsaWhisperError: For a mode that does not exist.
    """
    if mode not in COUNTING_MODES:
        raise LsaWhisperError(f"fluency: no mode {mode!r}; choose one of {', '.join(COUNTING_MODES)}")
    language = "eng" if "eng" in languages or not languages else next(iter(languages))
    by_speaker: dict[str, list[Utterance]] = {}
    for utterance in utterances:
        by_speaker.setdefault(utterance.speaker, []).append(utterance)
    return {speaker: _of_speaker(tiers, language, mode) for speaker, tiers in by_speaker.items()}


def _of_speaker(tiers: list[Utterance], language: str, mode: str) -> Fluency:
    counts = dict.fromkeys(flucalc.COUNTS, 0)
    for utterance in tiers:
        if mode == "flucalc":
            flucalc.count_as_flucalc(utterance, counts)
        else:
            _count_strict(utterance, counts, language)
    totals = flucalc.words_and_syllables(tiers) if mode == "flucalc" else None
    return Fluency(counts, len(tiers), *(totals or _fluent_words(tiers, language)))


def _fluent_words(tiers: list[Utterance], language: str) -> tuple[int, int | None]:
    """Return the number of fluent words, and of their syllables, if known."""
    words = [word for utterance in tiers for word in utterance.reading.fluent]
    lengths = [syllables(word, language) for word in words]
    return len(words), None if all(length is None for length in lengths) else sum(length or 0 for length in lengths)


def _count_strict(utterance: Utterance, counts: Counts, language: str) -> None:
    for item in walk(utterance.tree.items):
        if not isinstance(item, Word):
            continue
        word = read_word(item.text)
        kinds = [disfluency.kind for disfluency in word.disfluencies]
        counts["filled_pause"] += kinds.count(Disfluency.FILLED_PAUSE) or word.kind is WordKind.FILLER
        counts["fragment"] += kinds.count(Disfluency.FRAGMENT) or word.kind is WordKind.FRAGMENT
        for piece in word.surface:
            flucalc.count_signs(piece, counts)
    for item in walk(utterance.tree.items):
        if isinstance(item, Marker) or not item.codes:
            continue
        remaining = _unretraced_words(item)
        monosyllabic = len(remaining) == 1 and _syllables_of(remaining[0], language) == 1
        for code in flucalc.counted_codes(item) if remaining else ():
            flucalc.count_retrace(counts, code, len(remaining), monosyllabic)
    reading = utterance.reading
    counts["pause"] += sum(
        event.kind == "pause" and 0 < event.start < len(reading.verbatim) for event in reading.events
    )


def _unretraced_words(item: Item) -> list[Word]:
    """Return the words of ``item`` that are not retraced within it, without fillers and fragments."""
    if isinstance(item, Word):
        return [item] if read_word(item.text).kind in _SPOKEN else []
    if isinstance(item, Marker):
        return []
    parts = (
        part for part in item.items if isinstance(part, Marker) or not any(code.startswith("[/") for code in part.codes)
    )
    return [word for part in parts for word in _unretraced_words(part)]


def _syllables_of(word: Word, language: str) -> int:
    parts = (part for part in read_word(word.text).verbatim if part != "yyy" and not part.endswith("-"))
    return sum(syllables(part, language) or 0 for part in parts)
