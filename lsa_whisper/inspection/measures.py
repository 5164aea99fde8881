"""The measures of a language sample, per speaker of a transcript.

Definitions (fluent words: without fillers, fragments, nonwords, retraced words and ``xxx``):

- MLU in words, NDW, TTR, MATTR, maze words: :mod:`lsa_whisper.scoring.language_sample`.
- MLU in morphemes, lemmas: :mod:`lsa_whisper.inspection.morphology`.
- Word errors: the codes ``[*]`` after words. Grammatical utterances: :class:`CodedErrors`. A transcript without any
  such code is not taken as one without errors, because its errors may not have been coded. Its speakers then have no
  values.
- D (VOCD): the curve ``TTR(n) = D/n (sqrt(1 + 2n/D) - 1)`` fitted to the mean TTR of samples of 35 to 50 words (Malvern
  and Richards 1997). CLAN draws samples at random; here it is the expected TTR of all samples (McCarthy and Jarvis
  2007), so D is the value that CLAN's results scatter around. Needs 50 words. VOCD takes the lemmas of ``%mor`` by
  default; ``vocd`` is that, ``vocd_word_forms`` is of the words of the main tier (VOCD's option ``+o``).
- Intelligible words: the share of spoken words that are not ``xxx``, ``yyy`` or ``www``.
- Utterances per minute: over utterances with times, as words per minute.
- Pauses: ``(.)``, ``(..)``, ``(...)`` and timed ones inside an utterance; seconds are those of timed pauses.
- Turn: successive utterances of one speaker.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from lsa_whisper.chat import Disfluency, Transcript, Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.chat.tree import Item, Marker, walk
from lsa_whisper.inspection.left_out import with_gaps
from lsa_whisper.inspection.morphology import lemmas, mlu_morphemes
from lsa_whisper.labels import Coverage, read_coverage
from lsa_whisper.scoring.counts import ratio
from lsa_whisper.scoring.language_sample import LanguageSample, UtteranceCounts, count_words, counts_for_mlu, sample_of

_SAMPLE_WORDS = range(35, 51)
_TIMED_PAUSE = re.compile(r"\((?:(\d+):)?(\d+\.?\d*)\)")


@dataclass(frozen=True)
class SpeakerMeasures:
    """One speaker's measures; ``None`` = cannot be computed from this sample.

    Attributes:
        sample: Words, different words, MLU in words, TTR, MATTR, maze words, words per minute, abandoned utterances.
        mlu_morphemes: Mean length of utterance in morphemes, from ``%mor``.
        vocd: D, the diversity of the vocabulary, of the lemmas of ``%mor`` as CLAN's VOCD takes by default.
        vocd_word_forms: D of the words of the main tier.
        utterances_per_minute: Of speaking time.
        intelligible_share: Share of spoken words that were understood.
        pauses: Number of pauses inside utterances.
        timed_pause_s: Seconds of those with a length.
        turns: Number of turns.
        words_per_turn: Fluent words per turn.
        word_errors: Error codes ``[*]``; ``None`` where no error of the transcript is coded.
        grammatical_share: Share of utterances without an error code; ``None`` likewise.
        disfluency: FluCalc's counts and rates.
        coverage: What the model of the transcript leaves out.
    """

    sample: LanguageSample
    mlu_morphemes: float | None
    vocd: float | None
    vocd_word_forms: float | None
    utterances_per_minute: float | None
    intelligible_share: float | None
    pauses: int
    timed_pause_s: float
    turns: int
    words_per_turn: float | None
    word_errors: int | None
    grammatical_share: float | None
    disfluency: Mapping[str, Any]
    coverage: Coverage = field(default_factory=Coverage)

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name, ready for a table or JSON; words in place of what a model left out."""
        own = {name: value for name, value in vars(self).items() if name not in ("sample", "disfluency", "coverage")}
        rates = ("sld", "td", "sld_per_100_words", "td_per_100_words", "sld_per_100_syllables", "td_per_100_syllables")
        row = asdict(self.sample) | own | {name: self.disfluency[name] for name in (*rates, "weighted_sld")}
        return with_gaps(row, self.coverage)


def measure_speakers(transcript: Transcript, mode: str = "strict") -> dict[str, SpeakerMeasures]:
    """Return the measures of every speaker, in order of appearance.

    ``mode`` is one of :data:`lsa_whisper.chat.fluency.COUNTING_MODES`.
    """
    turns = Counter(speaker for speaker, _ in groupby(utterance.speaker for utterance in transcript.utterances))
    fluency = {code: speaker.as_dict() for code, speaker in transcript.fluency(mode).items()}
    judged = has_error_codes(transcript.utterances, _UNGRAMMATICAL)
    coded, coverage = has_error_codes(transcript.utterances), read_coverage(transcript)
    by_speaker = {}
    for code in fluency:
        own = [utterance for utterance in transcript.utterances if utterance.speaker == code]
        errors = coded_errors(own) if coded else None
        errors = errors if judged or not errors else errors._replace(grammatical_share=None)
        measures = _measure(own, count_words(own), turns[code], fluency[code], errors)
        by_speaker[code] = replace(measures, coverage=coverage, disfluency=with_gaps(fluency[code], coverage))
    return by_speaker


def _measure(
    utterances: Sequence[Utterance],
    counts: Sequence[UtteranceCounts],
    turns: int,
    fluency: Mapping[str, Any],
    errors: CodedErrors | None,
) -> SpeakerMeasures:
    sample = sample_of(counts)
    words = [word for utterance in utterances for word in utterance.verbatim()]
    timed_ms = [count.duration_ms for count in counts if count.duration_ms]
    return SpeakerMeasures(
        sample=sample,
        mlu_morphemes=mlu_morphemes(utterances),
        vocd=vocabulary_diversity(lemmas(utterances)),
        vocd_word_forms=vocabulary_diversity([word for count in counts for word in count.fluent]),
        utterances_per_minute=ratio(60_000 * len(timed_ms), sum(timed_ms)),
        intelligible_share=ratio(sum(word not in UNTRANSCRIBED for word in words), len(words)),
        pauses=fluency["counts"]["pause"],
        timed_pause_s=sum(map(_timed_pause_s, utterances)),
        turns=turns,
        words_per_turn=ratio(sample.total_words, turns),
        word_errors=errors and errors.by_code.total(),
        grammatical_share=errors and errors.grammatical_share,
        disfluency=fluency,
    )


def _timed_pause_s(utterance: Utterance) -> float:
    """Return the seconds of the pauses between words that have a length."""
    reading = utterance.reading
    pauses = (item.text for item in walk(utterance.tree.items) if isinstance(item, Marker) and item.kind == "pause")
    places = (event.start for event in reading.events if event.kind is Disfluency.PAUSE)
    inside = (text for text, at in zip(pauses, places, strict=False) if 0 < at < len(reading.verbatim))
    lengths = (match.groups() for match in map(_TIMED_PAUSE.fullmatch, inside) if match)
    return sum((60 * int(minutes or 0) + float(seconds) for minutes, seconds in lengths), 0.0)


def vocabulary_diversity(words: Sequence[str]) -> float | None:
    """Return D, the parameter of the curve of type-token ratios; ``None`` for fewer than 50 words.

    >>> round(vocabulary_diversity(["the", "dog", "and", "a", "cat"] * 20), 1)
    0.3
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    total = len(words)
    if total < _SAMPLE_WORDS[-1]:
        return None
    sizes = np.array(_SAMPLE_WORDS, dtype=np.float64)
    counts = np.array(list(Counter(words).values()), dtype=np.float64)[:, None]
    rest = total - counts
    with np.errstate(invalid="ignore"):
        # The chance that a sample without replacement lacks a word: C(rest, n) / C(total, n).
        log_absent = gammaln(rest + 1) - gammaln(np.maximum(rest - sizes, 0) + 1)
        log_absent += gammaln(total - sizes + 1) - gammaln(total + 1)
    absent = np.where(rest >= sizes, np.exp(log_absent), 0.0)
    expected = (1 - absent).sum(axis=0) / sizes

    def misfit(log_d: float) -> float:
        d = np.exp(log_d)
        return float(np.square(d / sizes * (np.sqrt(1 + 2 * sizes / d) - 1) - expected).sum())

    return float(np.exp(minimize_scalar(misfit, bounds=(np.log(0.1), np.log(1000)), method="bounded").x))


_ERROR = re.compile(r"\[\*|\[\+ gram\]")
_UNGRAMMATICAL = re.compile(r"\[\+ gram\]|\[\*(?! ?[pd](?![^\W\d_]))")


class CodedErrors(NamedTuple):
    """The errors of one speaker: how many of each code (``m:=ed``), and the share of grammatical utterances.

    That share is over finished utterances with words and nothing unintelligible: those without ``[*]``, ``[+ gram]``.
    Errors of sounds (``[* p:w]``) and disfluencies (``[* d]``) are not grammatical.
    """

    by_code: Counter[str]
    grammatical_share: float | None


def has_error_codes(utterances: Iterable[Utterance], code: re.Pattern[str] = _ERROR) -> bool:
    """Return whether any utterance has an error code, so that errors were coded at all."""
    return any(code.search(utterance.body) for utterance in utterances)


def coded_errors(utterances: Sequence[Utterance]) -> CodedErrors:
    """Return the coded errors of one speaker; those in retraced words count, too.

    >>> from lsa_whisper import chat
    >>> two = [chat.utterance("CHI", "he goed [: went] [* m:=ed] home ."), chat.utterance("CHI", "no more .")]
    >>> coded_errors(two)
    CodedErrors(by_code=Counter({'m:=ed': 1}), grammatical_share=0.5)
    """
    by_code = Counter(code for utterance in utterances for code in _codes(utterance.tree.items))
    judgeable = [
        utterance
        for utterance in utterances
        if utterance.written() and counts_for_mlu(utterance) and not utterance.abandoned
    ]
    grammatical = sum(not has_error_codes([utterance], _UNGRAMMATICAL) for utterance in judgeable)
    return CodedErrors(by_code, ratio(grammatical, len(judgeable)))


def _codes(items: Iterable[Item]) -> Iterator[str]:
    for item in walk(items):
        if not isinstance(item, Marker):
            yield from (code[2:-1].strip() or "*" for code in item.codes if code.startswith("[*"))
